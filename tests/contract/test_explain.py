"""PRF-2: why a message was, or was not, recalled: each reason, and nothing about foreign messages."""

from dataclasses import replace

import pytest

from cloister.domain.conversation import Draft, Message
from cloister.domain.errors import InvalidRequest, NotFound
from cloister.domain.identifiers import MessageId, ProjectId, ReceiptId
from cloister.domain.memory import quoted
from cloister.domain.prompts.recalled_text import RECALL_ONLY
from cloister.domain.scope import Reach
from cloister.services.recall.build_context import ContextRequest
from cloister.services.receipts.explain import Explanation
from support.databases.engines import Engine
from support.setups.memories import HOUR, MemorySetup, settle_house

GATE, QUESTION = "The gate code is 4417.", "What is the gate code?"


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def garden(house: MemorySetup, **settings: object) -> ProjectId:
    made = house.project()
    house.services.projects.change_project(house.reach, made, settings={"store_receipts": True, **settings})
    house.session("tells", made)
    house.session("asks", made)
    return made


def explained(house: MemorySetup, message: Message, question: str = QUESTION) -> Explanation:
    return house.services.explain.question(house.reach, "asks", question, message.id)


def stored(house: MemorySetup) -> ReceiptId:
    context = house.services.context.build(house.reach, "asks", ContextRequest(question=QUESTION))
    _, id = house.services.recall_receipts.of_context(house.reach, context, None)
    assert id is not None
    return id


def test_prf_2_recalled_with_rank_and_parts(house: MemorySetup) -> None:
    garden(house)
    (said,) = house.say("tells", GATE)
    found = explained(house, said)
    assert (found.recalled, found.reason, found.rank) == (True, "recalled", 1)
    assert found.relevance is not None and found.relevance > 0.5
    assert {"score", "lexical", "semantic", "coverage"} <= set(found.parts)


def test_prf_2_limit(house: MemorySetup) -> None:
    source = {"role": "user", "method": "semantic", "limit": 1, "conversation_scope": "pool"}
    garden(house, context_sources=[source])
    said = house.say("tells", GATE, "Gate code: the gate's code again is 5523.")
    assert {explained(house, each).reason for each in said} == {"recalled", "limit"}
    replies = [
        each for each in house.services.sessions.messages(house.reach, "tells", limit=9)[1] if each.role != "user"
    ]
    assert explained(house, replies[0]).reason == "limit"


def test_prf_2_duplicate_and_weak(house: MemorySetup) -> None:
    house.session("sails", garden(house))
    said = house.say("tells", GATE, "the gate code is 4417!")
    (weak,) = house.say("sails", "My aunt sails.")
    assert {explained(house, each).reason for each in said} == {"recalled", "duplicate"}
    assert explained(house, weak).reason == "weak"
    assert explained(house, said[0], "Hello there!").reason == "weak"


def test_prf_2_the_question_again_is_a_duplicate(house: MemorySetup) -> None:
    garden(house)
    asked, _ = house.say("tells", QUESTION, GATE)
    assert explained(house, asked).reason == "duplicate"


def test_prf_2_budget(house: MemorySetup) -> None:
    garden(house, history_tokens=20)
    said = house.say("tells", GATE, "The gate code of the old gate, on the other side, was 1234 until May.")
    assert {explained(house, each).reason for each in said} == {"recalled", "budget"}


def test_prf_2_quotation_and_not_indexed(house: MemorySetup) -> None:
    garden(house)
    house.say("tells", GATE)
    drafts = [
        Draft(role="user", content="And the gate code?"),
        Draft(role="assistant", content=f"{RECALL_ONLY}\n\n{quoted([GATE])}"),
        Draft(role="assistant", content="The gate code is", status="partial"),
    ]
    _, only, cut = house.services.record.messages(house.reach, "tells", drafts).messages
    assert explained(house, only).reason == "quotation"
    assert explained(house, cut).reason == "not_indexed"


def test_prf_2_a_foreign_message_is_as_missing_as_one_that_never_was(house: MemorySetup) -> None:
    """ISO-4: of another pool of the tenant, and of another tenant; by a question and by a receipt."""
    garden(house)
    cellar = house.project("Cellar")
    house.session("below", cellar)
    (hidden,) = house.say("below", GATE)
    id = stored(house)
    for message in (hidden.id, MessageId(hidden.id + 7)):
        for call in (
            lambda message=message: house.services.explain.question(house.reach, "asks", QUESTION, message),
            lambda message=message: house.services.explain.receipt(house.reach, id, message),
        ):
            with pytest.raises(NotFound) as caught:
                call()
            assert str(caught.value) == f"There is no message 'msg_{message:016x}' here."
    other = Reach(tenant=house.services.projects.create_tenant("Other")[0])
    narrow = replace(house.reach, confined_to=cellar)
    for reach in (other, narrow):
        with pytest.raises(NotFound, match="There is no receipt"):
            house.services.explain.receipt(reach, id, hidden.id)
    with pytest.raises(InvalidRequest):
        house.services.explain.question(house.reach, "asks", "", hidden.id)


