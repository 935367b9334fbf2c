"""A message that is not on the current branch of its session is found by no read path, by nobody, in any pool; and is found again
when its branch is chosen. On both engines, in small and large pools, and with an index that remembers too much."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import pytest

from cloister.domain.context import Method, Source
from cloister.domain.conversation import ROLES, Draft, Message
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import ProjectId, ReceiptId
from cloister.domain.memory import quoted
from cloister.domain.recall.filter_language import parse_filter
from cloister.domain.scope import Reach
from cloister.services.chat.turns import NamedSession, TurnRequest
from cloister.services.conversations.item_format import format_item_id
from cloister.services.memories import extract
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import SearchTarget
from support.databases.engines import Engine, exact_index
from support.isolation.leaky_index import LeakyIndex
from support.isolation.receipt_checks import receipt_for
from support.setups.branches import answer_again, choose, edit
from support.setups.memories import EVERYTHING, MemorySetup, settle_beside, settle_house

OLD, NEW = "Quokkason", "Wombatson"
"""Names that only the old branch, and only the new branch speaks of."""
QUESTION = "Which brother lives in Zanzibar, and who has dogs and cats?"
METHODS: tuple[Method, ...] = ("recent", "semantic")

ASKED = ContextRequest(question=QUESTION, min_relevance=0)


def said_of(name: str) -> str:
    return f"My brother {name} lives in Zanzibar and works at {name}works."


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A session with two branches, and another session in the same pool, of the same user."""

    house: MemorySetup
    project: ProjectId
    old: Message
    new: Message

    @property
    def reach(self) -> Reach:
        return self.house.reach


