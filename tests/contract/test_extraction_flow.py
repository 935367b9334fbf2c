"""Extraction: when it is due, who may run it, and that all of it happens or nothing (MEM-3 to MEM-6, MEM-10)."""

from collections.abc import Generator
from contextlib import contextmanager
from itertools import pairwise
from threading import Thread
from typing import Any

import pytest

from cloister.domain.conversation import Draft, Role, Status
from cloister.domain.errors import Conflict, ModelUnavailable, NotFound
from cloister.domain.memory import quoted
from cloister.domain.scope import Reach
from cloister.models.openai.endpoint import Endpoint
from cloister.models.openai.extractor import OpenAiExtractor
from cloister.services.memories import extract
from support.databases.engines import Engine
from support.servers.fake_endpoint import Answer, Asked, FakeEndpoint, completed, completion, fake_endpoint, refusal
from support.setups.extraction import run_due
from support.setups.memories import HOUR, MemorySetup, settle_house


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


@pytest.fixture
def model() -> Generator[FakeEndpoint]:
    with fake_endpoint() as endpoint:
        yield endpoint


def of_model(engine: Engine, model: FakeEndpoint) -> MemorySetup:
    endpoint = Endpoint(url=model.url, model="m", tries=1)
    return settle_house(engine, extractor=OpenAiExtractor(endpoint))


def memories_of(asked: Asked) -> Answer:
    """One memory of each statement, and nothing else."""
    kinds: list[str] = list(asked.body["response_format"]["json_schema"]["schema"]["properties"])
    made = [{"content": f"Noted {text}", "sources": [number]} for number, text in asked.statements.items()]
    return completed({kind: made if kind == "memories" else list[object]() for kind in kinds})


def note(house: MemorySetup, name: str, role: Role, status: Status = "completed", content: str = "Words.") -> None:
    draft = Draft(role=role, content=content, status=status)
    house.services.record.messages(house.reach, name, [draft])


def test_mem_3_a_session_is_due_after_the_reply_that_makes_four_unchecked(house: MemorySetup) -> None:
    house.session("a")
    roles: tuple[Role, ...] = ("user", "user", "assistant", "user", "assistant")
    for role, pending in zip(roles, (False, False, False, False, True), strict=True):
        note(house, "a", role)
        assert house.is_pending("a") == pending
    assert house.checked("a") == [False] * 5
    assert run_due(house.services) == 1
    assert house.checked("a") == [True] * 5
    assert not house.is_pending("a")
    assert run_due(house.services) == 0


def test_mem_3_only_completed_messages_count_and_only_a_completed_reply_schedules(house: MemorySetup) -> None:
    house.session("a")
    for _ in range(5):
        note(house, "a", "user", "partial")
        note(house, "a", "assistant", "failed")
    assert not house.is_pending("a")
    for _ in range(4):
        note(house, "a", "user")
    note(house, "a", "assistant", "partial")
    assert not house.is_pending("a")
    note(house, "a", "assistant")
    assert house.is_pending("a")
    run_due(house.services)
    assert house.checked("a") == [False] * 10 + [True] * 4 + [False, True]


def test_mem_3_a_project_says_how_many_are_enough(house: MemorySetup) -> None:
    garden = house.project(pending_message_count=2)
    house.session("in", garden)
    house.session("out")
    for name in ("in", "out"):
        house.say(name, "Hello.")
    assert (house.is_pending("in"), house.is_pending("out")) == (True, False)
    house.services.projects.change_project(house.reach, garden, settings={"pending_message_count": 3})
    run_due(house.services)
    house.say("in", "Hello.")
    assert not house.is_pending("in")
    house.say("in", "Hello.")
    assert house.is_pending("in")


def test_mem_3_a_batch_is_counted_as_what_is_in_it(house: MemorySetup) -> None:
    house.session("a")
    house.say("a", *["Hello."] * 300)
    assert run_due(house.services) == 3
    assert all(house.checked("a"))


