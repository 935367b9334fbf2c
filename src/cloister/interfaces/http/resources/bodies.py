"""The bodies of requests. Only types and fields are checked here; values are checked by the services, for every interface alike.

The limits are documented in the schemas and not enforced by them: the services enforce them, with their own error texts. Only the
length of every list is checked here, before its elements are: each wrong element is an error (ISO-13).
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from cloister.domain.context import DEFAULT_HISTORY_TOKENS, MOST_SOURCES, ConversationScope, Method
from cloister.domain.conversation import Role
from cloister.domain.entity import MAX_ALIASES, MAX_ENTITY_NAME, MAX_NOTES
from cloister.domain.extraction import EntityType
from cloister.domain.memory import MAX_MEMORY
from cloister.domain.project_settings import MOST_RECEIPT_DAYS, ObservationScope
from cloister.domain.recall.relevance import DEFAULT_MIN_RELEVANCE
from cloister.domain.scope import DEFAULT_VISIBILITY, MemberVisibility
from cloister.domain.text import MAX_CATEGORIES, MAX_METADATA, MAX_METADATA_DEPTH, MAX_TAGS
from cloister.interfaces.http.openapi import schemas
from cloister.interfaces.http.receipts.settings import ReceiptSettings
from cloister.services.conversations.record import LARGEST_BATCH
from cloister.services.memories.entity_changes import MOST_MESSAGES
from cloister.services.memories.truth.additions import LARGEST_MEMORY_BATCH
from cloister.services.recall.search import HIGHEST_LIMIT, Kind
from cloister.services.recall.validity import MOST_PINNED


def _as_whole(given: object) -> object:
    """JSON has one kind of number: 20.0 is the integer 20."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


def _as_real(given: object) -> object:
    return float(given) if isinstance(given, int) and not isinstance(given, bool) else given


MOST_WORDS = 100
"""The most entries of a list of words that the services compare with those they know."""
MOST_SENT = 10_000
"""The most messages in a request of a client that sends a whole conversation, and the most entries of a list whose own limit is the
services', which refuse more with another error."""
Whole = Annotated[int, BeforeValidator(_as_whole)]
Name = Annotated[str, Field(json_schema_extra=schemas.NAME)]
Content = Annotated[str, Field(json_schema_extra=schemas.CONTENT)]
Time = Annotated[str, Field(json_schema_extra=schemas.TIME)]
ProjectId = Annotated[str, Field(json_schema_extra=schemas.PROJECT_ID)]
EntityId = Annotated[str, Field(json_schema_extra=schemas.ENTITY_ID)]
MessageId = Annotated[str, Field(json_schema_extra=schemas.MESSAGE_ID)]
UnmovedToken = Annotated[str, Field(json_schema_extra=schemas.UNMOVED_TOKEN)]
EntityName = Annotated[str, Field(json_schema_extra=schemas.ENTITY_NAME)]
Aliases = Annotated[list[EntityName], Field(max_length=MOST_SENT, json_schema_extra={"maxItems": MAX_ALIASES})]
Tags = Annotated[
    list[Annotated[str, Field(json_schema_extra=schemas.TAG)]],
    Field(
        max_length=MAX_TAGS,
        description="Your own tags. Those with the prefix `session:`, `user:` or `project:` are set by the server.",
    ),
]
Categories = Annotated[
    list[Annotated[str, Field(json_schema_extra=schemas.CATEGORY)]],
    Field(max_length=MAX_CATEGORIES, description="Labels that a `filter` can ask for."),
]
Filter = Annotated[dict[str, Any], Field(json_schema_extra=schemas.FILTER_MARK)]
Metadata = Annotated[
    dict[str, Any],
    Field(
        description=f"Stored and returned unchanged: at most {MAX_METADATA:,} characters as JSON, nested at most "
        f"{MAX_METADATA_DEPTH} levels deep."
    ),
]
DuplicateName = Annotated[bool, Field(description="Whether another project may have the same name.")]
RetentionDays = Annotated[Whole, Field(json_schema_extra=schemas.RETENTION_DAYS)]
ContextLimit = Annotated[Whole, Field(json_schema_extra=schemas.CONTEXT_LIMIT)]
SystemPrompt = Annotated[str, Field(json_schema_extra=schemas.SYSTEM_PROMPT)]
Relevance = Annotated[float, BeforeValidator(_as_real), Field(json_schema_extra=schemas.RELEVANCE)]

