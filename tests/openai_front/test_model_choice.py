"""Which model answers, and with whose key: the request's, the project's, the server's (DOOR-2)."""

import logging
from collections.abc import Generator
from pathlib import Path

import openai
import pytest

from cloister.models.openai.chat import OpenAiChatModel
from cloister.models.openai.endpoint import Endpoint
from support.clients.openai_client import MODEL, Front, user
from support.databases.engines import Engine
from support.servers.fake_endpoint import completion, fake_endpoint, refusal
from support.servers.http_server import serving

KEY = "sk-of-the-caller-4711"


def asked_model(front: Front) -> str:
    return front.model.asked[-1].body["model"]


def test_a_model_that_the_endpoint_lists_answers_and_any_other_name_is_the_default(front: Front) -> None:
    client = front.client(front.tenant().key)
    for name, answered in (("org/another-model", "org/another-model"), ("unheard-of", MODEL), (MODEL, MODEL)):
        assert client.responses.create(model=name, input="Hello.").model == answered
        assert asked_model(front) == answered
        assert client.chat.completions.create(model=name, messages=[user("Hello.")]).model == answered
        assert asked_model(front) == answered


def test_a_project_may_name_its_model_and_the_request_another(front: Front) -> None:
    tenant = front.tenant()
    project = tenant.new_project("Sea")
    changed = tenant.admin.patch(f"/org/projects/{project}", {"settings": {"model": "org/another-model"}})
    assert changed.status_code == 200, changed.text
    client = front.client(tenant.key, project=project)
    assert client.responses.create(model="any", input="Hello.").model == "org/another-model"
    assert client.responses.create(model=MODEL, input="Hello.").model == MODEL
    front.client(tenant.key).responses.create(model="any", input="Hello.")
    assert asked_model(front) == MODEL, "other projects keep the default model"
    tenant.admin.patch(f"/org/projects/{project}", {"settings": {"model": "gone"}})
    assert client.responses.create(model="any", input="Hello.").model == MODEL


def test_models_are_listed_and_retrieved(front: Front) -> None:
    client = front.client(front.tenant().key)
    names = [model.id for model in client.models.list()]
    assert names[:2] == [MODEL, "org/another-model"]
    assert all(client.models.retrieve(name).id == name for name in names)
    with pytest.raises(openai.NotFoundError) as refused:
        client.models.retrieve("org/unheard-of")
    assert refused.value.code == "not_found"


def test_a_callers_key_is_refused_where_the_operator_does_not_allow_it(front: Front) -> None:
    tenant = front.tenant()
    client = front.client(tenant.key).with_options(default_headers={"X-Model-Key": KEY})
    with pytest.raises(openai.PermissionDeniedError) as refused:
        client.responses.create(model="m", input="Hello.")
    assert "CLOISTER_CALLER_MODEL_KEYS" in refused.value.message
    with pytest.raises(openai.PermissionDeniedError):
        client.chat.completions.create(model="m", messages=[user("Hello.")])
    assert not front.model.asked and tenant.admin.everything("/v1/sessions") == []


@pytest.fixture
def open_front(engine: Engine) -> Generator[Front]:
    with fake_endpoint() as model:
        model.models = (MODEL,)
        model.answers(completion("Understood."))
        chat = OpenAiChatModel(Endpoint(url=model.url, model=MODEL, key="sk-of-the-server", seconds=30))
        services = engine.services(chat_model=chat, allows_caller_keys=True)
        with serving(services) as server:
            front = Front(server=server, model=model)
            with front.clients:
                yield front


def test_a_callers_key_is_sent_for_its_request_alone_and_stored_nowhere(
    open_front: Front, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    tenant = open_front.tenant()
    own = open_front.client(tenant.key).with_options(default_headers={"X-Model-Key": KEY})
    own.responses.create(model="m", input="Hello.")
    own.chat.completions.create(model="m", messages=[user("Hello again.")])
    asking = {"id": "ui", "messages": [{"role": "user", "parts": [{"type": "text", "text": "Hello there."}]}]}
    assert tenant.admin.post("/v1/chat/stream", asking, headers={"X-Model-Key": KEY}).status_code == 200
    open_front.client(tenant.key).responses.create(model="m", input="Without it.")
    sent = [asked.headers["authorization"] for asked in open_front.model.asked]
    assert sent == [f"Bearer {KEY}"] * 3 + ["Bearer sk-of-the-server"]
    open_front.model.answers(refusal(401, f"Incorrect API key provided: {KEY}"))
    with pytest.raises(openai.InternalServerError) as refused:
        own.responses.create(model="m", input="With a wrong key.")
    assert "X-Model-Key" in refused.value.message and KEY not in str(refused.value.body)
    output = capfd.readouterr()
    assert KEY not in caplog.text + output.out + output.err
    stored = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert stored and not any(KEY.encode() in content for content in stored)


@pytest.mark.parametrize("key", ["", "ä", "x" * 1_001])
def test_a_key_that_cannot_be_one_is_refused_and_not_repeated(open_front: Front, key: str) -> None:
    tenant = open_front.tenant()
    answer = tenant.admin.post("/v1/responses", {"input": "Hello."}, headers={"X-Model-Key": key.encode()})  # pyright: ignore[reportArgumentType]
    assert answer.status_code == 422 and answer.json()["error"]["param"] == "X-Model-Key"
    assert not key or key not in answer.text.replace("X-Model-Key", "")