def test_mem_4_who_asks_while_a_worker_is_at_it_goes_on_after_it(engine: Engine, model: FakeEndpoint) -> None:
    """Nobody is refused because the worker was faster; and the one who waits is in nobody's way."""
    house = of_model(engine, model)
    house.session("a")
    house.say("a", "Hello.")
    before = len(house.checked("a"))
    done: list[int] = []

    def ask() -> None:
        done.append(house.services.extraction.extract_now(house.reach, "a").checked_messages)

    waiting = Thread(target=ask)

    def while_asked(asked: Asked) -> Answer:
        if not waiting.is_alive() and not done:
            waiting.start()
            house.say("a", "And this.")
        return memories_of(asked)

    model.follows(while_asked)
    house.services.extraction.extract_now(house.reach, "a")
    waiting.join(30)
    assert done == [len(house.checked("a")) - before]
    assert all(house.checked("a"))


def test_mem_4_one_extraction_at_a_time_and_everyone_can_see_it(
    engine: Engine, model: FakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extract, "PATIENCE_SECONDS", 0.1)
    house = of_model(engine, model)
    house.session("a")
    house.say("a", "Hello.")
    seen: list[bool] = []

    def while_asked(asked: Asked) -> Answer:
        seen.append(house.is_pending("a"))
        with pytest.raises(Conflict, match="running already"):
            house.services.extraction.extract_now(house.reach, "a")
        assert run_due(house.services) == 0
        return memories_of(asked)

    model.follows(while_asked)
    assert not house.is_pending("a")
    house.services.extraction.extract_now(house.reach, "a")
    assert seen == [True]
    assert not house.is_pending("a")


def test_mem_4_the_claim_of_a_worker_that_died_runs_out(engine: Engine) -> None:
    house = settle_house(engine)
    house.session("a")
    house.say("a", "My name is Anna.", "I live in Graz.")
    dead = house.services.claims.claim_due()
    assert dead is not None
    assert run_due(house.services) == 0
    house.clock.moment += HOUR
    assert run_due(house.services) == 1
    assert len(house.memories("a")) == 2
    assert house.services.extraction.run(dead).result == "lost"
    assert len(house.memories("a")) == 2


def test_mem_4_a_session_that_nobody_waits_for_is_taken_up_when_its_claimer_dies(house: MemorySetup) -> None:
    """One that was claimed below its threshold."""
    house.session("a")
    house.say("a", "My name is Anna.")
    claim = house.services.claims.claim(house.reach, house.find("a").id)
    assert claim is not None
    assert house.is_pending("a")
    house.clock.moment += HOUR
    assert run_due(house.services) == 1
    assert house.memories("a") == ["The user's name is Anna."]


def test_mem_5_the_assistant_is_shown_what_is_new_and_what_is_known_in_the_same_pool(
    engine: Engine, model: FakeEndpoint
) -> None:
    """ISO-4: of the user's other memories only those of this pool; of other users none."""
    house = of_model(engine, model)
    garden = house.project()
    for name, project, user in (
        ("a", garden, "ann"),
        ("same pool", garden, "ann"),
        ("another user", garden, "bob"),
        ("another pool", None, "ann"),
    ):
        house.session(name, project, user)
        house.services.memories.add(house.reach, name, [f"Known in {name}."])
    house.say("a", "First words.")
    house.services.memories.add(house.reach, "a", ["Known here."])
    model.follows(memories_of)
    house.services.extraction.extract_now(house.reach, "a")
    house.say("a", "Second words.")
    model.asked.clear()
    house.services.extraction.extract_now(house.reach, "a")
    question = next(asked.question for asked in model.asked if asked.statements)
    assert "Second words." in question
    assert "First words." not in question.replace("Noted First words.", "")
    for known in ("Known in a.", "Known here.", "Known in same pool.", "Noted First words."):
        assert known in question
    for unknown in ("another user", "another pool"):
        assert unknown not in question


