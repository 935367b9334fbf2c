"""Conversations with a model, and every way in which its server answers, faked at the network's edge."""

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import aclosing, suppress
from typing import Any

import pytest

from cloister.domain.errors import ModelUnavailable
from cloister.domain.reply import ChatRequest, End, Piece, TextDelta, ToolCallDelta, Usage
from cloister.models.openai.chat import OpenAiChatModel
from cloister.models.openai.endpoint import Endpoint, TooLongForTheModel
from support.clients.chat_model import whole_reply
from support.servers.fake_endpoint import (
    Answer,
    Asked,
    FakeEndpoint,
    completion,
    event,
    fake_endpoint,
    in_one_piece,
    refusal,
    stream,
)

SECRET = "the amulet is under the third floorboard"
KEY = "sk-our-own"
ASKED = ChatRequest(messages=[{"role": "system", "content": "Be kind."}, {"role": "user", "content": SECRET}])
COUNTED = {"prompt_tokens": 11, "completion_tokens": 2, "total_tokens": 13}


@pytest.fixture
def endpoint() -> Generator[FakeEndpoint]:
    with fake_endpoint() as fake:
        yield fake


def model_at(
    url: str, *, model: str | None = "some-model", key: str | None = None, seconds: float = 30
) -> OpenAiChatModel:
    return OpenAiChatModel(Endpoint(url=url, model=model, key=key, seconds=seconds))


def replied(model: OpenAiChatModel, request: ChatRequest = ASKED) -> list[Piece]:
    return whole_reply(model, request)


def refused(model: OpenAiChatModel, request: ChatRequest = ASKED) -> str:
    with pytest.raises(ModelUnavailable) as caught:
        replied(model, request)
    told = "".join(_all_of(caught.value))
    assert SECRET not in told and KEY not in told and "127.0.0.1" not in str(caught.value)
    return str(caught.value)


def _all_of(error: BaseException | None) -> list[str]:
    """An error and whatever travels with it."""
    return [] if error is None else [repr(error), *_all_of(error.__cause__), *_all_of(error.__context__)]


def chunk(delta: dict[str, Any], finish_reason: str | None = None) -> bytes:
    return event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]})


DONE = b"data: [DONE]\n\n"


def test_words_come_as_they_are_written_and_then_the_end(endpoint: FakeEndpoint) -> None:
    endpoint.answers(
        stream(
            b": a comment that keeps the connection alive\n\n",
            chunk({"role": "assistant", "content": ""}),
            chunk({"content": "Graz "}),
            chunk({"content": "is green."}),
            chunk({}, "stop"),
            event({"choices": [], "usage": COUNTED}),
            DONE,
        )
    )
    assert replied(model_at(endpoint.url)) == [
        TextDelta("Graz "),
        TextDelta("is green."),
        End(finish_reason="stop", usage=Usage(prompt_tokens=11, completion_tokens=2)),
    ]


def test_what_is_asked_goes_out_as_it_is_with_our_own_key_and_no_other(
    endpoint: FakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "of-another-program")
    endpoint.answers(completion("Yes."))
    options = {"temperature": 0.5, "tools": [{"type": "function", "function": {"name": "look"}}], "min_p": 0.1}
    replied(model_at(endpoint.url, key=KEY), ChatRequest(messages=ASKED.messages, options=options))
    (asked,) = endpoint.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.body == {
        "model": "some-model",
        "messages": list(ASKED.messages),
        "stream": True,
        "stream_options": {"include_usage": True},
        **options,
    }
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert "of-another-program" not in str(asked.headers)


def test_without_a_key_none_is_sent(endpoint: FakeEndpoint) -> None:
    endpoint.answers(completion("Yes."))
    replied(model_at(endpoint.url))
    assert "authorization" not in endpoint.asked[0].headers


def test_calls_of_tools_come_in_parts(endpoint: FakeEndpoint) -> None:
    first = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "look", "arguments": ""}}
    endpoint.answers(
        stream(
            chunk({"tool_calls": [first]}),
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"where":'}}]}),
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": '"here"}'}}]}),
            chunk({}, "tool_calls"),
            DONE,
        )
    )
    assert replied(model_at(endpoint.url)) == [
        ToolCallDelta(index=0, id="call_1", name="look"),
        ToolCallDelta(index=0, arguments='{"where":'),
        ToolCallDelta(index=0, arguments='"here"}'),
        End(finish_reason="tool_calls"),
    ]


def test_a_server_that_does_not_stream_is_understood(endpoint: FakeEndpoint) -> None:
    endpoint.answers(in_one_piece("Graz\nis green."))
    assert replied(model_at(endpoint.url)) == [TextDelta("Graz\nis green."), End(finish_reason="stop")]


