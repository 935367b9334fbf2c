"""Answers of a model's server that never end, or are far too large: they are refused before they are read (OPS-1)."""

import gzip
import itertools
from collections.abc import Generator, Iterator, Sequence
from typing import Any, overload

import pytest

from cloister.domain.errors import ModelUnavailable
from cloister.domain.extraction import Statement
from cloister.domain.identifiers import MessageId
from cloister.domain.reply import ChatRequest, TextDelta
from cloister.models.openai.chat import OpenAiChatModel
from cloister.models.openai.embeddings import OpenAiEmbedder
from cloister.models.openai.endpoint import Endpoint
from cloister.models.openai.extractor import OpenAiExtractor
from cloister.models.openai.failures import CallFailed
from cloister.models.openai.line_buffer import LONGEST_LINE, LineBuffer
from support.clients.chat_model import whole_reply
from support.servers.fake_endpoint import Answer, FakeEndpoint, event, fake_endpoint

MEGABYTE = 1_000_000
EVENTS = {"content-type": "text/event-stream"}
EMPTY = event({"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": None}]})
THINKING = event({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": ""}})
START = event({"type": "message_start", "message": {"usage": {}}})


class Endless(Sequence[bytes]):
    """A body of a beginning and then the same for ever; `sent` is how many bytes of it the client took."""

    def __init__(self, begin: bytes, again: bytes) -> None:
        self.begin, self.again = begin, again
        self.sent = 0

    def __iter__(self) -> Iterator[bytes]:
        for part in itertools.chain([self.begin], itertools.repeat(self.again)):
            yield part
            self.sent += len(part)

    def __len__(self) -> int:
        return 1

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | Sequence[bytes]:
        raise NotImplementedError


@pytest.fixture(scope="module")
def endpoint() -> Generator[FakeEndpoint]:
    with fake_endpoint() as fake:
        yield fake


def asked(interface: Any = "chat") -> ChatRequest:
    return ChatRequest(messages=[{"role": "user", "content": "Hello."}], interface=interface)


def at(endpoint: FakeEndpoint, silent_seconds: float = 600) -> Endpoint:
    return Endpoint(url=endpoint.url, model="m", seconds=30, silent_seconds=silent_seconds, tries=2, sleep=no_pause)


async def no_pause(seconds: float) -> None:
    pass


@pytest.mark.parametrize(
    ("interface", "begin", "again"),
    [
        ("chat", b"data: ", b"x" * MEGABYTE),
        ("chat", b'{"choices": "', b"x" * MEGABYTE),
        ("messages", START + b"data: ", b"x" * MEGABYTE),
    ],
    ids=["a line of a stream", "one completion", "a line of Anthropic's stream"],
)
def test_a_line_without_end_is_left_after_a_few_megabytes(
    endpoint: FakeEndpoint, interface: str, begin: bytes, again: bytes
) -> None:
    body = Endless(begin, again)
    endpoint.answers(Answer(headers=EVENTS, pieces=body))
    with pytest.raises(ModelUnavailable, match="more than any answer can have"):
        whole_reply(OpenAiChatModel(at(endpoint)), asked(interface))
    assert body.sent < 4 * LONGEST_LINE


@pytest.mark.parametrize(("interface", "begin", "again"), [("chat", b"", EMPTY), ("messages", START, THINKING)])
def test_empty_chunks_do_not_keep_a_reply_alive_for_ever(
    endpoint: FakeEndpoint, interface: str, begin: bytes, again: bytes
) -> None:
    endpoint.answers(Answer(headers=EVENTS, pieces=Endless(begin, again)))
    with pytest.raises(ModelUnavailable, match="without a word"):
        whole_reply(OpenAiChatModel(at(endpoint, silent_seconds=0.05)), asked(interface))


def test_megabytes_of_empty_chunks_are_left_soon(endpoint: FakeEndpoint) -> None:
    body = Endless(b"", EMPTY * 100)
    endpoint.answers(Answer(headers=EVENTS, pieces=body))
    with pytest.raises(ModelUnavailable, match="without a word"):
        whole_reply(OpenAiChatModel(at(endpoint)), asked())
    assert body.sent < 20 * MEGABYTE


def test_words_between_empty_chunks_are_a_reply(endpoint: FakeEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that thinks before each word is not silent."""
    monkeypatch.setattr("cloister.models.openai.client._LONGEST_SILENCE", 50 * len(EMPTY))
    monkeypatch.setattr("cloister.models.openai.client._SILENT_BYTES_A_SECOND", 0)
    word = event({"choices": [{"index": 0, "delta": {"content": "word "}, "finish_reason": None}]})
    body = (EMPTY * 20 + word) * 20 + b"data: [DONE]\n\n"
    endpoint.answers(Answer(headers=EVENTS, pieces=[body[at : at + 97] for at in range(0, len(body), 97)]))
    said = [piece.text for piece in whole_reply(OpenAiChatModel(at(endpoint)), asked()) if isinstance(piece, TextDelta)]
    assert said == ["word "] * 20


def test_a_compressed_reply_is_refused_and_none_is_asked_for(endpoint: FakeEndpoint) -> None:
    """A hundred kilobytes are a hundred megabytes, and all of them at once."""
    bomb = gzip.compress(b"data: " + b"x" * 10 * MEGABYTE)
    assert len(bomb) < MEGABYTE / 10
    endpoint.answers(Answer(headers={**EVENTS, "content-encoding": "gzip"}, body=bomb))
    with pytest.raises(ModelUnavailable, match="OpenAI-compatible"):
        whole_reply(OpenAiChatModel(at(endpoint)), asked())
    assert endpoint.asked[-1].headers["accept-encoding"] == "identity"


def test_embeddings_of_a_hundred_megabytes_are_left(endpoint: FakeEndpoint) -> None:
    body = Endless(b'{"data": [', b"0," * (MEGABYTE // 2))
    endpoint.answers(Answer(pieces=body))
    embedder = OpenAiEmbedder(at(endpoint))
    try:
        with pytest.raises(ModelUnavailable):
            embedder.embed_query("Hello.")
        assert body.sent < 20 * MEGABYTE
    finally:
        embedder.close()


def test_an_extraction_is_bounded_too_and_is_not_tried_again(endpoint: FakeEndpoint) -> None:
    body = Endless(b"data: ", b"x" * MEGABYTE)
    endpoint.asked.clear()
    endpoint.answers(Answer(headers=EVENTS, pieces=body))
    extractor = OpenAiExtractor(at(endpoint))
    said = Statement(id=MessageId(1), role="user", content="I like tea.", author=None, created_at=0)
    try:
        with pytest.raises(ModelUnavailable, match="more than any answer can have"):
            extractor.memories([said], [])
        assert len(endpoint.asked) == 1
    finally:
        extractor.close()


def test_a_long_line_in_small_parts_is_looked_at_once() -> None:
    """ISO-13: a search of the whole buffer for each part would take a square of its length."""
    buffer = LineBuffer(100)
    assert buffer.lines(b"data: a") == []
    assert buffer.lines(b"b\ndata: c\nda") == [b"data: ab", b"data: c"]
    assert bytes(buffer.rest) == b"da"
    with pytest.raises(CallFailed):
        buffer.lines(b"x" * 100)
