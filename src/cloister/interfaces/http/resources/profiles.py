"""Profiles of users and of projects (MEM-16)."""

from fastapi import APIRouter
from starlette.responses import Response

from cloister.domain.identifiers import parse_project_id
from cloister.domain.prompts.profile import DEFAULT_PROFILE_TOKENS
from cloister.interfaces.http.dispatch.callers import Caller, needs
from cloister.interfaces.http.dispatch.parameters import EntitiesOfUser, ProfileBudget, ProfileOf, ProjectId, UserId
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.resources.answers import answer
from cloister.interfaces.python import derived_shapes as shapes
from cloister.interfaces.python.arguments import project_of

router = APIRouter(route_class=GuardedRoute, tags=["Memories"])


@router.get("/v1/users/{user_id}/profile", response_model=shapes.Profile)
@needs("read")
def get_user_profile(
    user_id: UserId,
    caller: Caller,
    budget_tokens: ProfileBudget = DEFAULT_PROFILE_TOKENS,
    project_id: ProfileOf = None,
) -> Response:
    """Get the stable facts of a user that are true now, in the project of the request or in the project `project_id`: grouped, each
    with its memories, within a token budget. `text` is the same as quoted data for a prompt. For an unknown user it is empty."""
    project = caller.project(required=False) if project_id is None else project_of(project_id)
    found = caller.services.profiles.of_user(caller.reach, user_id, project, budget=budget_tokens)
    return answer(shapes.profile_shape(found))


@router.get("/org/projects/{project_id}/profile", response_model=shapes.Profile)
@needs("read")
def get_project_profile(
    project_id: ProjectId,
    caller: Caller,
    budget_tokens: ProfileBudget = DEFAULT_PROFILE_TOKENS,
    user_id: EntitiesOfUser = None,
) -> Response:
    """Get what a project knows: its pinned memories, its decisions, and the entities that are mentioned most, which have no
    memories, within a token budget."""
    project = parse_project_id(project_id)
    found = caller.services.profiles.of_project(caller.reach, project, user_id=user_id, budget=budget_tokens)
    return answer(shapes.profile_shape(found))