def test_a_refusal_of_the_model_is_what_it_said(endpoint: FakeEndpoint) -> None:
    endpoint.answers(stream(chunk({"refusal": "I will not."}), chunk({}, "stop"), DONE))
    assert replied(model_at(endpoint.url))[0] == TextDelta("I will not.")


def test_a_server_that_does_not_count_is_asked_without(endpoint: FakeEndpoint) -> None:
    endpoint.answers(refusal(400, "Unknown field: stream_options"), completion("Yes."))
    model = model_at(endpoint.url)
    assert TextDelta("Ye") in replied(model)
    assert ["stream_options" in asked.body for asked in endpoint.asked] == [True, False]


def test_the_only_model_of_a_server_is_asked_by_its_name(endpoint: FakeEndpoint) -> None:
    names = Answer(body=json.dumps({"data": [{"id": "the-only-one"}]}).encode())
    endpoint.follows(lambda asked: names if asked.path.endswith("/models") else completion("Yes."))
    model = model_at(endpoint.url, model=None)

    async def name_after_a_reply() -> str:
        async with aclosing(model.stream(ASKED)) as pieces:
            _ = [piece async for piece in pieces]
        name = model.name
        await model.close()
        return name

    assert asyncio.run(name_after_a_reply()) == "the-only-one"
    assert endpoint.asked[-1].body["model"] == "the-only-one"


def test_of_several_models_one_must_be_chosen(endpoint: FakeEndpoint) -> None:
    endpoint.answers(Answer(body=json.dumps({"data": [{"id": "a"}, {"id": "b"}]}).encode()))
    assert "has 2 models: set CLOISTER_MODEL_NAME" in refused(model_at(endpoint.url, model=None))


def test_a_model_that_nobody_started_cannot_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    said = refused(model_at(f"http://127.0.0.1:{port}/v1"))
    assert said == "The model (some-model) cannot be reached: start it, or check CLOISTER_MODEL_URL."


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (refusal(503, f"Loading model for {SECRET}"), "is not ready: it is still being loaded, or overloaded"),
        (refusal(429, SECRET, retry_after="7"), "is rate limited. Try again in 7 s."),
        (refusal(429, SECRET, code="insufficient_quota"), "has no quota left"),
        (refusal(401, f"{SECRET} {KEY}"), "refused the key: check CLOISTER_MODEL_KEY"),
        (refusal(404, SECRET, code="model_not_found"), "is not known there: check CLOISTER_MODEL_NAME"),
        (refusal(500, SECRET), "returned an error (HTTP 500). The log of its server may say why."),
        (refusal(400, SECRET, code="bad_tools"), "refused the request"),
        (Answer(status=302, headers={"location": "http://127.0.0.1:9/elsewhere"}), "has moved"),
        (Answer(body=b"<html>A login page</html>"), "no OpenAI-compatible endpoint"),
        (Answer(body=b'{"choices": "many"}'), "no OpenAI-compatible endpoint"),
        (Answer(body=b'{"hello": "world"}'), "no OpenAI-compatible endpoint"),
        (Answer(body=b'["choices"]'), "no OpenAI-compatible endpoint"),
        (Answer(body=b""), "no OpenAI-compatible endpoint"),
        (stream(event([1, 2])), "no OpenAI-compatible endpoint"),
        (stream(event({"choices": [7]})), "no OpenAI-compatible endpoint"),
        (stream(chunk({"tool_calls": [{"index": "first"}]})), "no OpenAI-compatible endpoint"),
        (stream(b"data: {not json\n\n"), "broke off in the middle"),
        (stream(event({"error": {"message": SECRET}})), "broke off in the middle"),
        (stream(chunk({"content": "Gr"})), "broke off in the middle"),
        (Answer(body=json.dumps({"error": {"message": SECRET}}).encode()), "broke off in the middle"),
    ],
)
def test_what_fails_says_what_to_do_and_nothing_of_what_was_said(
    endpoint: FakeEndpoint, answer: Answer, said: str
) -> None:
    endpoint.answers(answer)
    assert said in refused(model_at(endpoint.url, key=KEY))
    assert len(endpoint.asked) == 1


def test_no_key_where_one_is_asked_for(endpoint: FakeEndpoint) -> None:
    endpoint.answers(refusal(401, "a key, please"))
    assert "asks for a key: set CLOISTER_MODEL_KEY" in refused(model_at(endpoint.url))


def test_a_conversation_longer_than_the_model_reads_is_told_apart(endpoint: FakeEndpoint) -> None:
    endpoint.answers(refusal(400, "exceeds the available context size", code="exceed_context_size_error"))
    with pytest.raises(TooLongForTheModel):
        replied(model_at(endpoint.url))


