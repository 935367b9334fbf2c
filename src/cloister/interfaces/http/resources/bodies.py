"""What requests may hold. Only the wire's form is checked here; what it means is checked by the services, for every way in.

The limits are shown to readers of the document and not enforced twice: a service refuses in its own words.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from cloister.domain.context import MOST_SOURCES, ConversationScope, Method
from cloister.domain.conversation import Role
from cloister.domain.memory import MAX_MEMORY
from cloister.domain.project_settings import ObservationScope
from cloister.domain.scope import DEFAULT_VISIBILITY, MemberVisibility
from cloister.domain.text import MAX_METADATA, MAX_METADATA_DEPTH
from cloister.interfaces.http.openapi import schemas as forms
from cloister.services.conversations.record import LARGEST_BATCH
from cloister.services.memories.memories import LARGEST_MEMORY_BATCH
from cloister.services.recall.search import HIGHEST_LIMIT, Kind


def _as_whole(given: object) -> object:
    """JSON knows one kind of number: 20.0 is 20."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


Whole = Annotated[int, BeforeValidator(_as_whole)]
Name = Annotated[str, Field(json_schema_extra=forms.NAME)]
Content = Annotated[str, Field(json_schema_extra=forms.CONTENT)]
Time = Annotated[str, Field(json_schema_extra=forms.TIME)]
ProjectId = Annotated[str, Field(json_schema_extra=forms.PROJECT_ID)]
Tags = Annotated[
    list[Annotated[str, Field(json_schema_extra=forms.TAG)]],
    Field(
        description="Your own. Those that start with `session:`, `user:` or `project:` are stamped by the server.",
        json_schema_extra=forms.TAGS,
    ),
]
Metadata = Annotated[
    dict[str, Any],
    Field(
        description=f"Kept and given back as it came: at most {MAX_METADATA:,} characters as JSON, nested at most "
        f"{MAX_METADATA_DEPTH} deep."
    ),
]
DuplicateName = Annotated[bool, Field(description="Whether another project may have the same name.")]
ContextLimit = Annotated[Whole, Field(json_schema_extra=forms.CONTEXT_LIMIT)]


