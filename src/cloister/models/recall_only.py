"""Replies without a model: quotations of the most relevant messages and memories, with their sessions.

They are labelled as such, and serve to try out isolation by hand. The quotations are in a marked block, which is neither extracted
(MEM-10) nor recalled as if it had been said in this session.
"""

from collections.abc import AsyncGenerator, Iterator

from cloister.domain.context import Context, past_note
from cloister.domain.memory import normalised
from cloister.domain.prompts.recalled_text import RECALL_ONLY, nothing_recalled
from cloister.domain.prompts.speaker import attributed, speaker
from cloister.domain.reply import QUOTING_MODEL, ChatRequest, End, Piece, TextDelta, Usage
from cloister.domain.timestamps import iso

_LONGEST_QUOTATION = 280


class RecallOnly:
    """Reads no prompt: it quotes the request's context, which was built within the scope of the session."""

    @property
    def name(self) -> str:
        return QUOTING_MODEL

    async def names(self) -> list[str]:
        return [self.name]

    def separate(self) -> "RecallOnly":
        return self

    async def count_tokens(self, request: ChatRequest) -> int | None:
        """There is no model whose tokens could be counted."""
        return None

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Piece]:
        context = request.context
        block = "" if context is None else context.quoted(_remembered(context))
        if block:
            yield TextDelta(f"{RECALL_ONLY}\n\n")
            for line in block.splitlines(keepends=True):
                yield TextDelta(line)
        else:
            yield TextDelta(nothing_recalled(None if context is None else context.project_name))
        yield End(usage=Usage(prompt_tokens=0, completion_tokens=0))

    async def close(self) -> None:
        """There is nothing to close."""


def _remembered(context: Context) -> Iterator[str]:
    """The lines to quote: messages, then memories and entities; which ones, the service that recalled them has chosen."""
    named = context.names_speakers
    for item in context.relevant_history:
        said_by = speaker(item.message, item.user, named=named)
        where = "here" if item.session == context.session else f"in {item.session}"
        yield f"{_day(item.message.created_at)}, {said_by} {where}: {_short(item.message.content)}"
    for stored in context.derived.memories:
        words = attributed(_short(stored.memory.content), stored.user, named=named)
        yield f"{_day(stored.memory.created_at)}, a memory of {stored.session}: {words}{past_note(stored)}"
    yield from map(_short, context.entity_lines)


def _short(text: str) -> str:
    line = normalised(text)
    return line if len(line) <= _LONGEST_QUOTATION else f"{line[: _LONGEST_QUOTATION - 1].rstrip()}…"


def _day(moment: int) -> str:
    return iso(moment)[:10]
