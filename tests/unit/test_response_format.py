"""A response in the format of OpenAI's interface, built from the events of a turn."""

from typing import Any

import pytest

from cloister.domain.reply import TextDelta
from cloister.interfaces.http.openai import response_format
from cloister.interfaces.http.openai.response_format import ResponseFormat, message_item


def test_iso_13_a_delta_costs_the_same_however_much_came_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text so far is put together for the first delta and for the end, and not for each."""
    built: list[str] = []

    def counted(id: str, text: str) -> dict[str, Any]:
        built.append(text)
        return message_item(id, text)

    monkeypatch.setattr(response_format, "message_item", counted)
    form = ResponseFormat("resp_1", {}, lambda: "a model", lambda index, kind: f"{kind}_{index}")
    sent = b"".join(form.events([TextDelta("word ")]) for _ in range(500))
    assert sent.count(b"response.output_text.delta\n") == 500
    assert built == ["word "]
