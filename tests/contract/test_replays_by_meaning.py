"""PRF-2: with an additional embedder a receipt is replayed with the vector of its question, and says so where it cannot be."""

from collections.abc import Callable, Mapping

import pytest

from cloister.domain.conversation import Draft, Message
from cloister.domain.identifiers import ReceiptId
from cloister.domain.scope import Reach
from cloister.domain.timestamps import now
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import SearchTarget
from cloister.services.receipts.explain import Explanation
from support.databases.engines import Engine
from support.samples.additional_embedder import Synonyms
from support.setups.memories import MemorySetup, SteppingClock
from support.setups.replies import NotingModel, receipt_of_reply

SECRET, QUESTION = "The zorblat is under the stairs.", "Where did we put the quimble?"
FILLER = (
    "My aunt sails on the lake.",
    "The train to Graz was late.",
    "Ben bakes bread on Sundays.",
    "The violin needs new strings.",
    "Our cat sleeps all day.",
    "The tomatoes are ripe.",
    "I paint the fence in May.",
    "Lisa studies law in Bern.",
    "The bicycle has a flat tyre.",
    "We watched an old film.",
    "The dentist called twice.",
    "Snow fell on the pass.",
)


def house_with(engine: Engine, embedder: Synonyms | None, house: MemorySetup | None = None) -> MemorySetup:
    """A setup with this additional embedder: a new one, or another process on the database of `house`."""
    clock = SteppingClock(now()) if house is None else house.clock
    services = engine.services(clock=clock, chat_model=NotingModel(), additional_embedder=embedder)
    reach = Reach(tenant=services.projects.create_tenant("Meanings")[0]) if house is None else house.reach
    return MemorySetup(services=services, reach=reach, clock=clock)


def filled(house: MemorySetup) -> tuple[Message, ...]:
    """13 messages of which one is meant by the question, in the project of the session that asks."""
    made = house.project(store_receipts=True)
    house.session("tells", made)
    house.session("asks", made)
    drafts = [Draft(role="user", content=words) for words in (*FILLER[:6], SECRET, *FILLER[6:])]
    return tuple(house.services.record.messages(house.reach, "tells", drafts).messages)


def embedded(house: MemorySetup) -> None:
    """Give every message its vector."""
    assert house.services.vectors is not None
    house.services.vectors.drain()


def of_context(house: MemorySetup) -> ReceiptId:
    context = house.services.context.build(house.reach, "asks", ContextRequest(question=QUESTION))
    _, id = house.services.recall_receipts.of_context(house.reach, context, None)
    assert id is not None
    return id


def of_search(house: MemorySetup) -> ReceiptId:
    found = house.services.search.find(house.reach, QUESTION, SearchTarget(session="asks"), 5)
    _, id = house.services.recall_receipts.of_search(house.reach, found, "asks", None)
    assert id is not None
    return id


MADE: Mapping[str, Callable[[MemorySetup], ReceiptId]] = {
    "reply": lambda house: receipt_of_reply(house, "asks", QUESTION),
    "context": of_context,
    "search": of_search,
}
kinds = pytest.mark.parametrize("kind", MADE)


def replayed(house: MemorySetup, id: ReceiptId, message: Message) -> Explanation:
    return house.services.explain.receipt(house.reach, id, message.id)


@kinds
def test_prf_2_nothing_changed_is_said_with_an_additional_embedder_too(engine: Engine, kind: str) -> None:
    house = house_with(engine, Synonyms())
    said = filled(house)
    embedded(house)
    id = MADE[kind](house)
    shown = house.services.receipts.get(house.reach, id)
    assert said[6].id in [item.item.id for item in shown.items], "the embedder did not find it"
    explained = [replayed(house, id, message) for message in said]
    assert [each.changed for each in explained] == [None] * 13
    assert explained[6].recalled and explained[6].parts["second"] > 0.5
    assert all("embedder" not in each.detail for each in explained)
    if kind == "context":
        asked = [house.services.explain.question(house.reach, "asks", QUESTION, message.id) for message in said]
        assert [each.reason for each in explained] == [each.reason for each in asked]


@kinds
def test_prf_2_what_is_said_of_a_receipt_while_the_embedder_is_down(engine: Engine, kind: str) -> None:
    house = house_with(engine, Synonyms())
    said = filled(house)
    embedded(house)
    id = MADE[kind](house)
    later = house_with(engine, Synonyms(down=True), house)
    found = replayed(later, id, said[6])
    assert found.recalled and found.changed is not None
    assert "additional embedder of the receipt does not answer now" in found.detail
    without = house_with(engine, None, house)
    assert "additional embedder of the receipt is not there now" in replayed(without, id, said[6]).detail


@kinds
def test_prf_2_what_is_said_of_a_receipt_that_was_made_without_the_embedder(engine: Engine, kind: str) -> None:
    house = house_with(engine, Synonyms(down=True))
    said = filled(house)
    id = MADE[kind](house)
    assert "embedder" not in replayed(house, id, said[6]).detail
    later = house_with(engine, Synonyms(), house)
    embedded(later)
    found = replayed(later, id, said[6])
    assert (found.recalled, found.reason) == (False, "limit")
    assert found.changed is not None and found.changed.now.recalled
    assert ("message", said[6].id) in found.changed.entered
    assert found.detail.endswith("The receipt names no additional embedder, and the question was asked again with one.")


def test_prf_2_a_search_without_messages_asks_no_embedder(engine: Engine) -> None:
    embedder = Synonyms()
    house = house_with(engine, embedder)
    said = filled(house)
    found = house.services.search.find(house.reach, QUESTION, SearchTarget(session="asks"), 5, ["memories"])
    _, id = house.services.recall_receipts.of_search(house.reach, found, "asks", None)
    assert id is not None
    embedder.asked.clear()
    assert "embedder" not in replayed(house, id, said[6]).detail
    assert embedder.asked == []
