"""DOOR-8: LlamaIndex's chat store on Cloister behaves as LlamaIndex's own on a database, and lists the chats of its part only."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock
from llama_index.core.memory import Memory
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore

from adapters.conftest import NewUser
from cloister import Cloister
from cloister.domain.errors import Conflict
from cloister.integrations.llama_index import CloisterChatStore

KEYS = st.sampled_from(["a", "a.b", "b/ü"])
STATUSES = st.sampled_from([MessageStatus.ACTIVE, MessageStatus.ARCHIVED])
ANY = st.one_of(st.none(), STATUSES)
FEW = st.integers(0, 3)
STEPS = st.one_of(
    st.tuples(st.just("add_message"), KEYS, STATUSES),
    st.tuples(st.just("add_messages"), KEYS, st.integers(1, 3), STATUSES),
    st.tuples(st.just("set_messages"), KEYS, FEW, STATUSES),
    st.tuples(st.just("delete_messages"), KEYS, ANY),
    st.tuples(st.just("delete_oldest_messages"), KEYS, FEW),
    st.tuples(st.just("archive_oldest_messages"), KEYS, FEW),
    st.tuples(st.just("get_messages"), KEYS, ANY, st.one_of(st.none(), FEW)),
    st.tuples(st.just("count_messages"), KEYS, ANY),
)


def said(number: int) -> ChatMessage:
    role = ("user", "assistant", "system", "tool")[number % 4]
    blocks = [TextBlock(text=f"message {number} 🐝"), ImageBlock(url="https://example.org/bee.png")]
    return ChatMessage(
        role=role, blocks=blocks[: 1 + number % 2], additional_kwargs={"number": [number, {"deep": None}]}
    )


async def step(store: AsyncDBChatStore, number: int, name: str, key: str, *given: Any) -> Any:
    match name, given:
        case "add_message", (status,):
            return await store.add_message(key, said(number), status)
        case (("add_messages" | "set_messages"), (count, status)):
            return await getattr(store, name)(key, [said(number + each) for each in range(count)], status)
        case "get_messages", (status, limit):
            return await store.get_messages(key, status, limit)
        case _:
            return await getattr(store, name)(key, *given)


async def contents(store: AsyncDBChatStore) -> Any:
    return {key: await store.get_messages(key, None) for key in sorted(await store.get_keys())}


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, min_size=3, max_size=12))
def test_door_8_the_store_behaves_as_llama_indexes_own(
    embedded: Cloister, new_user: NewUser, steps: Sequence[tuple[Any, ...]]
) -> None:
    """DOOR-8: every call answers the same, and the same is there at the end; the chats of a user next to it are their own."""
    user = new_user()

    async def compare() -> None:
        theirs = SQLAlchemyChatStore(table_name="messages")
        ours = CloisterChatStore(embedded, user_id=user)
        next_to_it = CloisterChatStore(embedded, user_id=f"{user}-b")
        try:
            for number, (name, *given) in enumerate(steps):
                results = [await step(store, 10 * number, name, *given) for store in (theirs, ours)]
                assert results[0] == results[1], name
            assert await contents(theirs) == await contents(ours)
            assert await next_to_it.get_keys() == []
            for key in await ours.get_keys():
                await ours.delete_messages(key)
        finally:
            engine: Any = theirs._async_engine  # pyright: ignore[reportPrivateUsage]
            if engine is not None:
                await engine.dispose()

    asyncio.run(compare())
    left = embedded.run_entry_operations([{"op": "search", "namespace_prefix": ["\x01llama_index"]}], user_id=user)
    assert left == [[]]


def test_door_8_a_message_is_deleted_by_its_number(embedded: Cloister, new_user: NewUser) -> None:
    """DOOR-8: a number that is missing, and one of another user's chat, delete nothing."""
    store, other = (CloisterChatStore(embedded, user_id=new_user()) for _ in range(2))

    async def work() -> None:
        await store.add_messages("chat", [said(number) for number in range(3)])
        assert await other.delete_message("chat", 2) is None and await store.delete_message("chat", 4) is None
        assert await store.delete_message("chat", 2) == said(1)
        await store.add_message("chat", said(7))
        assert await store.delete_message("chat", 4) == said(7)
        assert await store.get_messages("chat") == [said(0), said(2)]

    asyncio.run(work())


def test_door_8_llama_indexes_memory_uses_it_at_a_server(memory: Cloister, new_user: NewUser) -> None:
    """DOOR-8, ISO-4: an unmodified `Memory`, with the same id of a session for two users."""

    async def work() -> None:
        users = [new_user(), new_user()]
        chats = [
            Memory.from_defaults(  # pyright: ignore[reportUnknownMemberType]
                session_id="chat",
                token_limit=60,
                chat_history_token_ratio=0.5,
                token_flush_size=20,
                chat_store=CloisterChatStore(memory, user_id=user),
            )
            for user in users
        ]
        for number in range(12):
            await chats[0].aput(ChatMessage(role="user", content=f"I keep {number} bees in my garden in Turin."))
        assert await chats[1].aget_all() == [] and await chats[1].aget() == []
        kept = await chats[0].aget_all(status=None)
        assert len(kept) == 12
        archived = await CloisterChatStore(memory, user_id=users[0]).count_messages("chat", MessageStatus.ARCHIVED)
        assert archived > 0
        await chats[1].areset()
        assert len(await chats[0].aget_all(status=None)) == 12
        assert await CloisterChatStore(memory, user_id=users[0], project_id=None).get_keys() == []

    asyncio.run(work())


def test_door_8_messages_added_at_once_are_all_kept(memory: Cloister, new_user: NewUser) -> None:
    """DOOR-8: a change of a chat that others change meanwhile is tried again, on both engines."""
    store = CloisterChatStore(memory, user_id=new_user())

    async def work() -> None:
        await asyncio.gather(*(store.add_message("chat", said(number)) for number in range(6)))
        found = await store.get_messages("chat")
        assert sorted(each.additional_kwargs["number"][0] for each in found) == list(range(6))

    asyncio.run(work())


def test_door_8_a_chat_that_never_rests_is_refused(
    embedded: Cloister, new_user: NewUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DOOR-8, ISO-13: the number of attempts is bounded."""
    run = embedded.run_entry_operations

    def busy(operations: Sequence[dict[str, Any]], **named: Any) -> list[Any]:
        if any(each["op"] == "expect" for each in operations):
            raise Conflict("changed")
        return run(operations, **named)

    monkeypatch.setattr(embedded, "run_entry_operations", busy)
    with pytest.raises(Conflict, match="Try again later"):
        asyncio.run(CloisterChatStore(embedded, user_id=new_user()).add_message("chat", said(1)))
