"""Questions that are answered with a reply, through every interface that makes one."""

from collections.abc import Iterator
from typing import Any

from cloister.interfaces.audit.reads.read import ANTHROPIC, HTTP, OPENAI, Read, View
from cloister.interfaces.audit.targets import QUESTION


def chats(view: View, *, is_quoted: bool) -> Iterator[Read]:
    """What is recalled for a reply is the pool of the target. Without a model (`is_quoted`) the reply quotes it; the stream of the
    chat shows it in any case."""
    session = {"X-Session-ID": view.target.session}
    said = [{"role": "user", "content": QUESTION}]
    parts = [{"role": "user", "parts": [{"type": "text", "text": QUESTION}]}]
    message = {"model": "cloister", "max_tokens": 500, "messages": said}
    response = {"input": QUESTION, "conversation": view.target.session}
    requests: tuple[tuple[str, str, str, Any, dict[str, str], bool], ...] = (
        (HTTP, "chat", "/v1/chat/stream", {"id": view.target.session, "messages": parts}, {}, True),
        (OPENAI, "chat completions", "/v1/chat/completions", {"messages": said}, session, is_quoted),
        (OPENAI, "responses", "/v1/responses", response, {}, is_quoted),
        (ANTHROPIC, "messages", "/anthropic/v1/messages", message, session, is_quoted),
    )
    for door, name, path, body, headers, is_shown in requests:
        expected = view.own if is_shown else ()
        yield view.recalled(
            door, name, path, body, headers=headers, expected=expected, is_answered=True if view.reaches else None
        )
