"""A model that fails before it speaks or in the middle, and clients that leave: a clear error, and the store stays true."""

import socket
import threading
from typing import Any

import openai
import pytest

from cloister.models.openai.chat import OpenAiChatModel
from cloister.models.openai.endpoint import Endpoint
from support.clients.openai_client import Front, said_in, statuses_in, user, words
from support.databases.engines import Engine
from support.servers.fake_endpoint import Answer, completion, event, refusal
from support.servers.http_server import Tenant, serving
from support.servers.model_server import ModelServer
from support.waiting import eventually

HELLO = [user("Tell me of the lamp.")]


def spoken(text: str) -> bytes:
    return event({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]})


BROKEN = Answer(
    headers={"content-type": "text/event-stream", "content-length": "100000"},
    pieces=[spoken("The lamp "), spoken("hangs")],
)


@pytest.fixture
def tenant(front: Front) -> Tenant:
    return front.tenant()


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (refusal(503, "Loading model"), "is not ready: it is still being loaded"),
        (refusal(429, "slow down", retry_after="3"), "is rate limited. Try again in 3 s."),
        (refusal(401, "wrong key"), "asks for a key: set CLOISTER_MODEL_KEY"),
        (refusal(404, "no such model", code="model_not_found"), "is not known there: check CLOISTER_MODEL_NAME"),
        (Answer(body=b"<html>garbage</html>"), "no OpenAI-compatible endpoint"),
    ],
    ids=["loading", "rate-limited", "wrong key", "wrong model", "garbage"],
)
def test_a_model_that_cannot_answer_is_a_clear_error_before_the_first_byte(
    front: Front, tenant: Tenant, answer: Answer, said: str, streamed: bool
) -> None:
    front.model.answers(answer)
    with pytest.raises(openai.InternalServerError) as failed:
        front.client(tenant.key, "here").chat.completions.create(model="m", messages=HELLO, stream=streamed)
    assert (failed.value.status_code, failed.value.code, failed.value.type) == (
        503,
        "model_unavailable",
        "server_error",
    )
    assert said in str(failed.value)
    assert failed.value.response.headers["x-session-id"] == "here"
    assert statuses_in(tenant, "here") == [("user", "completed"), ("assistant", "failed")]


def test_a_reply_that_breaks_off_is_an_error_in_the_stream_and_stored_as_partial(front: Front, tenant: Tenant) -> None:
    go_on = threading.Event()
    pauses = iter([lambda: None, lambda: go_on.wait(30)])
    front.model.answers(Answer(headers=BROKEN.headers, pieces=BROKEN.pieces, pause=lambda: next(pauses)()))
    heard: list[str] = []
    with pytest.raises(openai.APIError, match="broke off in the middle of its answer"):
        for chunk in front.client(tenant.key, "here").chat.completions.create(model="m", messages=HELLO, stream=True):
            heard.append(chunk.choices[0].delta.content or "")
            go_on.set()
    assert "".join(heard) == "The lamp hangs"
    assert said_in(tenant, "here")[-1] == ("assistant", "The lamp hangs")
    assert statuses_in(tenant, "here") == [("user", "completed"), ("assistant", "partial")]


def test_a_reply_that_breaks_off_is_no_completion(front: Front, tenant: Tenant) -> None:
    front.model.answers(BROKEN)
    with pytest.raises(openai.InternalServerError, match="broke off in the middle of its answer"):
        front.client(tenant.key, "here").chat.completions.create(model="m", messages=HELLO)
    assert statuses_in(tenant, "here") == [("user", "completed"), ("assistant", "partial")]


@pytest.mark.parametrize("answer", [refusal(503, "Loading model"), BROKEN], ids=["failed", "partial"])
def test_what_failed_is_never_recalled_nor_shown_again(front: Front, tenant: Tenant, answer: Answer) -> None:
    front.model.answers(answer)
    client = front.client(tenant.key, "here")
    with pytest.raises(openai.APIError):
        client.chat.completions.create(model="m", messages=HELLO)
    front.model.answers(completion("It hangs in the hall."))
    client.chat.completions.create(model="m", messages=HELLO)
    assert front.shown == HELLO
    assert [entry for entry in said_in(tenant, "here") if entry[0] == "user"] == [("user", HELLO[0]["content"])]
    front.client(tenant.key, "there").chat.completions.create(model="m", messages=[user("Where does the lamp hang?")])
    assert "The lamp hangs" not in front.system and "not ready" not in front.system
    assert "It hangs in the hall." in front.system


