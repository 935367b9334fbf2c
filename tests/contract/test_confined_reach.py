"""A key confined to a project (ORG-4): the project is its whole world, and it can neither look nor reach out of it (ISO-4)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from cloister.bootstrap import Services
from cloister.domain.conversation import Draft
from cloister.domain.errors import CloisterError, Conflict, Forbidden, NotFound
from cloister.domain.identifiers import MessageId, ProjectId
from cloister.domain.scope import Reach
from cloister.domain.usage import Limits
from cloister.services.chat.turns import TurnRequest
from cloister.services.conversations.sessions import SessionChange, SessionFields
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import EpisodeHit, SearchTarget
from support.databases.engines import Engine


@dataclass(frozen=True, kw_only=True, slots=True)
class Walled:
    """A tenant with a session in the garden, one in the cellar and one in no project; `key` is confined to the garden."""

    engine: Engine
    services: Services
    reach: Reach
    key: Reach
    garden: ProjectId
    cellar: ProjectId
    messages: dict[str, MessageId]


@pytest.fixture(scope="module")
def services(shared_engine: Engine) -> Services:
    return shared_engine.services()


@pytest.fixture
def walled(shared_engine: Engine, services: Services) -> Walled:
    reach = Reach(tenant=services.projects.create_tenant("Walled")[0])
    garden = services.projects.create_project(reach, "Same", allow_duplicate_name=True).id
    cellar = services.projects.create_project(reach, "Same", allow_duplicate_name=True).id
    messages: dict[str, MessageId] = {}
    for name, project in (("inside", garden), ("cellar", cellar), ("shared", None)):
        services.sessions.create(reach, SessionFields(external_id=name, project=project))
        recorded = services.record.messages(reach, name, [Draft(role="user", content=f"Roses of {name}")])
        messages[name] = recorded.messages[0].id
    key = Reach(tenant=reach.tenant, confined_to=garden)
    return Walled(
        engine=shared_engine,
        services=services,
        reach=reach,
        key=key,
        garden=garden,
        cellar=cellar,
        messages=messages,
    )


DRAFTS = [Draft(role="user", content="Hello")]
BY_SESSION: dict[str, Callable[[Walled, str], object]] = {
    "sessions.get": lambda w, name: w.services.sessions.get(w.key, name),
    "sessions.messages": lambda w, name: w.services.sessions.messages(w.key, name, limit=9),
    "sessions.change": lambda w, name: w.services.sessions.change(w.key, name, SessionChange(title="Mine")),
    "sessions.move": lambda w, name: w.services.sessions.move(w.key, name, w.garden),
    "record.messages": lambda w, name: w.services.record.messages(w.key, name, DRAFTS),
    "record.messages, once": lambda w, name: w.services.record.messages(w.key, name, DRAFTS, idempotency_key="k"),
    "record.episode": lambda w, name: w.services.record.episode(w.key, name, DRAFTS[0], DRAFTS[0]),
    "context.build": lambda w, name: w.services.context.build(w.key, name, ContextRequest(question="roses")),
    "search.search": lambda w, name: w.services.search.search(w.key, "roses", SearchTarget(session=name), 9),
    "forget.session": lambda w, name: w.services.forgetting.session(w.key, name),
    "forget.contents": lambda w, name: w.services.forgetting.contents(w.key, name),
    "forget.message": lambda w, name: w.services.forgetting.message(w.key, w.messages[name]),
}
BY_PROJECT: dict[str, Callable[[Walled, ProjectId], object]] = {
    "organise.project": lambda w, project: w.services.projects.project(w.key, project),
    "organise.change_project": lambda w, project: w.services.projects.change_project(w.key, project, name="Mine"),
    "sessions.page": lambda w, project: w.services.sessions.page(w.key, limit=9, project=project, any_project=False),
    "sessions.create": lambda w, project: w.services.sessions.create(w.key, SessionFields(project=project)),
    "sessions.move": lambda w, project: w.services.sessions.move(w.key, "inside", project),
    "search.search": lambda w, project: w.services.search.search(w.key, "roses", SearchTarget(project=project), 9),
}
REACHING_OUT: dict[str, Callable[[Walled], object]] = {
    "take a session out": lambda w: w.services.sessions.move(w.key, "inside", None),
    "make a session outside": lambda w: w.services.sessions.create(w.key, SessionFields(external_id="new")),
    "add a project": lambda w: w.services.projects.create_project(w.key, "New"),
    "delete its own project": lambda w: w.services.projects.delete_project(w.key, w.garden),
    "delete another": lambda w: w.services.projects.delete_project(w.key, w.cellar),
    "take the default": lambda w: w.services.projects.change_project(w.key, w.garden, is_default=True),
    "count what the tenant keeps": lambda w: w.services.projects.usage(w.key),
    "raise the tenant's limits": lambda w: w.services.projects.set_limits(w.key, Limits(messages=1)),
}


def unchanged_by(walled: Walled, kind: type[CloisterError], call: Callable[[], object]) -> str:
    return str(walled.engine.unchanged_by(kind, call, walled.reach.tenant))


@pytest.mark.parametrize("name", BY_SESSION)
def test_a_session_outside_the_project_is_not_there(walled: Walled, name: str) -> None:
    """ISO-4, ORG-4: in another project, in none, or nowhere at all: one answer."""
    for outside in ("cellar", "shared"):
        said = unchanged_by(walled, NotFound, lambda outside=outside: BY_SESSION[name](walled, outside))
        assert "Roses" not in said


@pytest.mark.parametrize("name", BY_PROJECT)
def test_another_project_is_not_there(walled: Walled, name: str) -> None:
    """ISO-4, ORG-4."""
    unchanged_by(walled, NotFound, lambda: BY_PROJECT[name](walled, walled.cellar))


@pytest.mark.parametrize("name", REACHING_OUT)
def test_nothing_is_done_outside_the_project(walled: Walled, name: str) -> None:
    """ISO-4, ORG-4: what would change other projects or the shared pool is forbidden."""
    unchanged_by(walled, Forbidden, lambda: REACHING_OUT[name](walled))


@pytest.mark.parametrize("name", BY_SESSION)
def test_the_same_inside_the_project_works(walled: Walled, name: str) -> None:
    BY_SESSION[name](walled, "inside")


def test_lists_and_searches_hold_the_project_alone(walled: Walled) -> None:
    """ISO-4. What is in no project cannot be searched with a confined key, and is not taken for its own project either."""
    services, key = walled.services, walled.key
    assert [session.external_id for session in services.sessions.page(key, limit=9)] == ["inside"]
    assert [project.id for project in services.projects.projects(key, limit=9)] == [walled.garden]
    hits = services.search.search(key, "roses", SearchTarget(project=walled.garden), 9)
    assert [hit.item.message.content for hit in hits if isinstance(hit, EpisodeHit)] == ["Roses of inside"]
    with pytest.raises(Forbidden, match="confined"):
        services.search.search(key, "roses", SearchTarget(), 9)
    assert services.sessions.page(key, limit=9, project=None, any_project=False) == []


MAKING: dict[str, Callable[[Walled, Reach, str], object]] = {
    "sessions.create": lambda w, reach, name: w.services.sessions.create(
        reach, SessionFields(external_id=name, project=w.garden)
    ),
    "sessions.create, once": lambda w, reach, name: w.services.sessions.create(
        reach, SessionFields(external_id=name, project=w.garden), idempotency_key=f"k {name}"
    ),
    "turns.begin": lambda w, reach, name: w.services.turns.begin(
        reach, TurnRequest(session=name, drafts=DRAFTS, project=w.garden, must_be_in=True)
    ),
    "turns.begin, resent": lambda w, reach, name: w.services.turns.begin(
        reach, TurnRequest(session=name, drafts=DRAFTS, project=w.garden, must_be_in=True, has_whole_history=True)
    ),
}


@pytest.mark.parametrize("name", MAKING)
@pytest.mark.parametrize("outside", ["cellar", "shared"])
def test_a_session_outside_the_project_is_not_found_by_who_would_make_it(
    walled: Walled, outside: str, name: str
) -> None:
    """ISO-4, ORG-4: exactly as by who would read it. Who sees the session is told what is different about it."""
    with pytest.raises(NotFound) as missing:
        walled.services.sessions.get(walled.key, outside)
    said = unchanged_by(walled, NotFound, lambda: MAKING[name](walled, walled.key, outside))
    assert said == str(missing.value)
    said = unchanged_by(walled, Conflict, lambda: MAKING[name](walled, walled.reach, outside))
    assert said == f"The session {outside!r} exists already with another project_id."


def test_the_idempotency_keys_of_two_confined_keys_do_not_meet(walled: Walled) -> None:
    """ISO-4: the same key in two projects is two requests."""
    other = Reach(tenant=walled.reach.tenant, confined_to=walled.cellar)
    once: dict[str, Any] = {"idempotency_key": "same"}
    first = walled.services.record.messages(walled.key, "inside", DRAFTS, **once).messages[0]
    second = walled.services.record.messages(other, "cellar", DRAFTS, **once).messages[0]
    third = walled.services.record.messages(walled.reach, "shared", DRAFTS, **once).messages[0]
    assert len({first.session, second.session, third.session}) == 3
