"""Routes of the files that an assistant stores with Anthropic's memory tool; its commands are the bodies of requests."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from cloister.domain.files.answer import FileAnswer
from cloister.domain.files.commands import read_command
from cloister.domain.files.tree import MAX_FILE
from cloister.domain.identifiers import parse_project_id
from cloister.domain.sessions.expected import ExpectedSession
from cloister.domain.text import checked_name
from cloister.interfaces.http.dispatch.callers import Caller, needs
from cloister.interfaces.http.dispatch.parameters import SessionId
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.openapi import schemas
from cloister.interfaces.http.resources.answers import answer
from cloister.interfaces.http.resources.bodies import MOST_WORDS, Body, Name, ProjectId, Whole
from cloister.interfaces.http.resources.sessions import project_of
from cloister.interfaces.python.shapes import MemoryToolSession, memory_tool_session_shape

router = APIRouter(route_class=GuardedRoute, tags=["Sessions and messages"])

_FILES = "/v1/sessions/{external_id}/files"
_NUMBER: schemas.Schema = {"minimum": -(2**53), "maximum": 2**53}
LineRange = Annotated[list[Annotated[Whole, Field(json_schema_extra=_NUMBER)]], Field(max_length=MOST_WORDS)]
Text = Annotated[str, Field(description="Of the commands that have it.", json_schema_extra={"maxLength": MAX_FILE})]


class FileBody(Body):
    """A command, and what the session is expected to be."""

    project_id: ProjectId | None = Field(
        default=None,
        description="If it is given, the session must be in this project, for `null` in none; otherwise nothing is done, and "
        "the answer is a conflict.",
    )
    user_id: Annotated[str, Field(json_schema_extra=schemas.NAME)] | None = Field(
        default=None, description="If it is given, the session must be this user's."
    )

    @property
    def expected(self) -> ExpectedSession:
        return ExpectedSession(
            checks_project="project_id" in self.model_fields_set,
            project=None if self.project_id is None else parse_project_id(self.project_id),
            user=None if self.user_id is None else checked_name(self.user_id, "user_id"),
        )

    @property
    def command_fields(self) -> dict[str, Any]:
        given = self.model_dump(exclude={"project_id", "user_id"})
        return {name: value for name, value in given.items() if value is not None}


class MemoryToolScope(Body):
    """Whose files a memory tool without a session uses."""

    project_id: ProjectId | None = Field(
        default=None, description="Without it: the project of the request; `null`: no project."
    )
    user_id: Name | None = Field(
        default=None, description="Without it: the user that the key is bound to, else nobody."
    )


class FileView(FileBody):
    """What to view: a directory, or a file, or some of its lines."""

    path: str = Field(description="`/memories`, or a path below it.")
    view_range: LineRange | None = Field(
        default=None, description="The first and the last line, from 1; -1 is the end."
    )


class FileChange(FileBody):
    """A command of Anthropic's memory tool, `memory_20250818`, with its fields. `clear` removes all files."""

    command: Literal["create", "str_replace", "insert", "delete", "rename", "clear"]
    path: Text | None = None
    file_text: Text | None = None
    old_str: Text | None = None
    new_str: Text | None = None
    insert_line: Annotated[Whole, Field(json_schema_extra=_NUMBER)] | None = None
    insert_text: Text | None = None
    old_path: Text | None = None
    new_path: Text | None = None


@router.post("/v1/memory-tool", response_model=MemoryToolSession)
@needs("read")
def find_memory_tool_session(body: MemoryToolScope, caller: Caller) -> Response:
    """Find the session whose files a memory tool without a session uses: one for each project and user, under a name that is the
    same for each caller of that scope and cannot be guessed by others. It need not exist: create it with these fields."""
    found = caller.services.memory_tool_sessions.of(caller.reach, project_of(body, caller), body.user_id)
    return answer(memory_tool_session_shape(found))


@router.post(f"{_FILES}/view", response_model=FileAnswer)
@needs("read")
def view_files(external_id: SessionId, body: FileView, caller: Caller) -> Response:
    """View a directory or a file that an assistant stored in this session, as Anthropic's memory tool shows it. What cannot be
    shown is said in the answer, which is for the assistant."""
    command = read_command({"command": "view", **body.command_fields})
    return answer(caller.services.files.view(caller.reach, external_id, command, body.expected))


@router.post(_FILES, response_model=FileAnswer)
@needs("write")
def change_files(external_id: SessionId, body: FileChange, caller: Caller) -> Response:
    """Carry out a command of Anthropic's memory tool on the files of a session, which are in the pool that the session is in, and
    are deleted with it. A command that cannot be carried out is no error of the request: the answer says so to the assistant.
    Needs the permission `read` too."""
    caller.key.require("read")
    command = read_command(body.command_fields)
    return answer(caller.services.files.change(caller.reach, external_id, command, body.expected))
