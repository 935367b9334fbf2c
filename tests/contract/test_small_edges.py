"""Edges of forgetting, moving and answering where mistakes made by hand in the sources had gone unnoticed."""

import pytest

from cloister.domain.context import Source
from cloister.domain.conversation import Draft, Status
from cloister.domain.errors import NotFound
from cloister.services.chat.turn_branches import ReplyBranch
from cloister.services.chat.turns import NamedSession, TurnRequest
from cloister.services.conversations.sessions import SessionFields
from cloister.services.recall.build_context import ContextRequest
from support.databases.engines import Engine
from support.setups.extraction import run_due
from support.setups.memories import MemorySetup, settle_house

SAID = "My brother Xandor works at Zentrix in Vienna."


@pytest.fixture
def setup(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def say_alone(setup: MemorySetup, name: str, content: str) -> None:
    """Without a reply."""
    setup.services.record.messages(setup.reach, name, [Draft(role="user", content=content)])


def test_iso_6_the_last_message_before_a_move_belongs_to_the_project_it_was_said_in(setup: MemorySetup) -> None:
    first, second = setup.project("Garden"), setup.project("Kitchen")
    setup.session("told", first)
    say_alone(setup, "told", SAID)
    setup.move("told", second)
    setup.services.extraction.extract_now(setup.reach, "told")
    assert "Xandor" in setup.names(first) and setup.names(second) == []


def test_iso_8_a_deleted_session_leaves_no_word_of_it_in_its_row_nor_where_it_was_before(
    setup: MemorySetup, engine: Engine
) -> None:
    fields = SessionFields(external_id="told", project=setup.project("Garden"), title="My divorce")
    setup.services.sessions.create(setup.reach, fields)
    setup.say("told", SAID)
    setup.move("told", setup.project("Kitchen"))
    engine.rows("UPDATE session SET extraction_error = 'the model said: Xandor'")
    assert engine.rows("SELECT count(*) FROM session_past") == [(1,)]
    setup.services.forgetting.session(setup.reach, "told")
    rows = engine.rows("SELECT * FROM session")
    assert not any(word in repr(rows) for word in ("divorce", "Xandor", "told"))
    assert engine.rows("SELECT count(*) FROM session_past") == [(0,)]


def test_mem_3_a_session_whose_unchecked_messages_were_forgotten_is_looked_at_once_and_no_more(
    setup: MemorySetup,
) -> None:
    setup.session("told")
    said = setup.say("told", SAID, "My sister Yelda lives in Graz.")
    assert setup.is_pending("told")
    _, messages = setup.services.sessions.messages(setup.reach, "told", limit=9)
    assert len(messages) == 2 * len(said) == 4
    for message in messages:
        setup.services.forgetting.message(setup.reach, message.id)
    assert run_due(setup.services) == 1
    assert not setup.is_pending("told")


def test_iso_12_a_session_that_is_cleared_while_it_is_answered_takes_a_new_turn_at_once(setup: MemorySetup) -> None:
    ask = TurnRequest(session="tab", drafts=[Draft(role="user", content="Who?")])
    first = setup.services.turns.begin(setup.reach, ask)
    setup.services.forgetting.contents(setup.reach, "tab")
    assert setup.services.turns.begin(setup.reach, ask).number != first.number


def test_answering_again_makes_a_sibling_of_the_reply_behind_what_tools_said(setup: MemorySetup) -> None:
    setup.session("tab")
    drafts = [
        Draft(role="user", content="How warm is it?"),
        Draft(role="tool", content="21 degrees"),
        Draft(role="assistant", content="Warm."),
    ]
    *_, tool, reply = setup.services.record.messages(setup.reach, "tab", drafts).messages
    turn = setup.services.turns.begin_again(setup.reach, NamedSession(session="tab"))
    assert turn.branch == ReplyBranch(sibling=reply.id, after=tool.id)


def test_iso_10_a_page_cannot_begin_behind_an_entity_of_another_user(setup: MemorySetup) -> None:
    """It is refused as one that does not exist."""
    project = setup.project("Garden", "private")
    for user in ("ann", "bob"):
        setup.session(user, project, user)
        setup.tell(user, SAID)
    theirs = setup.entities(project, "bob")[0].id
    page = setup.services.entities.page
    assert page(setup.reach, project, user_id="bob", limit=9, behind=theirs) is not None
    with pytest.raises(NotFound):
        page(setup.reach, project, user_id="ann", limit=9, behind=theirs)


def test_iso_4_an_event_id_that_was_altered_by_one_digit_is_answered_with_a_reset(setup: MemorySetup) -> None:
    reader = setup.services.events.subscribe(setup.reach)
    given = reader.id
    altered = given[:-1] + format(int(given[-1], 16) ^ 1, "x")
    for behind, is_known in ((given, True), (altered, False)):
        again = setup.services.events.subscribe(setup.reach, after=behind)
        assert (again.read() == []) == is_known
        again.close()
    reader.close()


@pytest.mark.parametrize("status", ["partial", "failed"])
def test_a_reply_that_was_cut_is_not_in_the_context_of_another_session(setup: MemorySetup, status: Status) -> None:
    """CTX: neither by what it says nor because it is the latest of the pool."""
    for name in ("told", "asks"):
        setup.session(name)
    cut = Draft(role="assistant", content="Xandor works at", status=status)
    setup.services.record.messages(setup.reach, "told", [Draft(role="user", content="Who is it?"), cut])
    say_alone(setup, "asks", "Where does Xandor work?")
    latest = (Source(role="assistant", method="recent", limit=5, conversation_scope="pool"),)
    for sources in (None, latest):
        found = setup.services.context.build(
            setup.reach, "asks", ContextRequest(question="Where does Xandor work?", sources=sources)
        )
        assert "works at" not in repr(found.chat_history)
