"""Row-level security in PostgreSQL: its roles, the queries that check it, and what to do about each gap.

This module has texts only; `database.py` runs the queries.
"""

from collections.abc import Collection, Iterable
from typing import Any

TENANT_ROLE = "cloister_tenant"
MAINTENANCE_ROLE = "cloister_maintenance"
ROLES = (TENANT_ROLE, MAINTENANCE_ROLE)
_INHERIT_OPTION_VERSION = 160_000

ROLE_IS_UNBOUND = b"SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"

OWNER = b"SELECT quote_ident(pg_get_userbyid(relowner)) FROM pg_class WHERE oid = to_regclass('schema_migration')"

TENANT_TABLES = b"""
SELECT
    c.relname, c.relrowsecurity, c.relforcerowsecurity, pg_has_role(c.relowner, 'MEMBER'),
    (
        SELECT count(*) FROM pg_policy AS p
        WHERE p.polrelid = c.oid
            AND EXISTS (SELECT FROM unnest(p.polroles) AS r WHERE r = 0 OR pg_has_role(r, 'USAGE'))
    )
FROM pg_class AS c
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
WHERE c.relnamespace = to_regnamespace(quote_ident(current_schema())) AND c.relkind IN ('r', 'p')
ORDER BY c.relname
"""


# The login's name, and whether it, not being a superuser, has the rights of the roles without SET ROLE.
INHERITS = b"""
SELECT quote_ident(session_user), NOT rolsuper AND (
    pg_has_role(session_user, 'cloister_maintenance', 'USAGE') OR pg_has_role(session_user, 'cloister_tenant', 'USAGE')
)
FROM pg_roles
WHERE rolname = session_user
"""

REMAINS = (
    "What was forgotten is unreachable at once, but PostgreSQL keeps its bytes in dead rows until VACUUM, and in the write-ahead "
    "log and in backups for as long as those are kept. To be rid of them run VACUUM, and see docs/how-to/deploy.md."
)


def excess_rights(login: str, version: int) -> str:
    return (
        f"The login {login} has the rights of Cloister's roles without becoming one of them, and so sees every tenant. "
        f"Let an administrator run: {_grant(login, version)}"
    )


def _grant(login: str, version: int) -> str:
    """The statement that lets a login switch to the roles without inheriting their rights."""
    if version >= _INHERIT_OPTION_VERSION:
        return f"GRANT {', '.join(ROLES)} TO {login} WITH INHERIT FALSE, SET TRUE;"
    return f"GRANT {', '.join(ROLES)} TO {login}; ALTER ROLE {login} NOINHERIT;"


def breaches(tenant_tables: Iterable[tuple[Any, ...]], *, role_is_unbound: bool) -> list[str]:
    """The gaps that `TENANT_TABLES` and `ROLE_IS_UNBOUND`, run as the tenants' role, show: one sentence each."""
    found: list[str] = []
    if role_is_unbound:
        found.append(f"{TENANT_ROLE} is a superuser or has BYPASSRLS: row-level security does not bind it.")
    for table, enabled, forced, owned, policies in tenant_tables:
        if not enabled:
            found.append(f"Row-level security is not enabled on {table}.")
        if not forced:
            found.append(f"Row-level security is not forced on {table}.")
        if owned:
            found.append(f"{TENANT_ROLE} is, or belongs to, the owner of {table}.")
        if policies != 1:
            found.append(f"{table} has {policies} policies for {TENANT_ROLE}, and needs exactly one.")
    return found


def administration(*, login: str, owner: str | None, schema: str, existing: Collection[str], version: int) -> str:
    """What an administrator must run before this login can open the database, for the server's version. Names are quoted SQL
    identifiers; a new database has no `owner`."""
    statements = [f"CREATE ROLE {role} NOLOGIN;" for role in ROLES if role not in existing]
    statements.append(_grant(login, version))
    if owner is None:
        statements.append(f"GRANT USAGE, CREATE ON SCHEMA {schema} TO {login};")
    advice = f"Let an administrator run, in this database: {' '.join(statements)}"
    if owner is None or owner == login:
        return advice
    return f"{advice} If an upgrade is due, open the database once as {owner}, which owns its tables."
