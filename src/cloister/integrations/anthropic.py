"""`CloisterMemoryTool`: Anthropic's memory tool on the files of a Cloister session, in an embedded Cloister or at a server."""

import asyncio
from collections.abc import Mapping
from typing import Any

from cloister.domain.errors import InvalidRequest, NotFound, TooLarge
from cloister.domain.files.commands import FileAnswer
from cloister.integrations.threaded_library import threaded_library
from cloister.interfaces.python.arguments import NOT_GIVEN
from cloister.interfaces.python.library import Cloister

try:
    from anthropic.lib.tools import ToolError
    from anthropic.tools.memory import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool
    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "CloisterMemoryTool needs Anthropic's SDK: pip install 'cloister[anthropic]'", name=missing.name
    ) from missing

_View = BetaMemoryTool20250818ViewCommand
_Create = BetaMemoryTool20250818CreateCommand
_StrReplace = BetaMemoryTool20250818StrReplaceCommand
_Insert = BetaMemoryTool20250818InsertCommand
_Delete = BetaMemoryTool20250818DeleteCommand
_Rename = BetaMemoryTool20250818RenameCommand
_Command = _View | _Create | _StrReplace | _Insert | _Delete | _Rename


class CloisterMemoryTool(BetaAbstractMemoryTool):
    """A memory tool for `client.beta.messages.tool_runner(…, tools=[…])`. Its files belong to one session: they are in the pool of
    that session, and are deleted with it. Name one session for all conversations that share their files.

    A session that does not exist yet is created by the first command: in `project_id` (without it, the project of the key, else the
    default project) and of `user_id`. A session of another user or project than the one named is refused with `Conflict`. The
    `Cloister` that is passed decides what can be reached at all.
    """

    def __init__(
        self,
        session_id: str,
        cloister: Cloister,
        *,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self.session_id = session_id
        self._cloister = threaded_library(cloister)
        self._project_id = project_id
        self._user_id = user_id

    def view(self, command: _View) -> str:
        return self._run(_fields(command))

    def create(self, command: _Create) -> str:
        return self._run(_fields(command))

    def str_replace(self, command: _StrReplace) -> str:
        return self._run(_fields(command))

    def insert(self, command: _Insert) -> str:
        return self._run(_fields(command))

    def delete(self, command: _Delete) -> str:
        return self._run(_fields(command))

    def rename(self, command: _Rename) -> str:
        return self._run(_fields(command))

    def clear_all_memory(self) -> str:
        """Delete all files of the session."""
        return self._run({"command": "clear"})

    def _run(self, command: Mapping[str, Any]) -> str:
        """Carry out a command if the session is the named user's, in the named project: it may have been moved, or be another one
        under the same name. One transaction checks that and carries out the command."""
        try:
            return self._command(command)
        except NotFound:  # there is no such session, or it was deleted since
            self._cloister.create_session(self.session_id, project_id=self._project_id, user_id=self._user_id)
            return self._command(command)

    def _command(self, command: Mapping[str, Any]) -> str:
        try:
            return _text(
                self._cloister.memory_tool(self.session_id, command, project_id=self._project_id, user_id=self._user_id)
            )
        except (InvalidRequest, TooLarge) as error:
            raise ToolError(str(error)) from error


class AsyncCloisterMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for Anthropic's asynchronous client. Any thread and event loop may use it."""

    def __init__(
        self,
        session_id: str,
        cloister: Cloister,
        *,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._tool = CloisterMemoryTool(session_id, cloister, project_id=project_id, user_id=user_id)

    async def view(self, command: _View) -> str:
        return await asyncio.to_thread(self._tool.view, command)

    async def create(self, command: _Create) -> str:
        return await asyncio.to_thread(self._tool.create, command)

    async def str_replace(self, command: _StrReplace) -> str:
        return await asyncio.to_thread(self._tool.str_replace, command)

    async def insert(self, command: _Insert) -> str:
        return await asyncio.to_thread(self._tool.insert, command)

    async def delete(self, command: _Delete) -> str:
        return await asyncio.to_thread(self._tool.delete, command)

    async def rename(self, command: _Rename) -> str:
        return await asyncio.to_thread(self._tool.rename, command)

    async def clear_all_memory(self) -> str:
        """Delete all files of the session."""
        return await asyncio.to_thread(self._tool.clear_all_memory)


def _fields(command: _Command) -> dict[str, Any]:
    """The fields of a command, also those that the SDK does not know: they are refused rather than ignored."""
    return {name: value for name, value in command.to_dict(mode="python", warnings=False).items() if value is not None}


def _text(answer: FileAnswer) -> str:
    if answer.is_error:
        raise ToolError(answer.text)
    return answer.text
