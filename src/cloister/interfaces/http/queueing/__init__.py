"""Bounded queues in which tenants are served in turn."""
