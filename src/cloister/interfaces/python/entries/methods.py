"""The method of `Cloister` for entries of the key-value store."""

from collections.abc import Mapping, Sequence
from typing import Any

from cloister.interfaces.python.arguments import NOT_GIVEN, checked_user, project_choice
from cloister.interfaces.python.backends.interface import Backend


class EntryMethods:
    """The part of `Cloister` for agents that store values under keys. `cloister.integrations.langgraph` is built on it."""

    _backend: Backend

    def run_entry_operations(
        self,
        operations: Sequence[Mapping[str, Any]],
        *,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
    ) -> list[Any]:
        """Run operations on the key-value store of a project, and return one result for each.

        Each has an `op`: `get`, `put`, `delete` (`namespace`, `key`), `search` (`namespace_prefix`), `list` (`namespace`: its
        entries in order of their keys, on from the key `after`), `list_namespaces`, `delete_expired`, or `expect`: unless the entry
        has this `value`, or is missing if that is None, nothing is written, and it is a `Conflict`. Entries belong to one user of
        one project, or to none; without `project_id` it is the key's project, else the default project, with None no project. All
        writes are one transaction, after the reads.
        """
        # Imported here: few programs store entries.
        from cloister.interfaces.python.entries.operations import read_batch

        batch = read_batch(operations)
        return self._backend.run_entry_operations(batch, project_choice(project_id), checked_user(user_id))
