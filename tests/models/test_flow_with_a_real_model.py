"""The whole flow with a real llama.cpp server and a real, very small model: shapes and promises are asserted, never wisdom."""

import threading

import pytest

from cloister.domain.errors import ModelUnavailable
from cloister.models.openai.endpoint import Endpoint
from cloister.models.openai.extractor import OpenAiExtractor
from support.databases.engines import Engine
from support.servers.model_server import CONTEXT, ModelServer
from support.setups.extraction import run_due
from support.setups.memories import HOUR, MemorySetup, settle_house

SAID = "I am Anna, from Graz."
REPLY = "Good to know."
pytestmark = pytest.mark.usefixtures("at_least_one")


@pytest.fixture
def house(engine: Engine, model_server: ModelServer) -> MemorySetup:
    """In a project, so that there are entities too."""
    endpoint = Endpoint(url=model_server.url, model=model_server.model, tries=2, draw=float)
    house = settle_house(engine, extractor=OpenAiExtractor(endpoint, context=CONTEXT))
    house.session("a", house.project())
    house.say("a", SAID, reply=REPLY)
    return house


def extract_in_background(house: MemorySetup) -> tuple[threading.Thread, list[object]]:
    results: list[object] = []

    def extract() -> None:
        try:
            results.append(house.services.extraction.extract_now(house.reach, "a"))
        except ModelUnavailable as error:
            results.append(error)

    running = threading.Thread(target=extract)
    running.start()
    return running, results


def test_mem_4_mem_6_a_server_killed_half_way_changes_nothing_and_what_the_next_run_says_is_kept_with_its_sources(
    house: MemorySetup, engine: Engine, model_server: ModelServer
) -> None:
    """MEM-5, ISO-9."""
    running, results = extract_in_background(house)
    model_server.wait_until(busy=True)
    assert house.is_pending("a")
    model_server.kill()
    running.join(timeout=60)
    assert isinstance(results[0], ModelUnavailable)
    assert house.memories("a") == []
    assert house.checked("a") == [False, False]
    assert engine.rows("SELECT entity_id FROM entity") == engine.rows("SELECT observation_id FROM observation") == []
    session = house.find("a")
    assert session.memory_job_pending
    assert session.last_extraction_error == str(results[0])[:300]
    assert SAID not in str(session.last_extraction_error)

    model_server.start()
    house.clock.moment += HOUR
    assert run_due(house.services) == 1
    session = house.find("a")
    assert (session.last_extraction_error, session.memory_job_pending) == (None, False)
    assert house.checked("a") == [True, True]
    everything_has_its_sources(house)


def everything_has_its_sources(house: MemorySetup) -> None:
    _, page = house.services.sessions.messages(house.reach, "a", limit=9)
    ids = {message.id for message in page}
    stored = house.stored("a")
    assert stored
    assert all(one.memory.sources and ids.issuperset(one.memory.sources) for one in stored)
    project = house.find("a").project
    assert project is not None
    assert house.entities(project)
    assert all(entity.sources and ids.issuperset(entity.sources) for entity in house.entities(project))
    assert {one.memory.content for one in house.context("a", SAID).derived.memories} <= set(house.memories("a"))
