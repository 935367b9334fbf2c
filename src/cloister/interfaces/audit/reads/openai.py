"""Reads of OpenAI's interface: conversations, their items, and responses."""

from collections.abc import Iterator

from cloister.domain.identifiers import format_message_id
from cloister.interfaces.audit.reads.read import OPENAI, Read, View


def openai_reads(view: View) -> Iterator[Read]:
    """A conversation shows no words of its own: that of a foreign session has to be refused all the same."""
    conversation = f"/v1/conversations/{view.target.session}"
    item = f"{conversation}/items/{format_message_id(view.target.messages[0])}"
    yield view.by_id(OPENAI, "conversation", "GET", conversation, expected=())
    yield view.by_id(OPENAI, "items", "GET", f"{conversation}/items")
    yield view.by_id(OPENAI, "item", "GET", item)
    yield view.by_id(OPENAI, "response", "GET", f"/v1/responses/{view.target.response}")
