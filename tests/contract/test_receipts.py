"""PRF-1: a receipt has ids, never words, and never outlives the isolation of what it names."""

from dataclasses import replace

import pytest

from cloister.domain.errors import InvalidRequest, NotFound
from cloister.domain.identifiers import ReceiptId
from cloister.domain.scope import Reach
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import SearchTarget
from cloister.services.receipts.reading import ShownReceipt
from support.databases.engines import Engine
from support.setups.memories import HOUR, MemorySetup, settle_house
from support.setups.replies import receipt_of_reply

SECRET, QUESTION = "The gate code is 4417.", "What is the gate code?"
DAY = 24 * HOUR


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def reply(house: MemorySetup, session: str, words: str = QUESTION) -> ReceiptId:
    return receipt_of_reply(house, session, words)


def shown(house: MemorySetup, id: ReceiptId, reach: Reach | None = None) -> ShownReceipt:
    return house.services.receipts.get(reach or house.reach, id)


def refused(house: MemorySetup, id: ReceiptId, reach: Reach | None = None) -> str:
    with pytest.raises(NotFound) as caught:
        shown(house, id, reach)
    return str(caught.value)


def test_prf_1_a_reply_keeps_what_it_was_given_without_its_words(house: MemorySetup, engine: Engine) -> None:
    garden = house.project()
    house.session("tells", garden)
    house.session("asks", garden)
    (said,) = house.say("tells", SECRET)
    id = reply(house, "asks")
    receipt = shown(house, id)
    (item,) = [each for each in receipt.items if each.item.id == said.id]
    assert (item.content, item.session, item.item.rule, item.item.strength) == (SECRET, "tells", "match", "strong")
    assert receipt.receipt.answered is not None and receipt.receipt.answered.model == "recall-only"
    assert receipt.receipt.sent is not None
    assert [part.kind for part in receipt.receipt.sent.parts] == ["system_prompt", "question"]
    assert receipt.hidden == {"another_project": 0, "other_branch": 0, "forgotten": 0}
    bodies = engine.rows("SELECT body, query FROM receipt")
    assert len(bodies) == 1 and "4417" not in str(bodies)
    assert len(str(bodies[0][0])) < 1_000


def test_prf_1_what_was_forgotten_is_only_counted(house: MemorySetup) -> None:
    garden = house.project()
    house.session("tells", garden)
    house.session("asks", garden)
    (said,) = house.say("tells", SECRET)
    id = reply(house, "asks")
    given = len(shown(house, id).items)
    house.services.forgetting.message(house.reach, said.id)
    after = shown(house, id)
    assert len(after.items) == given - 1
    assert dict(after.hidden) == {"another_project": 0, "other_branch": 0, "forgotten": 1}
    assert after.summary == ("1 item forgotten",)
    assert all("4417" not in item.content for item in after.items)


def test_prf_1_a_moved_session_shows_counts_only_until_it_is_back(house: MemorySetup) -> None:
    """ISO-12: readers of the new project see neither the words nor the ids, nor which project it was."""
    garden, cellar = house.project(), house.project("Cellar")
    house.session("tells", garden)
    house.session("asks", garden)
    house.say("tells", SECRET)
    id = reply(house, "asks")
    given = len(shown(house, id).items)
    house.move("asks", cellar)
    there = shown(house, id, replace(house.reach, confined_to=cellar))
    assert (there.items, there.version) == ((), None)
    assert there.summary == (f"{given} item{'s' if given > 1 else ''} from another project",)
    refused(house, id, replace(house.reach, confined_to=garden))
    house.move("asks", garden)
    assert len(shown(house, id).items) == given


def test_prf_1_another_pool_is_not_said_to_be_another_project(house: MemorySetup) -> None:
    """Of a session that was in no project, and of one whose project was made private."""
    garden = house.project()
    for project in (None, garden):
        for name in ("tells", "asks"):
            house.session(f"{name} {project}", project, "ann")
        house.say(f"tells {project}", SECRET)
    alone, shared = (reply(house, f"asks {project}") for project in (None, garden))
    house.move("asks None", garden)
    house.services.projects.change_project(house.reach, garden, member_visibility="private")
    assert [shown(house, id).summary for id in (alone, shared)] == [("1 item from another pool",)] * 2


def test_prf_1_an_item_that_moved_away_looks_forgotten_to_who_cannot_reach_it(house: MemorySetup) -> None:
    garden, cellar = house.project(), house.project("Cellar")
    house.session("tells", garden)
    house.session("asks", garden)
    (said,) = house.say("tells", SECRET)
    id = reply(house, "asks")
    house.move("tells", cellar)
    whole, narrow = shown(house, id), shown(house, id, replace(house.reach, confined_to=garden))
    assert whole.hidden["another_project"] > 0 and whole.hidden["forgotten"] == 0
    assert narrow.hidden["another_project"] == 0 and narrow.hidden["forgotten"] > 0
    assert all(item.item.id != said.id for item in (*whole.items, *narrow.items))


def test_prf_1_a_receipt_goes_with_its_message_session_user_and_tenant(house: MemorySetup, engine: Engine) -> None:
    garden = house.project(visibility="private", store_receipts=True)
    house.session("asks", garden, "ann")
    ids = [reply(house, "asks"), reply(house, "asks", "And the gate?")]
    house.services.forgetting.message(house.reach, shown(house, ids[0]).stored.receipt.terms.question_id or 0)  # pyright: ignore
    refused(house, ids[0])
    house.services.forgetting.contents(house.reach, "asks")
    refused(house, ids[1])
    found = house.services.search.find(house.reach, QUESTION, SearchTarget(project=garden, user_id="ann"), 5)
    _, searched = house.services.recall_receipts.of_search(house.reach, found, None, None)
    assert searched is not None and shown(house, searched).receipt.kind == "search"
    bound = replace(house.reach, user="bob")
    assert refused(house, searched, bound) == refused(house, ReceiptId(searched), bound)
    house.services.erase_user.erase(house.reach, "ann")
    refused(house, searched)
    assert engine.rows("SELECT receipt_id FROM receipt") == []