def test_prf_2_a_receipt_replayed_after_the_pool_changed_says_what_changed(house: MemorySetup) -> None:
    garden(house)
    house.session("leaves", house.find("tells").project)
    (said,) = house.say("tells", GATE)
    (gone,) = house.say("leaves", "A second gate code is 9001.")
    id = stored(house)
    explain = house.services.explain
    assert explain.receipt(house.reach, id, said.id).changed is None
    (new,) = house.say("tells", "Since today the gate code is 7788.")
    changed = explain.receipt(house.reach, id, said.id).changed
    assert changed is not None and changed.version_now > changed.version_then
    assert ("message", new.id) in changed.entered and not any(changed.hidden.values())
    assert explain.receipt(house.reach, id, new.id).reason == "not_indexed"
    house.move("leaves", None)
    after = explain.receipt(house.reach, id, said.id)
    assert after.recalled and after.changed is not None and after.changed.hidden["another_project"] > 0
    with pytest.raises(NotFound):
        explain.receipt(house.reach, id, gone.id)
    house.move("asks", None)
    with pytest.raises(NotFound):
        explain.receipt(house.reach, id, said.id)


@pytest.mark.parametrize("hours", [-2_000, 0, 2_000])
def test_prf_2_a_message_recorded_after_a_receipt_was_not_there_whenever_it_was_said(
    house: MemorySetup, hours: int
) -> None:
    """Callers may set when a message was said, as imports do; the receipt is older than the message all the same."""
    garden(house)
    house.say("tells", GATE)
    id = stored(house)
    said_at = house.clock.moment + hours * HOUR
    draft = Draft(role="user", content="The gate code of the shed is 7788.", created_at=said_at)
    (new,) = house.services.record.messages(house.reach, "tells", [draft]).messages
    found = house.services.explain.receipt(house.reach, id, new.id)
    assert found.changed is not None and found.changed.now.recalled
    assert (found.reason, found.recalled) == ("not_indexed", False)
    assert found.detail.startswith("It was recorded after the receipt was made")
    (weak,) = house.services.record.messages(
        house.reach, "tells", [Draft(role="user", content="My aunt sails.", created_at=said_at)]
    ).messages
    assert (
        "It was recorded after the receipt was made" in house.services.explain.receipt(house.reach, id, weak.id).detail
    )


def test_prf_2_a_message_that_was_there_is_not_said_to_be_newer_because_of_a_later_date(house: MemorySetup) -> None:
    source = {"role": "user", "method": "semantic", "limit": 1, "conversation_scope": "pool"}
    made = garden(house, context_sources=[source])
    (said,) = house.say("tells", GATE)
    future = Draft(role="user", content="A shed has a code.", created_at=house.clock.moment + HOUR)
    (there,) = house.services.record.messages(house.reach, "tells", [future]).messages
    id = stored(house)
    assert [item.item.id for item in house.services.receipts.get(house.reach, id).items] == [said.id]
    house.services.receipts.exclusions.exclude(house.reach, "asks", "message", said.id)
    house.services.projects.change_project(house.reach, made, settings={"min_relevance": 0.0})
    found = house.services.explain.receipt(house.reach, id, there.id)
    assert found.changed is not None and found.changed.now.recalled
    assert (found.reason, found.detail) == ("limit", "It was not among what was given then; it would be recalled now.")


def test_prf_2_a_message_of_another_user_that_was_there_is_not_said_to_be_newer_to_a_bound_key(
    house: MemorySetup,
) -> None:
    """In a shared project the pool has the messages of all users, and a bound key recalls them."""
    made = house.project(store_receipts=True)
    house.session("asks", made, "ann")
    house.session("tells", made, "bob")
    (said,) = house.say("tells", "My aunt sails.")
    ann = replace(house.reach, user="ann")
    id = stored(house)
    (new,) = house.say("tells", "My uncle sails.")
    assert "recorded after" not in house.services.explain.receipt(ann, id, said.id).detail
    assert "recorded after" in house.services.explain.receipt(ann, id, new.id).detail


def test_prf_2_what_was_said_in_the_session_after_the_receipt_was_not_there(house: MemorySetup) -> None:
    """The question itself is a duplicate; what came later is not."""
    garden(house)
    (asked,) = house.say("asks", QUESTION)
    context = house.services.context.build(house.reach, "asks", ContextRequest())
    _, id = house.services.recall_receipts.of_context(house.reach, context, None)
    assert id is not None
    (later,) = house.say("asks", GATE)
    found = house.services.explain.receipt(house.reach, id, later.id)
    assert (found.reason, found.detail) == ("not_indexed", "It was recorded after the receipt was made.")
    assert house.services.explain.receipt(house.reach, id, asked.id).reason == "recalled"
