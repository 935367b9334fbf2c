"""PRF-1: the prompt of a reply is rebuilt from its receipt, and never shows more than the receipt does."""

from dataclasses import replace
from typing import Any

import pytest

from cloister.domain.errors import Conflict, NotFound
from cloister.domain.identifiers import ReceiptId
from cloister.domain.scope import Reach
from cloister.domain.timestamps import now
from cloister.services.memories.corrections import MemoryChange
from cloister.services.recall.build_context import ContextRequest
from cloister.services.receipts.prompt import ShownPrompt
from support.databases.engines import Engine
from support.setups.memories import HOUR, MemorySetup
from support.setups.replies import NotingModel, receipt_of_reply, settle_with_model

SECRET, QUESTION = "The gate code is 4417.", "What is the gate code?"
ANNA, CELLO = "My neighbour Anna plays the cello.", "What does my neighbour Anna play?"


@pytest.fixture
def model() -> NotingModel:
    return NotingModel()


@pytest.fixture
def house(engine: Engine, model: NotingModel) -> MemorySetup:
    """Its clock begins where that of the chat is."""
    return settle_with_model(engine, model, began_at=now())


def prompt_of(house: MemorySetup, id: ReceiptId, reach: Reach | None = None) -> ShownPrompt:
    return house.services.receipt_prompts.get(reach or house.reach, id)


def sent(model: NotingModel, number: int = -1) -> list[tuple[object, object]]:
    return [(message["role"], message["content"]) for message in model.requests[number].messages]


def words_of(shown: ShownPrompt) -> str:
    return "\n".join(message.content for message in shown.messages)


def test_prf_1_the_prompt_is_exact_while_nothing_has_changed(house: MemorySetup, model: NotingModel) -> None:
    """With what was said later in the pool and in the session, which is not in it."""
    garden = house.project()
    house.session("tells", garden)
    house.session("asks", garden)
    house.tell("tells", SECRET, ANNA)
    first = receipt_of_reply(house, "asks", CELLO)
    house.say("tells", "The gate code is now 5528.")
    second = receipt_of_reply(house, "asks", QUESTION)
    shown = prompt_of(house, first)
    assert (shown.is_exact, shown.missing) == (True, ())
    assert list(map(tuple, shown.messages)) == sent(model, 0)
    assert "cello" in shown.messages[0].content and "5528" not in words_of(shown)
    later = prompt_of(house, second)
    assert later.is_exact, later.missing
    assert list(map(tuple, later.messages)) == sent(model)
    assert [message.role for message in later.messages] == ["system", "user", "assistant", "user"]


def test_prf_1_what_was_forgotten_is_not_in_the_prompt(house: MemorySetup) -> None:
    garden = house.project()
    house.session("tells", garden)
    house.session("asks", garden)
    (said,) = house.say("tells", SECRET)
    id = receipt_of_reply(house, "asks", QUESTION)
    assert "4417" in words_of(prompt_of(house, id))
    house.services.forgetting.message(house.reach, said.id)
    after = prompt_of(house, id)
    assert (after.is_exact, after.missing) == (False, ("1 item forgotten",))
    assert "4417" not in words_of(after)


def test_prf_1_a_corrected_memory_is_named(house: MemorySetup) -> None:
    """A memory that is pinned, or corrected back to what it was, says the same as then."""
    garden = house.project()
    house.session("tells", garden)
    house.session("asks", garden)
    house.tell("tells", ANNA)
    id = receipt_of_reply(house, "asks", CELLO)
    (memory,) = house.stored("tells")
    content = memory.memory.content

    def correct(**given: Any) -> None:
        house.clock.moment += HOUR
        change = MemoryChange(given=frozenset(given), **given)
        house.services.corrections.correct(house.reach, memory.memory.id, change, by=None)

    correct(pinned=True)
    assert prompt_of(house, id).is_exact
    correct(content="The user's neighbour Anna plays the viola.")
    assert prompt_of(house, id).missing[0] == "1 memory corrected"
    items = house.services.receipts.get(house.reach, id).items
    assert [item.item.kind for item in items if item.words.is_changed] == ["memory"]
    correct(content=content)
    assert "1 memory corrected" not in prompt_of(house, id).missing


