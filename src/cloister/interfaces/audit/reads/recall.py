"""Reads of what a target recalls: contexts and searches, with each of their options, and by the project and the user alone."""

from collections.abc import Iterator
from typing import Any, Final

from cloister.domain.identifiers import format_message_id, format_project_id, format_receipt_id
from cloister.interfaces.audit.reads.read import HTTP, Read, View
from cloister.interfaces.audit.targets import QUESTION

_EVERYTHING: Final = {"min_relevance": 0, "query": QUESTION}
_ANYTHING: Final = {"created_after": "2000-01-01T00:00:00Z"}
_LATER: Final = "2999-01-01T00:00:00Z"
_RECENT_OF_POOL: Final = [
    {"role": role, "method": "recent", "limit": 20, "conversation_scope": "pool"} for role in ("user", "assistant")
]
_OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "": {},
    " with a filter": {"filter": _ANYTHING},
    " as of a moment": {"as_of": _LATER},
}


def recall_reads(view: View) -> Iterator[Read]:
    """In the session of the target. Who does not reach it is refused before the options are looked at."""
    named = {"session_id": view.target.session, **_EVERYTHING}
    for option, given in (_OPTIONS if view.reaches else {"": {}}).items():
        yield view.recalled(HTTP, f"context{option}", "/v1/context", {**named, **given})
        yield view.recalled(HTTP, f"search{option}", "/v1/search", {**named, **given})
    for option in ("", " with a filter") if view.reaches else ():
        body = {**named, **_OPTIONS[option], "sources": _RECENT_OF_POOL}
        yield view.recalled(HTTP, f"recent messages of the pool{option}", "/v1/context", body)


def search_of_project(view: View) -> Iterator[Read]:
    """By the project and the user of the target, without its session."""
    target = view.target
    body = {**_EVERYTHING, "user_id": target.user}
    project = target.scope.project
    named = {**body, "project_id": None if project is None else format_project_id(project)}
    yield view.in_project(HTTP, "search by project", "POST", "/v1/search", named, allowed=view.pool)
    if project is not None:
        headers = target.project_header
        yield view.in_project(HTTP, "search by header", "POST", "/v1/search", body, headers=headers, allowed=view.pool)


def crossed_explanations(view: View, base: View) -> Iterator[Read]:
    """In a session that the reader reaches, and by its receipt, about a message of another pool: as if there were none."""
    message = format_message_id(view.target.messages[0])
    assert base.target.receipt is not None
    for named in (
        {"session_id": base.target.session, "query": QUESTION},
        {"receipt_id": format_receipt_id(base.target.receipt)},
    ):
        yield Read(
            door=HTTP,
            name="explanation in another pool",
            method="POST",
            path="/v1/explain",
            body={**named, "message_id": message},
            sent=[message, base.target.session],
            is_answered=False,
            about=view.target.name,
        )


def crossed_filters(view: View, base: View) -> Iterator[Read]:
    """In a session that the reader reaches, with a filter that names the session or the user of another pool: nothing of it."""
    for wanted in ({"session_id": view.target.session}, {"user_id": view.target.user}):
        yield Read(
            door=HTTP,
            name="context with a filter for another pool",
            method="POST",
            path="/v1/context",
            body={"session_id": base.target.session, **_EVERYTHING, "filter": wanted, "sources": _RECENT_OF_POOL},
            allowed=base.pool,
            sent=[view.target.session],
            is_answered=True,
        )
