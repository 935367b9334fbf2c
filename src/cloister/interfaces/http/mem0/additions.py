"""`add` of mem0's clients. With `infer` the messages are recorded, and memories are extracted from them at once; without it, each
message becomes a memory as it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from cloister.domain.conversation import Draft
from cloister.domain.errors import Conflict, InvalidRequest, ModelUnavailable, NotFound
from cloister.domain.identifiers import format_memory_id, format_message_id
from cloister.domain.memory import StoredMemory
from cloister.domain.scope import Reach
from cloister.domain.sessions.expected import ExpectedSession
from cloister.domain.text import checked_name
from cloister.domain.timestamps import checked_time
from cloister.interfaces.http.mem0.bodies import ENTITY_IDS, AddRequest
from cloister.interfaces.http.mem0.errors import NotSupported
from cloister.interfaces.http.mem0.memories import labelled
from cloister.interfaces.http.mem0.scopes import ProjectScope
from cloister.interfaces.http.resources.memories import extracting
from cloister.interfaces.http.resources.write_only import may_read
from cloister.interfaces.python.arguments import of_each
from cloister.services.conversations.sessions import SessionFields
from cloister.services.memories.truth.additions import checked_labels

_ROLES = ("user", "assistant")
_FIELDS = ("role", "content", "name")
_MOST_RUNS = 8
_STORED = "The messages are stored, and memories were extracted from them."
_LATER = "The messages are stored. Memories could not be extracted from them now: the server will try again."
_WITH_NEXT = (
    "The messages are stored. Another extraction of the session is running: memories are extracted with the next messages, or by "
    "POST /v1/sessions/{external_id}/extract."
)
_ADDED = "The memories are stored."


@dataclass(frozen=True, kw_only=True, slots=True)
class _Target:
    reach: Reach
    session: str
    expected: ExpectedSession
    metadata: Mapping[str, Any]


def add(scope: ProjectScope, body: AddRequest) -> dict[str, Any]:
    """Carry out an `add`. Everything is checked before anything is stored."""
    drafts = _drafts(body)
    named = _entities(body)
    target = _target(scope, named, labelled(body.metadata, named["agent_id"], named["app_id"]))
    if body.infer is False:
        added = scope.services.memories.add(
            target.reach,
            target.session,
            [draft.content for draft in drafts],
            labels=checked_labels(metadata=target.metadata),
            valid_from=drafts[0].created_at,
            by_assistant=[at for at, draft in enumerate(drafts) if draft.role == "assistant"],
            expected=target.expected,
        )
        return _answer(scope, added.memories, _ADDED, "SUCCEEDED")
    labelled_drafts = [
        Draft(
            role=draft.role,
            content=draft.content,
            author=draft.author,
            created_at=draft.created_at,
            metadata=target.metadata,
        )
        for draft in drafts
    ]
    # The limit is taken before anything is recorded, so that a refused request can be repeated.
    with extracting.taken(scope.reach.tenant, "too many sessions are being extracted at once"):
        recorded = scope.services.record.messages(
            target.reach, target.session, labelled_drafts, expected=target.expected
        )
        later = _extract(scope, target)
    said = [message.id for message in recorded.messages]
    memories = scope.services.memories.of_messages(target.reach, said)
    answer = _answer(scope, memories, later or _STORED, "SUCCEEDED" if later is None else "PENDING")
    return {**answer, "event_id": format_message_id(said[-1])}


def _drafts(body: AddRequest) -> list[Draft]:
    created_at = None if body.timestamp is None else checked_time(body.timestamp * 1_000_000, "timestamp")
    given = [{"role": "user", "content": body.messages}] if isinstance(body.messages, str) else body.messages
    drafts = [draft for draft in of_each(given, lambda message: _draft(message, created_at)) if draft is not None]
    if not drafts:
        raise InvalidRequest("messages", "must hold a message of the user or the assistant.")
    return drafts


def _draft(message: Mapping[str, Any], created_at: int | None) -> Draft | None:
    """A message to store. Instructions of the application, with the role `system`, are no memory: mem0 leaves them out too."""
    for name, value in message.items():
        if name not in _FIELDS and value is not None:
            raise NotSupported(f"The field {name[:64]!r} of a message", _FIELDS)
    role: Any = message.get("role")
    if role == "system":
        return None
    if role not in _ROLES:
        raise InvalidRequest("role", f"must be one of {', '.join((*_ROLES, 'system'))}.")
    return Draft(role=role, content=_text(message.get("content")), author=message.get("name"), created_at=created_at)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise InvalidRequest("content", "must be text, or a list of parts of text.")
    parts = cast(list[object], content)
    texts: list[str] = []
    for part in parts:
        given = cast(Mapping[str, object], part if isinstance(part, Mapping) else {})
        if given.get("type") != "text" or not isinstance(given.get("text"), str):
            raise NotSupported("A part of a message that is not text", 'text, and parts {"type": "text", "text": …}')
        texts.append(cast(str, given["text"]))
    return "\n".join(texts)


def _entities(body: AddRequest) -> dict[str, str | None]:
    """The entities of the new memories, which clients send as fields or as `filters`."""
    named: dict[str, str | None] = {name: getattr(body, name) for name in ENTITY_IDS}
    for name, value in (body.filters or {}).items():
        if name not in ENTITY_IDS or not isinstance(value, str):
            raise NotSupported(f"The filter {name[:64]!r} of an addition", ENTITY_IDS)
        if named[name] not in (None, value):
            raise InvalidRequest(f"filters.{name}", f"and {name} are not the same.")
        named[name] = value
    for name, value in named.items():
        if value is not None:
            checked_name(value, name)
        if value == "*":
            raise InvalidRequest(name, "must be one name: * stands for all of them.")
    if not any(named.values()):
        raise InvalidRequest("user_id", "is missing: name at least one of user_id, agent_id, app_id and run_id.")
    return named


def _target(scope: ProjectScope, named: Mapping[str, str | None], metadata: Mapping[str, Any]) -> _Target:
    """The session of the run, or without a run that of the user; it is created if there is none. What is added goes to the user and
    the project that it has now, and is refused if another session has its name by then."""
    reach = scope.reach_of(named["user_id"])
    run = named["run_id"] or scope.services.mem0_sessions.name(reach, scope.project)
    try:
        user = scope.services.sessions.get(reach, run).user_id
    except NotFound:
        user = reach.user
        fields = SessionFields(external_id=run, project=scope.project, user_id=user)
        try:
            scope.services.sessions.create(reach, fields)
        except (NotFound, Conflict):
            raise Conflict(f"The run {run!r} is in use by another user or project: choose another run_id.") from None
    expected = ExpectedSession(checks_project=True, project=scope.project, checks_user=True, user=user)
    return _Target(reach=reach, session=run, expected=expected, metadata=metadata)


def _extract(scope: ProjectScope, target: _Target) -> str | None:
    """Extract until no message is left; returns why memories come later, if they do."""
    try:
        for _ in range(_MOST_RUNS):
            if not scope.services.extraction.extract_now(target.reach, target.session).checked_messages:
                break
    except ModelUnavailable:
        return _LATER
    except Conflict:
        return _WITH_NEXT
    return None


def _answer(scope: ProjectScope, memories: Sequence[StoredMemory], message: str, status: str) -> dict[str, Any]:
    """A key that may only write is not shown the memories, since that would be reading."""
    shown = memories if may_read(scope.caller) else ()
    results = [
        {
            "id": format_memory_id(stored.memory.id),
            "memory": stored.memory.content,
            "data": {"memory": stored.memory.content},
            "event": "ADD",
        }
        for stored in shown
    ]
    return {"message": message, "status": status, "results": results}