@pytest.mark.parametrize("answer", [refusal(500, "out of memory"), BROKEN], ids=["failed", "broken off"])
def test_a_request_without_a_session_that_fails_leaves_nothing_behind(
    front: Front, tenant: Tenant, answer: Answer
) -> None:
    """However often the client asks again."""
    front.model.answers(answer)
    client = front.client(tenant.key).with_options(max_retries=1)
    ask: Any = client.chat.completions.create, {"messages": HELLO}
    respond: Any = client.responses.create, {"input": HELLO[0]["content"]}
    for create, asked in (ask, respond):
        with pytest.raises(openai.InternalServerError) as failed:
            create(model="m", **asked)
        assert "x-session-id" not in failed.value.response.headers
    eventually(lambda: tenant.admin.everything("/v1/sessions") == [])


def test_what_was_recorded_meanwhile_in_a_session_that_a_failed_request_made_stays(
    front: Front, tenant: Tenant
) -> None:
    """A stream names its session before it breaks off. Nothing that was acknowledged is lost."""
    go_on = threading.Event()
    pauses = iter([lambda: None, lambda: go_on.wait(30)])
    front.model.answers(Answer(headers=BROKEN.headers, pieces=BROKEN.pieces, pause=lambda: next(pauses)()))
    create = front.client(tenant.key).chat.completions.with_raw_response.create
    raw = create(model="m", messages=HELLO, stream=True)
    name = raw.headers["x-session-id"]
    tenant.say(name, "The lamp was sold.")
    go_on.set()
    with pytest.raises(openai.APIError):
        list(raw.parse())
    eventually(lambda: statuses_in(tenant, name)[-1] == ("assistant", "partial"))
    assert ("user", "The lamp was sold.") in said_in(tenant, name)


def test_a_response_that_its_client_stopped_is_cancelled(front: Front, tenant: Tenant) -> None:
    """It was not cut off at its limit."""
    left = threading.Event()
    pauses = iter([lambda: None, lambda: left.wait(30)])
    front.model.answers(Answer(headers=BROKEN.headers, pieces=BROKEN.pieces, pause=lambda: next(pauses)()))
    client = front.client(tenant.key, "here")
    following: Any = client.responses.create(model="m", input="Tell me of the lamp.", stream=True)
    begun = next(following).response.id
    following.close()
    eventually(lambda: statuses_in(tenant, "here") == [("user", "completed"), ("assistant", "partial")])
    left.set()
    response = client.responses.retrieve(begun)
    assert (response.status, response.incomplete_details) == ("cancelled", None)


def test_a_session_keeps_one_failed_reply_to_a_question_that_is_asked_again(front: Front, tenant: Tenant) -> None:
    front.model.answers(refusal(500, "out of memory"))
    client = front.client(tenant.key, "here").with_options(max_retries=1)
    for _ in range(2):
        with pytest.raises(openai.InternalServerError):
            client.chat.completions.create(model="m", messages=HELLO)
    assert statuses_in(tenant, "here") == [("user", "completed"), ("assistant", "failed")]
    front.model.answers(completion("It hangs in the hall."))
    client.chat.completions.create(model="m", messages=HELLO)
    assert statuses_in(tenant, "here") == [("user", "completed"), ("assistant", "completed")]


def test_a_reply_cut_at_its_limit_is_what_the_model_said(front: Front, tenant: Tenant) -> None:
    front.model.answers(completion("The lamp", "length"))
    reply = front.client(tenant.key, "here").chat.completions.create(model="m", messages=HELLO, max_tokens=2)
    assert (words(reply), reply.choices[0].finish_reason) == ("The lamp", "length")
    assert statuses_in(tenant, "here")[-1] == ("assistant", "partial")


