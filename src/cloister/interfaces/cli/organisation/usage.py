"""`cloister usage`: how much a tenant stores, and its limits."""

from rich.table import Table

from cloister.interfaces.cli.options import with_library
from cloister.interfaces.cli.terminal import answer, table
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.shapes import as_json
from cloister.interfaces.python.tenant_shapes import Usage


@with_library
def usage(memory: Cloister, json: bool) -> None:
    """Show how much is stored, and the limits."""
    found = memory.usage()
    answer(as_json(found), json, usage_table(found))


def usage_table(found: Usage) -> Table:
    limits = found.limits
    rows = (
        ("messages", found.messages, limits.messages),
        ("sessions", found.sessions, limits.sessions),
        ("projects", found.projects, limits.projects),
        ("files", found.files, limits.files),
        ("entries", found.entries, limits.entries),
        ("API keys", found.api_keys, None),
    )
    shown = [(name, f"{kept:,}", "none" if limit is None else f"{limit:,}") for name, kept, limit in rows]
    return table(("", "kept", "limit"), shown, numbers=("kept", "limit"))
