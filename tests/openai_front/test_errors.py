"""What is refused, is refused in OpenAI's shape, with its status, and records nothing.

{"error": {"message": "…", "type": "…", "param": "…" or null, "code": "…"}}
"""

import threading
from typing import Any

import openai
import pytest

from cloister.domain.usage import Limits
from support.clients.openai_client import Front, assistant, said_in, system, user
from support.databases.engines import Engine
from support.samples.images import PNG
from support.servers.fake_endpoint import Answer
from support.servers.http_server import Tenant, serving

CHAT = "/v1/chat/completions"
HELLO = [user("Hello.")]


@pytest.fixture
def tenant(front: Front) -> Tenant:
    return front.tenant()


def error_of(answer: Any) -> dict[str, Any]:
    assert answer.headers["content-type"] == "application/json"
    (error,) = answer.json().values()
    assert sorted(error) == ["code", "message", "param", "type"]
    return error


def test_a_wrong_key(front: Front, tenant: Tenant) -> None:
    with pytest.raises(openai.AuthenticationError) as refused:
        front.client(tenant.key[:-1] + "_").chat.completions.create(model="m", messages=HELLO)
    assert (refused.value.code, refused.value.type) == ("unauthenticated", "authentication_error")
    assert refused.value.response.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("permissions", [("read",), ("write",)])
def test_a_key_must_be_able_to_read_and_to_write(front: Front, tenant: Tenant, permissions: tuple[str, ...]) -> None:
    """ORG-8: what is remembered is read, and what is said is written."""
    with pytest.raises(openai.PermissionDeniedError) as refused:
        front.client(tenant.new_key(*permissions)).chat.completions.create(model="m", messages=HELLO)
    assert (refused.value.code, refused.value.type) == ("forbidden", "permission_error")
    assert tenant.admin.everything("/v1/sessions") == [] and not front.model.asked


def test_a_project_of_nobody(front: Front, tenant: Tenant) -> None:
    theirs = front.tenant()
    said: list[str] = []
    for project in (theirs.default_project_id, "proj_0123456789abcdef"):
        with pytest.raises(openai.NotFoundError) as refused:
            front.client(tenant.key, project=project).chat.completions.create(model="m", messages=HELLO)
        said.append(str(refused.value).replace(project, "…"))
    assert said[0] == said[1]


def test_a_project_that_is_none(front: Front, tenant: Tenant) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        front.client(tenant.key, project="sea").chat.completions.create(model="m", messages=HELLO)
    assert (refused.value.code, refused.value.param) == ("invalid_project_id", "project_id")


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"messages": HELLO, "n": 2}, "n"),
        ({"messages": HELLO, "n": "1"}, "n"),
        ({"messages": []}, "messages"),
        ({}, "messages"),
        ({"messages": "Hello."}, "messages"),
        ({"messages": ["Hello."]}, "messages[0]"),
        ({"messages": [{"content": "Hello."}]}, "messages[0].role"),
        ({"messages": [{"role": "wizard", "content": "Hello."}]}, "messages[0].role"),
        ({"messages": [system("Be kind.")]}, "messages"),
        ({"messages": [*HELLO, assistant("Hi."), user("")]}, "messages[2].content"),
        ({"messages": [user(" \n")]}, "messages[0].content"),
        ({"messages": [user(None)]}, "messages[0].content"),
        ({"messages": [user([])]}, "messages[0].content"),
        ({"messages": [user(7)]}, "messages[0].content"),
        ({"messages": [user(["Hello."])]}, "messages[0].content[0]"),
        ({"messages": [user([{"type": "text", "text": 7}])]}, "messages[0].content[0].text"),
        ({"messages": [user([{"text": "Hello."}])]}, "messages[0].content[0].type"),
        ({"messages": [user("a\x00b")]}, "messages[0].content"),
        ({"messages": [{**HELLO[0], "name": "two\nlines"}]}, "messages[0].name"),
        ({"messages": [{**HELLO[0], "name": "x" * 300}]}, "messages[0].name"),
        ({"messages": HELLO, "stream": "yes"}, "stream"),
        ({"messages": HELLO, "store": "no"}, "store"),
        ({"messages": HELLO, "something_new": {"a": [1]}}, "something_new"),
        ({"messages": HELLO, "session": "here"}, "session"),
        ({"messages": HELLO, "metadata": {"project_id": 7}}, "metadata.project_id"),
        ({"messages": HELLO, "metadata": []}, "metadata"),
        ({"messages": HELLO, "user": ""}, "user"),
        ({"messages": HELLO, "session_id": "here"}, "session_id"),
        ({"messages": HELLO, "project_id": None}, "project_id"),
        ({"messages": HELLO, "user_id": "ada"}, "user_id"),
        ([], "body"),
        ("Hello.", "body"),
    ],
)
def test_what_is_wrong_is_named(front: Front, tenant: Tenant, body: Any, param: str) -> None:
    answer = tenant.admin.post(CHAT, body)
    error = error_of(answer)
    assert (answer.status_code, error["code"], error["type"]) == (422, "invalid_request", "invalid_request_error")
    assert error["param"] == param, error
    assert tenant.admin.everything("/v1/sessions") == [] and not front.model.asked