_MIN_RELEVANCE = "What is less relevant is left out; 0 leaves nothing out. Without it: the project's setting."
_FILTER = "Recall only what this filter lets pass. It is applied before ranking, so that the limits count what is left."
_IF_UNMOVED = (
    "The `unmoved_token` of the context that the reply was given. Nothing is recorded, with the error `conflict`, if the session "
    "was moved or created anew, or its project shared or divided since."
)
_AS_OF = "Recall the memories that were true at this time. Without it: those that are true now."
_ASKED_AT = 'When the query is asked: "last week" is relative to it. Without it: now.'


class Body(BaseModel):
    """A request body: unknown fields are refused, and no value is converted to another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _either(*cases: schemas.Schema) -> ConfigDict:
    """A schema for fields that depend on each other: at least one of the cases must match."""
    return ConfigDict(json_schema_extra={"anyOf": [*cases]})


class Nothing(Body):
    """The body of a request that needs none: absent, or an empty object."""


class NewTenant(Body):
    name: Name


class NewProject(Body):
    name: Name
    member_visibility: MemberVisibility = Field(
        default=DEFAULT_VISIBILITY,
        description="`private`: each user recalls only what their own sessions in the project said. `shared`: all users recall "
        "what any of them said.",
    )
    allow_duplicate_name: DuplicateName = False


class ContextSource(Body):
    """Messages of one role: the most recent or the best matches, of this session or of its whole pool."""

    role: Role
    method: Method
    limit: ContextLimit = Field(
        default=0, description="The largest number of messages. Without it: 20 recent or 10 semantic ones."
    )
    conversation_scope: ConversationScope | None = Field(
        default=None, description="Without it: `current` for recent messages, `pool` for semantic ones."
    )


Sources = Annotated[list[ContextSource], Field(max_length=MOST_SENT, json_schema_extra={"maxItems": MOST_SOURCES})]


class ProjectSettings(ReceiptSettings, Body):
    """Settings of a project; they apply from the next request on. `null` resets a setting to its default."""

    observation_scope: ObservationScope | None = Field(
        default="session",
        description="Which observations a context contains: those of the session, or those of its user in the same pool.",
    )
    context_sources: Sources | None = Field(default=[], description="Sources of a context if the request gives none.")
    pending_message_count: Annotated[Whole, Field(json_schema_extra=schemas.PENDING_MESSAGES)] | None = Field(
        default=4, description="After how many new messages memories are extracted."
    )
    system_prompt: SystemPrompt | None = Field(
        default=None,
        description="The system prompt of the project's assistant: a template, in which `{MEMORY.CONTEXT}`, `{RELEVANT.HISTORY}`, "
        "`{ENTITIES}` and `{OBSERVATIONS}` are replaced by what was recalled, and `{PROFILE}` by what is known of the user. "
        "`null`: the default template.",
    )
    min_relevance: Relevance | None = Field(
        default=DEFAULT_MIN_RELEVANCE,
        description="What is less relevant to a query is not recalled, unless the request says otherwise; 0 recalls everything.",
    )
    history_tokens: Annotated[Whole, Field(json_schema_extra=schemas.BUDGET)] | None = Field(
        default=DEFAULT_HISTORY_TOKENS,
        description="The largest size of the related messages in a context, in tokens, where the request sets neither a budget nor "
        "limits of its own.",
    )
    model: Name | None = Field(
        default=None,
        description="The chat model that answers in this project, if the request names none. One that the endpoint of the server "
        "does not list is not used. Without it, and `null`: the default model of the server.",
    )
    retention_days: RetentionDays | None = Field(
        default=None,
        description="After how many days what was said in the project is forgotten, with all that derives from it. 0 or `null`: "
        "never, unless the tenant is stricter. Try it first with `dry_run=true`.",
    )
    extraction_instructions: Annotated[str, Field(json_schema_extra=schemas.INSTRUCTIONS)] | None = Field(
        default=None,
        description="What to look for in messages, and what to leave out, in words for the model that extracts. Rules cannot "
        "follow them.",
    )
    wanted_categories: Categories | None = Field(
        default=[], description="Only memories of one of these categories are extracted. Empty: of all."
    )
    unwanted_categories: Categories | None = Field(default=[], description="No memories of these are extracted.")
    minimum_importance: Relevance | None = Field(default=0, description="Less important memories are not extracted.")
    extraction_languages: (
        Annotated[list[str], Field(max_length=MOST_WORDS, json_schema_extra=schemas.LANGUAGES)] | None
    ) = Field(
        default=[],
        description="Memories and entities are extracted from messages in these languages only. Empty: in all that the extractor "
        "knows; rules know English.",
    )


class TenantSettings(Body):
    """A change of the tenant's settings; fields that are not given stay as they are."""

    retention_days: RetentionDays | None = Field(
        default=None,
        description="After how many days what was said is forgotten, in all projects and outside them, with all that derives from "
        "it. 0 or `null`: never. A project may be stricter.",
    )
    receipt_days: Annotated[int, Field(json_schema_extra={"minimum": 1, "maximum": MOST_RECEIPT_DAYS})] | None = Field(
        default=None,
        description="After how many days receipts are deleted, in all projects and outside them; a project may be stricter. "
        "`null`: as each project says; those of sessions in no project as long as the reply.",
    )


