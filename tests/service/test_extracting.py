"""Extraction over HTTP, against a model's server: one at a time, and a failure leaves nothing but its error."""

import asyncio
import threading
from collections.abc import Generator
from typing import Any

import pytest

from cloister.bootstrap import wire
from cloister.domain.identifiers import SessionId
from cloister.domain.scope import Reach
from cloister.interfaces.http.dispatch.tenant_limit import TenantConcurrencyLimit
from cloister.interfaces.http.resources import memories as derived
from cloister.models.openai.endpoint import Endpoint
from cloister.models.openai.extractor import OpenAiExtractor
from cloister.services.memories import extract
from cloister.services.memories.claims import Claim, Claims
from support.databases.engines import EMBEDDER, Engine, exact_index
from support.servers.fake_endpoint import Answer, Asked, FakeEndpoint, completed, completion, fake_endpoint, refusal
from support.servers.http_server import Server, Tenant, serving
from support.setups.extraction import run_due
from support.waiting import eventually

PATH = "/v1/sessions/talk"
GRAZ = completed({"memories": [{"content": "Anna lives in Graz.", "importance": 7, "sources": [1]}]})
NOTHING = completed({"memories": [], "entities": [], "notes": []})


@pytest.fixture
def model() -> Generator[FakeEndpoint]:
    with fake_endpoint() as fake:
        fake.follows(answer)
        yield fake


@pytest.fixture
def server(engine: Engine, model: FakeEndpoint) -> Generator[Server]:
    """One whose model is behind `model`."""
    endpoint = Endpoint(url=model.url, model="some-model", sleep=lambda _: asyncio.sleep(0))
    extractor = OpenAiExtractor(endpoint, context=4_096)
    services = wire(engine.database(), index=exact_index(), embedder=EMBEDDER, extractor=extractor)
    with serving(services) as running:
        yield running
    extractor.close()


@pytest.fixture
def home(server: Server) -> Tenant:
    tenant = server.new_tenant()
    tenant.new_session("talk", project_id=None)
    tenant.say("talk", "I moved to Graz.")
    return tenant


def answer(asked: Asked) -> Answer:
    return GRAZ if '"memories"' in str(asked.body).replace("'", '"') else NOTHING


def session(home: Tenant) -> Any:
    return home.admin.get(PATH).json()


def test_mem_6_a_model_that_fails_is_503_and_leaves_nothing_but_its_error(home: Tenant, model: FakeEndpoint) -> None:
    model.follows(lambda _: refusal(500, "the amulet is under the third floorboard"))
    before = home.admin.everything(f"{PATH}/messages")

    failed = home.admin.post(f"{PATH}/extract")

    assert (failed.status_code, failed.json()["code"]) == (503, "model_unavailable")
    assert failed.headers["content-type"] == "application/problem+json"
    assert home.admin.everything(f"{PATH}/messages") == before, "all are unchecked still"
    assert home.admin.everything(f"{PATH}/memories") == []
    shown = session(home)
    assert shown["last_extraction_error"] == failed.json()["detail"]
    assert shown["memory_job_pending"] is True, "it is tried again"
    assert "amulet" not in failed.text + str(shown), "what a server says is not repeated"

    model.follows(answer)
    assert home.admin.post(f"{PATH}/extract").json() == {"appended": 1, "checked_messages": 1}
    assert (session(home)["last_extraction_error"], session(home)["memory_job_pending"]) == (None, False)
    assert [memory["content"] for memory in home.admin.everything(f"{PATH}/memories")] == ["Anna lives in Graz."]


def test_mem_5_a_model_that_answers_memories_to_every_question_is_enough_in_a_project(
    server: Server, model: FakeEndpoint
) -> None:
    tenant = server.new_tenant()
    tenant.new_session("talk", project_id=tenant.new_project("Games"))
    tenant.say("talk", "I enjoy chess with Anna.")
    model.follows(lambda _: completion('[{"content": "User enjoys chess", "importance": 0.8}]'))

    assert tenant.admin.post(f"{PATH}/extract").json() == {"appended": 1, "checked_messages": 1}

    (memory,) = tenant.admin.everything(f"{PATH}/memories")
    assert (memory["content"], memory["importance"]) == ("User enjoys chess", 0.8)