def test_a_model_that_does_not_answer_in_time_is_left(endpoint: FakeEndpoint) -> None:
    free = threading.Event()
    endpoint.answers(Answer(pieces=[b"data: "], pause=lambda: free.wait(30)))
    try:
        assert "did not answer within 0.2 s" in refused(model_at(endpoint.url, seconds=0.2))
    finally:
        free.set()


def test_what_came_before_the_connection_broke_has_come(endpoint: FakeEndpoint) -> None:
    endpoint.answers(
        Answer(
            headers={"content-type": "text/event-stream", "content-length": "4000"},
            pieces=[chunk({"content": "The lamp "}), chunk({"content": "is"})],
        )
    )
    heard: list[Piece] = []

    async def listen() -> None:
        model = model_at(endpoint.url)
        try:
            async for piece in model.stream(ASKED):
                heard.append(piece)
        finally:
            await model.close()

    with pytest.raises(ModelUnavailable, match="broke off in the middle"):
        asyncio.run(listen())
    assert heard == [TextDelta("The lamp "), TextDelta("is")]


def _cancelled_while(model: OpenAiChatModel, ready: Callable[[], bool]) -> None:
    """A reader whose task is cancelled once it is `ready`."""

    async def read() -> None:
        async with aclosing(model.stream(ASKED)) as pieces:
            async for _ in pieces:
                pass

    async def run() -> None:
        reading = asyncio.create_task(read())
        while not ready():
            await asyncio.sleep(0.01)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        await model.close()

    asyncio.run(run())


@pytest.mark.parametrize("spoken", [0, 1])
def test_cancelling_closes_the_connection_to_the_model(spoken: int) -> None:
    """Before the first word, and between two."""
    gone = threading.Event()
    asked = threading.Event()

    def talk(listening: socket.socket) -> None:
        client, _ = listening.accept()
        with client:
            client.settimeout(30)
            client.recv(65_536)
            if spoken:
                head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
                client.sendall(head + chunk({"content": "The lamp"}))
            asked.set()
            with suppress(ConnectionResetError):  # how a connection ends that has unread words in it
                while client.recv(65_536):
                    pass
            gone.set()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = threading.Thread(target=talk, args=(listening,))
        server.start()
        _cancelled_while(model_at(f"http://127.0.0.1:{listening.getsockname()[1]}/v1"), asked.is_set)
        assert gone.wait(30)
        server.join(30)


def test_a_connection_that_died_while_idle_is_opened_anew() -> None:
    """Servers close connections that nobody used for a while; the next question must not fail of that."""
    body = chunk({"content": "Yes."}) + chunk({}, "stop") + DONE
    whole = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
    requests: list[bytes] = []

    def talk(listening: socket.socket) -> None:
        first, _ = listening.accept()
        with first:
            requests.append(first.recv(65_536))
            first.sendall(whole)
            requests.append(first.recv(65_536))
        second, _ = listening.accept()
        with second:
            requests.append(second.recv(65_536))
            second.sendall(whole)

    async def twice(model: OpenAiChatModel) -> list[list[Piece]]:
        heard = [[piece async for piece in model.stream(ASKED)] for _ in range(2)]
        await model.close()
        return heard

    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = threading.Thread(target=talk, args=(listening,))
        server.start()
        first, second = asyncio.run(twice(model_at(f"http://127.0.0.1:{listening.getsockname()[1]}/v1")))
        server.join(30)
    assert first == second == [TextDelta("Yes."), End(finish_reason="stop")]
    assert len(requests) == 3


def test_it_can_be_used_again_on_another_loop(endpoint: FakeEndpoint) -> None:
    endpoint.answers(completion("Yes."))
    model = model_at(endpoint.url)
    assert replied(model) == replied(model)


def test_a_model_that_is_new_at_the_endpoint_answers_at_once(endpoint: FakeEndpoint) -> None:
    """The list of models is cached, but a name that it lacks is looked up again; a name that is nowhere only once."""
    listings: list[str] = []
    listed = ["some-model"]

    def script(asked: Asked) -> Answer:
        if not asked.path.endswith("/models"):
            return completion("Yes.")
        listings.append(asked.path)
        return Answer(body=json.dumps({"data": [{"id": name} for name in listed]}).encode())

    async def ask(model: OpenAiChatModel) -> None:
        for name, used, lists in (
            ("nowhere", "some-model", 1),
            ("nowhere", "some-model", 1),
            ("large", "large", 2),
            ("large", "large", 2),
            ("nowhere", "some-model", 2),
            ("some-model", "some-model", 2),
            ("elsewhere", "some-model", 3),
        ):
            request = ChatRequest(messages=ASKED.messages, models=(name,))
            assert [piece async for piece in model.stream(request)]
            assert (endpoint.asked[-1].body["model"], len(listings)) == (used, lists), name
            listed[1:] = ["large"]
        await model.close()

    endpoint.follows(script)
    asyncio.run(ask(model_at(endpoint.url)))
