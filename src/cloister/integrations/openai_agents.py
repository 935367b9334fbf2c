"""`CloisterSession`: the session protocol of the OpenAI Agents SDK on a Cloister session. What is said can be recalled in other
sessions of the same pool, and nowhere else."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypedDict, cast

from cloister.domain.errors import Conflict, InvalidRequest, NotFound
from cloister.domain.identifiers import NO_PROJECT
from cloister.domain.text import checked_name
from cloister.interfaces.python.arguments import LARGEST_PAGE, NOT_GIVEN
from cloister.interfaces.python.async_library import AsyncCloister
from cloister.interfaces.python.items.shapes import Item
from cloister.interfaces.python.library import Cloister

try:
    from agents import ModelSettings, RunConfig, RunContextWrapper, SessionSettings, TResponseInputItem
    from agents.memory.session_settings import coerce_session_settings
    from agents.run_config import CallModelData, ModelInputData
    from agents.util._types import MaybeAwaitable
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "CloisterSession needs the OpenAI Agents SDK: pip install 'cloister[openai-agents]'", name=missing.name
    ) from missing

_LARGEST_ADDITION = 1_000
_POP_TRIES = 10
# The context of a call that is not part of a run.
_NO_RUN = object()
FromContext = Callable[[Any], str]
"""Reads an id from the context object of a run, which the application passes to `Runner.run(…, context=…)`."""


class CloisterSession:
    """A session for `Runner.run(…, session=…)`. Items are stored as they came, and the session is created with its first items: in
    `project_id` (without it, the project of the key, else the default project) and of `user_id`.

    If the model is asked through Cloister too, pass `run_config=session.run_config()` to the runner: the SDK does not name its
    session to the model, and a request without a name is a conversation of its own, without a user.

    With `session_of` or `user_of` one object serves many conversations: they read the session's id and its user from the context of
    the run. A session of another user or project than the one named is refused with `Conflict`. The `Cloister` that is passed
    decides what can be reached at all. Any thread and event loop may use it.
    """

    session_settings: SessionSettings | None

    def __init__(
        self,
        session_id: str,
        cloister: Cloister | AsyncCloister,
        *,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
        session_of: FromContext | None = None,
        user_of: FromContext | None = None,
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        if not isinstance(cloister, Cloister | AsyncCloister):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"cloister must be a Cloister or an AsyncCloister, not {cloister!r}.")
        self.session_id = checked_name(session_id, "session_id")
        self.session_settings = coerce_session_settings({} if session_settings is None else session_settings)
        self._cloister = cloister if isinstance(cloister, AsyncCloister) else AsyncCloister(cloister=cloister)
        self._project_id = None if project_id == NO_PROJECT else project_id
        self._user_id = None if user_id is None else checked_name(user_id, "user_id")
        self._session_of = session_of
        self._user_of = user_of

    def run_config(self, run_config: RunConfig | None = None, *, context: object = None) -> RunConfig:
        """The configuration of a run whose model is asked through Cloister, with the settings of `run_config` besides. It names the
        session, its user and its project to the server, which recalls for them; and it leaves recording to this session. With
        `session_of` or `user_of`, `context` must be the context of the run: a run with another one is refused with `Conflict`.

        Metadata that an agent's own settings have is replaced, as the SDK does it.
        """
        if context is None and (self._session_of or self._user_of):
            raise InvalidRequest("context", "must be the context of the run, which names the session or its user.")
        given = run_config or RunConfig()
        settings = ModelSettings().resolve(given.model_settings)
        named = {"session_id": self._name(context), "user_id": self._user(context)}
        if self._project_id is not NOT_GIVEN:
            # A value of metadata is a text, and a field without one would mean the project of the key.
            named["project_id"] = self._project_id or NO_PROJECT
        metadata = {
            **(settings.metadata or {}),
            **{field: value for field, value in named.items() if value is not None},
        }

        def checked(data: CallModelData[Any]) -> MaybeAwaitable[ModelInputData]:
            if (self._name(data.context), self._user(data.context)) != (named["session_id"], named["user_id"]):
                raise Conflict("The run has another context than its run_config, which names another session or user.")
            filtered = given.call_model_input_filter
            return data.model_data if filtered is None else filtered(data)

        return replace(
            given,
            model_settings=replace(settings, store=False, metadata=metadata),
            call_model_input_filter=checked if self._session_of or self._user_of else given.call_model_input_filter,
        )

    async def get_items(
        self, limit: int | None = None, *, wrapper: RunContextWrapper[Any] | None = None
    ) -> list[TResponseInputItem]:
        """The items in chronological order; with a limit the latest so many. A session that does not exist yet has none."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        found = await self._newest(*self._named(wrapper), limit)
        return [cast(TResponseInputItem, item.item) for item in reversed(found)]

    async def add_items(
        self, items: list[TResponseInputItem], *, wrapper: RunContextWrapper[Any] | None = None
    ) -> None:
        """Append items; up to 1,000 at once are stored all or none."""
        name, expected = self._named(wrapper)
        if not items:
            # A library that is closed, a key that was revoked, or another user's session is an error as for other lists.
            await self._newest(name, expected, 1)
        for start in range(0, len(items), _LARGEST_ADDITION):
            part = cast(list[dict[str, Any]], items[start : start + _LARGEST_ADDITION])
            try:
                await self._cloister.add_items(name, part, **expected)
            except NotFound:
                await self._cloister.create_session(name, **expected)
                await self._cloister.add_items(name, part, **expected)

    async def pop_item(self, *, wrapper: RunContextWrapper[Any] | None = None) -> TResponseInputItem | None:
        """Remove the last item, and return it; None if there is none."""
        name, expected = self._named(wrapper)
        for _ in range(_POP_TRIES):
            last = await self._newest(name, expected, 1)
            if not last:
                return None
            try:
                await self._cloister.forget_item(name, last[0].id, **expected)
            except NotFound:
                continue  # another process was faster
            return cast(TResponseInputItem, last[0].item)
        raise Conflict(f"The session {name!r} is being changed by others: try again.")

    async def clear_session(self, *, wrapper: RunContextWrapper[Any] | None = None) -> None:
        """Forget all items, with everything that derives from them. The empty session stays."""
        name, expected = self._named(wrapper)
        with _no_session():
            await self._cloister.clear_session(name, **expected)

    def _named(self, wrapper: RunContextWrapper[Any] | None) -> "tuple[str, _Expected]":
        """The id of the session of this run, and what the session must be. Each call checks that in its transaction: a check in a
        call of its own would let a move or another user's session come between."""
        context = _context_of(wrapper)
        return self._name(context), {"project_id": self._project_id, "user_id": self._user(context)}

    def _name(self, context: object) -> str:
        if self._session_of is None or context is _NO_RUN:
            return self.session_id
        return checked_name(self._session_of(context), "session_id")

    def _user(self, context: object) -> str | None:
        if self._user_of is None or context is _NO_RUN:
            return self._user_id
        return checked_name(self._user_of(context), "user_id")

    async def _newest(self, name: str, expected: "_Expected", limit: int | None) -> list[Item]:
        found: list[Item] = []
        cursor = None
        with _no_session():
            while limit is None or len(found) < limit:
                size = LARGEST_PAGE if limit is None else min(limit - len(found), LARGEST_PAGE)
                page = await self._cloister.items(name, limit=size, cursor=cursor, newest_first=True, **expected)
                found += page
                cursor = page.next_cursor
                if cursor is None:
                    return found
            return found
        return []


class _Expected(TypedDict):
    """The arguments with which a call is refused if the session is another one."""

    project_id: str | None
    user_id: str | None


@contextmanager
def _no_session() -> Generator[None]:
    """A session that does not exist yet is empty. What else does not exist, such as its project, is an error."""
    try:
        yield
    except NotFound as error:
        if error.kind != "session":
            raise


def _context_of(wrapper: RunContextWrapper[Any] | None) -> object:
    return _NO_RUN if wrapper is None else wrapper.context
