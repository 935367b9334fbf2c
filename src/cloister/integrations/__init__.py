"""Adapters for frameworks. Each is a module of its own, imported only by applications of its framework."""
