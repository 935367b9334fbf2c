"""What was forgotten is in no reply that quoted it either: not in its session's messages, not in the next prompt, in no file."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import pytest

from cloister.domain.context import Context
from cloister.domain.conversation import Draft, Message
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import ProjectId
from cloister.domain.memory import quoted
from cloister.domain.prompts.prompt import prompt
from cloister.domain.prompts.recalled_text import QUOTATION_FORGOTTEN, RECALL_ONLY
from cloister.domain.prompts.speaker import attributed
from cloister.services.chat.turns import TurnRequest
from cloister.services.conversations import quotations
from support.databases.engines import Engine
from support.setups.memories import MemorySetup, settle_house

SECRET = "The attic code is ATTIC-31."
OTHER = "The boat of our neighbours is called Heron."
DAY = "2026-11-17, user in"


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


@pytest.fixture
def team(house: MemorySetup) -> ProjectId:
    """ann has told a secret, carol something else; bob was told both."""
    team = house.project("Team", "shared")
    for name in ("ann", "bob", "carol"):
        house.session(name, team, name)
    house.say("ann", SECRET)
    house.say("carol", OTHER)
    return team


def reply(house: MemorySetup, content: str, session: str = "bob") -> Message:
    return house.say_reply(session, "What is remembered?", content)


def messages(house: MemorySetup, session: str = "bob") -> list[Message]:
    return house.services.sessions.messages(house.reach, session, limit=99)[1]


def everything(house: MemorySetup, engine: Engine) -> str:
    """All that a reader of bob's session is shown, all that the next prompt says, and all rows."""
    context: Context = house.context("bob", "What is the attic code?")
    (question, *_) = messages(house)
    return repr((messages(house), context, prompt(None, context, question), engine.dump()))


def derived_lines(context: Context) -> list[str]:
    """As `RecallOnly` shows them."""
    memories = context.derived.memories
    return [*(attributed(one.memory.content, one.user, named=True) for one in memories), *context.entity_lines]


def forget_message(house: MemorySetup) -> None:
    (message, *_) = messages(house, "ann")
    house.services.forgetting.message(house.reach, message.id)


def clear(house: MemorySetup) -> None:
    house.services.forgetting.contents(house.reach, "ann")


def delete(house: MemorySetup) -> None:
    house.services.forgetting.session(house.reach, "ann")


def erase(house: MemorySetup) -> None:
    house.services.erase_user.erase(house.reach, "ann")


WAYS = [forget_message, clear, delete, erase]
BLOCK = quoted([f"{DAY} carol: {OTHER}", f"{DAY} ann: {SECRET}"])
LEFT = quoted([f"{DAY} carol: {OTHER}"])


@pytest.mark.parametrize("forget", WAYS)
def test_mem_9_what_is_forgotten_is_in_no_quotation_of_it(
    house: MemorySetup, team: ProjectId, engine: Engine, forget: Callable[[MemorySetup], None]
) -> None:
    reply(house, f"{RECALL_ONLY}\n\n{BLOCK}")
    reply(house, f"I was told this. {quoted([SECRET])}")
    reply(house, quoted([SECRET]))
    reply(house, f"{RECALL_ONLY}\n\n{LEFT}")
    assert "ATTIC-31" in everything(house, engine)
    forget(house)
    assert "ATTIC-31" not in everything(house, engine)
    assert [message.content for message in messages(house)[1::2]] == [
        f"{RECALL_ONLY}\n\n{LEFT}",
        "I was told this.",
        QUOTATION_FORGOTTEN,
        f"{RECALL_ONLY}\n\n{LEFT}",
    ]


@pytest.mark.parametrize("forget", WAYS)
def test_a_rewritten_message_is_as_if_it_had_been_stored_so(
    house: MemorySetup, team: ProjectId, engine: Engine, forget: Callable[[MemorySetup], None]
) -> None:
    """Its tokens, its place in the index and its session's counts."""
    written = reply(house, f"Herons nest in April. {BLOCK}")
    forget(house)
    before = house.find("bob")
    again = reply(house, f"Herons nest in April. {LEFT}")
    changed = next(message for message in messages(house) if message.id == written.id)
    assert (changed.content, changed.tokens) == (again.content, again.tokens)
    rows = engine.rows("SELECT content, tokens, vector, terms FROM message WHERE content LIKE 'Herons%'")
    assert len(rows) == 2 and rows[0] == rows[1]
    assert before.message_count == 2
    found = house.context("carol", "When do herons nest?").relevant_history
    nesting = [(item.message.content, item.times) for item in found if "April" in item.message.content]
    assert nesting == [("Herons nest in April.", 2)]


