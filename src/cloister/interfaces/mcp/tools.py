"""The tools of the MCP server, as clients see them. None has an argument for a tenant, project, user or session: these are the
connection's."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cloister.domain.memory import MAX_MEMORY
from cloister.services.recall.search import KINDS

Schema = Mapping[str, Any]
CONTEXT_TOKENS = 1_500
MOST_CONTEXT_TOKENS = 20_000
SEARCH_LIMIT = 8
MOST_HITS = 50
MOST_MEMORIES = 20
LIST_LIMIT = 20
MOST_LISTED = 50
LONGEST_QUERY = 8_192
LONGEST_MESSAGE = 65_536
_LONGEST_ID = 64

_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "integer"}
_OPTIONAL_TEXT: Schema = {"type": ["string", "null"]}
_SCOPE: Schema = {
    "type": "object",
    "description": "The scope of this connection: what the answer is from.",
    "properties": {"project": _TEXT, "project_name": _TEXT, "user": _OPTIONAL_TEXT, "session": _TEXT},
    "required": ["project", "project_name", "user", "session"],
    "additionalProperties": False,
}


def text_argument(description: str, longest: int) -> dict[str, Any]:
    return {"type": "string", "description": description, "minLength": 1, "maxLength": longest}


def number_argument(description: str, *, default: int, lowest: int, highest: int) -> dict[str, Any]:
    return {"type": "integer", "description": description, "default": default, "minimum": lowest, "maximum": highest}


def share_argument(description: str) -> dict[str, Any]:
    return {"type": "number", "description": description, "minimum": 0, "maximum": 1}


def object_schema(properties: Mapping[str, Schema], required: tuple[str, ...] = ()) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": dict(properties)}
    if required:
        schema["required"] = list(required)
    return {**schema, "additionalProperties": False}


def _answer(**properties: Schema) -> dict[str, Any]:
    return object_schema({"scope": _SCOPE, **properties}, ("scope", *properties))


def _list_of(**properties: Schema) -> Schema:
    return {"type": "array", "items": object_schema(properties, tuple(properties))}


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool:
    """One tool. `writes` says that it needs a key that may write; the rest are hints for clients."""

    name: str
    title: str
    description: str
    arguments: Mapping[str, Schema]
    required: tuple[str, ...] = ()
    output: Mapping[str, Any] = field(default_factory=dict[str, Any])
    writes: bool = False
    destructive: bool = False
    idempotent: bool = True

    @property
    def input_schema(self) -> dict[str, Any]:
        return object_schema(self.arguments, self.required)


_QUERY = text_argument("What to look for, in plain words: a question works best.", LONGEST_QUERY)
_MIN_RELEVANCE = share_argument(
    "Leave out what is less relevant than this, from 0 (nothing is left out) to 1. Without it: the project's setting."
)
_HITS = _list_of(
    kind=_TEXT,
    id=_TEXT,
    content=_TEXT,
    is_excerpt={"type": "boolean"},
    said_by=_OPTIONAL_TEXT,
    session=_OPTIONAL_TEXT,
    created_at=_TEXT,
    relevance={"type": "number"},
)
_MEMORIES = _list_of(id=_TEXT, content=_TEXT, said_by=_TEXT, session=_TEXT, created_at=_TEXT)

_CERTIFICATE: Schema = {
    "type": "object",
    "description": "What was deleted, counted by kind, and the checks that were made afterwards.",
    "properties": {
        "removed": {"type": "object", "additionalProperties": _NUMBER},
        "all_checks_passed": {"type": "boolean"},
        "checks": _NUMBER,
        "checks_not_made": _NUMBER,
    },
    "required": ["removed", "all_checks_passed", "checks", "checks_not_made"],
    "additionalProperties": False,
}

_ALL = (
    Tool(
        name="get_context",
        title="Get context",
        description=(
            "Call this first, before you answer: returns what is remembered about the user's question, as text: memories, earlier "
            "conversations, and people and things they mention. Without a query, what was said last in this session."
        ),
        arguments={
            "query": text_argument("The user's question or task, in their words.", LONGEST_QUERY),
            "budget_tokens": number_argument(
                "How long the text may be, in tokens.", default=CONTEXT_TOKENS, lowest=100, highest=MOST_CONTEXT_TOKENS
            ),
            "min_relevance": _MIN_RELEVANCE,
        },
        output=_answer(context=_TEXT, tokens=_NUMBER, left_out=_NUMBER, stale=_NUMBER),
    ),
    Tool(
        name="search_memory",
        title="Search memory",
        description=(
            "Search what is remembered: earlier conversations (episodes), memories (short facts) and entities (people and things). "
            "Use it when get_context does not answer the question. Long contents are excerpts: fetch returns the whole."
        ),
        arguments={
            "query": _QUERY,
            "limit": number_argument("How many results.", default=SEARCH_LIMIT, lowest=1, highest=MOST_HITS),
            "kinds": {
                "type": "array",
                "description": "Only these kinds; all without it.",
                "items": {"type": "string", "enum": list(KINDS)},
                "minItems": 1,
                "maxItems": len(KINDS),
            },
            "min_relevance": _MIN_RELEVANCE,
        },
        required=("query",),
        output=_answer(notice=_TEXT, results=_HITS, left_out=_NUMBER),
    ),
    Tool(
        name="remember",
        title="Remember",
        description=(
            "Store facts that should be remembered in later conversations, each as one short sentence that can be understood alone "
            "('Ada prefers tea to coffee'). They are stored when this returns. What is stored already is not stored twice."
        ),
        arguments={
            "contents": {
                "type": "array",
                "description": "The facts, one sentence each.",
                "items": text_argument("One fact.", MAX_MEMORY),
                "minItems": 1,
                "maxItems": MOST_MEMORIES,
            }
        },
        required=("contents",),
        output=_answer(remembered=_MEMORIES, duplicates=_NUMBER, left_out=_NUMBER),
        writes=True,
    ),
    Tool(
        name="record_exchange",
        title="Record an exchange",
        description=(
            "Record one exchange of this conversation, word for word, so that later conversations can recall it: the user's "
            "message and your reply. Call it once for each exchange, after you have replied. It is stored when this returns."
        ),
        arguments={
            "user_message": text_argument("What the user wrote.", LONGEST_MESSAGE),
            "ai_response": text_argument("What you replied.", LONGEST_MESSAGE),
        },
        required=("user_message", "ai_response"),
        output=_answer(episode_id=_TEXT, created_at=_TEXT),
        writes=True,
        idempotent=False,
    ),
    Tool(
        name="list_memories",
        title="List memories",
        description=(
            "List all memories of this scope, oldest first, with their ids, in pages. To look for something, use search_memory."
        ),
        arguments={
            "limit": number_argument("How many at most.", default=LIST_LIMIT, lowest=1, highest=MOST_LISTED),
            "cursor": text_argument("The next_cursor of the page before.", 512),
        },
        output=_answer(notice=_TEXT, memories=_MEMORIES, next_cursor=_OPTIONAL_TEXT),
    ),
    Tool(
        name="forget",
        title="Forget a memory",
        description=(
            "Delete one memory for good, by its id. Only when the user asks for it. The conversations it came from are not deleted."
            " The certificate counts what went, and says whether the checks made afterwards passed."
        ),
        arguments={"memory_id": text_argument("The id of the memory: mem_ and 16 digits.", _LONGEST_ID)},
        required=("memory_id",),
        output=_answer(forgotten=_TEXT, certificate=_CERTIFICATE),
        writes=True,
        destructive=True,
        idempotent=False,
    ),
    Tool(
        name="search",
        title="Search (ids and titles)",
        description="Search what is remembered, and return ids and titles only; fetch returns the text of an id.",
        arguments={"query": _QUERY},
        required=("query",),
        output=_answer(results=_list_of(id=_TEXT, title=_TEXT, url=_TEXT)),
    ),
    Tool(
        name="fetch",
        title="Fetch",
        description=(
            "Return the text of one search result by its id (ep_…, mem_…, ent_…). A long text comes in parts: call again with the "
            "next_offset of the answer until it is null."
        ),
        arguments={
            "id": text_argument("The id of a search result.", _LONGEST_ID),
            "offset": number_argument("Where the part begins, in characters.", default=0, lowest=0, highest=10_000_000),
        },
        required=("id",),
        output=_answer(
            id=_TEXT,
            title=_TEXT,
            text=_TEXT,
            url=_TEXT,
            metadata={"type": "object"},
            next_offset={"type": ["integer", "null"]},
        ),
    ),
)
TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in _ALL}