def test_mem_6_memories_and_flags_come_together(engine: Engine, model: FakeEndpoint) -> None:
    house = of_model(engine, model)
    house.session("a")
    (said,) = house.say("a", "Hello.")
    model.follows(memories_of)
    extracted = house.services.extraction.extract_now(house.reach, "a")
    assert (extracted.memories, extracted.checked_messages) == (1, 2)
    assert house.memories("a") == ["Noted Hello."]
    assert house.stored("a")[0].memory.sources == (said.id,)
    assert house.checked("a") == [True, True]


FAILURES = {
    "down": refusal(503, "no capacity"),
    "forbidden": refusal(401, "wrong key"),
    "no JSON": completion("I would rather not."),
    "another shape": completed({"memories": [{"text": "?"}]}),
    "nothing": completion(None),
    "cut off": completion('{"memories": [', "length"),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_mem_6_a_failure_changes_nothing_shows_on_the_session_and_is_tried_again_later(
    engine: Engine, model: FakeEndpoint, failure: Answer
) -> None:
    house = of_model(engine, model)
    house.session("a")
    house.say("a", "My secret word is xyzzy.", "Hello.")
    before = tables(engine)
    model.answers(failure)
    assert run_due(house.services) == 1
    assert tables(engine) == before
    session = house.find("a")
    assert session.last_extraction_error
    assert "xyzzy" not in session.last_extraction_error
    assert session.memory_job_pending
    assert house.services.claims.failing() == 1
    assert run_due(house.services) == 0
    with pytest.raises(ModelUnavailable):
        house.services.extraction.extract_now(house.reach, "a")

    model.follows(memories_of)
    house.clock.moment += HOUR
    assert run_due(house.services) == 1
    assert house.memories("a") == ["Noted My secret word is xyzzy.", "Noted Hello."]
    session = house.find("a")
    assert (session.last_extraction_error, session.memory_job_pending) == (None, False)
    assert house.services.claims.failing() == 0


def test_mem_6_every_failure_waits_longer_up_to_an_hour(engine: Engine, model: FakeEndpoint) -> None:
    house = of_model(engine, model)
    house.session("a")
    house.say("a", "Hello.", "Hello.")
    model.answers(refusal(503, "no"))
    waits: list[int] = []
    for _ in range(14):
        assert run_due(house.services) == 1
        ((due,),) = engine.rows("SELECT due_at FROM session")
        assert isinstance(due, int)
        waits.append(due - house.clock.moment)
        house.clock.moment = due
    assert all(later > sooner for sooner, later in pairwise(waits[:9]))
    assert waits[0] < HOUR // 300
    assert all(HOUR * 0.99 <= wait <= HOUR * 1.25 for wait in waits[-3:])


@contextmanager
def meanwhile(model: FakeEndpoint, act: Any) -> Generator[None]:
    """While the model is asked for memories, something happens."""
    done: list[None] = []

    def script(asked: Asked) -> Answer:
        if not done:
            done.append(None)
            act()
        return memories_of(asked)

    model.follows(script)
    yield
    assert done


def test_mem_6_what_is_said_while_the_model_thinks_is_read_the_next_time(engine: Engine, model: FakeEndpoint) -> None:
    house = of_model(engine, model)
    house.session("a")
    house.say("a", "Hello.")
    with meanwhile(model, lambda: house.say("a", "Late.", "Later.")):
        house.services.extraction.extract_now(house.reach, "a")
    assert house.memories("a") == ["Noted Hello."]
    assert house.checked("a") == [True, True, False, False, False, False]
    assert run_due(house.services) == 1
    assert "Noted Late." in house.memories("a")


def test_iso_4_a_message_forgotten_while_the_model_thinks_leaves_nothing(engine: Engine, model: FakeEndpoint) -> None:
    house = of_model(engine, model)
    house.session("a")
    first, second = house.say("a", "Hello.", "Goodbye.")
    with meanwhile(model, lambda: house.services.forgetting.message(house.reach, first.id)):
        house.services.extraction.extract_now(house.reach, "a")
    assert house.memories("a") == ["Noted Goodbye."]
    assert house.find("a").memory_count == 1
    sources = engine.rows("SELECT message_id FROM memory_source")
    assert (first.id,) not in sources
    assert (second.id,) in sources


def test_iso_4_a_session_cleared_while_the_model_thinks_stays_empty(engine: Engine, model: FakeEndpoint) -> None:
    house = of_model(engine, model)
    house.session("a")
    house.say("a", "Hello.", "Goodbye.")
    with meanwhile(model, lambda: house.services.forgetting.contents(house.reach, "a")):
        house.services.extraction.extract_now(house.reach, "a")
    assert house.memories("a") == []
    assert house.find("a").memory_count == 0
    assert not house.is_pending("a")


def test_iso_4_a_session_deleted_while_the_model_thinks_stays_deleted(engine: Engine, model: FakeEndpoint) -> None:
    house = of_model(engine, model)
    house.session("a")
    house.say("a", "Hello.", "Goodbye.")
    with meanwhile(model, lambda: house.services.forgetting.session(house.reach, "a")), pytest.raises(Conflict):
        house.services.extraction.extract_now(house.reach, "a")
    assert engine.rows("SELECT content FROM memory") == []
    assert run_due(house.services) == 0


def test_iso_4_what_was_known_in_one_pool_does_not_come_into_another_with_a_session_that_moves(
    engine: Engine, model: FakeEndpoint
) -> None:
    """The model was told of the old pool: nothing that it says then is kept, and it is asked again in the new one."""
    house = of_model(engine, model)
    garden = house.project()
    house.session("a", garden, "ann")
    house.session("b", garden, "ann")
    house.services.memories.add(house.reach, "b", ["Garden secret."])
    house.say("a", "Hello.", "Hello again.")
    with meanwhile(model, lambda: house.move("a", None)), pytest.raises(Conflict, match="moved"):
        house.services.extraction.extract_now(house.reach, "a")
    assert house.memories("a") == []
    assert not any(house.checked("a"))
    assert house.is_pending("a")
    model.asked.clear()
    assert run_due(house.services) == 1
    assert not any("Garden secret." in asked.question for asked in model.asked)
    assert len(house.memories("a")) == 2


def test_mem_10_what_was_recalled_and_comes_back_is_no_evidence(house: MemorySetup) -> None:
    house.session("a")
    house.session("b")
    house.tell("a", "My brother Xandor works at Siemens.")
    recalled = house.context("b", "Xandor").memory_context
    house.tell("b", f"{recalled}\nI live in Graz.", quoted(["I work at Zentrix."]), "<recalled-memory>I love tea.")
    assert house.memories("b") == ["The user lives in Graz."]
    assert all(house.checked("b"))


def test_mem_10_a_model_never_sees_what_was_recalled(engine: Engine, model: FakeEndpoint) -> None:
    house = of_model(engine, model)
    garden = house.project()
    house.session("a", garden)
    model.follows(memories_of)
    house.tell("a", f"{quoted(['Old secret.'])} New words.")
    assert model.asked
    assert not any("Old secret." in text for asked in model.asked for text in asked.statements.values())


def test_iso_4_extraction_of_what_is_not_there_is_refused_like_what_is_not_ours(house: MemorySetup) -> None:
    garden = house.project()
    house.session("a")
    house.say("a", "My name is Anna.")
    other, _ = house.services.projects.create_tenant("Other")
    for reach in (Reach(tenant=other), Reach(tenant=house.reach.tenant, confined_to=garden)):
        with pytest.raises(NotFound):
            house.services.extraction.extract_now(reach, "a")
    assert house.memories("a") == []


def tables(engine: Engine) -> dict[str, object]:
    dump = engine.dump()
    return {table: dump[table] for table in ("message", "memory", "memory_source", "entity", "mention", "observation")}