def test_mem_4_who_asks_while_one_runs_waits_for_its_end_and_goes_on(
    home: Tenant, model: FakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, refused, go_on = threading.Event(), threading.Event(), threading.Event()
    claim = Claims.claim

    def attempt(claims: Claims, reach: Reach, session: SessionId) -> Claim | None:
        stored = claim(claims, reach, session)
        if stored is None:
            refused.set()
        return stored

    def slowly(asked: Asked) -> Answer:
        begun.set()
        assert go_on.wait(30)
        return answer(asked)

    model.follows(slowly)
    monkeypatch.setattr(Claims, "claim", attempt)
    answers: list[Any] = []
    asking = [
        threading.Thread(target=lambda: answers.append(home.admin.post(f"{PATH}/extract").json())) for _ in range(2)
    ]
    try:
        asking[0].start()
        assert begun.wait(30)
        home.say("talk", "Meanwhile it rains.")
        asking[1].start()
        assert refused.wait(30), "it did not meet the one that runs"
        assert home.admin.get(PATH).status_code == 200
    finally:
        go_on.set()
        for thread in asking:
            thread.join(30)
    assert [each["checked_messages"] for each in answers] == [1, 1]
    assert all(message["is_memory_checked"] for message in home.admin.everything(f"{PATH}/messages"))


def test_mem_4_while_one_runs_for_long_it_shows_and_another_is_refused(
    home: Tenant, model: FakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extract, "PATIENCE_SECONDS", 0.1)
    begun, go_on = threading.Event(), threading.Event()

    def slowly(asked: Asked) -> Answer:
        begun.set()
        assert go_on.wait(30)
        return answer(asked)

    model.follows(slowly)
    answers: list[Any] = []
    running = threading.Thread(target=lambda: answers.append(home.admin.post(f"{PATH}/extract").json()))
    running.start()
    try:
        assert begun.wait(30)
        assert session(home)["memory_job_pending"] is True
        refused = home.admin.post(f"{PATH}/extract")
        assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
        home.say("talk", "Meanwhile it rains.")
    finally:
        go_on.set()
        running.join(30)
    assert answers == [{"appended": 1, "checked_messages": 1}], "what came meanwhile waits for the next one"
    assert eventually(lambda: not session(home)["memory_job_pending"])
    assert [message["is_memory_checked"] for message in home.admin.everything(f"{PATH}/messages")] == [True, False]


@pytest.mark.parametrize(
    ("shares", "own", "others"),
    [(TenantConcurrencyLimit(of_all=1, of_one=1), 429, 429), (TenantConcurrencyLimit(of_all=2, of_one=1), 429, 200)],
    ids=["all are taken", "a tenant's are taken"],
)
def test_callers_of_a_slow_model_leave_threads_to_everybody_else(
    server: Server,
    home: Tenant,
    model: FakeEndpoint,
    monkeypatch: pytest.MonkeyPatch,
    shares: TenantConcurrencyLimit,
    own: int,
    others: int,
) -> None:
    """ISO-4: no tenant can take the places of another."""
    monkeypatch.setattr(derived, "extracting", shares)
    home.new_session("other")
    neighbour = server.new_tenant()
    neighbour.new_session("other")
    refused: list[Any] = []

    def meanwhile(asked: Asked) -> Answer:
        model.follows(answer)
        refused.extend(tenant.admin.post("/v1/sessions/other/extract") for tenant in (home, neighbour))
        return answer(asked)

    model.follows(meanwhile)
    assert home.admin.post(f"{PATH}/extract").status_code == 200
    assert [each.status_code for each in refused] == [own, others]
    assert (refused[0].json()["code"], refused[0].headers["retry-after"]) == ("rate_limited", "2")
    assert (
        refused[0].json()["detail"] == "Rate limited: too many sessions are being extracted at once. Try again in 2 s."
    )
    for tenant in (home, neighbour):
        assert tenant.admin.post("/v1/sessions/other/extract").status_code == 200


def test_mem_4_a_session_that_moves_while_it_is_read_is_read_again_at_once(
    server: Server, home: Tenant, model: FakeEndpoint
) -> None:
    """And not only when the lease of who read it would have run out."""
    garden = home.new_project()

    def moving(asked: Asked) -> Answer:
        model.follows(answer)
        assert home.admin.patch(PATH, {"project_id": garden}).status_code == 200
        return answer(asked)

    model.follows(moving)
    assert home.admin.post(f"{PATH}/extract").status_code == 409
    assert home.admin.everything(f"{PATH}/memories") == []
    assert session(home)["memory_job_pending"] is True
    assert server.services is not None
    assert run_due(server.services) == 1
    assert session(home)["memory_job_pending"] is False
    assert len(home.admin.everything(f"{PATH}/memories")) == 1


def test_mem_6_a_session_that_goes_while_it_is_read_leaves_nothing_behind(home: Tenant, model: FakeEndpoint) -> None:
    """MEM-9"""

    def deleting(asked: Asked) -> Answer:
        home.admin.delete(PATH)
        return answer(asked)

    model.follows(deleting)
    assert home.admin.post(f"{PATH}/extract").status_code in (404, 409)
    home.new_session("talk", project_id=None)
    assert home.admin.everything(f"{PATH}/memories") == []
