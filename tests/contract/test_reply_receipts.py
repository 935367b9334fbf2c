"""PRF-1: what the receipt of a reply says of the reply, that both are stored or neither, and how long it is kept."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from cloister.domain.conversation import Draft
from cloister.domain.errors import Forbidden, InvalidRequest, NotFound
from cloister.domain.identifiers import ReceiptId
from cloister.domain.receipts.receipt import REASONS
from cloister.domain.reply import ToolCallDelta
from cloister.domain.scope import Reach
from cloister.domain.timestamps import now
from cloister.services.chat.turns import Turn, TurnRequest
from cloister.services.recall.search import SearchTarget
from cloister.storage.stores.receipts.receipts import ReceiptStore
from support.databases.engines import Engine
from support.setups.memories import HOUR, MemorySetup
from support.setups.replies import NotingModel, Threads, receipt_of_reply, settle_with_model

GATE, QUESTION = "The gate code is 4417.", "What is the gate code?"
DAY = 24 * HOUR


@pytest.fixture
def model() -> NotingModel:
    return NotingModel()


@pytest.fixture
def house(engine: Engine, model: NotingModel) -> MemorySetup:
    """Its clock begins where that of the chat is."""
    return settle_with_model(engine, model, began_at=now())


def begun(house: MemorySetup) -> Turn:
    return house.services.turns.begin(
        house.reach, TurnRequest(session="asks", drafts=[Draft(role="user", content=QUESTION)])
    )


def answered(house: MemorySetup, turn: Turn) -> Any:
    return asyncio.run(house.services.chat.reply(turn, lambda event: None, stop=asyncio.Event(), threads=Threads()))


def sources(limit: int) -> list[dict[str, object]]:
    return [
        {"role": "user", "method": "recent", "limit": 5, "conversation_scope": "current"},
        {"role": "user", "method": "semantic", "limit": limit, "conversation_scope": "pool"},
    ]


def test_prf_1_tokens_and_times(house: MemorySetup) -> None:
    garden = house.project()
    for name in ("tells", "asks"):
        house.session(name, garden)
    (said,) = house.say("tells", GATE)
    found = house.services.receipts.get(house.reach, receipt_of_reply(house, "asks", QUESTION)).receipt
    assert said.id in {item.id for item in found.items}
    reply, context = found.answered, house.context("asks", QUESTION)
    assert reply is not None and (reply.model, reply.status) == ("noting", "completed")
    assert (reply.prompt_tokens, reply.completion_tokens) == (12, 3)
    assert reply.first_token_ms is not None and 0 <= reply.recall_ms <= reply.first_token_ms <= reply.total_ms
    assert 0 < found.tokens <= context.tokens


def test_prf_1_what_was_left_out_is_counted_by_reason(house: MemorySetup) -> None:
    """Of the messages of users: what the limit does not let in; what does not fit; what says the same; what
    the session excludes; and what is too weak for the places that are left."""
    old, copy = "The gate code of the old gate, on the other side, was 1234 until May.", "the gate code is 4417!"

    def left_out(said: dict[str, list[str]], exclude: str | None = None, **settings: object) -> dict[str, int]:
        garden = house.project()
        house.services.projects.change_project(house.reach, garden, settings=settings)
        house.session(f"asks {garden}", garden)
        for name, words in said.items():
            house.session(f"{name} {garden}", garden)
            for message in house.say(f"{name} {garden}", *words):
                if message.content == exclude:
                    house.services.receipts.exclusions.exclude(house.reach, f"asks {garden}", "message", message.id)
        id = receipt_of_reply(house, f"asks {garden}", QUESTION)
        counted = house.services.receipts.get(house.reach, id).receipt.left_out
        assert set(counted) == set(REASONS)
        return {reason: count for reason, count in counted.items() if count}

    assert left_out({"tells": [GATE, old, copy]}, context_sources=sources(1)) == {"limit": 1, "duplicate": 1}
    assert left_out({"tells": [GATE, old]}, old, context_sources=sources(1)) == {"excluded": 1}
    assert left_out({"tells": [GATE, old]}, context_sources=sources(9), history_tokens=20) == {"budget": 1}
    said = {"tells": [GATE, copy], "sails": ["My aunt sails."]}
    assert left_out(said, context_sources=sources(9)) == {"duplicate": 1, "weak": 1}


def test_prf_1_a_reply_of_tool_calls_alone_has_the_number_of_its_turn(house: MemorySetup, model: NotingModel) -> None:
    garden = house.project()
    house.session("tells", garden)
    house.session("asks", garden)
    (said,) = house.say("tells", GATE)
    model.pieces = (ToolCallDelta(index=0, id="call_1", name="open", arguments="{}"),)
    turn = begun(house)
    assert answered(house, turn).message is None
    shown = house.services.receipts.get(house.reach, ReceiptId(turn.number))
    assert (shown.stored.reply, shown.stored.session_name) == (None, "asks")
    assert said.id in {item.item.id for item in shown.items}
    house.services.forgetting.contents(house.reach, "asks")
    with pytest.raises(NotFound):
        house.services.receipts.get(house.reach, ReceiptId(turn.number))


def test_prf_1_a_reply_without_its_receipt_is_not_stored(
    house: MemorySetup, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One transaction: where the receipt cannot be stored, neither can the reply, and the question stays."""
    house.session("asks", house.project())
    turn = begun(house)

    def fails(*given: object, **named: object) -> None:
        raise RuntimeError("no receipt")

    with monkeypatch.context() as patch:
        patch.setattr(ReceiptStore, "add", fails)
        with pytest.raises(RuntimeError, match="no receipt"):
            answered(house, turn)
    stored = house.services.sessions.messages(house.reach, "asks", limit=9)[1]
    assert [(message.role, message.content) for message in stored] == [("user", QUESTION)]
    assert engine.rows("SELECT receipt_id FROM receipt") == []