@pytest.fixture(params=["small", "large", "leaky"])
def house(request: pytest.FixtureRequest, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> MemorySetup:
    """Windows are short, so that a few messages make notes."""
    monkeypatch.setattr(extract, "RECENT_WINDOW", 2)
    monkeypatch.setattr(extract, "_FEWEST_TO_OBSERVE", 2)
    index = LeakyIndex() if request.param == "leaky" else exact_index(large=1 if request.param == "large" else 1 << 15)
    return settle_house(engine, index=index)


def settle(house: MemorySetup) -> Place:
    """The old branch was said and read, and then edited; the new one is read too."""
    project = house.project("Garden", visibility="private", observation_scope="user")
    house.session("asking", project, "ann")
    house.say("asking", "Roses need water.")
    house.session("talk", project, "ann")
    house.say("talk", "Hello.")
    old = house.say("talk", said_of(OLD), reply=f"{OLD} sounds nice.")[0]
    house.tell("talk", *(f"{OLD} has {number} dogs." for number in range(3)))
    new, _ = edit(house.services, house.reach, "talk", old.id, said_of(NEW), f"{NEW} sounds nice.")
    house.tell("talk", *(f"{NEW} has {number} cats." for number in range(3)))
    if isinstance(house.services.index, LeakyIndex):
        _, said = house.services.sessions.messages(house.reach, "talk", limit=EVERYTHING, all_branches=True)
        house.services.index.lies += [message.id for message in said]
    return Place(house=house, project=project, old=old, new=new)


def everywhere(place: Place) -> dict[str, Callable[[], object]]:
    """Every way to read what was said, or what was made of it."""
    house, services, reach = place.house, place.house.services, place.reach
    sources = [
        Source(role=role, method=method, limit=100, conversation_scope="pool") for role in ROLES for method in METHODS
    ]
    wanted = parse_filter({"not": {"role": "system"}})

    def context(session: str, request: ContextRequest = ASKED) -> object:
        return services.context.build(reach, session, request)

    def search(target: SearchTarget) -> object:
        kinds = ("episodes", "memories", "entities")
        return services.search.search(reach, QUESTION, target, 50, kinds=kinds, min_relevance=0)

    def one(call: Callable[[], object]) -> object:
        with suppress(NotFound):
            return call()

    def entities() -> object:
        found = house.entities(place.project, "ann")
        details = [services.entities.get(reach, entity.id) for entity in found]
        return found, details, [services.entities.mentions(reach, entity.id, limit=50) for entity in found]

    confined = Reach(tenant=reach.tenant, confined_to=place.project, user="ann")
    reads: dict[str, Callable[[], object]] = {
        "messages": lambda: services.sessions.messages(reach, "talk", limit=EVERYTHING),
        "filtered messages": lambda: services.sessions.messages(reach, "talk", limit=EVERYTHING, filter=wanted),
        "context": lambda: context("talk"),
        "context of another session": lambda: context("asking"),
        "context of the pool": lambda: context("asking", replace(ASKED, sources=sources)),
        "filtered context": lambda: context("asking", replace(ASKED, filter=wanted)),
        "context with a profile": lambda: context("asking", replace(ASKED, profile_tokens=1_000)),
        "context without a question": lambda: context("talk", ContextRequest(min_relevance=0)),
        "search by session": lambda: search(SearchTarget(session="asking")),
        "search by project": lambda: search(SearchTarget(project=place.project, user_id="ann")),
        "memories": lambda: house.stored("talk"),
        "memories of a user": lambda: services.memories.of_user(reach, "ann", limit=EVERYTHING),
        "memories of the pool": lambda: services.pool_reader.memories(confined, limit=EVERYTHING, with_past=True),
        "entities": entities,
        "observations": lambda: services.observations.of_session(reach, "talk", limit=EVERYTHING),
        "profile of a user": lambda: services.profiles.of_user(reach, "ann", place.project),
        "profile of a project": lambda: services.profiles.of_project(reach, place.project, user_id="ann"),
        "items": lambda: services.items.page(reach, "talk", limit=EVERYTHING),
        "newest items": lambda: services.items.page(reach, "talk", limit=EVERYTHING, newest_first=True),
        "unrecorded": lambda: services.unrecorded.ask(reach, NamedSession(session="talk"), QUESTION, known=frozenset()),
    }
    for name, message in (("old", place.old), ("new", place.new)):
        number = message.id
        reads[f"{name} episode"] = lambda id=number: one(lambda: services.pool_reader.episode(confined, id))
        reads[f"{name} item"] = lambda id=number: one(
            lambda: services.items.get(reach, "talk", format_item_id("message", id))
        )
        reads[f"{name} explained"] = lambda id=number: one(
            lambda: (services.explain.question(reach, "asking", QUESTION, id), OLD if id == place.old.id else NEW)
        )
    return reads


def shows(place: Place, name: str) -> list[str]:
    """The read paths that show a name anywhere in their answer."""
    return [path for path, read in everywhere(place).items() if name in repr(read())]


def test_what_is_not_on_the_current_branch_is_found_nowhere(house: MemorySetup) -> None:
    place = settle(house)
    # So that the last line is not empty: what is current is found on every path.
    assert set(everywhere(place)) - set(shows(place, NEW)) == {"old episode", "old item", "old explained"}
    assert shows(place, OLD) == []


def test_a_branch_that_is_chosen_is_found_at_once_and_the_other_no_more(house: MemorySetup, engine: Engine) -> None:
    """Also by another process, whose caches have seen the branch before."""
    place = settle(house)
    other = settle_beside(engine, house)
    beside = Place(house=other, project=place.project, old=place.old, new=place.new)
    shows(beside, NEW)
    derived = {"memories", "memories of a user", "memories of the pool", "entities", "observations"}
    derived |= {"profile of a user", "profile of a project", "context with a profile"}
    for message, current, left in ((place.old, OLD, NEW), (place.new, NEW, OLD), (place.old, OLD, NEW)):
        choose(house.services, house.reach, "talk", message.id)
        for view in (beside, place):
            assert shows(view, left) == []
            assert "context of another session" in shows(view, current)
        house.services.extraction.extract_now(house.reach, "talk")
        assert shows(beside, left) == []
        assert derived <= set(shows(beside, current))


def test_a_reply_that_was_made_again_is_found_nowhere(house: MemorySetup) -> None:
    place = settle(house)
    last = house.say_reply("talk", "What did you say?", f"I said {OLD}, the first.")
    answer_again(house.services, house.reach, "talk", "I said nothing.")
    assert shows(place, OLD) == []
    choose(house.services, house.reach, "talk", last.id)
    assert "context of another session" in shows(place, OLD)


def test_another_pool_never_sees_any_branch(house: MemorySetup) -> None:
    """ISO-4: while branches are chosen, and when the session moves with all of them."""
    place = settle(house)
    house.session("stranger", place.project, "bob")
    house.session("outside", None, "ann")
    elsewhere = house.project("Kitchen")
    for message, name in ((place.old, OLD), (place.new, NEW)):
        choose(house.services, house.reach, "talk", message.id)
        for session in ("stranger", "outside"):
            assert name not in repr(house.context(session, said_of(name)))
    choose(house.services, house.reach, "talk", place.new.id)
    house.move("talk", elsewhere)
    house.session("there", elsewhere, "bob")
    assert OLD not in repr(house.context("there", said_of(OLD)))
    assert NEW in repr(house.context("there", said_of(NEW)))
    choose(house.services, house.reach, "talk", place.old.id)
    assert OLD in repr(house.context("there", said_of(OLD)))
    assert all(name not in repr(house.context("asking", said_of(name))) for name in (OLD, NEW))


def test_what_a_turn_recalled_before_the_branch_was_left_is_not_quoted_after(house: MemorySetup) -> None:
    """ISO-12: neither in the stored reply of another session, nor for who follows it."""
    place = settle(house)
    services, reach = house.services, house.reach
    choose(services, reach, "talk", place.old.id)
    turn = services.turns.begin(reach, TurnRequest(session="asking", drafts=[Draft(role="user", content=said_of(OLD))]))
    context = services.chat.recall(turn, 10_000)
    recalled = [item.message.content for item in context.relevant_history]
    assert said_of(OLD) in recalled
    choose(services, reach, "talk", place.new.id)
    assert OLD not in repr(services.turn_readers.still_recalled(reach, turn, context).relevant_history)
    reply = Draft(role="assistant", content=f"It was so: {quoted(recalled)}")
    stored = services.turns.end(turn, reply, given_recalled_text=True, contexts=[context])
    assert stored is not None and OLD not in stored.content


def test_a_receipt_shows_no_item_of_another_branch_and_stays_readable(house: MemorySetup) -> None:
    """PRF-1: it says how many are on another branch; that of a reply that is not current can be read."""
    place = settle(house)
    services, reach = house.services, house.reach
    choose(services, reach, "talk", place.old.id)
    turn = services.turns.begin(reach, TurnRequest(session="asking", drafts=[Draft(role="user", content=QUESTION)]))
    context = services.chat.recall(turn, 10_000)
    made = receipt_for(context, turn.question.id)
    reply = services.turns.end(
        turn, Draft(role="assistant", content="So it is."), given_recalled_text=True, contexts=[context], receipt=made
    )
    assert reply is not None
    answer_again(services, reach, "asking", "Or not.")
    before = services.receipts.get(reach, ReceiptId(reply.id))
    assert place.old.id in [shown.item.id for shown in before.items]
    choose(services, reach, "talk", place.new.id)
    after = services.receipts.get(reach, ReceiptId(reply.id))
    assert OLD not in repr(after.items) and after.hidden["other_branch"] > 0
    assert len(after.items) + sum(after.hidden.values()) == len(before.receipt.items)


def test_a_message_of_the_branch_is_part_of_it_however_many_others_came_between(house: MemorySetup) -> None:
    """What was said before an edit is far behind many messages that are not current."""
    house.session("talk")
    house.say("talk", "The first thing.")
    second = house.say("talk", "The second thing.")[0]
    house.say("talk", *(f"Something else, number {number}." for number in range(30)))
    edit(house.services, house.reach, "talk", second.id, "Another second thing.", "Fine.")
    context = house.services.context.build(house.reach, "talk", ContextRequest(question="thing", recent_limit=2))
    said = [item.message.content for item in context.current_conversation]
    assert said == ["The first thing.", "I see.", "Another second thing.", "Fine."]
