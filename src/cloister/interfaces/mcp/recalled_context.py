"""The text of `get_context`: what is remembered about a question, as quoted blocks that cannot pass for instructions."""

from collections.abc import Iterator
from dataclasses import dataclass

from cloister.domain.context import Context
from cloister.domain.memory import quoted
from cloister.domain.prompts.prompt import system_part
from cloister.domain.prompts.speaker import speaker
from cloister.domain.text import CHARACTERS_A_TOKEN
from cloister.domain.timestamps import iso
from cloister.interfaces.mcp.connection import McpConnection
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import EntityHit, EpisodeHit, Hit, MemoryHit

NOTHING = "Nothing is remembered about this."
_TEMPLATE = "{MEMORY.CONTEXT}\n\n{OBSERVATIONS}\n\n{ENTITIES}\n\n{RELEVANT.HISTORY}"
_RECENT = "What was said last in this session:"
_MOST_HITS = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class RecalledContext:
    """`left_out` counts what did not fit into the budget."""

    text: str
    left_out: int

    @property
    def tokens(self) -> int:
        return -(-len(self.text) // CHARACTERS_A_TOKEN)


def recall_context(connection: McpConnection, query: str | None, budget: int) -> RecalledContext:
    """The context of the connection's session, or as long as that does not exist, of its pool."""
    if connection.has_session():
        request = ContextRequest(question=query, budget=budget)
        context = connection.services.context.build(connection.reach, connection.session, request)
        return RecalledContext(text=_text(context) or NOTHING, left_out=context.omitted["budget"])
    if query is None:
        return RecalledContext(text=NOTHING, left_out=0)
    hits = connection.services.search.search(connection.reach, query, connection.target, _MOST_HITS)
    lines = list(_lines(hits, named=connection.project.member_visibility == "shared"))
    shown = _that_fit(lines, budget)
    return RecalledContext(text=quoted(shown) or NOTHING, left_out=len(lines) - len(shown))


def _text(context: Context) -> str:
    said = context.quoted(
        f"{speaker(item.message, item.user, named=context.names_speakers)}: {item.message.content}"
        for item in context.current_conversation
    )
    parts = [system_part(_TEMPLATE, context), f"{_RECENT}\n{said}" if said else ""]
    return "\n\n".join(part for part in parts if part)


def _lines(hits: list[Hit], *, named: bool) -> Iterator[str]:
    for hit in hits:
        match hit:
            case EpisodeHit(item=item):
                day = iso(item.message.created_at)[:10]
                yield f"{day}, {speaker(item.message, item.user, named=named)}: {item.message.content}"
            case MemoryHit(stored=stored):
                yield stored.memory.content
            case EntityHit(entity=entity):
                yield f"{entity.name} ({entity.type}){': ' if entity.notes else ''}{entity.notes}"


def _that_fit(lines: list[str], budget: int) -> list[str]:
    room = budget * CHARACTERS_A_TOKEN
    shown: list[str] = []
    for line in lines:
        if len(line) <= room:
            shown.append(line)
            room -= len(line)
    return shown
