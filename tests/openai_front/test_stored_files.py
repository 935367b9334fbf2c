"""Nothing in a message names what the model provider stores: all tenants share the account of the server's key (ISO-1, DOOR-2)."""

from typing import Any

import openai
import pytest

from cloister.models.openai.chat import OpenAiChatModel
from cloister.models.openai.endpoint import Endpoint
from support.clients.openai_client import MODEL, Front, assistant, said_in, system, user
from support.databases.engines import Engine
from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import serving

ID = "file-of-another-4711"
LOOK: Any = {"type": "text", "text": "Look."}
STORED: Any = {"type": "file", "file": {"file_id": ID}}
URL = "http://169.254.169.254/secret.pdf"
CALL: Any = {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": '{"file_id": "file-mine"}'}}
PAPER: Any = {"filename": "paper.pdf", "file_data": "data:application/pdf;base64,AAAA"}


def refused_by(create: Any, **asked: Any) -> Any:
    with pytest.raises(openai.UnprocessableEntityError) as refused:
        create(model="m", **asked)
    return refused.value


@pytest.mark.parametrize(
    ("messages", "param", "says"),
    [
        ([user([LOOK, STORED])], "messages[0].content[1]", "stored file"),
        ([user([LOOK, {"type": "image_url", "image_url": {"file_id": ID}}])], "messages[0].content[1]", "stored file"),
        ([user([LOOK, {"type": "parts", "parts": [[STORED]]}])], "messages[0].content[1]", "stored file"),
        ([system([STORED]), user("Look.")], "messages[0].content[0]", "stored file"),
        (
            [user("Look."), {"role": "tool", "tool_call_id": "c", "content": [STORED]}],
            "messages[1].content[0]",
            "stored",
        ),
        (
            [user("Look."), assistant("x", attachments=[STORED]), user("Go on.")],
            "messages[1].attachments",
            "stored file",
        ),
        ([user("Look."), assistant(None, audio={"id": "audio_of_another"})], "messages[1].audio", "stored audio"),
        ([user([LOOK, {"type": "file", "file": {"file_url": URL}}])], "messages[0].content[1]", "file_url"),
        ([user([LOOK, {"type": "video_url", "video_url": {"url": URL}}])], "messages[0].content[1]", "video_url"),
        ([user([LOOK, {"type": "audio_url", "audio_url": {"url": URL}}])], "messages[0].content[1]", "audio_url"),
        (
            [user([LOOK, {"type": "image_url", "image_url": {"url": URL}}])],
            "messages[0].content[1].image_url",
            "Addresses",
        ),
    ],
)
@pytest.mark.parametrize("store", [None, False])
def test_a_chat_completion_names_nothing_that_the_provider_stores(
    front: Front, messages: Any, param: str, says: str, store: bool | None
) -> None:
    tenant = front.tenant()
    error = refused_by(front.client(tenant.key, "here").chat.completions.create, messages=messages, store=store)
    assert (error.code, error.param) == ("invalid_request", param) and says in error.message
    assert not front.model.asked and tenant.admin.everything("/v1/sessions") == []


@pytest.mark.parametrize(
    ("part", "says"),
    [
        ({"type": "input_file", "file_id": ID}, "stored file"),
        ({"type": "input_image", "file_id": ID}, "stored file"),
        ({"type": "input_audio", "input_audio": {"file_id": ID}}, "stored file"),
        ({"type": "input_file", "file_url": URL}, "file_url"),
        ({"type": "input_file", "filename": "paper.pdf"}, "file_data"),
        ({"type": "input_image"}, "image_url"),
        ({"type": "input_image", "image_url": URL}, "Addresses are not fetched"),
        ({"type": "input_image", "image_url": "file:///etc/passwd"}, "Addresses are not fetched"),
        ({"type": "hologram"}, "hologram"),
    ],
)
@pytest.mark.parametrize("store", [None, False])
def test_a_response_names_nothing_that_the_provider_stores(
    front: Front, part: Any, says: str, store: bool | None
) -> None:
    tenant = front.tenant()
    asked = [{"role": "user", "content": [{"type": "input_text", "text": "Look."}, part]}]
    error = refused_by(front.client(tenant.key, "here").responses.create, input=asked, store=store)
    assert (error.code, error.param) == ("invalid_request", "input[0].content[1]") and says in error.message
    assert not front.model.asked and tenant.admin.everything("/v1/sessions") == []


def test_contents_are_passed_on_and_so_is_what_only_looks_like_an_id(front: Front) -> None:
    """What an application's own tools are given is its own, and annotations of a reply do not reach the model."""
    tenant = front.tenant()
    history: Any = [
        user([LOOK, {"type": "file", "file": {**PAPER, "file_id": None}}]),
        assistant(None, tool_calls=[CALL], audio=None),
        {"role": "tool", "tool_call_id": "call_1", "content": "file-mine"},
    ]
    tools: Any = [
        {
            "type": "function",
            "function": {"name": "read", "parameters": {"type": "object", "properties": {"file_id": {}}}},
        }
    ]
    front.client(tenant.key).chat.completions.create(model="m", messages=history, tools=tools)
    assert front.shown == history
    cited: Any = {"type": "file_citation", "file_id": ID, "filename": "paper.pdf", "index": 0}
    asked: Any = [
        {"role": "user", "content": [{"type": "input_text", "text": "Look."}, {"type": "input_file", **PAPER}]},
        {"role": "assistant", "content": [{"type": "output_text", "text": "A paper.", "annotations": [cited]}]},
        {"role": "user", "content": "And?"},
    ]
    front.client(tenant.key).responses.create(model="m", input=asked)
    assert front.shown == [user([LOOK, {"type": "file", "file": PAPER}]), assistant("A paper."), user("And?")]


def test_an_item_of_a_conversation_is_stored_as_it_came_and_its_file_is_not_named_to_the_model(front: Front) -> None:
    """Its application may send it to its own provider."""
    tenant = front.tenant()
    client = front.client(tenant.key)
    content: Any = [
        {"type": "input_text", "text": "Look."},
        {"type": "input_file", "file_id": ID},
        {"type": "input_image", "file_id": ID, "detail": "auto"},
        {"type": "input_file", "file_url": URL},
        {"type": "input_image", "image_url": URL, "detail": "auto"},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav", "file_id": ID}},
    ]
    trip = client.conversations.create(items=[{"type": "message", "role": "user", "content": content}])
    client.responses.create(model="m", input="And?", conversation=trip.id)
    parts = [{"type": "text", "text": text} for text in ("Look.", "[file]", "[image]", "[file]", "[image]")]
    heard: Any = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}
    assert front.shown == [user([*parts, heard]), user("And?")]
    assert ID in str(client.conversations.items.list(trip.id).data)
    assert ("user", "Look.\n[file]\n[image]\n[file]\n[image]\n[audio]") in said_in(tenant, trip.id)


