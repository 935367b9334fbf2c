"""Questions asked before, in natural words, never stand above the statement that answers them (CTX-7), on both engines."""

import pytest

from cloister.domain.context import Context
from cloister.domain.conversation import Draft
from cloister.index import terms
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.repetition.asked_again import AskedWords, asks_about, repeats
from support.databases.engines import Engine
from support.setups.memories import MemorySetup, settle_house

UNKNOWN = "I don't know that, sorry."
OTHERS = (
    "We are going to paint the fence in spring.",
    "My neighbour Anna plays the cello on Sundays.",
    "The bicycle needs a new chain and two tyres.",
)
ASKED = {
    ("What is the gate code?", "The gate code is 4417."): (
        "Hey there, which code opens the gate, thanks?",
        "whats the gate code again",
        "can you tell me the gate code",
        "I forgot the gate code",
        "do you remember which code the gate has",
        "gate code please",
        "what was that code for the gate",
        "need the code for the gate please",
        "remind me what code i type at the gate",
        "any idea what the gate code is",
    ),
    ("What is the wifi password?", "The wifi password is hunter2."): (
        "whats the wifi password again",
        "what's our wifi password",
        "I forgot the wifi password",
        "can you give me the wifi password",
        "hi, i need the wifi password please",
        "which password does the wifi have",
        "could you look up the wifi password",
        "do we have a password for the wifi",
        "wifi password?",
        "how do I log in to the wifi, what password",
    ),
    ("Who is my dentist?", "My dentist is Dr. Weber in Graz."): (
        "can you tell me my dentist's name",
        "I forgot my dentist's name",
        "what's the name of my dentist",
        "whos my dentist",
        "do you know who my dentist is",
        "remind me who my dentist is",
        "what is my dentist called",
        "i cant remember my dentists name",
        "tell me who my dentist is again",
        "who was my dentist again",
    ),
    ("When is my flight to Oslo?", "My flight to Oslo is on Friday at nine."): (
        "whens my flight to oslo",
        "what time is my flight to Oslo",
        "when do I fly to Oslo",
        "I forgot when my flight to Oslo is",
        "can you check when my Oslo flight leaves",
        "what day is my flight to Oslo again",
        "at what time does my flight to Oslo depart",
        "hey, do you know when my flight to Oslo is",
        "remind me of my flight to Oslo please",
        "when exactly was my flight to Oslo",
    ),
    ("Where did I park the car?", "I parked the car in Elm Street."): (
        "wheres the car parked",
        "where is the car parked",
        "where have i parked my car",
        "do you remember where I parked the car",
        "I forgot where I parked the car",
        "can you tell me where I left the car",
        "i cant find the car, where did i park",
        "where did i leave my car",
        "Hi! Where's my car parked again?",
        "whered i park the car",
    ),
}
STATEMENTS = (
    ("What is the gate code?", "I need the code 4417"),
    ("What is the gate code?", "I forgot my keys at the gate"),
    ("What is the gate code?", "I forgot the gate code was changed to 4417"),
    ("What is the gate code?", "I need to tell Ben the gate code 4417"),
    ("What is the gate code?", "The gate code is 4417."),
    ("What is the gate code?", "I forgot my keys at Ben's"),
    ("What is the gate code?", "gate code 4417"),
    ("What is the wifi password?", "I want the wifi password to be hunter2"),
    ("What is the wifi password?", "I forgot to say the wifi password is hunter2"),
    ("What is the wifi password?", "wifi password hunter2"),
    ("What is the wifi password?", "I need the wifi password changed on Monday"),
    ("Who is my dentist?", "I forgot my umbrella at my dentist"),
    ("Who is my dentist?", "I forgot my appointment at the dentist Dr. Weber"),
    ("Who is my dentist?", "I need a new dentist in Graz"),
    ("Who is my dentist?", "My dentist is Dr. Weber"),
    ("When is my flight to Oslo?", "I need to catch my flight to Oslo at 9"),
    ("When is my flight to Oslo?", "I want to book a window seat on my flight to Oslo"),
    ("When is my flight to Oslo?", "my flight to Oslo is on Friday"),
    ("Where did I park the car?", "I forgot the car keys in the garage"),
    ("Where did I park the car?", "I parked the car in Elm Street"),
    ("Where did I park the car?", "I need to move the car from Elm Street"),
    ("Where did I leave my keys?", "I forgot my keys at Ben's"),
    ("What is the gate code?", "Can you set the gate code to 4417?"),
    ("Who is my dentist?", "Is Weber still my dentist?"),
)


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def tell(house: MemorySetup, name: str, *said: Draft) -> None:
    house.session(name)
    house.services.record.messages(house.reach, name, list(said))


def build(house: MemorySetup, question: str, budget: int | None) -> Context:
    return house.services.context.build(house.reach, "asks", ContextRequest(question=question, budget=budget))


@pytest.mark.parametrize(("question", "answer"), ASKED)
def test_ctx_7_the_answer_stands_above_every_wording_of_its_question(
    house: MemorySetup, question: str, answer: str
) -> None:
    """Each was asked in a session of its own and not answered; half of the wordings were not looked at before. At default limits,
    at 60 and at 500 tokens."""
    house.session("asks")
    tell(house, "tells", *(Draft(role="user", content=text) for text in (answer, *OTHERS)))
    wordings = ASKED[question, answer]
    for number, wording in enumerate(wordings):
        said = (Draft(role="user", content=wording), Draft(role="assistant", content=UNKNOWN))
        tell(house, f"asked {number}", *said)
    for asked in (question, wordings[0], wordings[3]):
        for budget in (None, 60, 500):
            found = [item.message.content for item in build(house, asked, budget).relevant_history]
            assert found[:1] == [answer], (asked, budget, found[:3])
            assert UNKNOWN not in found


@pytest.mark.parametrize(("question", "statement"), STATEMENTS)
def test_ctx_7_who_asks_and_states_something_is_not_passed_over(question: str, statement: str) -> None:
    found, asked = frozenset(terms.term_list(statement)), AskedWords(question)
    assert not repeats(statement, found, asked)
    assert asks_about(statement, found, asked) != "same"