def test_prf_1_receipts_of_replies_expire_by_their_own_setting(house: MemorySetup, engine: Engine) -> None:
    """Without it they stay with the reply; the reply stays in any case."""
    garden = house.project(receipt_days=2)
    house.session("asks", garden)
    house.session("keeps", house.project("Cellar"))
    short, long = receipt_of_reply(house, "asks", QUESTION), receipt_of_reply(house, "keeps", QUESTION)
    house.clock.moment += DAY
    house.services.receipt_expiry.drop()
    assert house.services.receipts.get(house.reach, short).receipt.kind == "reply"
    house.clock.moment += 2 * DAY
    with pytest.raises(NotFound):
        house.services.receipts.get(house.reach, short)
    assert house.services.receipt_expiry.drop() == 1
    assert [row[0] for row in engine.rows("SELECT receipt_id FROM receipt")] == [long]
    house.clock.moment += 400 * DAY
    assert house.services.receipt_expiry.drop() == 0
    assert house.services.receipts.get(house.reach, long).receipt.kind == "reply"
    assert len(house.services.sessions.messages(house.reach, "asks", limit=9)[1]) == 2


def test_prf_1_the_tenant_says_how_long_receipts_of_no_project_are_kept(house: MemorySetup, engine: Engine) -> None:
    """Its setting counts for all projects too, where it is stricter; a change applies to those that are stored."""
    expiry, garden = house.services.receipt_expiry, house.project(receipt_days=3)
    house.session("asks", None)
    house.session("works", garden)
    outside, inside = receipt_of_reply(house, "asks", QUESTION), receipt_of_reply(house, "works", QUESTION)
    other = house.services.projects.create_tenant("Other")[0]

    def left(after: int) -> set[int]:
        """Which of them are found so many days later."""
        house.clock.moment += after * DAY
        found: set[int] = set()
        for id in (outside, inside):
            with suppress(NotFound):
                house.services.receipts.get(house.reach, id)
                found.add(id)
        house.clock.moment -= after * DAY
        return found

    assert (expiry.days_of_tenant(house.reach), left(400)) == (None, {outside})
    assert expiry.set_days_of_tenant(house.reach, 10) == 10
    assert (left(2), left(4), left(11)) == ({outside, inside}, {outside}, set())
    later = receipt_of_reply(house, "asks", QUESTION)
    house.clock.moment += 11 * DAY
    with pytest.raises(NotFound):
        house.services.receipts.get(house.reach, later)
    house.clock.moment -= 11 * DAY
    expiry.set_days_of_tenant(house.reach, 1)
    assert left(2) == set()
    house.services.projects.change_project(house.reach, garden, settings={"receipt_days": 5})
    assert left(2) == set()
    assert expiry.set_days_of_tenant(Reach(tenant=other), 7) == 7
    assert expiry.days_of_tenant(house.reach) == 1
    expiry.set_days_of_tenant(house.reach, None)
    assert (left(4), left(6)) == ({outside, inside}, {outside})
    for narrow in (replace(house.reach, user="ann"), replace(house.reach, confined_to=garden)):
        with pytest.raises(Forbidden):
            expiry.set_days_of_tenant(narrow, 3)
        with pytest.raises(Forbidden):
            expiry.days_of_tenant(narrow)
    for wrong in (0, -1, 3_651):
        with pytest.raises(InvalidRequest):
            expiry.set_days_of_tenant(house.reach, wrong)
    expiry.set_days_of_tenant(house.reach, 2)
    house.clock.moment += 3 * DAY
    assert expiry.drop() == 3
    assert engine.rows("SELECT receipt_id FROM receipt") == []


def test_prf_1_receipts_of_a_deleted_project_follow_the_tenant(house: MemorySetup) -> None:
    garden = house.project()
    house.session("asks", garden)
    id = receipt_of_reply(house, "asks", QUESTION)
    house.services.projects.delete_project(house.reach, garden)
    house.services.receipt_expiry.set_days_of_tenant(house.reach, 2)
    assert house.services.receipts.get(house.reach, id).receipt.kind == "reply"
    house.clock.moment += 3 * DAY
    with pytest.raises(NotFound):
        house.services.receipts.get(house.reach, id)


def test_prf_1_a_receipt_of_a_search_in_a_deleted_project_shows_nothing(house: MemorySetup) -> None:
    """It has no session that could take it along; its sessions, and what they said, are in no project now."""
    garden = house.project(store_receipts=True)
    house.session("tells", garden)
    (said,) = house.say("tells", GATE)
    found = house.services.search.find(house.reach, QUESTION, SearchTarget(project=garden), 5)
    _, id = house.services.recall_receipts.of_search(house.reach, found, None, None)
    assert id is not None and house.services.receipts.get(house.reach, id).items
    house.services.projects.delete_project(house.reach, garden)
    shown = house.services.receipts.get(house.reach, id)
    assert (shown.items, shown.version, shown.summary) == ((), None, ("1 item from a project that was deleted",))
    with pytest.raises(NotFound):
        house.services.explain.receipt(house.reach, id, said.id)
