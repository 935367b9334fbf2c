"""Changes that meet: between two questions of an index that has already seen the pool, and between two writers at once."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from cloister.bootstrap import Services
from cloister.domain.conversation import Draft
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import PoolId, ProjectId
from cloister.domain.scope import PoolKey, Reach
from cloister.index.exact.index import LARGE
from cloister.index.exact.large import block as large_block
from cloister.services.conversations import move
from cloister.services.conversations import sessions as keep_sessions
from cloister.services.conversations.sessions import SessionFields
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import MemoryHit, SearchTarget
from cloister.storage.stores.pools import PoolStore
from support.databases.engines import Engine, exact_index

PATIENCE = 0.2


class Scene:
    """One tenant, the session that asks and the one that changes, seen by a Cloister other than the one that writes."""

    def __init__(self, engine: Engine, large: int = LARGE) -> None:
        self.writer, self.reader = engine.services(), engine.services(index=exact_index(large=large))
        self.reach = Reach(tenant=self.writer.projects.create_tenant("Scene")[0])
        self.garden = self.writer.projects.create_project(self.reach, "Garden").id
        for name in ("asking", "changing"):
            self.create(name)
        self.say("asking", "I ask about the roses.")

    def create(self, name: str, project: ProjectId | None = None) -> None:
        self.writer.sessions.create(self.reach, SessionFields(external_id=name, project=project))

    def say(self, name: str, *contents: str) -> None:
        drafts = [Draft(role="user", content=content) for content in contents]
        self.writer.record.messages(self.reach, name, drafts)

    def move(self, project: ProjectId | None, name: str = "changing") -> None:
        self.writer.sessions.move(self.reach, name, project)

    def recalled(self, name: str = "asking", services: Services | None = None) -> list[str]:
        """What the pool of a session holds besides its own words, as the reader finds it."""
        asked = services or self.reader
        context = asked.context.build(
            self.reach, name, ContextRequest(question="roses", semantic_limit=1_000, min_relevance=0)
        )
        assert asked.recall.foreign_hits == 0, "the index still knows what is gone"
        return sorted(item.message.content for item in context.relevant_history)


@pytest.fixture(params=["full scan", "two stages"])
def scene(engine: Engine, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """The reader's index scans small pools in full, or treats every pool as a large one."""
    monkeypatch.setattr(large_block, "KEPT_VECTORS", 0)
    return Scene(engine, 1 if request.param == "two stages" else LARGE)


def test_a_session_that_left_was_cleared_and_came_back_is_known_as_it_is_now(scene: Scene) -> None:
    """ISO-5: between two questions; the versions that the other pool gave it mean nothing here."""
    for number in range(30):
        scene.say("asking", f"filler {number}")
    scene.say("changing", "one", "two", "three")
    assert {"one", "two", "three"} <= set(scene.recalled())
    scene.move(scene.garden)
    scene.writer.forgetting.contents(scene.reach, "changing")
    scene.say("changing", "four")
    scene.move(None)
    assert {"one", "two", "three", "four"} & set(scene.recalled()) == {"four"}


def test_a_message_deleted_while_its_session_was_away_stays_deleted(scene: Scene) -> None:
    """ISO-5."""
    for number in range(30):
        scene.say("asking", f"filler {number}")
    scene.say("changing", "one", "two")
    scene.recalled()
    _, (first, _) = scene.writer.sessions.messages(scene.reach, "changing", limit=10)
    scene.move(scene.garden)
    scene.writer.forgetting.message(scene.reach, first.id)
    scene.move(None)
    assert {"one", "two"} & set(scene.recalled()) == {"two"}


def test_what_is_deleted_is_gone_from_the_index_of_every_cloister_at_once(scene: Scene) -> None:
    """Not only hidden: the index no longer names it (`recalled` looks at that), here and in other processes."""
    scene.say("changing", "one", "two", "three")
    for services in (scene.writer, scene.reader):
        assert scene.recalled(services=services) == ["one", "three", "two"]
    _, (_, second, _) = scene.writer.sessions.messages(scene.reach, "changing", limit=10)
    scene.writer.forgetting.message(scene.reach, second.id)
    for services in (scene.writer, scene.reader):
        assert scene.recalled(services=services) == ["one", "three"]
    scene.writer.forgetting.contents(scene.reach, "changing")
    for services in (scene.writer, scene.reader):
        assert scene.recalled(services=services) == []


def test_a_session_made_again_under_its_old_name_brings_nothing_back(scene: Scene) -> None:
    """ISO-5."""
    scene.say("changing", "one")
    assert scene.recalled() == ["one"]
    scene.writer.forgetting.session(scene.reach, "changing")
    scene.create("changing")
    assert scene.recalled() == []
    scene.say("changing", "two")
    assert scene.recalled() == ["two"]


def test_the_whole_history_moves_with_its_session_by_the_next_question(scene: Scene) -> None:
    """ISO-3, ISO-5: into a project, out of it, and every Cloister over the same data agrees."""
    scene.create("gardener", scene.garden)
    scene.say("gardener", "What grows?")
    scene.say("changing", "one", "two")
    for services in (scene.writer, scene.reader):
        assert scene.recalled(services=services) == ["one", "two"]
        assert scene.recalled("gardener", services) == []
    scene.move(scene.garden)
    for services in (scene.writer, scene.reader):
        assert scene.recalled(services=services) == []
        assert scene.recalled("gardener", services) == ["one", "two"]
    scene.move(None)
    for services in (scene.writer, scene.reader):
        assert scene.recalled(services=services) == ["one", "two"]
        assert scene.recalled("gardener", services) == []


