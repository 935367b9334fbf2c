"""The reads of an audit over HTTP: every path on which a reader could be shown what was stored, through every door."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from cloister.domain.identifiers import format_entity_id, format_memory_id, format_project_id
from cloister.interfaces.audit.targets import NAMESPACE, QUESTION, Reader, Target

HTTP: Final = "HTTP"
OPENAI: Final = "OpenAI"
ANTHROPIC: Final = "Anthropic"
LANGGRAPH: Final = "LangGraph"
MCP: Final = "MCP"
EXPORT: Final = "export"
EVENTS: Final = "events"
_EVERYTHING: Final = {"min_relevance": 0, "query": QUESTION}


@dataclass(frozen=True, kw_only=True, slots=True)
class Read:
    """One request. `allowed` are the targets that its answer may show, `expected` those that it has to show, unless it was refused
    or is blind; `sent` are ids that it sends, which an error may repeat."""

    door: str
    name: str
    method: str
    path: str
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    allowed: Sequence[Target] = ()
    expected: Sequence[Target] = ()
    sent: Sequence[str] = ()


def reads_of_target(reader: Reader, target: Target, targets: Sequence[Target]) -> Iterator[Read]:
    """What a reader asks about one target by its ids: shown only if the reader reaches the target, and recalled from its pool."""
    reaches = reader.reaches(target)
    own = [target] if reaches else []
    pool = [other for other in targets if reaches and target.shares_pool(other)]
    session = f"/v1/sessions/{target.session}"

    def read(name: str, method: str, path: str, body: Any = None, *, recalls: bool = False, **given: Any) -> Read:
        allowed = pool if recalls else own
        plain = Read(
            door=HTTP, name=name, method=method, path=path, allowed=allowed, expected=own, sent=[target.session]
        )
        return replace(plain, body=body, **given)

    yield read("session", "GET", session)
    for part in ("messages", "items", "memories"):
        yield read(part, "GET", f"{session}/{part}")
    yield read("observations", "GET", f"{session}/observations", expected=())
    yield read("context", "POST", "/v1/context", {"session_id": target.session, **_EVERYTHING}, recalls=True)
    yield read("search", "POST", "/v1/search", {"session_id": target.session, **_EVERYTHING}, recalls=True)
    yield read("memory", "GET", f"/v1/memories/{format_memory_id(target.memory)}")
    yield read("memory history", "GET", f"/v1/memories/{format_memory_id(target.memory)}/history", expected=())
    if target.entity is not None:
        entity = f"/v1/entities/{format_entity_id(target.entity)}"
        sees = own if reader.reach.user is None or target.scope.pool.user is not None else []
        yield read("entity", "GET", entity, expected=sees)
        yield read("mentions", "GET", f"{entity}/mentions", expected=sees)
    yield read("conversation", "GET", f"/v1/conversations/{target.session}/items", door=OPENAI)
    view = {"path": "/memories/audit.txt"}
    yield read("memory tool", "POST", f"{session}/files/view", view, door=ANTHROPIC)
    if target.scope.project is not None:
        project = {"X-Project-ID": format_project_id(target.scope.project)}
        yield from _of_project(reader, target, targets, project)
        call = {"name": "get_context", "arguments": {"query": QUESTION}}
        yield read(
            "get_context",
            "POST",
            "/mcp",
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call},
            recalls=True,
            door=MCP,
            headers={**project, "X-Session-ID": target.session, "X-User-ID": target.user},
        )


def _of_project(reader: Reader, target: Target, targets: Sequence[Target], project: dict[str, str]) -> Iterator[Read]:
    """By the project and the user of a target, without its session: what the whole pool has."""
    reaches = reader.reaches(target)
    pool = [other for other in targets if reaches and target.shares_pool(other)]
    own = [target] if reaches else []
    body = {**_EVERYTHING, "user_id": target.user}
    yield Read(
        door=HTTP,
        name="search of a project",
        method="POST",
        path="/v1/search",
        body=body,
        headers=project,
        allowed=pool,
        expected=own,
    )
    item = f"/langgraph/store/items?namespace={NAMESPACE[0]}&key=marker"
    user = {**project, "X-User-ID": target.user}
    yield Read(door=LANGGRAPH, name="item", method="GET", path=item, headers=user, allowed=own, expected=own)
    search = {"namespace_prefix": list(NAMESPACE)}
    yield Read(
        door=LANGGRAPH,
        name="search",
        method="POST",
        path="/langgraph/store/items/search",
        body=search,
        headers=user,
        allowed=own,
        expected=own,
    )


def lists(reader: Reader, targets: Sequence[Target]) -> Iterator[Read]:
    """What a reader asks without the id of a session: lists, what is known of a user, and exports."""
    own = [target for target in targets if reader.reaches(target)]
    expected = own if len(own) < len(targets) else ()
    yield Read(door=HTTP, name="sessions", method="GET", path="/v1/sessions?limit=200", allowed=own, expected=expected)
    search = {"namespace_prefix": list(NAMESPACE)}
    yield Read(
        door=LANGGRAPH, name="search all", method="POST", path="/langgraph/store/items/search", body=search, allowed=own
    )
    for user in dict.fromkeys(target.user for target in targets if target.tenant == reader.reach.tenant):
        of_user = [target for target in own if target.user == user]
        pools = [target for target in targets if any(target.shares_pool(one) for one in of_user)]
        export = Read(door=EXPORT, name="user", method="GET", path=f"/v1/export?scope=user&id={user}", allowed=of_user)
        yield export
        memories = f"/v1/users/{user}/memories?limit=200"
        yield Read(door=HTTP, name="memories of a user", method="GET", path=memories, allowed=of_user)
        yield Read(door=HTTP, name="profile", method="GET", path=f"/v1/users/{user}/profile", allowed=pools)
    for project in dict.fromkeys(target.scope.project for target in targets if target.scope.project is not None):
        name = format_project_id(project)
        inside = [target for target in own if target.scope.project == project]
        pools = [target for target in targets if any(target.shares_pool(one) for one in inside)]
        yield Read(
            door=HTTP, name="project's sessions", method="GET", path=f"/org/projects/{name}/sessions", allowed=inside
        )
        yield Read(door=HTTP, name="entities", method="GET", path=f"/v1/entities?project_id={name}", allowed=pools)
        yield Read(
            door=HTTP, name="project's profile", method="GET", path=f"/org/projects/{name}/profile", allowed=pools
        )
        exported = inside if reader.is_admin else ()
        yield Read(
            door=EXPORT, name="project", method="GET", path=f"/v1/export?scope=project&id={name}", allowed=exported
        )


def chats(reader: Reader, target: Target, targets: Sequence[Target]) -> Iterator[Read]:
    """A question in a target, through every door that answers with a reply: what is recalled for it is the pool of the target."""
    reaches = reader.reaches(target)
    pool = [other for other in targets if reaches and target.shares_pool(other)]
    session = {"X-Session-ID": target.session}
    said = [{"role": "user", "content": QUESTION}]
    parts = [{"role": "user", "parts": [{"type": "text", "text": QUESTION}]}]
    requests: tuple[tuple[str, str, str, Any, dict[str, str]], ...] = (
        (HTTP, "chat", "/v1/chat/stream", {"id": target.session, "messages": parts}, {}),
        (OPENAI, "chat completions", "/v1/chat/completions", {"messages": said}, session),
        (OPENAI, "responses", "/v1/responses", {"input": QUESTION, "conversation": target.session}, {}),
        (
            ANTHROPIC,
            "messages",
            "/anthropic/v1/messages",
            {"model": "cloister", "max_tokens": 500, "messages": said},
            session,
        ),
    )
    for door, name, path, body, headers in requests:
        yield Read(
            door=door,
            name=name,
            method="POST",
            path=path,
            body=body,
            headers=headers,
            allowed=pool,
            sent=[target.session],
        )
