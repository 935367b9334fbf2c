"""What requests may hold. Only the wire's form is checked here; what it means is checked by the services, for every way in."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(json_schema_extra={"minLength": 1, "maxLength": 255})]
Content = Annotated[str, Field(json_schema_extra={"minLength": 1, "maxLength": 65_536})]
Metadata = dict[str, Any]
Role = Literal["user", "assistant", "system", "tool"]


class Body(BaseModel):
    """Unknown fields are refused, and nothing is converted silently."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class NewTenant(Body):
    name: Name


class NewProject(Body):
    name: Name
    member_visibility: Literal["shared", "private"] = "shared"


class ProjectChange(Body):
    name: Name | None = None
    is_default: bool | None = None
    settings: dict[str, Any] | None = None


class NewApiKey(Body):
    name: Name
    project_id: str | None = None
    confined: bool = False
    permissions: list[Literal["read", "write", "admin"]] = Field(default=["read", "write"])
    expires_at: str | None = None


class NewSession(Body):
    external_id: Name | None = None
    project_id: str | None = None
    user_id: Name | None = None
    title: Name | None = None
    tags: list[str] = Field(default=[])
    metadata: Metadata = Field(default={})


class SessionChange(Body):
    title: Name | None = None
    project_id: str | None = None
    tags: list[str] | None = None
    metadata: Metadata | None = None


class NewMessage(Body):
    role: Role
    content: Content
    author: Name | None = None
    metadata: Metadata = Field(default={})
    created_at: str | None = None


class NewMessages(Body):
    messages: list[NewMessage]


class NewEpisode(Body):
    session_id: str
    user_message: Content
    ai_response: Content


class ContextRequest(Body):
    session_id: str
    query: Content | None = None
    recent_limit: int | None = None
    semantic_limit: int | None = None
    budget_tokens: int | None = None
    sources: list[dict[str, Any]] | None = None


class SearchRequest(Body):
    query: Content
    session_id: str | None = None
    user_id: Name | None = None
    kinds: list[Literal["episodes", "memories", "entities"]] | None = None
    limit: int = 10
