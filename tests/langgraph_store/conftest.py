"""A running server on each engine, and a new tenant of it for each test."""

from support.servers.front_fixtures import postgres_service, server, sqlite_service, tenant

__all__ = ["postgres_service", "server", "sqlite_service", "tenant"]
