"""The framing of server-sent events."""

import json

import pytest

from cloister.interfaces.http import sse


def test_an_event_has_its_id_its_kind_and_its_data() -> None:
    assert sse.event({"a": 1}, kind="reset", event_id="f0") == b'id: f0\nevent: reset\ndata: {"a": 1}\n\n'
    assert sse.event([]) == b"data: []\n\n"
    assert sse.json_event(b'{"a":1}') == b'data: {"a":1}\n\n'


@pytest.mark.parametrize("text", ["a\nb", "a\r\nb", "a\rdata: [DONE]\r\r", "a\u2028b\u2029c\x85d", "naïve 🌱"])
def test_no_text_ends_the_line_of_its_event(text: str) -> None:
    (line, empty, end) = sse.event({"text": text}).decode("ascii").split("\n")
    assert (empty, end) == ("", "")
    assert json.loads(line.removeprefix("data: ")) == {"text": text}
    assert "\r" not in line


def test_a_keep_alive_is_a_comment_which_may_move_the_id() -> None:
    assert sse.keep_alive() == b": keep-alive\n\n"
    assert sse.keep_alive("f0") == b": keep-alive\nid: f0\n\n"
    assert sse.retry(2_000) == b"retry: 2000\n\n"