def test_a_body_that_is_no_json(tenant: Tenant) -> None:
    for body, kind in ((b"{", "application/json"), (b"a=b", "application/x-www-form-urlencoded")):
        answer = tenant.admin.request("POST", CHAT, content=body, headers={"content-type": kind})
        assert (answer.status_code, error_of(answer)["code"]) == (422, "invalid_request")


def test_a_message_that_is_too_long(tenant: Tenant) -> None:
    answer = tenant.admin.post(CHAT, {"messages": [*HELLO, assistant("Hi."), user("x" * 65_537)]})
    assert (answer.status_code, error_of(answer)["param"]) == (413, "messages[2].content")


def test_a_body_that_is_too_large(tenant: Tenant) -> None:
    for path in (CHAT, "/v1/embeddings"):
        answer = tenant.admin.request("POST", path, content=b" " * (1 << 21))
        assert (answer.status_code, error_of(answer)["code"]) == (413, "too_large")


@pytest.mark.parametrize(("method", "path"), [("GET", CHAT), ("DELETE", "/v1/models"), ("PUT", "/v1/embeddings")])
def test_a_method_that_is_none(tenant: Tenant, method: str, path: str) -> None:
    answer = tenant.admin.request(method, path)
    assert (answer.status_code, error_of(answer)["code"]) == (405, "method_not_allowed")
    assert answer.headers["allow"]


def test_other_routes_keep_their_own_shape(tenant: Tenant) -> None:
    assert tenant.admin.get("/v1/sessions/nobody").headers["content-type"] == "application/problem+json"


def test_a_turn_that_runs_already(front: Front, tenant: Tenant) -> None:
    """TAB-5: one reply at a time in a session."""
    client = front.client(tenant.key, "here")
    chunk = b'data: {"choices": [{"index": 0, "delta": {"content": "Slowly"}, "finish_reason": null}]}\n\n'
    go_on = threading.Event()
    pauses = iter([lambda: None, lambda: go_on.wait(30)])
    front.model.answers(
        Answer(
            headers={"content-type": "text/event-stream"},
            pieces=[chunk, b"data: [DONE]\n\n"],
            pause=lambda: next(pauses)(),
        )
    )
    try:
        first = client.chat.completions.create(model="m", messages=HELLO, stream=True)
        assert next(first).choices[0].delta.role == "assistant"
        with pytest.raises(openai.ConflictError) as refused:
            client.chat.completions.create(model="m", messages=[user("And now?")])
        assert refused.value.code == "turn_in_progress"
    finally:
        go_on.set()
    assert "".join(chunk.choices[0].delta.content or "" for chunk in first) == "Slowly"
    assert said_in(tenant, "here") == [("user", "Hello."), ("assistant", "Slowly")]


def test_over_quota(engine: Engine) -> None:
    """ORG-7: a clear 429 that no client tries again, and nothing is lost."""
    with serving(engine.services(limits=Limits(messages=2))) as server:
        tenant = server.new_tenant()
        headers = {"X-Session-ID": "here"}
        assert tenant.admin.post(CHAT, {"messages": HELLO}, headers=headers).status_code == 200
        answer = tenant.admin.post(CHAT, {"messages": [user("More.")]}, headers=headers)
        assert (answer.status_code, error_of(answer)["code"]) == (429, "quota_exceeded")
        assert answer.headers["x-should-retry"] == "false"
        assert len(said_in(tenant, "here")) == 2


def test_too_many_requests(engine: Engine) -> None:
    with serving(engine.services(), requests_per_second=1) as server:
        tenant = server.new_tenant()
        answers = [tenant.admin.get("/v1/models") for _ in range(6)]
        refused = next(answer for answer in answers if answer.status_code == 429)
        assert (error_of(refused)["code"], error_of(refused)["type"]) == ("rate_limited", "rate_limit_error")
        assert int(refused.headers["retry-after"]) >= 1


