"""`CloisterConversationStore`: the conversation store of Pydantic AI on Cloister. What a store keeps is in one project, and of one
user if one is named; the `scope` of a conversation is a label inside that. Conversations are kept as they are, and not recalled."""

from collections.abc import Sequence, Set
from contextlib import suppress

from cloister.domain.errors import Conflict
from cloister.integrations.entry_part import (
    MOST_AT_ONCE,
    EntryPart,
    Found,
    Operation,
    delete,
    deletions,
    expect,
    get,
    put,
)
from cloister.interfaces.python.arguments import NOT_GIVEN
from cloister.interfaces.python.library import Cloister

try:
    from pydantic import TypeAdapter
    from pydantic_ai.conversation_store import (
        ConversationConflict,
        ConversationEntry,
        ConversationRecord,
        ConversationStore,
    )
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "CloisterConversationStore needs Pydantic AI: pip install 'cloister[pydantic-ai]'", name=missing.name
    ) from missing

_RECORDS, _ENTRIES, _FORKS = ("pydantic_ai", "records"), ("pydantic_ai", "entries"), ("pydantic_ai", "forks")
_COUNT = "count"
_record_json = TypeAdapter(ConversationRecord)
_entry_json = TypeAdapter(ConversationEntry)


class CloisterConversationStore(ConversationStore):
    """A store on a directory, a database or a server, whichever the `Cloister` was opened with. `project_id` and `user_id` are
    fixed: without `project_id` it is the project of the key, else the default project, with None no project.

    A save is one transaction, of up to 900 new messages. With a conversation the messages are deleted that no other conversation of
    the store shares with it. Any thread and event loop may use a store.
    """

    def __init__(self, cloister: Cloister, *, project_id: str | None = NOT_GIVEN, user_id: str | None = None) -> None:
        self._part = EntryPart(cloister, project_id=project_id, user_id=user_id)

    async def read_record(self, conversation_id: str) -> ConversationRecord | None:
        (found,) = await self._part.run(get(_RECORDS, conversation_id))
        return None if found is None else _record(found)

    async def read_records(self, *, scope: str | None = None, limit: int | None = None) -> Sequence[ConversationRecord]:
        records = [_record(found) for found in await self._part.list_all(_RECORDS)]
        wanted = [record for record in records if scope is None or record.scope == scope]
        return sorted(wanted, key=lambda record: record.updated_at, reverse=True)[:limit]

    async def write_record(
        self,
        record: ConversationRecord,
        *,
        new_entries: Sequence[ConversationEntry] = (),
        expected_revision: str | None,
    ) -> None:
        conversation = record.conversation_id
        shared = [] if record.head_id in (None, *(entry.id for entry in new_entries)) else [str(record.head_id)]
        reads = [get(_RECORDS, conversation), get(_FORKS, _COUNT), *(get(_ENTRIES, key) for key in shared)]
        stored, forks, *head = await self._part.run(*reads)
        if (None if stored is None else _record(stored).revision) != expected_revision or None in head:
            raise ConversationConflict(conversation)
        puts = [put(_ENTRIES, entry.id, {"json": _entry_json.dump_json(entry).decode()}) for entry in new_entries]
        # Entries that no record points to yet are not part of a conversation.
        await self._part.run_in_batches(puts[:-MOST_AT_ONCE])
        changes = [
            *puts[-MOST_AT_ONCE:],
            put(_RECORDS, conversation, {"json": _record_json.dump_json(record).decode()}),
        ]
        conditions = [expect(_RECORDS, conversation, stored), *(expect(_ENTRIES, each["key"], each) for each in head)]
        if stored is None and head:
            # A fork: a deletion that has begun must not take the entries that it shares.
            conditions.append(expect(_FORKS, _COUNT, forks))
            changes.append(put(_FORKS, _COUNT, _next(forks)))
        await self._write(conversation, *conditions, *changes)

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        stored, forks = await self._part.run(get(_RECORDS, conversation_id), get(_FORKS, _COUNT))
        if stored is None or _record(stored).revision != expected_revision:
            raise ConversationConflict(conversation_id)
        shared: set[str] = set()
        own: set[str] = set()
        try:
            for found in await self._part.list_all(_RECORDS):
                if found["key"] != conversation_id:
                    await self._collect(_record(found), shared)
            await self._collect(_record(stored), own, shared)
        except KeyError as gone:  # another conversation was deleted meanwhile
            raise ConversationConflict(conversation_id) from gone
        entries = deletions(_ENTRIES, sorted(own))
        conditions = [expect(_RECORDS, conversation_id, stored), expect(_FORKS, _COUNT, forks)]
        changes = [delete(_RECORDS, conversation_id), put(_FORKS, _COUNT, _next(forks))]
        await self._write(conversation_id, *conditions, *changes, *entries[:MOST_AT_ONCE])
        with suppress(Conflict):  # a fork may share the rest
            await self._part.run_in_batches(entries[MOST_AT_ONCE:], expect(_FORKS, _COUNT, {"value": _next(forks)}))

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        (found,) = await self._part.run(get(_ENTRIES, entry_id))
        if found is None:
            raise KeyError(entry_id)
        return _entry_json.validate_json(found["value"]["json"])

    async def _collect(self, record: ConversationRecord, found: set[str], shared: Set[str] = frozenset()) -> None:
        """Add the ids of all entries of the record's history and of the branches that it left, but those that are shared."""
        for entry_id in (record.head_id, *record.branches):
            while entry_id is not None and entry_id not in found and entry_id not in shared:
                found.add(entry_id)
                entry_id = (await self.read_entry(entry_id)).parent_id

    async def _write(self, conversation_id: str, *operations: Operation) -> None:
        try:
            await self._part.run(*operations)
        except Conflict as changed:
            raise ConversationConflict(conversation_id) from changed


def _record(found: Found) -> ConversationRecord:
    return _record_json.validate_json(found["value"]["json"])


def _next(forks: Found | None) -> dict[str, int]:
    return {"n": 1 if forks is None else forks["value"]["n"] + 1}
