"""`AsyncCloister`: the methods of `Cloister`, awaited. Each call runs on a thread, because the services are synchronous."""

import asyncio
import functools
import os
import threading
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from cloister.interfaces.python.library import Cloister

P = ParamSpec("P")
T = TypeVar("T")


def _awaited(
    method: Callable[Concatenate[Cloister, P], T],
) -> Callable[Concatenate["AsyncCloister", P], Coroutine[Any, Any, T]]:
    @functools.wraps(method)
    async def awaited(self: "AsyncCloister", *args: P.args, **named: P.kwargs) -> T:
        return await asyncio.to_thread(lambda: getattr(self.opened(), method.__name__)(*args, **named))

    return awaited


class AsyncCloister:
    """`await memory.record(…)` is `Cloister.record(…)` on a thread. Opened by `async with`, or at the first call."""

    def __init__(
        self,
        data: str | os.PathLike[str] | None = None,
        *,
        key: str | None = None,
        tenant: str | None = None,
        cloister: Cloister | None = None,
    ) -> None:
        self._data = data
        self._key = key
        self._tenant = tenant
        self._cloister = cloister
        self._opening = threading.Lock()

    create_project = _awaited(Cloister.create_project)
    projects = _awaited(Cloister.projects)
    find_project = _awaited(Cloister.find_project)
    project = _awaited(Cloister.project)
    update_project = _awaited(Cloister.update_project)
    preview_visibility = _awaited(Cloister.preview_visibility)
    delete_project = _awaited(Cloister.delete_project)
    create_session = _awaited(Cloister.create_session)
    session = _awaited(Cloister.session)
    sessions = _awaited(Cloister.sessions)
    update_session = _awaited(Cloister.update_session)
    move_session = _awaited(Cloister.move_session)
    preview_move = _awaited(Cloister.preview_move)
    delete_session = _awaited(Cloister.delete_session)
    clear_session = _awaited(Cloister.clear_session)
    erase_user = _awaited(Cloister.erase_user)
    record = _awaited(Cloister.record)
    record_batch = _awaited(Cloister.record_batch)
    record_episode = _awaited(Cloister.record_episode)
    messages = _awaited(Cloister.messages)
    choose_branch = _awaited(Cloister.choose_branch)
    title_session = _awaited(Cloister.title_session)
    forget_message = _awaited(Cloister.forget_message)
    items = _awaited(Cloister.items)
    add_items = _awaited(Cloister.add_items)
    forget_item = _awaited(Cloister.forget_item)
    memory_tool = _awaited(Cloister.memory_tool)
    memory_tool_session = _awaited(Cloister.memory_tool_session)
    run_entry_operations = _awaited(Cloister.run_entry_operations)
    context = _awaited(Cloister.context)
    search = _awaited(Cloister.search)
    receipt = _awaited(Cloister.receipt)
    receipt_prompt = _awaited(Cloister.receipt_prompt)
    exclude = _awaited(Cloister.exclude)
    include = _awaited(Cloister.include)
    exclusions = _awaited(Cloister.exclusions)
    explain = _awaited(Cloister.explain)
    memories = _awaited(Cloister.memories)
    user_memories = _awaited(Cloister.user_memories)
    project_memories = _awaited(Cloister.project_memories)
    project_timeline = _awaited(Cloister.project_timeline)
    user_timeline = _awaited(Cloister.user_timeline)
    project_activity = _awaited(Cloister.project_activity)
    user_activity = _awaited(Cloister.user_activity)
    add_memories = _awaited(Cloister.add_memories)
    get_memory = _awaited(Cloister.get_memory)
    correct_memory = _awaited(Cloister.correct_memory)
    retract_memory = _awaited(Cloister.retract_memory)
    restore_memory = _awaited(Cloister.restore_memory)
    memory_history = _awaited(Cloister.memory_history)
    forget_memory = _awaited(Cloister.forget_memory)
    entities = _awaited(Cloister.entities)
    entity = _awaited(Cloister.entity)
    entity_mentions = _awaited(Cloister.entity_mentions)
    update_entity = _awaited(Cloister.update_entity)
    delete_entity = _awaited(Cloister.delete_entity)
    merge_entity = _awaited(Cloister.merge_entity)
    split_entity = _awaited(Cloister.split_entity)
    restore_entity = _awaited(Cloister.restore_entity)
    retag_entity = _awaited(Cloister.retag_entity)
    observations = _awaited(Cloister.observations)
    extract = _awaited(Cloister.extract)
    project_profile = _awaited(Cloister.project_profile)
    user_profile = _awaited(Cloister.user_profile)
    tenant_settings = _awaited(Cloister.tenant_settings)
    update_tenant_settings = _awaited(Cloister.update_tenant_settings)
    apply_retention = _awaited(Cloister.apply_retention)
    preview_extraction = _awaited(Cloister.preview_extraction)
    export = _awaited(Cloister.export)
    import_archive = _awaited(Cloister.import_archive)
    preview_import = _awaited(Cloister.preview_import)
    import_conversations = _awaited(Cloister.import_conversations)
    create_key = _awaited(Cloister.create_key)
    keys = _awaited(Cloister.keys)
    revoke_key = _awaited(Cloister.revoke_key)
    usage = _awaited(Cloister.usage)
    reindex = _awaited(Cloister.reindex)
    audit = _awaited(Cloister.audit)
    backup = _awaited(Cloister.backup)
    vacuum = _awaited(Cloister.vacuum)
    check_rows = _awaited(Cloister.check_rows)
    health = _awaited(Cloister.health)
    schema_version = _awaited(Cloister.schema_version)

    def opened(self) -> Cloister:
        """Return the `Cloister` behind this one, and open it at the first call. Opening reads files: call this on a thread."""
        with self._opening:
            self._cloister = self._cloister or Cloister(self._data, key=self._key, tenant=self._tenant)
            return self._cloister

    async def close(self) -> None:
        """Close the `Cloister` behind this one. Closing twice is fine."""
        if self._cloister is not None:
            await asyncio.to_thread(self._cloister.close)

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self.opened)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