def test_it_is_refused_with_the_callers_own_model_key_too(engine: Engine, the_endpoint: FakeEndpoint) -> None:
    """As at Anthropic's interface: which account a key is of is not known here."""
    the_endpoint.asked.clear()
    model = OpenAiChatModel(Endpoint(url=the_endpoint.url, model=MODEL, key="sk-of-the-server", seconds=30))
    with serving(engine.services(chat_model=model, allows_caller_keys=True)) as server:
        caller = server.new_tenant().admin
        own = {"X-Model-Key": "sk-of-the-caller"}
        for path, asked in (
            ("/v1/chat/completions", {"messages": [user([LOOK, STORED])]}),
            ("/v1/responses", {"input": [user([{"type": "input_file", "file_id": ID}])]}),
        ):
            answer = caller.post(path, asked, headers=own)
            assert answer.status_code == 422 and "stored file" in answer.json()["error"]["message"]
    assert not the_endpoint.asked


@pytest.mark.parametrize(
    "tool", [{"type": "file_search", "vector_store_ids": ["vs_1"]}, {"type": "web_search"}, "read", {}]
)
def test_a_tool_of_the_provider_is_refused_in_chat_completions_too(front: Front, tool: Any) -> None:
    tenant = front.tenant()
    answer = tenant.admin.post("/v1/chat/completions", {"messages": [user("Hello.")], "tools": [tool]})
    assert (answer.status_code, answer.json()["error"]["param"]) == (422, "tools[0].type")
    assert not front.model.asked and tenant.admin.everything("/v1/sessions") == []
