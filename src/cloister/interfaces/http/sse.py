"""Server-sent events: the framing, media type and headers of every stream that this server sends (WHATWG HTML, section 9.2)."""

import json
from collections.abc import Mapping

MEDIA_TYPE = "text/event-stream"
# Without this header nginx buffers a response, and its client sees the events late.
HEADERS: Mapping[str, str] = {"X-Accel-Buffering": "no"}
DONE = b"data: [DONE]\n\n"
"""The last event of a stream in the protocols of OpenAI and of the AI SDK."""


def event(data: object, *, kind: str | None = None, event_id: str | None = None) -> bytes:
    """One event with `data` as JSON. JSON in ASCII contains no line break, so no text in `data` can end its line or begin another;
    `kind` and `event_id` must not contain one either."""
    return _line("id", event_id) + _line("event", kind) + f"data: {json.dumps(data)}\n\n".encode("ascii")


def json_event(data: bytes) -> bytes:
    """One event whose data is JSON already, without line breaks."""
    return b"data: " + data + b"\n\n"


def keep_alive(event_id: str | None = None) -> bytes:
    """A comment, which clients ignore, so that proxies do not close a quiet connection. A client that reconnects resumes after
    `event_id`."""
    return b": keep-alive\n" + _line("id", event_id) + b"\n"


def retry(milliseconds: int) -> bytes:
    """How long a browser waits before it reconnects."""
    return b"retry: %d\n\n" % milliseconds


def _line(field: str, value: str | None) -> bytes:
    return b"" if value is None else f"{field}: {value}\n".encode("ascii")