class ProjectChange(Body):
    """A change of a project; fields that are not given stay as they are."""

    name: Name | None = None
    is_default: Annotated[bool, Field(json_schema_extra={"enum": [True]})] | None = Field(
        default=None, description="Can only be `true`: the previous default project is no longer the default."
    )
    member_visibility: MemberVisibility | None = Field(
        default=None,
        description="Whether users recall what others said in the project. A change applies from the next request on, to "
        "everything that was said in it before. Try it first with `dry_run=true`.",
    )
    settings: ProjectSettings | None = None
    allow_duplicate_name: DuplicateName = False


class NewApiKey(Body):
    """A new API key. `confined` needs a `project_id`, to which the key is confined."""

    model_config = _either(
        {"properties": {"confined": {"const": False}}},
        {"properties": {"project_id": {"type": "string"}}, "required": ["project_id"]},
    )

    name: Name
    project_id: ProjectId | None = Field(
        default=None, description="The project of requests with this key that name none."
    )
    confined: bool = Field(default=False, description="Whether the key has no access to other projects.")
    permissions: Annotated[list[Literal["read", "write", "admin"]], Field(max_length=MOST_WORDS)] = Field(
        default=["read", "write"], json_schema_extra={"minItems": 1}
    )
    expires_at: Time | None = Field(default=None, description="When the key expires; in the future.")
    user_id: Name | None = Field(
        default=None,
        description="Bind the key to one user: it has access to that user's sessions only, on every route. For keys that are "
        "given to a browser or a device. Such a key cannot have the permission `admin`.",
    )


class NewMessage(Body):
    role: Role
    content: Content
    author: Name | None = Field(
        default=None, description="The name of the speaker, if the role does not identify them."
    )
    categories: Categories = Field(default=[])
    metadata: Metadata = Field(default={})
    created_at: Time | None = Field(default=None, description="When the message was said. Without it: now.")


class MessageToRecord(NewMessage):
    """One message to append to a session."""

    if_unmoved_since: UnmovedToken | None = Field(default=None, description=_IF_UNMOVED)


class NewMessages(Body):
    messages: list[NewMessage] = Field(max_length=LARGEST_BATCH, json_schema_extra={"minItems": 1})
    if_unmoved_since: UnmovedToken | None = Field(default=None, description=_IF_UNMOVED)


class ExtractionPreviewRequest(Body):
    """Messages, as if a new session of a project had said them."""

    messages: list[NewMessage] = Field(max_length=LARGEST_BATCH, json_schema_extra={"minItems": 1})
    project_id: ProjectId | None = Field(
        default=None,
        description="Without it: the project of the request, else the default project. `null`: no project.",
    )


class NewEpisode(Body):
    session_id: Name = Field(description="The session's `external_id`.")
    user_message: Content
    ai_response: Content
    if_unmoved_since: UnmovedToken | None = Field(default=None, description=_IF_UNMOVED)


class NewMemories(Body):
    session_id: Name = Field(description="The session's `external_id`.")
    contents: list[Annotated[str, Field(json_schema_extra=schemas.MEMORY)]] = Field(
        max_length=LARGEST_MEMORY_BATCH,
        json_schema_extra={"minItems": 1},
        description=f"Short statements, each of at most {MAX_MEMORY:,} characters.",
    )
    categories: Categories = Field(default=[], description="Labels for filters, of each of the statements.")
    metadata: Metadata = {}
    importance: Relevance | None = Field(default=None, description="From 0 to 1.")


