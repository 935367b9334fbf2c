"""`CloisterConversationStore`: the conversation store of Pydantic AI on Cloister. What a store keeps is in one project, and of one
user if one is named; the `scope` of a conversation is a label inside that. Conversations are kept as they are, and not recalled."""

from collections.abc import Sequence, Set
from contextlib import suppress

from cloister.domain.errors import Conflict
from cloister.integrations.entry_part import (
    MOST_AT_ONCE,
    EntryPart,
    Found,
    delete,
    deletions,
    expect,
    get,
    namespace_of,
    put,
    raise_counter,
    read_value,
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

_RECORDS, _ENTRIES, _FORKS = (namespace_of("pydantic_ai", kind) for kind in ("records", "entries", "forks"))
_COUNT, _TRIES = "count", 20
_record_json, _entry_json = TypeAdapter(ConversationRecord), TypeAdapter(ConversationEntry)


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
        return _record(found)

    async def read_records(self, *, scope: str | None = None, limit: int | None = None) -> Sequence[ConversationRecord]:
        records = filter(None, map(_record, await self._part.list_all(_RECORDS)))
        wanted = [record for record in records if scope is None or record.scope == scope]
        return sorted(wanted, key=lambda record: record.updated_at, reverse=True)[:limit]

    async def write_record(
        self,
        record: ConversationRecord,
        *,
        new_entries: Sequence[ConversationEntry] = (),
        expected_revision: str | None,
    ) -> None:
        conversation, new = record.conversation_id, {entry.id for entry in new_entries}
        puts = [put(_ENTRIES, entry.id, {"json": _entry_json.dump_json(entry).decode()}) for entry in new_entries]
        for _ in range(_TRIES):
            stored, forks = await self._read_for_change(conversation, expected_revision)
            # What this conversation did not end with before may be of one that is just being deleted.
            ends = {*_ends(record), *(entry.parent_id for entry in new_entries)} - new - {None, *_ends(_record(stored))}
            shared = await self._part.get_all(_ENTRIES, sorted(filter(None, ends)))
            kept = [expect(_ENTRIES, each["key"], each) for each in shared if each is not None]
            if len(kept) < len(shared):
                break
            # Entries that no record points to yet are not part of a conversation.
            await self._part.run_in_batches(puts[:-MOST_AT_ONCE])
            del puts[:-MOST_AT_ONCE]
            counted = raise_counter(_FORKS, _COUNT, forks) if kept else []
            saved = put(_RECORDS, conversation, {"json": _record_json.dump_json(record).decode()})
            with suppress(Conflict):  # of the record, which is refused when it is read again, or of the counter
                await self._part.run(expect(_RECORDS, conversation, stored), *kept, *counted, *puts, saved)
                return
        raise ConversationConflict(conversation)

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        stored, forks = await self._read_for_change(conversation_id, expected_revision)
        try:
            shared = await self._shared(but=conversation_id)
            own = await self._reached(_record(stored), but=shared)
            counted = raise_counter(_FORKS, _COUNT, forks)
            gone = [delete(_RECORDS, conversation_id), *deletions(_ENTRIES, own[:MOST_AT_ONCE])]
            await self._part.run(expect(_RECORDS, conversation_id, stored), *counted, *gone)
        except (Conflict, KeyError) as changed:  # KeyError: another conversation was deleted meanwhile
            raise ConversationConflict(conversation_id) from changed
        rest = own[MOST_AT_ONCE:]
        for _ in range(_TRIES if rest else 0):
            (forks,) = await self._part.run(get(_FORKS, _COUNT))
            with suppress(Conflict, KeyError):  # a fork may share some of the rest
                shared = await self._shared(but=conversation_id)
                rest = [entry_id for entry_id in rest if entry_id not in shared]
                await self._part.run_in_batches(deletions(_ENTRIES, rest), expect(_FORKS, _COUNT, forks))
                return

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        (found,) = await self._part.run(get(_ENTRIES, entry_id))
        if found is None:
            raise KeyError(entry_id)
        return read_value(found, lambda value: _entry_json.validate_json(value["json"]))

    async def _read_for_change(self, conversation_id: str, expected: str | None) -> tuple[Found | None, Found | None]:
        """The record as it is stored, if it has the expected revision, and the counter of forks."""
        stored, forks = await self._part.run(get(_RECORDS, conversation_id), get(_FORKS, _COUNT))
        record = _record(stored)
        if (None if record is None else record.revision) != expected:
            raise ConversationConflict(conversation_id)
        return stored, forks

    async def _shared(self, *, but: str) -> Set[str]:
        """The ids of all entries that the other conversations reach. One that is saved meanwhile adds only entries after those, or
        raises the counter of forks."""
        found: set[str] = set()
        for each in await self._part.list_all(_RECORDS):
            if each["key"] != but:
                found.update(await self._reached(_record(each), but=found))
        return found

    async def _reached(self, record: ConversationRecord | None, *, but: Set[str]) -> list[str]:
        """The ids of the entries of the record's history and of the branches that it left, but those. Each is before the entries
        that it follows: if a deletion is interrupted, an entry that is left has its whole history."""
        found, lines = set(but), list[list[str]]()
        for entry_id in _ends(record):
            lines.append([])
            while entry_id is not None and entry_id not in found:
                found.add(entry_id)
                lines[-1].append(entry_id)
                entry_id = (await self.read_entry(entry_id)).parent_id
        return [entry_id for line in reversed(lines) for entry_id in line]


def _record(found: Found | None) -> ConversationRecord | None:
    return None if found is None else read_value(found, lambda value: _record_json.validate_json(value["json"]))


def _ends(record: ConversationRecord | None) -> list[str | None]:
    """The last entries of a conversation's history and of the branches that it left."""
    return [] if record is None else [record.head_id, *record.branches]
