"""The floor of relevance, each fact once, excerpts and the moment of asking, through every way in (CTX-6 to CTX-9)."""

from datetime import datetime, timedelta

import pytest

from cloister import Cloister, InvalidRequest
from support.clients.entry_points import PROGRAMS, every_way, only

GATE, QUESTION = "The gate code is 4417.", "What is the gate code?"
OTHERS = (
    "My neighbour Anna plays the cello on Sundays.",
    "The train to Graz leaves at seven in the morning.",
    "We are going to paint the fence in spring.",
)
OFF_TOPIC = "What is the capital of France?"


def tell(memory: Cloister, *texts: str) -> None:
    memory.create_session("tells")
    memory.create_session("asks")
    for text in texts or (GATE, *OTHERS):
        memory.record("tells", "user", text)


@every_way
def test_what_is_recalled_says_how_relevant_it_is(memory: Cloister) -> None:
    tell(memory)
    memory.extract("tells")
    context = memory.context("asks", QUESTION)
    best = context.relevant_history[0]
    assert (best.content, best.strength, best.times_said, best.is_excerpt) == (GATE, "strong", 1, False)
    assert best.relevance is not None and 0.5 <= best.relevance <= 1
    (cello,) = [
        stored for stored in memory.context("asks", "Who plays the cello?").memories if "cello" in stored.content
    ]
    assert cello.strength == "strong" and 0.5 <= cello.relevance <= 1
    hit = memory.search(QUESTION)[0]
    assert (hit.content, hit.strength, hit.times_said, hit.score) == (GATE, "strong", 1, hit.relevance)
    own = memory.context("tells", QUESTION).current_conversation[0]
    assert (own.score, own.relevance, own.strength, own.times_said, own.is_excerpt) == (None, None, None, 1, False)


@every_way
def test_a_request_sets_its_own_floor(memory: Cloister) -> None:
    tell(memory)
    silent = memory.context("asks", OFF_TOPIC)
    assert (silent.relevant_history, silent.omitted["weak"]) == ((), 4)
    assert memory.search(OFF_TOPIC) == []
    everything = memory.context("asks", OFF_TOPIC, min_relevance=0)
    assert (len(everything.relevant_history), everything.omitted["weak"]) == (4, 0)
    assert len(memory.search(OFF_TOPIC, min_relevance=0)) == 4
    assert memory.context("asks", QUESTION, min_relevance=1).relevant_history == ()


@every_way
@pytest.mark.parametrize("given", [-0.1, 1.5])
def test_a_floor_out_of_range_is_refused(memory: Cloister, given: float) -> None:
    tell(memory)
    with pytest.raises(InvalidRequest, match="min_relevance"):
        memory.context("asks", QUESTION, min_relevance=given)
    with pytest.raises(InvalidRequest, match="min_relevance"):
        memory.search(QUESTION, min_relevance=given)


@every_way
@pytest.mark.parametrize("given", ["yesterday", "2026-13-01T00:00:00Z"])
def test_a_moment_of_asking_that_is_no_time_is_refused(memory: Cloister, given: str) -> None:
    tell(memory)
    with pytest.raises(InvalidRequest, match="asked_at"):
        memory.context("asks", QUESTION, asked_at=given)
    with pytest.raises(InvalidRequest, match="asked_at"):
        memory.search(QUESTION, asked_at=given)


@every_way
def test_the_moment_of_asking_changes_what_yesterday_means(memory: Cloister) -> None:
    tell(memory)
    question = "What did we say about the gate yesterday?"
    said = datetime.fromisoformat(memory.messages("tells")[0].created_at)
    scores: list[float] = []
    for asked_at in (said + timedelta(days=400), said + timedelta(days=1)):
        context = memory.context("asks", question, asked_at=asked_at.isoformat(), min_relevance=0)
        scores += [item.score or 0.0 for item in context.relevant_history if item.content == GATE]
        assert memory.search(question, asked_at=asked_at.isoformat())[0].content == GATE
    later, next_day = scores
    assert next_day > later


@every_way
def test_what_is_said_again_is_recalled_once_and_counted(memory: Cloister) -> None:
    tell(memory, GATE, *OTHERS, "the gate code is 4417", QUESTION)
    context = memory.context("asks", QUESTION)
    assert [(item.content, item.times_said) for item in context.relevant_history if "gate" in item.content] == [
        ("the gate code is 4417", 2)
    ]
    assert context.omitted["duplicate"] == 2
    (item,) = (item for item in context.relevant_history if "gate" in item.content)
    older, newer = (message.id for message in memory.messages("tells") if "gate code is" in message.content)
    assert (item.id, item.same_as) == (newer, (older,))
    assert memory.search(QUESTION)[0].times_said == 2


@every_way
def test_a_small_budget_shortens_a_long_message_to_an_excerpt(memory: Cloister) -> None:
    filler = "We walked along the river and talked about nothing in particular that day. " * 8
    tell(memory, f"{filler}The cellar key hangs behind the barometer. {filler}", *OTHERS)
    (whole, *_) = memory.messages("tells")
    context = memory.context("asks", "Where does the cellar key hang?", budget_tokens=250)
    (item,) = [item for item in context.relevant_history if item.is_excerpt]
    assert item.id == whole.id and "The cellar key hangs behind the barometer." in item.content
    assert len(item.content) < len(whole.content) / 2
    assert context.omitted["budget"] == 0


@only(PROGRAMS)
def test_a_project_sets_its_floor_and_the_length_of_its_history(memory: Cloister) -> None:
    project = memory.create_project("Garden", member_visibility="shared").project_id
    memory.create_session("tells", project_id=project)
    memory.create_session("asks", project_id=project)
    for text in (GATE, *OTHERS):
        memory.record("tells", "user", text)
    changed = memory.update_project(project, settings={"min_relevance": 0, "history_tokens": 30})
    assert (changed.settings["min_relevance"], changed.settings["history_tokens"]) == (0, 30)
    context = memory.context("asks", OFF_TOPIC)
    assert 0 < context.tokens <= 30 and context.omitted["budget"] > 0
    memory.update_project(project, settings={"min_relevance": 1})
    assert memory.context("asks", QUESTION).relevant_history == ()
    assert memory.search(QUESTION, project_id=project) == []
    for setting in ({"min_relevance": "0.5"}, {"min_relevance": 2}, {"history_tokens": -1}):
        with pytest.raises(InvalidRequest, match=next(iter(setting))):
            memory.update_project(project, settings=setting)
    assert memory.project(project).settings["min_relevance"] == 1
    every = dict.fromkeys(("observation_scope", "context_sources", "pending_message_count", "wanted_categories"))
    more = dict.fromkeys(
        ("unwanted_categories", "minimum_importance", "extraction_languages", "model", "retention_days")
    )
    reset = {**every, **more, "min_relevance": None, "history_tokens": None, "system_prompt": None}
    assert memory.update_project(project, settings={**reset, "extraction_instructions": None}).settings == {}
    assert memory.context("asks", QUESTION).relevant_history != ()
