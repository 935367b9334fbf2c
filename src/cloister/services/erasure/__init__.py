"""Erase everything of a user, or a project with everything in it."""
