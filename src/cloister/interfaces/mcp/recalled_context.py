"""The text of `get_context`: what is remembered about a question, as quoted blocks that cannot pass for instructions."""

from dataclasses import dataclass

from cloister.domain.context import Context
from cloister.domain.prompts.prompt import system_part
from cloister.domain.prompts.speaker import speaker
from cloister.interfaces.mcp.connection import McpConnection
from cloister.interfaces.mcp.limits import tokens_of
from cloister.services.recall.build_context import ContextRequest

NOTHING = "Nothing is remembered about this."
_TEMPLATE = "{MEMORY.CONTEXT}\n\n{OBSERVATIONS}\n\n{ENTITIES}\n\n{RELEVANT.HISTORY}"
_TRIES = 3
_RECENT = "What was said last in this session:"
_CUT = "Recent messages of this session that are left out, because they do not fit into budget_tokens: {}."


@dataclass(frozen=True, kw_only=True, slots=True)
class RecalledContext:
    """`left_out` counts what did not fit into the budget; `stale` what another version indexed, and this one not yet again."""

    text: str
    left_out: int
    stale: int

    @property
    def tokens(self) -> int:
        return tokens_of(self.text)


def recall_context(
    connection: McpConnection, query: str | None, budget: int, min_relevance: float | None = None
) -> RecalledContext:
    """The context of the connection's session, or as long as that does not exist, the one that it would have. Most clients do not
    choose the budget, so it is not filled with what is below the floor. A budget that a context counts in characters is too large
    for some scripts: then the context is built again with a smaller one."""
    room, recalled = budget, _recalled(connection, query, budget, min_relevance)
    for _ in range(_TRIES):
        if recalled.tokens <= budget:
            break
        room = room * budget // (recalled.tokens + 1)
        recalled = _recalled(connection, query, room, min_relevance)
    return recalled


def _recalled(
    connection: McpConnection, query: str | None, budget: int, min_relevance: float | None
) -> RecalledContext:
    request = ContextRequest(question=query, budget=budget, min_relevance=min_relevance, strict_floor=True)
    contexts = connection.services.context
    if connection.has_session():
        context = contexts.build(connection.reach, connection.session, request)
    else:
        context = contexts.build_for_scope(connection.reach, connection.pool_scope, request)
    return RecalledContext(text=_text(context) or NOTHING, left_out=context.omitted["budget"], stale=context.stale)


def _text(context: Context) -> str:
    said = context.quoted(
        f"{speaker(item.message, item.user, named=context.names_speakers)}: {item.message.content}"
        for item in context.current_conversation
    )
    too_long = context.omitted["current_conversation"]
    parts = [
        system_part(_TEMPLATE, context),
        f"{_RECENT}\n{said}" if said else "",
        _CUT.format(too_long) if too_long else "",
    ]
    return "\n\n".join(part for part in parts if part)