class Body(BaseModel):
    """Unknown fields are refused, and nothing is converted silently."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _either(*cases: forms.Form) -> ConfigDict:
    """Fields that depend on each other: at least one of these holds."""
    return ConfigDict(json_schema_extra={"anyOf": [*cases]})


class Nothing(Body):
    """Of a request that needs no body: none, or an empty object."""


class SignIn(Body):
    code: str = Field(description="What stands behind the # of a console link.", json_schema_extra=forms.NAME)
    replace: bool = Field(default=False, description="Sign in even where the browser is signed in with another key.")


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
    """Messages of one role: the last ones, or the best matches; of this session, or of its whole pool."""

    role: Role
    method: Method
    limit: ContextLimit = Field(
        default=0, description="How many at most. Without it: 20 recent ones, 10 semantic ones."
    )
    conversation_scope: ConversationScope | None = Field(
        default=None, description="Without it: `current` for recent messages, `pool` for semantic ones."
    )


Sources = Annotated[list[ContextSource], Field(json_schema_extra={"maxItems": MOST_SOURCES})]


class ProjectSettings(Body):
    """What a project sets for itself; it holds from the next request on."""

    observation_scope: ObservationScope = Field(
        default="session",
        description="Whose observations a context holds: the session's, or its user's in the same pool.",
    )
    context_sources: Sources = Field(
        default=[], description="What a context is made of where the request does not say."
    )
    pending_message_count: Annotated[Whole, Field(json_schema_extra=forms.PENDING_MESSAGES)] = Field(
        default=4, description="After how many unread messages memories are extracted."
    )
    system_prompt: Annotated[str, Field(json_schema_extra=forms.SYSTEM_PROMPT)] | None = Field(
        default=None,
        description="What the project's assistant is told first: a template, in which `{MEMORY.CONTEXT}`, `{RELEVANT.HISTORY}`, "
        "`{ENTITIES}` and `{OBSERVATIONS}` stand for what was recalled; null for the usual one.",
    )


class ProjectChange(Body):
    """What is not given stays."""

    name: Name | None = None
    is_default: Annotated[bool, Field(json_schema_extra={"enum": [True]})] | None = Field(
        default=None, description="Only ever true: the project that was the default ceases to be."
    )
    member_visibility: MemberVisibility | None = Field(
        default=None,
        description="Whether users recall what others said in the project. It holds from the next request on, for all that was "
        "ever said in it. Try it first with `dry_run=true`.",
    )
    settings: ProjectSettings | None = None
    allow_duplicate_name: DuplicateName = False


class NewApiKey(Body):
    """A key is confined to a project, so `confined` needs a `project_id`."""

    model_config = _either(
        {"properties": {"confined": {"const": False}}},
        {"properties": {"project_id": {"type": "string"}}, "required": ["project_id"]},
    )

    name: Name
    project_id: ProjectId | None = Field(default=None, description="The project of all requests with this key.")
    confined: bool = Field(default=False, description="Whether the key can reach no other project.")
    permissions: list[Literal["read", "write", "admin"]] = Field(
        default=["read", "write"], json_schema_extra={"minItems": 1}
    )
    expires_at: Time | None = Field(default=None, description="From when on the key is not valid; in the future.")
    user_id: Name | None = Field(
        default=None,
        description="Bind the key to one user: it reaches that user's sessions only, on every route. For keys that are handed to a "
        "browser or a device. Such a key cannot be an admin's.",
    )


class NewSession(Body):
    external_id: Name | None = Field(default=None, description="Your id for it; without one it gets one.")
    project_id: ProjectId | None = Field(
        default=None,
        description="Left out: the project of the request, which is `X-Project-ID`, else the key's, else the default project. "
        "`null`: no project.",
    )
    user_id: Name | None = Field(
        default=None,
        description="Whose session it is. Memory is divided by user, also inside a project unless its members share.",
    )
    title: Name | None = None
    tags: Tags = Field(default=[])
    metadata: Metadata = Field(default={})


class SessionChange(Body):
    """What is not given stays."""

    title: Name | None = Field(default=None, description="`null` takes it away.")
    project_id: ProjectId | None = Field(default=None, description="`null` takes the session out of its project.")
    tags: Tags | None = None
    metadata: Metadata | None = None


class NewMessage(Body):
    role: Role
    content: Content
    author: Name | None = Field(default=None, description="Who spoke, where the role does not say.")
    metadata: Metadata = Field(default={})
    created_at: Time | None = Field(default=None, description="When it was said; without it, now.")


class NewMessages(Body):
    messages: list[NewMessage] = Field(json_schema_extra={"minItems": 1, "maxItems": LARGEST_BATCH})


class NewEpisode(Body):
    session_id: Name = Field(description="The session's `external_id`.")
    user_message: Content
    ai_response: Content


class NewMemories(Body):
    session_id: Name = Field(description="The session's `external_id`.")
    contents: list[Annotated[str, Field(json_schema_extra=forms.MEMORY)]] = Field(
        json_schema_extra={"minItems": 1, "maxItems": LARGEST_MEMORY_BATCH},
        description=f"Short statements, each of at most {MAX_MEMORY:,} characters.",
    )


class EntityChange(Body):
    project_id: ProjectId
    user_id: Name | None = Field(
        default=None,
        description="In a project with private members: whose part it goes to. Left out, it stays its user's.",
    )


class ContextRequest(Body):
    session_id: Name = Field(description="The session's `external_id`.")
    query: Content | None = Field(default=None, description="Without it, the user's last message is the query.")
    recent_limit: ContextLimit | None = Field(default=None, description="For all recent sources; 20 of each role.")
    semantic_limit: ContextLimit | None = Field(default=None, description="For all semantic sources; 10 of each role.")
    budget_tokens: Annotated[Whole, Field(json_schema_extra=forms.BUDGET)] | None = Field(
        default=None, description="How large the context may be; the current conversation comes first."
    )
    sources: Sources | None = Field(default=None, description="Instead of the project's own.")


class SearchRequest(Body):
    """Where to search: in a session's own scope, or in a project's pool or the shared one, of one user where given."""

    model_config = _either(
        {"properties": {"session_id": {"type": "null"}}},
        {"properties": {"project_id": {"type": "null"}, "user_id": {"type": "null"}}},
    )

    query: Content
    session_id: Name | None = Field(default=None, description="The session's `external_id`.")
    project_id: ProjectId | None = Field(
        default=None,
        description="Left out: the project of the request. `null`: none, which is the shared pool, divided by user.",
    )
    user_id: Name | None = None
    kinds: list[Kind] | None = Field(
        default=None,
        description="Of which kinds; without it, of all. Entities are found in a project only.",
        json_schema_extra={"minItems": 1},
    )
    limit: Whole = Field(default=10, json_schema_extra={"minimum": 1, "maximum": HIGHEST_LIMIT})