def test_what_derives_is_taken_out_of_quotations_too(house: MemorySetup, team: ProjectId, engine: Engine) -> None:
    """Memories, and what is known of entities, which name their speakers where they are shown."""
    house.tell("ann", "My brother Quillfeather works at Brambleworks.")
    context = house.context("bob", "Where does Quillfeather work?")
    lines = derived_lines(context)
    assert len(lines) >= 3 and all("ann" in line for line in lines)
    for line in lines:
        reply(house, f"So it is. {quoted([line])}")
    delete(house)
    assert {message.content for message in messages(house)[1::2]} == {"So it is."}
    assert "Quillfeather" not in repr(engine.dump()) and "Brambleworks" not in repr(engine.dump())


def test_a_memory_that_is_forgotten_by_itself_is_in_no_quotation_of_it(house: MemorySetup, team: ProjectId) -> None:
    house.session("long", team, "3f2b8c1e-9d7a-4c55-8a41-2f6f0f5f9d10")
    kept = "The user lives in Thistlewick."
    contents = ["The user collects thimbles. The user has nine.", kept]
    stored, _ = house.services.memories.add(house.reach, "long", contents).memories
    lines = [attributed(content, stored.user, named=True) for content in contents]
    reply(house, f"So it is. {quoted([*lines, OTHER])}")
    house.services.memories.forget(house.reach, stored.memory.id)
    assert messages(house)[1].content == f"So it is. {quoted([lines[1], OTHER])}"


def test_the_same_words_of_somebody_else_go_too(house: MemorySetup, team: ProjectId) -> None:
    """In doubt a quotation goes: it does not say surely whose words it is. What carol said stays with her."""
    house.say("carol", SECRET)
    reply(house, f"So it is. {quoted([f'{DAY} carol: {SECRET}'])}")
    delete(house)
    assert messages(house)[1].content == "So it is."
    assert SECRET in [message.content for message in messages(house, "carol")]


@pytest.mark.parametrize("forget", WAYS)
def test_iso_4_forgetting_changes_nothing_in_another_pool(
    house: MemorySetup, team: ProjectId, forget: Callable[[MemorySetup], None]
) -> None:
    """There somebody else said it, and must not learn from it that it was said here too."""
    house.session("far", house.project("Cellar"), "dora")
    reply(house, f"So it is. {quoted([SECRET])}", "far")
    forget(house)
    assert SECRET in messages(house, "far")[1].content


def test_a_quotation_that_went_away_with_its_session_is_taken_out_there(
    house: MemorySetup, team: ProjectId, engine: Engine
) -> None:
    """It is not shown there, but would be after the session came back; and what was quoted before a project was divided."""
    reply(house, f"So it is. {BLOCK}")
    house.move("bob", house.project("Cellar"))
    delete(house)
    assert "ATTIC-31" not in repr(engine.dump())
    house.move("bob", team)
    assert messages(house)[1].content == f"So it is. {LEFT}"


def test_a_quotation_that_is_shown_nowhere_any_more_is_taken_out_of_its_row(
    house: MemorySetup, team: ProjectId, engine: Engine
) -> None:
    house.session("nobody", team)
    reply(house, f"So it is. {BLOCK}", "nobody")
    house.services.projects.change_project(house.reach, team, member_visibility="private")
    delete(house)
    assert "ATTIC-31" not in repr(engine.dump())


@pytest.mark.parametrize("forget", WAYS)
def test_mem_9_what_is_forgotten_while_members_are_divided_is_not_quoted_when_they_share_again(
    house: MemorySetup, team: ProjectId, engine: Engine, forget: Callable[[MemorySetup], None]
) -> None:
    """It is forgotten in another pool than the one that was quoted, which is the pool of all again afterwards."""
    reply(house, f"So it is. {BLOCK}")
    house.services.projects.change_project(house.reach, team, member_visibility="private")
    forget(house)
    house.services.projects.change_project(house.reach, team, member_visibility="shared")
    assert "ATTIC-31" not in everything(house, engine)
    assert messages(house)[1].content == "So it is."


@pytest.mark.parametrize("forget", [forget_message, clear, delete])
def test_mem_9_what_is_forgotten_while_members_share_is_not_quoted_when_they_are_divided_again(
    house: MemorySetup, team: ProjectId, forget: Callable[[MemorySetup], None]
) -> None:
    """ann quotes herself in her part of the project. What dan quotes in his part, though ann said the same, stays his."""
    house.services.projects.change_project(house.reach, team, member_visibility="private")
    for session, user in (("ann 2", "ann"), ("dan", "dan")):
        house.session(session, team, user)
        reply(house, f"So it is. {BLOCK}", session)
    house.services.projects.change_project(house.reach, team, member_visibility="shared")
    forget(house)
    house.services.projects.change_project(house.reach, team, member_visibility="private")
    assert messages(house, "ann 2")[1].content == f"So it is. {LEFT}"
    assert messages(house, "dan")[1].content == f"So it is. {BLOCK}"


def test_a_message_of_the_same_session_loses_its_quotation_too(house: MemorySetup, team: ProjectId) -> None:
    reply(house, f"So it is. {BLOCK}", "ann")
    forget_message(house)
    assert messages(house, "ann")[-1].content == f"So it is. {LEFT}"