def test_prf_1_a_foreign_receipt_and_a_missing_one_are_the_same_error(house: MemorySetup) -> None:
    house.session("asks", house.project())
    id = reply(house, "asks")
    other = Reach(tenant=house.services.projects.create_tenant("Other")[0])
    assert refused(house, id, other) == f"There is no receipt 'rcpt_{id:016x}' here."
    missing = ReceiptId(id + 1)
    assert refused(house, missing) == f"There is no receipt 'rcpt_{missing:016x}' here."


def test_prf_1_sharing_ends_what_was_recalled_from_all(house: MemorySetup) -> None:
    """ISO-10: the pool of a shared project becomes that of sessions without a user; nothing of others is shown there."""
    garden = house.project()
    house.session("tells", garden, "bob")
    house.session("asks", garden)
    house.say("tells", SECRET)
    id = reply(house, "asks")
    assert shown(house, id).items
    house.services.projects.change_project(house.reach, garden, member_visibility="private")
    assert shown(house, id).items == ()


def test_prf_1_contexts_are_stored_only_where_the_project_says_so(house: MemorySetup) -> None:
    garden = house.project()
    house.session("tells", garden)
    house.session("asks", garden)
    house.say("tells", SECRET)

    def asked() -> ReceiptId | None:
        context = house.services.context.build(house.reach, "asks", ContextRequest(question=QUESTION))
        return house.services.recall_receipts.of_context(house.reach, context, None)[1]

    assert asked() is None
    for wrong in ({"store_receipts": "yes"}, {"receipt_days": 0}, {"receipt_days": 3_651}, {"store_receipt": True}):
        with pytest.raises(InvalidRequest):
            house.services.projects.change_project(house.reach, garden, settings=wrong)
    house.services.projects.change_project(house.reach, garden, settings={"store_receipts": True})
    id = asked()
    assert id is not None and shown(house, id).receipt.terms.question == QUESTION
    house.clock.moment += 31 * DAY
    refused(house, id)
    assert house.services.receipt_expiry.drop() == 1


def test_prf_1_retention_keeps_receipts_bounded(house: MemorySetup, engine: Engine) -> None:
    garden = house.project(store_receipts=True, receipt_days=2)
    house.session("asks", garden)
    house.say("asks", SECRET)
    context = house.services.context.build(house.reach, "asks", ContextRequest(question=QUESTION))
    for _ in range(20):
        house.services.recall_receipts.of_context(house.reach, context, None)
        house.clock.moment += DAY
        house.services.receipt_expiry.drop()
        assert len(engine.rows("SELECT receipt_id FROM receipt")) <= 2
    house.services.projects.change_project(house.reach, garden, settings={"receipt_days": 1})
    house.services.receipt_expiry.drop()
    assert len(engine.rows("SELECT receipt_id FROM receipt")) <= 1


def test_prf_1_a_prompt_without_placeholders_gives_nothing_and_warns(house: MemorySetup) -> None:
    """MEM-7: the receipt says so, and the reply, which only quotes, has nothing to quote."""
    garden = house.project(system_prompt="You are a pirate.")
    house.session("tells", garden)
    house.session("asks", garden)
    house.say("tells", SECRET)
    receipt = shown(house, reply(house, "asks"))
    assert receipt.items == () and receipt.receipt.items == ()
    assert receipt.receipt.sent is not None and receipt.receipt.sent.placeholders == ()
    last = house.services.sessions.messages(house.reach, "asks", limit=9)[1][-1]
    assert "4417" not in last.content


def stored_query(house: MemorySetup, kind: str, words: str, session: str = "asks") -> ReceiptId:
    """The receipt of a context or a search that was asked with these words, and not with a message."""
    receipts = house.services.recall_receipts
    if kind == "context":
        context = house.services.context.build(house.reach, session, ContextRequest(question=words))
        _, id = receipts.of_context(house.reach, context, None)
    else:
        found = house.services.search.find(house.reach, words, SearchTarget(session=session), 5)
        _, id = receipts.of_search(house.reach, found, session, None)
    assert id is not None
    return id


@pytest.mark.parametrize("kind", ["context", "search"])
def test_mem_9_a_query_goes_with_the_message_that_has_its_words(house: MemorySetup, engine: Engine, kind: str) -> None:
    """Asked before the words were recorded, and after; other words and other sessions keep theirs."""
    garden = house.project(store_receipts=True)
    house.session("asks", garden)
    house.session("tells", garden)
    gone = [stored_query(house, kind, QUESTION)]
    (asked,) = house.say("asks", QUESTION)
    gone += [stored_query(house, kind, QUESTION), stored_query(house, kind, "what is  the gate code?\n")]
    kept = [stored_query(house, kind, "And the gate?"), stored_query(house, kind, QUESTION, "tells")]
    removal = house.services.forgetting.message(house.reach, asked.id, dry_run=True)
    assert set(gone) <= set(removal.receipts) and not set(kept) & set(removal.receipts)
    removal = house.services.forgetting.message(house.reach, asked.id)
    assert set(gone) <= set(removal.receipts)
    for id in gone:
        refused(house, id)
    assert [shown(house, id).receipt.terms.question for id in kept] == ["And the gate?", QUESTION]
    house.services.forgetting.contents(house.reach, "tells")
    assert engine.rows("SELECT query FROM receipt") == [("And the gate?",)]
