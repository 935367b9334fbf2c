"""`X-Model-Key` at Anthropic's front: the caller's own key for the model's server, where the operator allows it (DOOR-3)."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import anthropic
import pytest

from cloister.models.openai.chat import OpenAiChatModel
from cloister.models.openai.endpoint import Endpoint
from support.clients.anthropic_client import MODEL, AnthropicFront, message
from support.databases.engines import sqlite_engine
from support.servers.fake_endpoint import Answer, fake_endpoint, refusal
from support.servers.http_server import serving

KEY = "sk-ant-of-the-caller-4711"
SERVERS_KEY = "sk-ant-of-the-server"
ASK: Any = {"model": "m", "messages": [{"role": "user", "content": "Hello."}]}


@pytest.fixture
def open_front(tmp_path: Path) -> Generator[AnthropicFront]:
    engine = sqlite_engine(tmp_path / "data")
    with engine.closing, fake_endpoint() as model:
        model.models = (MODEL,)
        model.answers(message("Understood."))
        chat = OpenAiChatModel(Endpoint(url=model.url, model=MODEL, key=SERVERS_KEY, seconds=30))
        with serving(engine.services(chat_model=chat, allows_caller_keys=True)) as server:
            front = AnthropicFront(server=server, model=model)
            with front.clients:
                yield front


def test_a_callers_key_is_refused_where_the_operator_does_not_allow_it(quick_front: AnthropicFront) -> None:
    tenant = quick_front.tenant()
    client = quick_front.client(tenant.key).with_options(default_headers={"X-Model-Key": KEY})
    with pytest.raises(anthropic.PermissionDeniedError, match="CLOISTER_CALLER_MODEL_KEYS"):
        client.messages.create(**ASK, max_tokens=9)
    with pytest.raises(anthropic.PermissionDeniedError):
        client.messages.count_tokens(**ASK)
    assert not quick_front.model.asked and tenant.admin.everything("/v1/sessions") == []


def test_a_callers_key_is_sent_for_its_request_alone_and_stored_nowhere(
    open_front: AnthropicFront, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Streamed or not, and for a count: the model's server gets the caller's key and not the server's; the next request, of the
    same tenant or of another, has the server's again."""
    tenant, other = open_front.tenant(), open_front.tenant()
    own = open_front.client(tenant.key).with_options(default_headers={"X-Model-Key": KEY})
    own.messages.create(**ASK, max_tokens=9)
    with own.messages.stream(**ASK, max_tokens=9) as streamed:
        assert streamed.get_final_text() == "Understood."
    open_front.model.answers(Answer(body=b'{"input_tokens": 17}'))
    assert own.messages.count_tokens(**ASK).input_tokens == 17
    open_front.model.answers(message("Understood."))
    for one in (tenant, other):
        open_front.say(one.key, "Without it.")
    for asked in open_front.model.asked[:3]:
        assert KEY in str(asked.headers) and SERVERS_KEY not in str(asked.headers), asked.path
        assert tenant.key not in str(asked.headers)
    for asked in open_front.model.asked[3:]:
        assert SERVERS_KEY in str(asked.headers) and KEY not in str(asked.headers), asked.path
    assert len(open_front.model.asked) == 5
    open_front.model.answers(refusal(401, f"invalid x-api-key: {KEY}"))
    with pytest.raises(anthropic.APIStatusError) as refused:
        own.messages.create(**ASK, max_tokens=9)
    assert "X-Model-Key" in refused.value.message and KEY not in str(refused.value.body)
    output = capfd.readouterr()
    assert KEY not in caplog.text + output.out + output.err
    stored = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert stored and not any(KEY.encode() in content for content in stored)


@pytest.mark.parametrize("key", ["", "ä", "x" * 1_001])
def test_a_key_that_cannot_be_one_is_refused_and_not_repeated(open_front: AnthropicFront, key: str) -> None:
    headers: Any = {"X-Model-Key": key.encode()}
    answer = open_front.tenant().admin.post("/anthropic/v1/messages", {**ASK, "max_tokens": 9}, headers=headers)
    assert answer.status_code == 422 and answer.json()["error"]["type"] == "invalid_request_error"
    assert not key or key not in answer.text.replace("X-Model-Key", "")