def test_more_texts_than_are_kept_in_memory_at_once(
    house: MemorySetup, team: ProjectId, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quotations, "_MOST_TEXTS", 3)
    said = [f"Number {number} is a fine number of the attic." for number in range(10)]
    house.say("ann", *said)
    reply(house, f"So it is. {quoted([*said, OTHER])}")
    erase(house)
    assert messages(house)[1].content == f"So it is. {quoted([OTHER])}"


def test_mem_9_the_fingerprint_of_a_recorded_quotation_goes(
    house: MemorySetup, team: ProjectId, engine: Engine
) -> None:
    draft = Draft(role="user", content=f"So it is. {BLOCK}")
    house.services.record.messages(house.reach, "bob", [draft], idempotency_key="key")
    house.services.record.messages(house.reach, "bob", [Draft(role="user", content="Plain.")], idempotency_key="other")
    delete(house)
    kept = engine.rows("SELECT count(*) FROM idempotency WHERE fingerprint IS NOT NULL")
    assert kept == [(1,)]


def test_whoever_reads_the_session_along_is_told(house: MemorySetup, team: ProjectId) -> None:
    reply(house, f"So it is. {BLOCK}")
    reader = house.services.events.subscribe(house.reach)
    delete(house)
    events = [delivery.event for delivery in reader.read() if delivery.event is not None]
    assert [(event.kind, event.session) for event in events] == [("session.deleted", "ann"), ("session.changed", "bob")]
    reader.close()


def test_a_message_that_is_not_there_changes_no_quotation(house: MemorySetup, team: ProjectId) -> None:
    (message, *_) = messages(house, "ann")
    house.services.forgetting.message(house.reach, message.id)
    reply(house, f"So it is. {BLOCK}")
    with pytest.raises(NotFound):
        house.services.forgetting.message(house.reach, message.id)
    assert SECRET in messages(house)[1].content


@pytest.mark.parametrize("forget", WAYS)
def test_a_reply_that_is_stored_after_its_source_was_forgotten_does_not_quote_it(
    house: MemorySetup, team: ProjectId, engine: Engine, forget: Callable[[MemorySetup], None]
) -> None:
    """The turn began before; what it quotes besides stays. A memory that a person wrote says more than the messages that are
    quoted; one that was extracted from one of these would not be quoted a second time."""
    house.tell("ann", "My brother Quillfeather works at Brambleworks.")
    house.services.memories.add(house.reach, "ann", ["The user's brother Quillfeather works on Mondays."])
    asked = Draft(role="user", content="What is the attic code, what is the boat called, where does Quillfeather work?")
    turn = house.services.turns.begin(house.reach, TurnRequest(session="bob", drafts=[asked]))
    turn = replace(turn, min_relevance=0)
    context = house.services.chat.recall(turn, 16_000)
    said = [item.message.content for item in context.relevant_history]
    derived = derived_lines(context)
    assert {SECRET, OTHER} <= set(said) and len(derived) >= 3
    forget(house)
    gone = derived if forget is not forget_message else []
    words = Draft(role="assistant", content=f"So it is. {quoted([SECRET, OTHER, *gone])}")
    stored = house.services.turns.end(turn, words, given_recalled_text=True, contexts=[context])
    assert stored is not None and stored.content == f"So it is. {quoted([OTHER])}"
    again = reply(house, stored.content)
    assert stored.tokens == again.tokens
    assert "ATTIC-31" not in repr(engine.dump())


def test_sessions_that_quote_each_other_are_forgotten_at_once_while_others_go_on(
    house: MemorySetup, team: ProjectId, engine: Engine
) -> None:
    """Each locks its own session and then the pool, so that none waits for another that waits for it."""
    names = [f"member{number}" for number in range(6)]
    for name in names:
        house.session(name, team, name)
        house.say(name, f"The attic code of {name} is ATTIC-{name}.")
    for name in names:
        for other in names:
            reply(house, f"So it is. {quoted([f'The attic code of {other} is ATTIC-{other}.', OTHER])}", name)
    forgetting, record = house.services.forgetting, house.services.record
    draft = Draft(role="user", content="My brother Xandor works at Zentrix.")
    work: list[Callable[[], object]] = [
        *(partial(forgetting.session, house.reach, name) for name in names[:2]),
        partial(forgetting.contents, house.reach, names[2]),
        partial(house.services.erase_user.erase, house.reach, names[3]),
        partial(house.services.extraction.extract_now, house.reach, names[4]),
        *(partial(record.messages, house.reach, name, [draft]) for name in names[4:]),
    ]
    with ThreadPoolExecutor(len(work)) as threads:
        for done in [threads.submit(call) for call in work]:
            done.result(60)
    stored = repr(engine.dump())
    assert [name for name in names if f"ATTIC-{name}" in stored] == names[4:]
    assert OTHER in repr(messages(house, names[4]))