class MemoryChange(Body):
    """A change of a memory; fields that are not given stay as they are."""

    content: Annotated[str, Field(json_schema_extra=schemas.MEMORY)] | None = Field(
        default=None,
        description="Another text; `null` keeps it. The memory is then `corrected`, and no extraction overwrites it.",
    )
    importance: Relevance | None = Field(default=None, description="From 0 to 1; `null` removes it.")
    expires_at: Time | None = Field(
        default=None, description="When the memory stops being recalled; in the future. `null`: never."
    )
    pinned: bool = Field(
        default=False,
        description=f"Whether the memory is in every context of its pool, of which it shows at most {MOST_PINNED}.",
    )
    categories: Categories = []
    metadata: Metadata = {}


class EntityChange(Body):
    """A change of an entity; fields that are not given stay as they are."""

    name: EntityName | None = Field(
        default=None, description=f"At most {MAX_ENTITY_NAME} characters. The old name stays an alias."
    )
    type: EntityType | None = None
    notes: Annotated[str, Field(json_schema_extra=schemas.ENTITY_NOTES)] | None = Field(
        default=None, description=f"At most {MAX_NOTES:,} characters. They replace what was extracted; may be empty."
    )
    aliases: Aliases | None = Field(
        default=None,
        description="All other names; later mentions of them count for this entity. A name that messages use cannot be left out.",
    )
    project_id: ProjectId | None = Field(default=None, description="The project that the entity is moved to; alone.")
    user_id: Name | None = Field(
        default=None,
        description="With private members: the user whom the entity is moved to (needs `admin`). Without it, its user stays.",
    )


class EntityMerge(Body):
    into: EntityId = Field(description="The entity whose id and name stay.")


class EntitySplit(Body):
    """What is split off: `aliases`, or `message_ids` with a `name`."""

    aliases: Aliases | None = Field(default=None, json_schema_extra={"minItems": 1})
    message_ids: Annotated[list[MessageId], Field(max_length=MOST_SENT)] | None = Field(
        default=None,
        description="Messages that mention the entity. Those that were extracted together stay together.",
        json_schema_extra={"minItems": 1, "maxItems": MOST_MESSAGES},
    )
    name: EntityName | None = Field(default=None, description="The name of the new entity.")


class ContextRequest(Body):
    session_id: Name = Field(description="The session's `external_id`.")
    query: Content | None = Field(default=None, description="Without it: the user's last message.")
    recent_limit: ContextLimit | None = Field(
        default=None, description="The limit of every recent source. Without it: 20 of each role."
    )
    semantic_limit: ContextLimit | None = Field(
        default=None,
        description="The limit of every semantic source. Without it: 10 of each role, or 100 with `budget_tokens`.",
    )
    budget_tokens: Annotated[Whole, Field(json_schema_extra=schemas.BUDGET)] | None = Field(
        default=None,
        description="The largest size of the context, in tokens; the current conversation has priority, and related messages fill "
        "the rest. In a small budget long messages come as excerpts. Without it, the project's `history_tokens` limits the "
        "related messages, unless `semantic_limit` or `sources` is given.",
    )
    sources: Sources | None = Field(default=None, description="Sources that replace those of the project.")
    min_relevance: Relevance | None = Field(default=None, description=_MIN_RELEVANCE)
    asked_at: Time | None = Field(default=None, description=_ASKED_AT)
    as_of: Time | None = Field(default=None, description=_AS_OF)
    filter: Filter | None = Field(default=None, description=_FILTER)


class SearchRequest(Body):
    """A search in the scope of a session, or in the pool of a project or of no project, of one user if given."""

    model_config = _either(
        {"properties": {"session_id": {"type": "null"}}},
        {"properties": {"project_id": {"type": "null"}, "user_id": {"type": "null"}}},
    )

    query: Content
    session_id: Name | None = Field(default=None, description="The session's `external_id`.")
    project_id: ProjectId | None = Field(
        default=None,
        description="Without it: the project of the request. `null`: no project, which is divided by user.",
    )
    user_id: Name | None = None
    kinds: Annotated[list[Kind], Field(max_length=MOST_WORDS)] | None = Field(
        default=None,
        description="The kinds to search. Without it: all. Entities exist in projects only.",
        json_schema_extra={"minItems": 1},
    )
    limit: Whole = Field(default=10, json_schema_extra={"minimum": 1, "maximum": HIGHEST_LIMIT})
    min_relevance: Relevance | None = Field(default=None, description=_MIN_RELEVANCE)
    asked_at: Time | None = Field(default=None, description=_ASKED_AT)
    as_of: Time | None = Field(default=None, description=_AS_OF)
    filter: Filter | None = Field(default=None, description=_FILTER)
