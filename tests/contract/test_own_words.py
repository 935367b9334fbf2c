"""What a message only quotes is not its own: it is never recalled with it, wherever the message goes (ISO-4, ISO-5, MEM-10)."""

import pytest

from cloister.domain.context import Source
from cloister.domain.memory import quoted
from cloister.domain.own_words import NOTHING_RECALLED, RECALL_ONLY
from cloister.services.search import Place
from engines import Engine
from memory_house import House, settle_house

SECRET = "The launch code is heron-4417."
REPLIES = {
    "nothing but quotations": f"{RECALL_ONLY}\n\n{quoted([f'2026-11-16, user in a: {SECRET}'])}",
    "words and quotations": f"Here it is.\n{quoted([SECRET])}\nAnything else?",
    "quotations that are not closed": f"Here it is. {quoted([SECRET])[:-10]}",
}


@pytest.fixture
def house(engine: Engine) -> House:
    return settle_house(engine)


@pytest.mark.parametrize("reply", REPLIES.values(), ids=list(REPLIES))
def test_iso_4_a_quotation_does_not_cross_a_wall_when_its_session_moves(house: House, reply: str) -> None:
    garden = house.project()
    house.session("a", garden)
    house.session("b", garden)
    house.session("c")
    house.say("a", SECRET)
    house.say("b", "What is the launch code?", reply=reply)
    house.move("b", None)
    context = house.services.context.build(house.reach, "c", question="launch code heron-4417")
    assert "heron" not in str(context)
    every = (Source(role="assistant", method="recent", limit=10, conversation_scope="pool"),)
    assert "heron" not in str(house.services.context.build(house.reach, "c", question="launch code", sources=every))
    assert "heron" not in str(house.services.search.search(house.reach, "heron-4417", Place(), 10))
    # Its own conversation still shows all of it.
    assert "heron" in str(house.services.context.build(house.reach, "b").current_conversation)


def test_mem_10_a_reply_that_only_quotes_takes_no_place_among_what_is_recalled(house: House) -> None:
    garden = house.project()
    for name in ("a", "b", "c"):
        house.session(name, garden)
    house.say("a", SECRET)
    house.say("b", "What is the launch code?", reply=REPLIES["nothing but quotations"])
    house.say("b", "And the weather?", reply=f"{RECALL_ONLY}\n\n{NOTHING_RECALLED}")
    found = house.services.context.build(house.reach, "c", question="What is the launch code?").relevant_history
    assert SECRET in [item.message.content for item in found]
    assert not [item for item in found if item.message.content.startswith("Recall only")]


def test_a_kind_without_any_of_the_words_does_not_stand_before_one_that_has_them(house: House) -> None:
    garden = house.project()
    house.session("a", garden)
    house.say("a", "Tell me a joke.", "And another one.")
    house.services.remember.append(house.reach, "a", ["Marta likes purple foxes."])
    place = Place(project=garden)
    hits = house.services.search.search(house.reach, "purple foxes", place, 10)
    assert (type(hits[0]).__name__, hits[0].score) == ("MemoryHit", 1.0)
    assert all(hit.score < 0.5 for hit in hits[1:])
    assert len(house.services.search.search(house.reach, "purple foxes", place, 1)) == 1
    assert house.services.search.search(house.reach, "another joke", place, 10)[0].score == 1.0
