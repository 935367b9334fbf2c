"""DOOR-8: Pydantic AI's conversation store on Cloister behaves as Pydantic AI's own in-memory store, and stays in its part."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic_ai import Agent
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import ConversationConflict, ConversationStore, InMemoryConversationStore
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models.test import TestModel

from adapters.conftest import NewUser
from cloister import Cloister
from cloister.integrations.entry_part import EntryPart, Operation
from cloister.integrations.pydantic_ai import CloisterConversationStore

NAMES = st.sampled_from(["a", "b", "c"])
SCOPES = st.sampled_from([None, None, "x", "y"])
STEPS = st.one_of(
    st.tuples(st.just("talk"), NAMES, SCOPES, st.integers(0, 3)),
    st.tuples(st.just("stale"), NAMES, SCOPES, st.integers(0, 1)),
    st.tuples(st.just("rewrite"), NAMES, SCOPES, st.integers(0, 2)),
    st.tuples(st.just("branch"), NAMES, SCOPES, st.integers(0, 3)),
    st.tuples(st.just("back"), NAMES, SCOPES, st.integers(0, 1)),
    st.tuples(st.just("fork"), NAMES, SCOPES, st.integers(0, 4)),
    st.tuples(st.just("delete"), NAMES, SCOPES, st.just(0)),
    st.tuples(st.just("load"), NAMES, SCOPES, st.integers(0, 4)),
)


def message(number: int) -> ModelMessage:
    if number % 2:
        return ModelResponse(parts=[TextPart(f"answer {number} \x00 é 🐝")])
    return ModelRequest(parts=[UserPromptPart(f"question {number}")])


class Walk:
    """Runs the steps on one store. Messages are shared by both stores, and ids, which each store makes, are not compared."""

    def __init__(self, store: ConversationStore, messages: Callable[[], ModelMessage]) -> None:
        self.store = store
        self.message = messages
        self.old: dict[str, Conversation] = {}

    async def step(self, kind: str, name: str, scope: str | None, number: int) -> Any:
        try:
            return await getattr(self, kind)(name, scope, number)
        except (ConversationConflict, UserError) as error:
            return type(error).__name__

    async def talk(self, name: str, scope: str | None, number: int) -> Any:
        loaded = await self.store.load(name, scope=scope)
        if loaded is not None:
            self.old[name] = Conversation(
                messages=list(loaded.messages), conversation_id=name, revision=loaded.revision
            )
        conversation = loaded or Conversation(conversation_id=name)
        conversation.messages.extend(self.message() for _ in range(number))
        conversation.usage.requests += number
        return len(await self.store.save(conversation, scope=scope))

    async def stale(self, name: str, scope: str | None, number: int) -> Any:
        conversation = self.old.get(name) or Conversation(conversation_id=name)
        conversation.messages.extend(self.message() for _ in range(number))
        return len(await self.store.save(conversation, scope=scope))

    async def rewrite(self, name: str, scope: str | None, number: int) -> Any:
        loaded = await self.store.load(name, scope=scope)
        if loaded is None:
            return None
        rewritten = [*loaded.messages[:number], self.message()]
        conversation = Conversation(messages=rewritten, conversation_id=name, revision=loaded.revision)
        return len(await self.store.save(conversation, scope=scope))

    async def branch(self, name: str, scope: str | None, number: int) -> Any:
        loaded = await self.store.load(name)
        revision = None if loaded is None else loaded.revision
        found = await self.store.branch(name, at=number, expected_revision=revision, scope=scope)
        return found.messages

    async def back(self, name: str, scope: str | None, number: int) -> Any:
        record = await self.store.read_record(name)
        if record is None or len(record.branches) <= number:
            return None
        tip = record.branches[number]
        found = await self.store.branch(name, from_entry=tip, expected_revision=record.revision, scope=scope)
        return found.messages

    async def fork(self, name: str, scope: str | None, number: int) -> Any:
        target = "abcde"[number]
        found = await self.store.fork(name, at=number or None, new_conversation_id=target, scope=scope)
        return found.messages, found.usage

    async def delete(self, name: str, scope: str | None, number: int) -> Any:
        await self.store.delete(name, scope=scope)

    async def load(self, name: str, scope: str | None, number: int) -> Any:
        found = await self.store.load(name, limit=number or None, scope=scope)
        return None if found is None else (found.messages, found.usage, found.conversation_id)

    async def everything(self) -> Any:
        listed = [
            (each.conversation_id, each.scope, each.forked_from, len(each.branches), each.usage)
            for each in await self.store.list_conversations()
        ]
        loaded = [await self.load(name, None, 0) for name, *_ in listed]
        return (
            listed,
            loaded,
            [each.conversation_id for each in await self.store.list_conversations(scope="x", limit=2)],
        )


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, min_size=4, max_size=14))
def test_door_8_the_store_behaves_as_pydantic_ais_own(embedded: Cloister, new_user: NewUser, steps: list[Any]) -> None:
    """DOOR-8: every step gives the same on both, and so does what is there at the end; a user next to it stays empty."""
    user = new_user()

    async def compare() -> None:
        made: list[ModelMessage] = []
        walks: list[Walk] = []
        for store in (InMemoryConversationStore(), CloisterConversationStore(embedded, user_id=user)):
            taken = iter(range(1_000))

            def following(taken: Iterator[int] = taken) -> ModelMessage:
                number = next(taken)
                if number == len(made):
                    made.append(message(number))
                return made[number]

            walks.append(Walk(store, following))
        for step in steps:
            first, second = [await walk.step(*step) for walk in walks]
            assert first == second, step
        theirs, ours = [await walk.everything() for walk in walks]
        assert theirs == ours
        assert await CloisterConversationStore(embedded, user_id=f"{user}-b").list_conversations() == []
        for record in await walks[1].store.list_conversations():
            await walks[1].store.delete(record.conversation_id)
        left = embedded.run_entry_operations(
            [{"op": "search", "namespace_prefix": ["\x01pydantic_ai", "entries"]}], user_id=user
        )
        assert left == [[]]

    asyncio.run(compare())


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def main() -> None:
        await work()

    asyncio.run(main())


def test_door_8_an_agent_continues_a_conversation_at_a_server(memory: Cloister, new_user: NewUser) -> None:
    """DOOR-8, ISO-4: an unmodified agent; another user with the same id of a conversation finds nothing and deletes nothing."""
    user = new_user()

    async def work() -> None:
        store = CloisterConversationStore(memory, user_id=user)
        agent = Agent(TestModel(custom_output_text="Noted."))
        result = await agent.run("I keep bees.", conversation=Conversation(conversation_id="chat"))
        await store.save(result)
        again = await CloisterConversationStore(memory, user_id=user).load("chat")
        assert again is not None
        await store.save(await agent.run("And wasps.", conversation=again))
        loaded = await store.load("chat")
        assert loaded is not None and len(loaded.messages) == 4
        other = CloisterConversationStore(memory, user_id=new_user())
        assert await other.load("chat") is None and await other.list_conversations() == []
        await other.delete("chat")
        entries = await store.load_entries("chat")
        assert entries is not None
        with pytest.raises(KeyError):
            await other.read_entry(entries[0].id)
        assert await CloisterConversationStore(memory, project_id=None, user_id=user).load("chat") is None
        assert (await store.load("chat")) == loaded

    run(work)


def test_door_8_of_two_saves_at_once_one_is_made(memory: Cloister, new_user: NewUser) -> None:
    """DOOR-8: revisions are compared in the transaction that stores, on both engines."""
    user = new_user()

    async def work() -> None:
        store = CloisterConversationStore(memory, user_id=user)
        await store.save(Conversation(conversation_id="chat", messages=[message(0)]))
        loaded = [await store.load("chat") for _ in range(4)]

        async def save(number: int, conversation: Conversation | None) -> bool:
            assert conversation is not None
            conversation.messages.append(message(number))
            try:
                await store.save(conversation)
            except ConversationConflict:
                return False
            return True

        saved = await asyncio.gather(*(save(number, each) for number, each in enumerate(loaded, 1)))
        assert saved.count(True) == 1
        found = await store.load("chat")
        assert found is not None and len(found.messages) == 2

    run(work)


def test_door_8_a_long_history_is_saved_and_deleted(embedded: Cloister, new_user: NewUser) -> None:
    """DOOR-8: more messages than fit into one batch."""
    user = new_user()

    async def work() -> None:
        store = CloisterConversationStore(embedded, user_id=user)
        messages = [message(number) for number in range(951)]
        await store.save(Conversation(conversation_id="long", messages=messages))
        loaded = await store.load("long", limit=3)
        assert loaded is not None and loaded.messages == messages[-3:]
        await store.delete("long")

    run(work)
    search = [
        {"op": "search", "namespace_prefix": ["\x01pydantic_ai", kind], "limit": 5} for kind in ("entries", "records")
    ]
    assert embedded.run_entry_operations(search, user_id=user) == [[], []]


def interrupted(monkeypatch: pytest.MonkeyPatch, chosen: Callable[[Operation], bool], work: Callable[[], Any]) -> None:
    """Do this work once, after the first batch with such an operation."""
    run_batch = EntryPart.run
    done: list[bool] = []

    async def run(part: EntryPart, *operations: Operation) -> list[Any]:
        results = await run_batch(part, *operations)
        if not done and any(map(chosen, operations)):
            done.append(True)
            await work()
        return results

    monkeypatch.setattr(EntryPart, "run", run)


@pytest.mark.parametrize("name", ["", "zz"])
def test_door_8_a_fork_that_is_continued_while_the_first_is_deleted_keeps_its_history(
    memory: Cloister, new_user: NewUser, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """DOOR-8: a record that was saved between two pages of the list was on neither, and its entries were deleted."""
    store = CloisterConversationStore(memory, user_id=new_user())

    async def work() -> None:
        said = [message(number) for number in (0, 1, 4)]
        await store.save(Conversation(conversation_id="chat", messages=said[:2]))
        fork = await store.fork("chat", new_conversation_id=f"{name}fork")
        for number in range(35):
            await store.save(Conversation(conversation_id=f"other-{number}", messages=[message(2)]))

        async def continue_fork() -> None:
            fork.messages.append(said[2])
            await store.save(fork)

        interrupted(monkeypatch, lambda operation: operation["op"] == "list", continue_fork)
        await store.delete("chat")
        loaded = await store.load(f"{name}fork")
        assert loaded is not None and loaded.messages == said
        assert await store.load("chat") is None

    run(work)


def test_door_8_a_fork_made_while_a_long_conversation_is_deleted_is_whole_or_refused(
    embedded: Cloister, new_user: NewUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DOOR-8: the deletion takes several batches. What the fork shares is left, and the rest is deleted all the same."""
    user = new_user()
    store = CloisterConversationStore(embedded, user_id=user)
    messages = [message(number) for number in range(1_000)]
    forks: dict[int, str] = {}

    async def work() -> None:
        await store.save(Conversation(conversation_id="long", messages=messages))
        record, entries = await store.read_record("long"), await store.load_entries("long")
        assert record is not None and entries is not None

        async def fork() -> None:
            """As `fork` does that has read the conversation before it was deleted."""
            for at in (50, 990):
                head = entries[at - 1].id
                made = replace(record, conversation_id=f"fork-{at}", head_id=head, revision="1")
                try:
                    await store.write_record(made, expected_revision=None)
                except ConversationConflict:
                    forks[at] = "refused"
                else:
                    forks[at] = "made"

        is_deletion = {"op": "delete", "namespace": ("\x01pydantic_ai", "records"), "key": "long"}
        interrupted(monkeypatch, lambda operation: operation == is_deletion, fork)
        await store.delete("long")
        loaded = await store.load("fork-50")
        assert loaded is not None and loaded.messages == messages[:50]

    run(work)
    assert forks == {50: "made", 990: "refused"}
    left = embedded.run_entry_operations(
        [{"op": "list", "namespace": ["\x01pydantic_ai", "entries"], "limit": 1_000}], user_id=user
    )
    assert len(left[0]) == 50


def test_door_8_conversations_that_are_forked_at_once_are_all_saved(memory: Cloister, new_user: NewUser) -> None:
    """DOOR-8: they share a counter, which is no reason to refuse one of them."""
    store = CloisterConversationStore(memory, user_id=new_user())

    async def work() -> None:
        await store.save(Conversation(conversation_id="chat", messages=[message(0)]))
        await asyncio.gather(*(store.fork("chat", new_conversation_id=f"fork-{number}") for number in range(4)))
        assert len(await store.list_conversations()) == 5

    run(work)
