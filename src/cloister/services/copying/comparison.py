"""Compares a tenant in two databases: before it is copied, whether the target has other content; afterwards, whether both are the
same."""

import json
from collections.abc import Iterator
from typing import Any, cast

from cloister.domain.archive.target import ArchiveTarget
from cloister.domain.errors import Conflict
from cloister.services.archive.import_archive import NEW_TENANTS_PROJECT
from cloister.storage.interface import Transaction
from cloister.storage.stores.archived_rows import ArchivedRows

WHOLE_TENANT = ArchiveTarget()


def refuse_other_content(source: Transaction, target: Transaction, name: str) -> None:
    """Raise if the tenant has a project or a session in the target that it does not have in the source: what is there was not
    copied from here. A project that a new tenant begins with is no content."""
    ours, theirs = ArchivedRows(source, WHOLE_TENANT), ArchivedRows(target, WHOLE_TENANT)
    known = {project.id for project in ours.projects()}
    for project in theirs.projects():
        is_new_tenants = project.is_default and project.name == NEW_TENANTS_PROJECT and not project.settings
        if project.id not in known and not is_new_tenants:
            raise _refused(name, f"the project {project.name!r}")
    sessions = ((each.record.id, each.record.external_id) for each in ours.sessions())
    found = ((each.record.id, each.record.external_id) for each in theirs.sessions())
    other = _first_missing(sessions, found)
    if other is not None:
        raise _refused(name, f"the session {other[1]!r}")


def differences(expected: bytes, found: bytes) -> list[str]:
    """What two archives do not have in common, one sentence a kind of line, by their last lines."""
    ours, theirs = (cast(dict[str, dict[str, Any]], json.loads(line)) for line in (expected, found))
    said: list[str] = []
    for kind in sorted(ours["counts"].keys() | theirs["counts"].keys()):
        there, here = theirs["counts"].get(kind, 0), ours["counts"].get(kind, 0)
        if there != here:
            said.append(f"{kind}: {here:,} in the source, {there:,} in the target")
        elif ours["sha256"][kind] != theirs["sha256"][kind]:
            said.append(f"{kind}: {here:,} in both, of which some differ")
    return said


def _first_missing(known: Iterator[tuple[int, str]], found: Iterator[tuple[int, str]]) -> tuple[int, str] | None:
    """The first of `found` that is not in `known`; both ascend."""
    current = next(known, None)
    for each in found:
        while current is not None and current < each:
            current = next(known, None)
        if current != each:
            return each
    return None


def _refused(name: str, what: str) -> Conflict:
    return Conflict(
        f"The target has the tenant {name!r} with other content: {what} is not in the source. Nothing was copied. Copy into a "
        "new directory or an empty database."
    )
