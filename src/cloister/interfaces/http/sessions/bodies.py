"""The bodies of requests that create or change a session."""

from pydantic import Field

from cloister.interfaces.http.resources.bodies import Body, Metadata, Name, ProjectId, SystemPrompt, Tags

_PINNED = "For lists; whether the session is recalled does not depend on it."
_ARCHIVED = "For lists; an archived session is still recalled."
_OWN_PROMPT = "The system prompt of this session, a template as in a project's settings. `null`: the project's."
_OWN_MODEL = "The chat model of this session, which the model's server has to list. `null`: the project's."


class NewSession(Body):
    external_id: Name | None = Field(
        default=None, description="Your id of the session. Without it, the server makes one."
    )
    project_id: ProjectId | None = Field(
        default=None,
        description="Without it: the project of the request, which is `X-Project-ID`, else the key's, else the default project. "
        "`null`: no project.",
    )
    user_id: Name | None = Field(
        default=None,
        description="The user of the session. Memory is divided by user, in a project too unless its visibility is `shared`.",
    )
    title: Name | None = None
    tags: Tags = Field(default=[])
    metadata: Metadata = Field(default={})
    pinned: bool = Field(default=False, description=_PINNED)
    archived: bool = Field(default=False, description=_ARCHIVED)
    system_prompt: SystemPrompt | None = Field(default=None, description=_OWN_PROMPT)
    model: Name | None = Field(default=None, description=_OWN_MODEL)


class SessionChange(Body):
    """A change of a session; fields that are not given stay as they are."""

    title: Name | None = Field(default=None, description="`null` removes the title.")
    project_id: ProjectId | None = Field(default=None, description="`null` takes the session out of its project.")
    tags: Tags | None = None
    metadata: Metadata | None = None
    pinned: bool = Field(default=False, description=_PINNED)
    archived: bool = Field(default=False, description=_ARCHIVED)
    system_prompt: SystemPrompt | None = Field(default=None, description=_OWN_PROMPT)
    model: Name | None = Field(default=None, description=_OWN_MODEL)
