"""Messages that are prepared to be recorded, and the answer to a request that is repeated with its idempotency key."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from cloister.domain.conversation import Draft, Message
from cloister.domain.identifiers import MessageId, SessionId
from cloister.domain.prompts.recalled_text import tokens_after
from cloister.storage.stores.idempotency import FirstAnswer
from cloister.storage.stores.messages import Indexed


class PreparedMessage(NamedTuple):
    """A draft with all that is computed before the transaction that stores it."""

    draft: Draft
    created_at: int
    indexed: Indexed

    def shortened(self, content: str) -> "PreparedMessage":
        """The same with less of the text that it quotes."""
        tokens = tokens_after(self.indexed.tokens, self.draft.content, content)
        return self._replace(draft=replace(self.draft, content=content), indexed=self.indexed._replace(tokens=tokens))


def first_answer(session: SessionId, messages: Sequence[Message]) -> FirstAnswer:
    """What is stored of the answer to a request with an idempotency key."""
    kept = [[message.id, message.session, message.episode, message.created_at, message.parent] for message in messages]
    return FirstAnswer(
        "messages",
        json.dumps(kept),
        session=session,
        first_id=messages[0].id,
        last_id=messages[-1].id,
    )


def repeated(kept: Sequence[Sequence[Any]], prepared: Sequence[PreparedMessage]) -> tuple[Message, ...]:
    """The first answer again, from the stored ids and times and the content of the repeated request. An answer that
    was stored by an earlier version has no parents."""
    return tuple(
        Message(
            id=MessageId(identity),
            session=SessionId(session),
            role=entry.draft.role,
            content=entry.draft.content,
            author=entry.draft.author,
            status=entry.draft.status,
            episode=MessageId(episode),
            is_memory_checked=False,
            tokens=entry.indexed.tokens,
            metadata=entry.draft.metadata,
            created_at=created_at,
            categories=entry.draft.categories,
            parent=parents[0] if parents else None,
        )
        for (identity, session, episode, created_at, *parents), entry in zip(kept, prepared, strict=True)
    )
