"""`CloisterMemoryTool`: Anthropic's memory tool on the files of a Cloister session, in an embedded Cloister or at a server."""

import asyncio
from collections.abc import Mapping
from typing import Any

from cloister.domain.errors import InvalidRequest, TooLarge
from cloister.integrations.memory_tree import MemoryTree
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
    """A memory tool for `client.beta.messages.tool_runner(…, tools=[…])`: `CloisterMemoryTool(cloister=…, user_id=…)`.

    Without `session_id` there is one tree of files for each project and user: all tools of the same two share it, and no other
    does. With it, the files are those of this session alone. Either way they are in the pool of a session, and are deleted with it.

    The session is created by the first command: in `project_id` (without it, the project of the key, else the default project) and
    of `user_id`. A named session of another user or project than the one named is refused with `Conflict`. The `Cloister` that is
    passed decides what can be reached at all.
    """

    def __init__(
        self,
        session_id: str | None = None,
        cloister: Cloister | None = None,
        *,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self.session_id = session_id
        self._tree = MemoryTree(cloister, session_id=session_id, project_id=project_id, user_id=user_id)

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
        """Delete all files of the tree."""
        return self._run({"command": "clear"})

    def _run(self, command: Mapping[str, Any]) -> str:
        try:
            answer = self._tree.run(command)
        except (InvalidRequest, TooLarge) as error:
            raise ToolError(str(error)) from error
        if answer.is_error:
            raise ToolError(answer.text)
        return answer.text


class AsyncCloisterMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for Anthropic's asynchronous client. Any thread and event loop may use it."""

    def __init__(
        self,
        session_id: str | None = None,
        cloister: Cloister | None = None,
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
        """Delete all files of the tree."""
        return await asyncio.to_thread(self._tool.clear_all_memory)


def _fields(command: _Command) -> dict[str, Any]:
    """The fields of a command, also those that the SDK does not know: they are refused rather than ignored."""
    return {name: value for name, value in command.to_dict(mode="python", warnings=False).items() if value is not None}