def test_who_leaves_stops_the_reply_and_the_connection_to_the_model(engine: Engine) -> None:
    gone = threading.Event()

    def talk(listening: socket.socket) -> None:
        client, _ = listening.accept()
        with client:
            client.settimeout(30)
            client.recv(65_536)
            client.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + spoken("The lamp"))
            while client.recv(65_536):
                pass
            gone.set()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        talking = threading.Thread(target=talk, args=(listening,))
        talking.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        services = engine.services(chat_model=OpenAiChatModel(Endpoint(url=url, model="m", seconds=60)))
        with serving(services) as server:
            tenant = server.new_tenant()
            with openai.OpenAI(base_url=f"{server.address}/v1", api_key=tenant.key, max_retries=0) as client:
                reply = client.chat.completions.create(
                    model="m", messages=HELLO, stream=True, extra_headers={"X-Session-ID": "here"}
                )
                assert next(reply).choices[0].delta.role == "assistant"
                reply.close()
                assert gone.wait(30)
                eventually(lambda: statuses_in(tenant, "here") == [("user", "completed"), ("assistant", "partial")])
        talking.join(30)


def real(server: ModelServer) -> OpenAiChatModel:
    return OpenAiChatModel(Endpoint(url=server.url, model=server.model, seconds=60))


def test_a_real_model_answers_streams_and_remembers(engine: Engine, model_server: ModelServer) -> None:
    with serving(engine.services(chat_model=real(model_server))) as server:
        tenant = server.new_tenant()
        with openai.OpenAI(base_url=f"{server.address}/v1", api_key=tenant.key, max_retries=0) as client:
            create = client.chat.completions.create
            first = create(model="m", messages=[user("My boat is called Albatross.")], max_tokens=16)
            assert words(first) and first.usage and first.usage.completion_tokens <= 16
            assert first.model == model_server.model
            chunks = list(create(model="m", messages=[user("What is my boat called?")], max_tokens=16, stream=True))
            assert len(chunks) > 2
            assert chunks[-1].choices[0].finish_reason in ("stop", "length")


def test_a_real_model_killed_in_the_middle(engine: Engine, model_server: ModelServer) -> None:
    with serving(engine.services(chat_model=real(model_server))) as server:
        tenant = server.new_tenant()
        with openai.OpenAI(base_url=f"{server.address}/v1", api_key=tenant.key, max_retries=0) as client:
            create: Any = client.chat.completions.create
            story: dict[str, Any] = {
                "model": "m",
                "messages": [user("Tell a very long story.")],
                "max_tokens": 1_500,
                "extra_headers": {"X-Session-ID": "here"},
            }
            with pytest.raises(openai.APIError, match="broke off in the middle of its answer"):
                for place, _ in enumerate(create(stream=True, **story)):
                    if place == 3:
                        model_server.kill()
            assert statuses_in(tenant, "here") == [("user", "completed"), ("assistant", "partial")]
            with pytest.raises(openai.InternalServerError, match="cannot be reached"):
                create(**story)
            model_server.start()
            story["max_tokens"] = 8
            assert words(create(**story))
            users = [entry for entry in said_in(tenant, "here") if entry[0] == "user"]
            assert users == [("user", "Tell a very long story.")]


def test_leaving_a_real_model_stops_it(engine: Engine, model_server: ModelServer) -> None:
    with serving(engine.services(chat_model=real(model_server))) as server:
        tenant = server.new_tenant()
        with openai.OpenAI(base_url=f"{server.address}/v1", api_key=tenant.key, max_retries=0) as client:
            reply = client.chat.completions.create(
                model="m",
                messages=[user("Tell a very long story.")],
                max_tokens=1_500,
                stream=True,
                extra_headers={"X-Session-ID": "here"},
            )
            assert next(reply)
            reply.close()
            model_server.wait_until(busy=False)
            eventually(lambda: statuses_in(tenant, "here")[-1:] == [("assistant", "partial")])
