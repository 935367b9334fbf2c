"""Who may recall what (ISO-2, ISO-3, ISO-10): every case of the rules, and that no value means "everything"."""

from dataclasses import FrozenInstanceError, fields
from itertools import product
from typing import Any, cast

import pytest

from cloister.domain.conversation import Project
from cloister.domain.errors import Forbidden
from cloister.domain.identifiers import ProjectId, TenantId
from cloister.domain.scope import MemberVisibility, PoolKey, Reach, Scope
from cloister.interfaces.python.shapes import project_shape
from support.samples.bare_sessions import bare_session

TENANT = TenantId(7)
GARDEN = ProjectId(11)
KITCHEN = ProjectId(12)


def scope(project: ProjectId | None, visibility: MemberVisibility, user: str | None) -> Scope:
    return Scope(tenant=TENANT, project=project, user=user, visibility=visibility)


@pytest.mark.parametrize(
    ("project", "visibility", "user", "pool", "entities"),
    [
        pytest.param(None, "shared", None, PoolKey(project=None, user=None), None, id="ISO-3 no project, no user"),
        pytest.param(None, "shared", "ann", PoolKey(project=None, user="ann"), None, id="ISO-10 no project, a user"),
        pytest.param(None, "private", None, PoolKey(project=None, user=None), None, id="visibility needs a project"),
        pytest.param(None, "private", "ann", PoolKey(project=None, user="ann"), None, id="and changes nothing without"),
        pytest.param(GARDEN, "shared", None, PoolKey(project=GARDEN, user=None), GARDEN, id="ISO-3 a project, no user"),
        pytest.param(GARDEN, "shared", "ann", PoolKey(project=GARDEN, user=None), GARDEN, id="ISO-10 shared by users"),
        pytest.param(GARDEN, "private", None, PoolKey(project=GARDEN, user=None), GARDEN, id="private, nobody's"),
        pytest.param(GARDEN, "private", "ann", PoolKey(project=GARDEN, user="ann"), GARDEN, id="ISO-10 private, ann's"),
    ],
)
def test_a_scope_names_exactly_one_pool_and_the_entities_of_its_project_alone(
    project: ProjectId | None,
    visibility: MemberVisibility,
    user: str | None,
    pool: PoolKey,
    entities: ProjectId | None,
) -> None:
    """ISO-3, ISO-10."""
    assert scope(project, visibility, user).pool == pool
    assert scope(project, visibility, user).entities == entities


VISIBILITIES: tuple[MemberVisibility, ...] = ("shared", "private")
# A project has one visibility, so the garden is always shared here and the kitchen always private.
PLACES: list[tuple[ProjectId | None, MemberVisibility]] = [(None, "shared"), (GARDEN, "shared"), (KITCHEN, "private")]
SCOPES = [scope(project, visibility, user) for (project, visibility), user in product(PLACES, (None, "ann", "bob"))]


def may_recall_each_other(one: Scope, other: Scope) -> bool:
    """ISO-3 and ISO-10 as the requirements say them, without pools."""
    if one.project != other.project:
        return False
    divided_by_user = one.project is None or one.visibility == "private"
    return one.user == other.user or not divided_by_user


@pytest.mark.parametrize(("one", "other"), list(product(SCOPES, SCOPES)))
def test_two_scopes_share_a_pool_exactly_when_the_requirements_let_them_recall_each_other(
    one: Scope, other: Scope
) -> None:
    """ISO-3, ISO-4, ISO-10."""
    assert (one.pool == other.pool) == may_recall_each_other(one, other)


@pytest.mark.parametrize("user", [None, "ann"])
@pytest.mark.parametrize("visibility", VISIBILITIES)
def test_a_session_taken_out_of_its_project_is_where_it_was_before(
    visibility: MemberVisibility, user: str | None
) -> None:
    """ISO-3: taken out, it is back in the shared pool, without entities."""
    session = bare_session(tenant=TENANT, user_id=user)
    taken_out = session.scope(visibility)
    assert taken_out.pool == PoolKey(project=None, user=user)
    assert taken_out.entities is None
    assert taken_out.session == session.id


@pytest.mark.parametrize("bounds", [Reach, Scope, PoolKey])
def test_no_bound_can_be_left_out(bounds: type) -> None:
    """There is no value that means "everything": a reach and a scope need a tenant, a pool key both its parts (ISO-4)."""
    with pytest.raises(TypeError, match="missing"):
        bounds()


def test_only_the_kind_of_project_and_the_session_have_defaults() -> None:
    """A default can only narrow: `shared` has no meaning without a project, and a reach without a project is a tenant's."""
    optional = {
        kind.__name__: {field.name for field in fields(kind) if field.init and _has_default(field)}
        for kind in (Reach, Scope, PoolKey)
    }
    assert optional == {"Reach": {"confined_to", "user"}, "Scope": {"visibility", "session"}, "PoolKey": set()}


def _has_default(field: Any) -> bool:
    return "MISSING" not in repr(field.default)


@pytest.mark.parametrize("bounds", [Reach(tenant=TENANT), SCOPES[0], PoolKey(project=None, user=None)])
def test_a_bound_cannot_be_widened_once_made(bounds: Any) -> None:
    with pytest.raises((FrozenInstanceError, TypeError)):
        bounds.tenant = TenantId(8)


def test_an_empty_user_is_not_nobody() -> None:
    """`""` would be a third kind of nobody; storage refuses it, and the key keeps it apart."""
    assert scope(None, "shared", "").pool != scope(None, "shared", None).pool


@pytest.mark.parametrize("user", [None, "ann"])
@pytest.mark.parametrize("project", [None, GARDEN])
def test_a_reach_covers_what_is_inside_it_and_nothing_else(project: ProjectId | None, user: str | None) -> None:
    """ISO-4, ORG-10: another tenant's scope is never covered, another project's only where the reach is not confined, and another
    user's only where it is not bound."""
    reach = Reach(tenant=TENANT, confined_to=project, user=user)
    covered = [given for given in SCOPES if reach.covers(given)]
    inside = [given for given in SCOPES if project in (None, given.project) and user in (None, given.user)]
    assert covered == inside
    assert not reach.covers(Scope(tenant=TenantId(8), project=GARDEN, user=user))
    assert reach.is_whole_tenant == (project is None and user is None)


def test_a_bound_caller_means_its_own_user_and_may_name_no_other() -> None:
    """ORG-10."""
    bound, free = Reach(tenant=TENANT, user="ann"), Reach(tenant=TENANT)
    assert [bound.user_of(named) for named in (None, "ann")] == ["ann", "ann"]
    assert [free.user_of(named) for named in (None, "bob")] == [None, "bob"]
    for other in ("bob", "Ann", "ann ", ""):
        with pytest.raises(Forbidden):
            bound.user_of(other)


def project(visibility: MemberVisibility) -> Project:
    return Project(
        id=GARDEN,
        tenant=TENANT,
        name="Garden",
        is_default=False,
        member_visibility=visibility,
        settings={},
        memory_count=0,
        created_at=0,
    )


@pytest.mark.parametrize("visibility", VISIBILITIES)
def test_every_project_reads_isolated_and_it_cannot_be_set(visibility: MemberVisibility) -> None:
    """ISO-2."""
    garden = project(visibility)
    assert garden.isolated is True
    assert project_shape(garden).isolated is True
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        cast(Any, garden).isolated = False
    with pytest.raises(TypeError, match="isolated"):
        cast(Any, Project)(isolated=False)
