"""Conversations as an application holds them, through the library, on both engines."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import cloister
from cloister import AsyncCloister, Cloister, Conflict, InvalidRequest, NotFound
from cloister.bootstrap import wire
from cloister.domain.errors import IdempotencyMismatch
from cloister.index.exact import ExactIndex
from cloister.models.static_embedder import StaticEmbedder
from cloister.storage.interface import Database


@pytest.fixture
def memory(database: Database) -> Iterator[Cloister]:
    embedder = StaticEmbedder()
    index = ExactIndex(embedder.embed_query, embedder.dimension, 100_000_000)
    yield Cloister(services=wire(database, index=index, embedder=embedder))


def contents(items: tuple[cloister.ContextItem, ...]) -> list[str]:
    return [item.content for item in items]


def test_what_was_said_in_another_session_is_not_in_the_current_conversation(memory: Cloister) -> None:
    """CTX-4"""
    memory.create_session("one")
    memory.create_session("two")
    memory.record("one", "user", "Hello session 1")
    memory.record("two", "user", "Hello session 2")
    memory.record("one", "user", "What did I say?")
    context = memory.context("one")
    assert contents(context.current_conversation) == ["Hello session 1", "What did I say?"]
    assert {item.source for item in context.current_conversation} == {"session"}
    assert contents(context.relevant_history) == ["Hello session 2"]
    assert {item.source for item in context.relevant_history} == {"semantic"}


def test_current_conversation_and_relevant_history_never_overlap_and_chat_history_holds_both(memory: Cloister) -> None:
    """CTX-1"""
    memory.create_session("long")
    for number in range(60):
        memory.record("long", ("user", "assistant")[number % 2], f"Note {number} about the lighthouse.")  # type: ignore[arg-type]
    context = memory.context("long", "lighthouse")
    current, related = (
        {item.id for item in context.current_conversation},
        {item.id for item in context.relevant_history},
    )
    assert len(current) == 40
    assert len(related) == 20
    assert not current & related
    assert {item.id for item in context.chat_history} == current | related
    assert len(context.chat_history) == 60


def test_limits_and_sources_can_be_set_by_request_and_by_project(memory: Cloister) -> None:
    """CTX-2"""
    project = memory.create_project("Sources").project_id
    memory.create_session("s", project_id=project)
    memory.create_session("t", project_id=project)
    for number in range(30):
        memory.record("s", "user", f"Fact {number} about rivers.")
        memory.record("s", "assistant", f"Reply {number} about rivers.")
    assert len(memory.context("s", recent_limit=3).current_conversation) == 6
    assert len(memory.context("t", "rivers", semantic_limit=2).relevant_history) == 4
    only_users = [{"role": "user", "method": "semantic", "limit": 5}]
    assert {item.role for item in memory.context("t", "rivers", sources=only_users).relevant_history} == {"user"}
    memory.update_project(project, settings={"context_sources": only_users})
    assert len(memory.context("t", "rivers").relevant_history) == 5
    within = [{"role": "user", "method": "semantic", "limit": 50, "conversation_scope": "current"}]
    assert memory.context("t", "rivers", sources=within).relevant_history == ()
    latest = [{"role": "assistant", "method": "recent", "limit": 2, "conversation_scope": "pool"}]
    assert contents(memory.context("t", "rivers", sources=latest).relevant_history) == [
        "Reply 29 about rivers.",
        "Reply 28 about rivers.",
    ]
    with pytest.raises(InvalidRequest, match=r"sources\[0\].role"):
        memory.context("t", sources=[{"role": "nobody", "method": "recent"}])


def test_a_budget_is_kept_current_conversation_first_and_what_is_left_out_is_said(memory: Cloister) -> None:
    """CTX-5"""
    memory.create_session("past")
    memory.create_session("now")
    for number in range(20):
        memory.record("past", "user", f"The tide table number {number} hangs in the kitchen.")
        memory.record("now", "user", f"Message {number} of this talk.")
    whole = memory.context("now", "tide table")
    assert whole.omitted == {"current_conversation": 0, "relevant_history": 0}
    half = memory.context("now", "tide table", budget_tokens=whole.tokens // 2)
    assert half.tokens <= whole.tokens // 2
    assert contents(half.current_conversation)[-1] == "Message 19 of this talk."
    assert sum(half.omitted.values()) == 30 - len(half.chat_history)
    nothing = memory.context("now", "tide table", budget_tokens=0)
    assert nothing.chat_history == ()
    with pytest.raises(InvalidRequest, match="budget_tokens"):
        memory.context("now", budget_tokens=-1)


def test_tags_and_trigger_are_stamped_and_cannot_be_forged(memory: Cloister) -> None:
    """CTX-3"""
    project = memory.create_project("P").project_id
    memory.create_session("s", project_id=project, user_id="ann", tags=["mood:calm"])
    question = memory.record("s", "user", "Is the kettle on?")
    reply = memory.record("s", "assistant", "It is.")
    assert question.tags == ("session:s", "user:ann", f"project:{project}", "mood:calm")
    assert question.context.trigger_id is None
    assert reply.context.trigger_id == question.id
    assert reply.context.session_id == "s"
    with pytest.raises(InvalidRequest, match="reserved"):
        memory.create_session("forged", tags=["project:proj_0000000000000001"])


def test_every_exchange_becomes_an_episode_that_can_be_found(memory: Cloister) -> None:
    """ISO-9"""
    memory.create_session("s")
    episode = memory.record_episode("s", "Where is the spare key?", "Under the blue flowerpot.")
    assert len(episode.message_ids) == 2
    by_reply, by_question = memory.search("blue flowerpot"), memory.search("spare key")
    assert by_reply[0].id == by_question[0].id == episode.id
    assert len(by_reply) == 1
    memory.record("s", "user", "And the ladder?")
    assert memory.search("ladder")[0].id != episode.id


def test_a_session_created_for_a_project_belongs_to_it_from_its_first_message(memory: Cloister) -> None:
    """ISO-7"""
    project = memory.create_project("P").project_id
    memory.create_session("shared")
    memory.create_session("s", project_id=project)
    memory.record("s", "user", "The vault opens at nine.")
    assert memory.context("shared", "vault").relevant_history == ()
    assert memory.search("vault", project_id=project)


def test_the_same_idempotency_key_records_once_and_answers_alike(memory: Cloister) -> None:
    memory.create_session("s")
    first = memory.record("s", "user", "Once only.", idempotency_key="k")
    again = memory.record("s", "user", "Once only.", idempotency_key="k")
    assert again == first
    assert memory.session("s").message_count == 1
    with pytest.raises(IdempotencyMismatch):
        memory.record("s", "user", "Something else.", idempotency_key="k")
    assert memory.session("s").message_count == 1


def test_a_repeated_key_after_the_message_was_forgotten_brings_nothing_back(memory: Cloister) -> None:
    memory.create_session("s")
    first = memory.record("s", "user", "A secret word.", idempotency_key="k")
    memory.forget_message(first.id)
    assert memory.record("s", "user", "A secret word.", idempotency_key="k").id == first.id
    assert memory.messages("s") == []


def test_creating_a_session_twice_is_the_same_session_unless_the_fields_differ(memory: Cloister) -> None:
    first = memory.create_session("s", user_id="ann")
    assert memory.create_session("s", user_id="ann") == first
    with pytest.raises(Conflict, match="user_id"):
        memory.create_session("s", user_id="bob")


def test_deleting_a_project_returns_its_sessions_to_the_shared_pool(memory: Cloister) -> None:
    """ORG-5"""
    project = memory.create_project("Doomed").project_id
    memory.create_session("s", project_id=project)
    memory.record("s", "user", "The cellar is damp.")
    memory.create_session("shared")
    assert memory.context("shared", "cellar").relevant_history == ()
    assert memory.delete_project(project) == 1
    assert contents(memory.context("shared", "cellar").relevant_history) == ["The cellar is damp."]
    assert memory.session("s").project_id is None
    with pytest.raises(NotFound):
        memory.project(project)
    default = next(found for found in memory.projects() if found.is_default)
    with pytest.raises(Conflict, match="default"):
        memory.delete_project(default.project_id)


def test_clearing_keeps_the_session_and_deleting_frees_its_name(memory: Cloister) -> None:
    memory.create_session("s")
    memory.record_episode("s", "One?", "Two.")
    assert memory.clear_session("s") == cloister.Forgotten(messages=2, episodes=1)
    assert memory.session("s").message_count == 0
    assert memory.context("s", "one").chat_history == ()
    memory.record("s", "user", "Three.")
    assert memory.delete_session("s") == cloister.Forgotten(messages=1, episodes=1)
    with pytest.raises(NotFound):
        memory.session("s")
    assert memory.sessions() == []
    memory.create_session("s")
    assert memory.messages("s") == []


def test_failed_and_partial_replies_are_kept_but_never_recalled(memory: Cloister) -> None:
    from cloister.domain.conversation import Draft

    memory.create_session("s")
    memory.create_session("ask")
    services, reach = memory._services, memory._reach  # pyright: ignore[reportPrivateUsage]
    services.record.messages(reach, "s", [Draft(role="assistant", content="Half a rep", status="partial")])
    assert memory.messages("s")[0].status == "partial"
    assert memory.context("ask", "half a rep").relevant_history == ()


def test_the_async_library_does_the_same_with_await(tmp_path: Path) -> None:
    async def talk() -> list[str]:
        async with AsyncCloister(tmp_path) as memory:
            await memory.create_session("s")
            await asyncio.gather(*(memory.record("s", "user", f"Number {number}.") for number in range(20)))
            return [message.content for message in await memory.messages("s")]

    assert sorted(asyncio.run(talk())) == sorted(f"Number {number}." for number in range(20))


def test_the_async_library_has_every_method_of_the_other() -> None:
    public = {name for name in vars(Cloister) if not name.startswith("_")}
    assert public - set(vars(AsyncCloister)) == set()


def test_an_idempotency_key_means_something_in_its_own_session_only(memory: Cloister) -> None:
    memory.create_session("one")
    memory.create_session("two")
    first = memory.record("one", "user", "Hello.", idempotency_key="turn-1")
    second = memory.record("two", "user", "Hello.", idempotency_key="turn-1")
    assert first.id != second.id


def test_an_object_in_place_of_its_id_is_refused_by_name(memory: Cloister) -> None:
    session, project = memory.create_session("s"), memory.create_project("P")
    with pytest.raises(InvalidRequest, match="session_id: must be the id as text, not Session"):
        memory.record(session, "user", "x")  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidRequest, match="project_id: must be the id as text, not Project"):
        memory.create_session("t", project_id=project)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidRequest, match="tags"):
        memory.create_session("t", tags="abc")


def test_a_mistyped_address_is_refused_and_makes_no_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for wrong in ("postgress://user:secret@host/db", "mysql://x", ""):
        with pytest.raises(InvalidRequest, match="data"):
            Cloister(wrong)
    assert list(tmp_path.iterdir()) == []


def test_what_was_forgotten_is_in_none_of_the_files_while_they_are_open(tmp_path: Path) -> None:
    with Cloister(tmp_path) as memory:
        memory.create_session("s")
        message = memory.record("s", "user", "The word is xylophonist.")
        memory.create_session("t")
        memory.record("t", "user", "Another xylophonist.")
        assert any(b"xylophonist" in path.read_bytes() for path in tmp_path.iterdir())
        memory.forget_message(message.id)
        memory.delete_session("t")
        assert not any(b"xylophonist" in path.read_bytes() for path in tmp_path.iterdir())


def test_the_files_are_the_owners_alone(tmp_path: Path) -> None:
    with Cloister(tmp_path / "data") as memory:
        memory.create_session("s")
        memory.backup(tmp_path / "copy.db")
        files = [*(tmp_path / "data").iterdir(), tmp_path / "copy.db"]
        assert {path.stat().st_mode & 0o077 for path in files} == {0}
        assert (tmp_path / "data").stat().st_mode & 0o077 == 0


def test_the_public_names_are_these() -> None:
    assert sorted(cloister.__all__) == [
        "AsyncCloister",
        "Cloister",
        "CloisterError",
        "Closed",
        "Conflict",
        "Context",
        "ContextItem",
        "Episode",
        "Forbidden",
        "Forgotten",
        "Hit",
        "IdempotencyMismatch",
        "InvalidRequest",
        "Message",
        "NotFound",
        "Project",
        "Session",
        "StorageError",
        "TooLarge",
    ]
