"""`cloister entities`: list, retag. An entity is known inside one project."""

from typing import Annotated

import typer

from cloister.interfaces.cli.options import Data, Json, Key, Limit, ProjectArgument, Tenant, User
from cloister.interfaces.cli.places import Places, project_id_of
from cloister.interfaces.cli.terminal import answer, remark, remark_more, table
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.shapes import as_json

app = typer.Typer(help="Entities: named things that a project's sessions mention.", no_args_is_help=True)


@app.command("list")
def list_entities(
    project: ProjectArgument,
    user: User = None,
    limit: Limit = 50,
    after: Annotated[
        str | None, typer.Option("--after", metavar="ID", help="Go on behind this entity (ent_…).")
    ] = None,
    data: Data = None,
    key: Key = None,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """List the entities of a project, oldest first.

    A project with private members is divided: --user says whose part to list.
    """
    with Cloister(data, key=key, tenant=tenant) as memory:
        project_id = project_id_of(memory, project)
        found = memory.entities(project_id, user_id=user, limit=limit, after=after)
        more = bool(len(found) == limit and memory.entities(project_id, user_id=user, limit=1, after=found[-1].id))
    rows = [(entity.id, entity.name, entity.type, entity.notes) for entity in found]
    answer(as_json(found), json, *([table(("entity", "name", "type", "notes"), rows)] if found else []))
    if not found:
        remark("No entities here yet. In a project that is divided by user, --user says whose to list.")
    if more:
        remark_more(found[-1].id)


@app.command("retag")
def retag_entity(
    entity_id: Annotated[str, typer.Argument(metavar="ID", help="The entity's id (ent_…).")],
    project: ProjectArgument,
    user: User = None,
    data: Data = None,
    key: Key = None,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Move an entity to another project.

    Nothing else ever does: an entity stays where it was extracted, even when its session moves. Where the other project knows the
    name already, the two become one. --user says whose part of a project with private members it goes to.
    """
    with Cloister(data, key=key, tenant=tenant) as memory:
        project_id = project_id_of(memory, project)
        entity = memory.retag_entity(entity_id, project_id, user_id=user)
        place = Places(memory).name(project_id)
    answer(as_json(entity), json, f"{entity.name!r} is now {entity.id} in the project {place!r}.")