def test_fields_that_mean_nothing_here_are_let_pass_and_go_no_further(front: Front, tenant: Tenant) -> None:
    """OpenAI's own. What could reach another's words in a model's cache is not passed on either."""
    tolerated: dict[str, Any] = {
        "store": True,
        "service_tier": "auto",
        "logprobs": False,
        "top_logprobs": 0,
        "modalities": ["text"],
        "prompt_cache_key": "x",
        "safety_identifier": "x",
        "prediction": {"type": "content", "content": "x"},
        "web_search_options": None,
        "prompt_cache_options": {},
        "something_new": None,
    }
    options = {
        "temperature": 0.1,
        "top_p": 0.9,
        "max_tokens": 5,
        "seed": 7,
        "stop": ["\n"],
        "response_format": {"type": "text"},
    }
    answer = tenant.admin.post(CHAT, {"messages": HELLO, "model": "gpt-99", **tolerated, **options})
    assert answer.status_code == 200, answer.text
    asked = front.model.asked[-1].body
    assert sorted(asked) == sorted(["model", "messages", "stream", "stream_options", *options])
    assert {name: asked[name] for name in options} == options
    assert asked["model"] == answer.json()["model"] == "the-model"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("functions", [{"name": "weather"}]),
        ("function_call", "auto"),
        ("web_search_options", {}),
        ("audio", {"voice": "alloy", "format": "wav"}),
        ("modalities", ["text", "audio"]),
        ("logprobs", True),
        ("top_logprobs", 2),
    ],
)
def test_a_field_that_would_change_the_answer_is_refused_if_it_is_not_supported(
    front: Front, tenant: Tenant, field: str, value: Any
) -> None:
    """To ignore it would be an answer to another question."""
    answer = tenant.admin.post(CHAT, {"messages": HELLO, field: value})
    assert (answer.status_code, error_of(answer)["param"]) == (422, field)
    assert not front.model.asked and tenant.admin.everything("/v1/sessions") == []


def test_parts_that_are_no_text_go_to_the_model_and_are_recorded_by_what_they_are(front: Front, tenant: Tenant) -> None:
    parts = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": PNG}},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
        {"type": "file", "file": {"filename": "boat.pdf", "file_data": "data:application/pdf;base64,AAAA"}},
        {"type": "hologram"},
    ]
    client = front.client(tenant.key, "here")
    messages: Any = [user(parts)]
    client.chat.completions.create(model="m", messages=messages)
    assert front.shown == messages
    recorded = "What is this?\n[image]\n[audio]\n[file]\n[attachment]"
    assert said_in(tenant, "here")[0] == ("user", recorded)
    again: Any = [*messages, assistant("A boat."), user([parts[1]])]
    client.chat.completions.create(model="m", messages=again)
    assert [content for role, content in said_in(tenant, "here") if role == "user"] == [recorded, "[image]"]


def test_messages_without_words_in_a_history_are_passed_on_and_not_recorded(front: Front, tenant: Tenant) -> None:
    messages = [system(""), user("Hello."), assistant(""), assistant(None), user("Again.")]
    front.client(tenant.key, "here").chat.completions.create(model="m", messages=messages)
    assert front.shown == messages
    assert said_in(tenant, "here") == [("user", "Hello."), ("user", "Again."), ("assistant", "Understood.")]


def test_the_name_of_a_speaker_is_kept(front: Front, tenant: Tenant) -> None:
    messages: Any = [{"role": "user", "name": "Ada", "content": "Hello."}]
    front.client(tenant.key, "here").chat.completions.create(model="m", messages=messages)
    assert tenant.admin.everything("/v1/sessions/here/messages")[0]["author"] == "Ada"


def test_without_a_model_the_reply_quotes_what_is_remembered(engine: Engine) -> None:
    """Useful to try the walls by hand."""
    with serving(engine.services()) as server:
        tenant = server.new_tenant()
        sea, land = tenant.new_project("Sea"), tenant.new_project("Land")

        def ask(words: str, session: str, project: str) -> str:
            headers = {"X-Session-ID": session, "X-Project-ID": project}
            answer = tenant.admin.post(CHAT, {"messages": [user(words)]}, headers=headers).json()
            assert answer["model"] == "recall-only"
            return answer["choices"][0]["message"]["content"]

        ask("The boat is called Albatross.", "first", sea)
        there = ask("What is the boat called?", "second", sea)
        assert there.startswith("No model connected. Here is what I remember:")
        assert "user in first: The boat is called Albatross." in there
        assert "Albatross" not in ask("What is the boat called?", "third", land)
        again = ask("What is the boat called, I asked?", "fourth", sea)
        assert again.count("The boat is called Albatross.") == 1
        assert again.count("No model connected") == 1
        assert tenant.admin.post("/v1/sessions/second/extract").status_code == 200
        assert tenant.admin.everything("/v1/sessions/second/memories") == []
