"""Separates a message's own words from recalled text that it quotes. Recalled text belongs to the pool it was recalled from: it is
neither indexed nor shown with the message in another pool, or it would leave its pool when the message's session moves."""

from cloister.domain.conversation import Message
from cloister.domain.identifiers import PoolId
from cloister.domain.memory import has_recalled, without_recalled
from cloister.domain.text import CHARACTERS_A_TOKEN

RECALL_ONLY = "No model connected. Here is what I remember:"
"""The beginning of a reply that consists of quotations only."""
_OLD_RECALL_ONLY = (
    "Recall only: no model is set here, so this quotes what is remembered (set CLOISTER_MODEL_URL for a real reply)."
)
_OLD_NOTHING_RECALLED = "Nothing that is remembered here is related to what you said."
_NOTHING_RECALLED, _NOTHING_ENDS = "I found nothing related in *", "*."
QUOTATION_STAYED = "(This quoted what is remembered where the session was before; the quotation stayed there.)"
"""Replaces a message that was only a quotation, after its session left the quoted pool."""
QUOTATION_FORGOTTEN = "(This quoted something that was forgotten since.)"
"""Replaces a message that was only a quotation, after the quoted text was forgotten."""
_BEGINNINGS = (QUOTATION_FORGOTTEN, _NOTHING_RECALLED, RECALL_ONLY, _OLD_RECALL_ONLY)
NO_POOL = PoolId(0)
"""The pool of quotations whose pool no longer exists as it was, because its project's visibility changed."""


def nothing_recalled(project: str | None) -> str:
    """The reply without a model where nothing is related. It names the project, so it counts as quoted: it is shown only while the
    session is there."""
    return f"{_NOTHING_RECALLED}{project or 'No project'}{_NOTHING_ENDS}"


def own_words(content: str) -> str:
    """A message's text without recalled text; empty if it has no words of its own."""
    if not content.startswith(_BEGINNINGS):
        return without_recalled(content) if has_recalled(content) else content
    if content == QUOTATION_FORGOTTEN:
        return ""
    if content.startswith(_NOTHING_RECALLED) and content.endswith(_NOTHING_ENDS) and "\n" not in content:
        return ""
    for opening in (RECALL_ONLY, _OLD_RECALL_ONLY):
        if content.startswith(opening):
            rest = without_recalled(content).removeprefix(opening).strip()
            return "" if rest == _OLD_NOTHING_RECALLED else rest
    return without_recalled(content) if has_recalled(content) else content


def quoted_tokens(content: str, own: str) -> int:
    """An estimate of the tokens of a text that are not its own words."""
    return (len(content) - len(own)) // CHARACTERS_A_TOKEN


def tokens_after(tokens: int, content: str, changed: str) -> int:
    """The tokens of a message of which the quotation was changed, but not its own words."""
    own = own_words(content)
    return tokens - quoted_tokens(content, own) + quoted_tokens(changed, own)


def shown_in(message: Message, pool: PoolId) -> Message:
    """A message as its session shows it while the session is in this pool: without quotations of another pool."""
    if message.recalled_pool is None or message.recalled_pool == pool:
        return message
    own = own_words(message.content)
    if own == message.content:
        return message
    tokens = message.tokens - quoted_tokens(message.content, own)
    return message._replace(content=own or QUOTATION_STAYED, tokens=tokens)


def shown_outside_session(message: Message) -> Message | None:
    """A message as other sessions show it: its own words only, or None if it has none."""
    content = message.content
    own = own_words(content)
    if own is content or own == content:
        return message
    tokens = message.tokens - quoted_tokens(content, own)
    return message._replace(content=own, tokens=tokens) if own else None