def test_a_session_made_for_a_project_is_never_in_the_shared_pool(scene: Scene) -> None:
    """ISO-7: there is no moment in which its first message is unassigned."""
    scene.recalled()
    scene.create("gardener", scene.garden)
    scene.say("gardener", "secret of the garden")
    assert scene.recalled() == []
    assert scene.recalled("changing") == ["I ask about the roses."]


def test_what_one_session_said_is_not_shown_as_said_in_another(scene: Scene) -> None:
    """CTX-4."""
    scene.say("changing", "Hello session 2")
    context = scene.reader.context.build(
        scene.reach, "asking", ContextRequest(question="What did I say?", min_relevance=0)
    )
    assert [item.message.content for item in context.current_conversation] == ["I ask about the roses."]
    assert [item.message.content for item in context.relevant_history] == ["Hello session 2"]


def test_after_its_project_was_deleted_a_session_is_in_the_shared_pool_of_its_user(scene: Scene) -> None:
    """ORG-5, ISO-10."""
    for name, user in (("of ann", "ann"), ("of bob", "bob")):
        fields = SessionFields(external_id=name, project=scene.garden, user_id=user)
        scene.writer.sessions.create(scene.reach, fields)
        scene.say(name, f"word {name}")
    scene.writer.projects.change_project(scene.reach, scene.garden, member_visibility="shared")
    assert scene.recalled("of ann") == ["word of bob"]
    assert scene.writer.projects.delete_project(scene.reach, scene.garden).sessions == 2
    assert scene.recalled("of ann") == []
    assert scene.recalled() == []
    scene.writer.sessions.create(scene.reach, SessionFields(external_id="ann again", user_id="ann"))
    assert scene.recalled("ann again") == ["word of ann"]


def test_searches_while_sessions_move_never_mix_the_pools(scene: Scene) -> None:
    """ISO-4, ISO-5: each question is answered from one moment, before the move or after it."""
    scene.create("gardener", scene.garden)
    scene.say("gardener", "garden words")
    scene.say("changing", "one", "two", "three")
    whole = ["one", "three", "two"]
    stop = threading.Event()

    def move_about() -> int:
        moves = 0
        while not stop.is_set() or moves < 10:
            scene.move(scene.garden)
            scene.move(None)
            moves += 1
        return moves

    with ThreadPoolExecutor(1) as thread:
        moving = thread.submit(move_about)
        try:
            for _ in range(40):
                assert scene.recalled() in ([], whole)
                assert scene.recalled("gardener") in ([], whole)
        finally:
            stop.set()
        assert moving.result() >= 10


def meeting(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, act: Callable[[], object], meanwhile: Callable[[], object]
) -> tuple[BaseException | None, BaseException | None]:
    """Run `act`, and `meanwhile` when it has looked at its project but not yet written; a lock may make either wait."""
    looked, done = threading.Event(), threading.Event()

    class Hesitant(PoolStore):
        def ensure(self, key: PoolKey) -> PoolId:
            if not looked.is_set():
                looked.set()
                done.wait(PATIENCE)
            return super().ensure(key)

    for service in (keep_sessions, move):
        monkeypatch.setattr(service, "PoolStore", Hesitant)

    def after_it_looked() -> None:
        assert looked.wait(10), "nobody looked at a project"
        meanwhile()
        done.set()

    with ThreadPoolExecutor(2) as threads:
        one, other = threads.submit(act), threads.submit(after_it_looked)
        return one.exception(), other.exception()


def test_a_session_made_while_its_project_is_deleted_is_refused_or_returned_to_the_shared_pool(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ORG-5: no session is ever left in a project that is gone."""
    refusal, failure = meeting(
        scene,
        monkeypatch,
        lambda: scene.create("gardener", scene.garden),
        lambda: scene.reader.projects.delete_project(scene.reach, scene.garden),
    )
    assert failure is None
    assert refusal is None or isinstance(refusal, NotFound)
    listed = scene.reader.sessions.page(scene.reach, limit=100)
    assert {session.project for session in listed} == {None}


def test_a_session_moved_while_its_new_project_is_deleted_is_refused_or_returned_to_the_shared_pool(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ORG-5."""
    scene.say("changing", "one")
    refusal, failure = meeting(
        scene,
        monkeypatch,
        lambda: scene.move(scene.garden),
        lambda: scene.reader.projects.delete_project(scene.reach, scene.garden),
    )
    assert failure is None
    assert refusal is None or isinstance(refusal, NotFound)
    assert scene.reader.sessions.get(scene.reach, "changing").project is None
    assert scene.recalled() == ["one"]


def test_memories_that_moved_away_are_not_even_candidates_in_the_pool_they_left(engine: Engine) -> None:
    """ISO-5: the index of the old pool is told of the move; storage alone would hide them, at the cost of true hits."""
    services = engine.services()
    reach = Reach(tenant=services.projects.create_tenant("One")[0])
    garden, kitchen = (services.projects.create_project(reach, name).id for name in ("Garden", "Kitchen"))
    for name in ("stays", "leaves"):
        services.sessions.create(reach, SessionFields(external_id=name, project=garden, user_id="ann"))
        services.memories.add(reach, name, [f"The rose that {name} is red."])

    def found() -> list[str]:
        hits = services.search.search(reach, "rose", SearchTarget(session="stays"), 10, ["memories"], min_relevance=0)
        return sorted(hit.stored.memory.content for hit in hits if isinstance(hit, MemoryHit))

    assert len(found()) == 2
    services.sessions.move(reach, "leaves", kitchen)
    assert found() == ["The rose that stays is red."]
    assert services.recall.foreign_hits == 0
