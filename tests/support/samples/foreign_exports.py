"""Exports of other assistants, made up for tests."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def chatgpt_conversation(number: int, messages: int) -> dict[str, Any]:
    """A conversation of the year 2019, of one branch."""
    begun = 1_550_000_000 + 10_000 * number
    nodes: dict[str, Any] = {"root": {"id": "root", "parent": None, "children": [], "message": None}}
    last = "root"
    for position in range(messages):
        name = f"node-{position}"
        nodes[name] = {
            "id": name,
            "parent": last,
            "children": [],
            "message": {
                "id": f"message-{number}-{position}",
                "author": {"role": "assistant" if position % 2 else "user"},
                "create_time": begun + position + 0.25,
                "content": {
                    "content_type": "text",
                    "parts": [
                        f"In conversation {number} we talk about roses, part {position}, and the weather in Lisbon."
                    ],
                },
                "recipient": "all",
                "weight": 1.0,
            },
        }
        last = name
    return {
        "conversation_id": f"conversation-{number}",
        "title": f"Roses {number}",
        "create_time": begun,
        "update_time": begun + messages,
        "mapping": nodes,
        "current_node": last,
    }


def write_chatgpt(path: Path, conversations: int, messages: int) -> Path:
    """Write `conversations.json` with so many conversations of so many messages; one is in memory at a time."""
    with path.open("w", encoding="utf-8") as file:
        for part in _parts(conversations, messages):
            file.write(part)
    return path


def _parts(conversations: int, messages: int) -> Iterator[str]:
    yield "["
    for number in range(conversations):
        yield (", " if number else "") + json.dumps(chatgpt_conversation(number, messages))
    yield "]"
