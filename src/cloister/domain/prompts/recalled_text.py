"""What a message says itself. What was recalled into it belongs to the places it was recalled from: it is neither indexed nor shown
with the message elsewhere, or it would travel on, and cross a wall, when the message's session moves."""

from cloister.domain.conversation import Message
from cloister.domain.identifiers import PoolId
from cloister.domain.memory import has_recalled, without_recalled
from cloister.domain.text import CHARACTERS_A_TOKEN

RECALL_ONLY = (
    "Recall only: no model is set here, so this quotes what is remembered (set CLOISTER_MODEL_URL for a real reply)."
)
"""How a reply begins that is nothing but quotations."""
NOTHING_RECALLED = "Nothing that is remembered here is related to what you said."


QUOTATION_STAYED = "(This quoted what is remembered where the session was before; the quotation stayed there.)"
"""What is shown, in its session, of a message that was nothing but a quotation, after the session left the pool that it quotes."""
QUOTATION_FORGOTTEN = "(This quoted something that was forgotten since.)"
"""What is left of a message that was nothing but a quotation, after what it quotes was forgotten."""
NO_POOL = PoolId(0)
"""Stands for the pool of a quotation when that pool is no more what it was: the project was divided by user, or joined."""


def own_words(content: str) -> str:
    """Empty where it says nothing of its own."""
    if content == QUOTATION_FORGOTTEN:
        return ""
    if content.startswith(RECALL_ONLY):
        rest = without_recalled(content).removeprefix(RECALL_ONLY).strip()
        return "" if rest == NOTHING_RECALLED else rest
    return without_recalled(content) if has_recalled(content) else content


def tokens_beside(content: str, own: str) -> int:
    """About how many tokens the rest of a text has beside its own words."""
    return (len(content) - len(own)) // CHARACTERS_A_TOKEN


def tokens_after(tokens: int, content: str, changed: str) -> int:
    """The tokens of a message after its quotation was changed, and not its own words."""
    own = own_words(content)
    return tokens - tokens_beside(content, own) + tokens_beside(changed, own)


def shown_in(message: Message, pool: PoolId) -> Message:
    """A message as its own session shows it while that is in this pool: what it quotes of another pool did not come along."""
    if message.recalled_pool is None or message.recalled_pool == pool:
        return message
    own = own_words(message.content)
    if own == message.content:
        return message
    tokens = message.tokens - tokens_beside(message.content, own)
    return message._replace(content=own or QUOTATION_STAYED, tokens=tokens)


def shown_elsewhere(message: Message) -> Message | None:
    """A message as it is shown outside of its conversation, or nothing where it has no words of its own."""
    own = own_words(message.content)
    if own == message.content:
        return message
    tokens = message.tokens - tokens_beside(message.content, own)
    return message._replace(content=own, tokens=tokens) if own else None