def test_prf_1_a_moved_session_shows_its_own_words_only(house: MemorySetup) -> None:
    """ISO-12: neither what was recalled in the old project, nor that project's own prompt."""
    garden, cellar = house.project(system_prompt="Prune daily. {RELEVANT.HISTORY}"), house.project("Cellar")
    house.session("tells", garden)
    house.session("asks", garden)
    house.say("tells", SECRET)
    id = receipt_of_reply(house, "asks", QUESTION)
    assert prompt_of(house, id).is_exact and "Prune daily." in words_of(prompt_of(house, id))
    house.move("asks", cellar)
    there = prompt_of(house, id, replace(house.reach, confined_to=cellar))
    assert [message.content for message in there.messages] == [QUESTION]
    assert there.missing[0].endswith("from another project")
    with pytest.raises(NotFound):
        prompt_of(house, id, replace(house.reach, confined_to=garden))
    house.move("asks", garden)
    assert prompt_of(house, id).is_exact


def test_prf_1_a_template_that_is_not_stored_is_said_and_what_was_recalled_is_shown(
    house: MemorySetup, engine: Engine
) -> None:
    """As of replies from before the texts were stored."""
    garden = house.project(system_prompt="Prune daily. {RELEVANT.HISTORY}")
    house.session("tells", garden)
    house.session("asks", garden)
    house.say("tells", SECRET)
    id = receipt_of_reply(house, "asks", QUESTION)
    engine.rows("DELETE FROM prompt_template")
    assert prompt_of(house, id).is_exact
    house.services.projects.change_project(house.reach, garden, settings={"system_prompt": "Dig. {RELEVANT.HISTORY}"})
    shown = prompt_of(house, id)
    assert shown.missing == (
        "The prompt of the project was changed, and its former text is not stored: only what was recalled is shown of it.",
    )
    assert SECRET in words_of(shown)
    assert "Prune" not in words_of(shown) and "Dig." not in words_of(shown)


def test_prf_1_the_profile_of_the_user_is_in_the_prompt_again(house: MemorySetup, model: NotingModel) -> None:
    garden = house.project(visibility="private", system_prompt="{PROFILE}\n\n{MEMORY.CONTEXT}")
    house.session("tells", garden, "ann")
    house.session("asks", garden, "ann")
    house.tell("tells", "My name is Ann.", "I live in Porto.", ANNA)
    id = receipt_of_reply(house, "asks", CELLO)
    shown = prompt_of(house, id)
    assert shown.is_exact, shown.missing
    assert list(map(tuple, shown.messages)) == sent(model)
    assert "Porto" in words_of(shown)


def test_prf_1_a_long_message_is_shown_as_the_excerpt_that_was_given(house: MemorySetup, model: NotingModel) -> None:
    garden = house.project(history_tokens=200)
    house.session("tells", garden)
    house.session("asks", garden)
    house.say("tells", " ".join([SECRET, *(f"The bean number {number} grows along the wall." for number in range(80))]))
    id = receipt_of_reply(house, "asks", QUESTION)
    assert any(item.item.is_excerpt for item in house.services.receipts.get(house.reach, id).items)
    shown = prompt_of(house, id)
    assert shown.is_exact, shown.missing
    assert list(map(tuple, shown.messages)) == sent(model)
    assert "4417" in words_of(shown) and "bean number 79" not in words_of(shown)


def test_prf_1_a_receipt_of_a_context_has_no_prompt_and_a_foreign_one_is_missing(house: MemorySetup) -> None:
    garden = house.project(store_receipts=True)
    house.session("asks", garden)
    context = house.services.context.build(house.reach, "asks", ContextRequest(question=QUESTION))
    _, id = house.services.recall_receipts.of_context(house.reach, context, None)
    assert id is not None
    with pytest.raises(Conflict, match="only replies have a prompt"):
        prompt_of(house, id)
    other = Reach(tenant=house.services.projects.create_tenant("Other")[0])
    with pytest.raises(NotFound) as foreign:
        prompt_of(house, id, other)
    house.services.forgetting.session(house.reach, "asks")
    with pytest.raises(NotFound) as missing:
        prompt_of(house, id)
    assert str(foreign.value) == str(missing.value)
