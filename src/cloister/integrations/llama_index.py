"""`CloisterChatStore`: the chat store of LlamaIndex's `Memory` on Cloister. What a store keeps is in one project, and of one user
if one is named; keys of chats are data inside that. Chats are kept as they are, and not recalled."""

import secrets
from collections.abc import Callable, Sequence
from typing import Any

from cloister.domain.errors import Conflict
from cloister.integrations.chat_lines import Line, read_lines, read_numbered, with_status, without
from cloister.integrations.entry_part import (
    MOST_AT_ONCE,
    EntryPart,
    delete,
    deletions,
    expect,
    get,
    namespace_of,
    put,
    read_value,
)
from cloister.interfaces.python.arguments import NOT_GIVEN
from cloister.interfaces.python.library import Cloister

try:
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.bridge.pydantic import PrivateAttr
    from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "CloisterChatStore needs LlamaIndex: pip install 'cloister[llama-index]'", name=missing.name
    ) from missing

_CHATS, _MESSAGES = (namespace_of("llama_index", kind) for kind in ("chats", "messages"))
_ACTIVE = MessageStatus.ACTIVE.value
_TRIES = 20


class CloisterChatStore(AsyncDBChatStore):
    """A store for `Memory.from_defaults(chat_store=…)`, on a directory, a database or a server, whichever the `Cloister` was opened
    with. `project_id` and `user_id` are fixed: without `project_id` it is the project of the key, else the default project, with
    None no project. Every change of a chat is one transaction, of up to 900 messages; a chat has at most about 7,000 messages. Any
    thread and event loop may use a store.
    """

    _part: EntryPart = PrivateAttr()

    def __init__(self, cloister: Cloister, *, project_id: str | None = NOT_GIVEN, user_id: str | None = None) -> None:
        super().__init__()
        self._part = EntryPart(cloister, project_id=project_id, user_id=user_id)

    async def get_messages(
        self,
        key: str,
        status: MessageStatus | None = MessageStatus.ACTIVE,
        limit: int | None = None,
        offset: int | None = None,
    ) -> list[ChatMessage]:
        lines = with_status(await self._lines(key), status and status.value)[offset or 0 :]
        return await self._messages(lines if limit is None else lines[:limit])

    async def count_messages(self, key: str, status: MessageStatus | None = MessageStatus.ACTIVE) -> int:
        return len(with_status(await self._lines(key), status and status.value))

    async def add_message(self, key: str, message: ChatMessage, status: MessageStatus = MessageStatus.ACTIVE) -> None:
        await self.add_messages(key, [message], status)

    async def add_messages(
        self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        await self._change(key, lambda lines: lines, messages, status)

    async def set_messages(
        self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        await self._change(key, lambda _: [], messages, status)

    async def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Delete the message with this number and return it. Messages of a chat are numbered from 1 as they are added."""
        removed = await self._change(key, lambda lines: [line for line in lines if line.number != idx])
        return removed[0] if removed else None

    async def delete_messages(self, key: str, status: MessageStatus | None = None) -> None:
        await self._change(key, lambda lines: [line for line in lines if status and line.status != status.value])

    async def delete_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """Delete the oldest active messages and return them."""
        return await self._change(key, lambda lines: without(lines, with_status(lines, _ACTIVE)[: max(0, n)]))

    async def archive_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """Archive the oldest active messages and return them."""
        archived: list[Line] = []

        def archive(lines: list[Line]) -> list[Line]:
            archived[:] = with_status(lines, _ACTIVE)[: max(0, n)]
            chosen = {line.id for line in archived}
            return [line._replace(status="archived") if line.id in chosen else line for line in lines]

        await self._change(key, archive)
        return await self._messages(archived)

    async def get_keys(self) -> list[str]:
        """The keys of the chats in this part of the store, and of no other."""
        return sorted(found["key"] for found in await self._part.list_all(_CHATS))

    async def _lines(self, key: str) -> list[Line]:
        (chat,) = await self._part.run(get(_CHATS, key))
        return [] if chat is None else read_value(chat, read_lines)

    async def _messages(self, lines: Sequence[Line]) -> list[ChatMessage]:
        found = await self._part.get_all(_MESSAGES, [line.id for line in lines])
        return [read_value(each, _message) for each in found if each is not None]

    async def _change(
        self,
        key: str,
        change: Callable[[list[Line]], list[Line]],
        new: Sequence[ChatMessage] = (),
        status: MessageStatus = MessageStatus.ACTIVE,
    ) -> list[ChatMessage]:
        """Change the list of a chat, add messages to it, and return those that went. If somebody changes it meanwhile, again."""
        ids = [secrets.token_hex(8) for _ in new]
        puts = [put(_MESSAGES, id, {"json": each.model_dump_json()}) for id, each in zip(ids, new, strict=True)]
        await self._part.run_in_batches(puts[:-MOST_AT_ONCE])
        for _ in range(_TRIES):
            (chat,) = await self._part.run(get(_CHATS, key))
            following, lines = (1, []) if chat is None else read_value(chat, read_numbered)
            left = [*change(lines), *(Line(id, following + at, status.value) for at, id in enumerate(ids))]
            removed = without(lines, left)
            gone = await self._messages(removed)
            value = {"next": following + len(ids), "lines": left}
            changed = put(_CHATS, key, value) if left else delete(_CHATS, key)
            entries = deletions(_MESSAGES, [line.id for line in removed])
            last, room = puts[-MOST_AT_ONCE:], max(0, MOST_AT_ONCE - len(puts))
            try:
                await self._part.run(expect(_CHATS, key, chat), changed, *last, *entries[:room])
            except Conflict:
                continue
            await self._part.run_in_batches(entries[room:])
            return gone
        raise Conflict(f"The chat {key!r} is being changed by others all the time. Try again later.")


def _message(value: Any) -> ChatMessage:
    return ChatMessage.model_validate_json(value["json"])
