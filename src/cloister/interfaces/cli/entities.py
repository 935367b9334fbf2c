"""`cloister entities`: list, retag. An entity belongs to one project."""

from typing import Annotated

import typer

from cloister.interfaces.cli.listing import listed, remark_more
from cloister.interfaces.cli.options import All, Data, Json, Key, Limit, ProjectArgument, Tenant, User
from cloister.interfaces.cli.project_names import ProjectNames, project_id_of
from cloister.interfaces.cli.terminal import answer, remark, table
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.shapes import as_json

app = typer.Typer(help="Entities: named things that a project's sessions mention.", no_args_is_help=True)


@app.command("list")
def list_entities(
    project: ProjectArgument,
    user: User = None,
    limit: Limit = 50,
    after: Annotated[
        str | None, typer.Option("--after", metavar="ID", help="Show those after this entity (ent_…).")
    ] = None,
    everything: All = False,
    data: Data = None,
    key: Key = None,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """List the entities of a project, oldest first.

    A project with private members is divided by user: --user says whose part to list.
    """
    with Cloister(data, key=key, tenant=tenant) as memory:
        project_id = project_id_of(memory, project)
        found = listed(
            lambda most, cursor: memory.entities(project_id, user_id=user, limit=most, after=after, cursor=cursor),
            limit=limit,
            everything=everything,
        )
    rows = [(entity.id, entity.name, entity.type, entity.notes) for entity in found]
    answer(as_json(found), json, *([table(("entity", "name", "type", "notes"), rows)] if found else []))
    if not found:
        remark("No entities here yet. In a project that is divided by user, --user says whose to list.")
    remark_more(found, lambda entity: entity.id)


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

    Nothing else does: an entity stays in the project it was extracted in, even when its session moves. If the other project has an
    entity of this name, the two are merged. --user says to whose part of a project with private members it goes.
    """
    with Cloister(data, key=key, tenant=tenant) as memory:
        project_id = project_id_of(memory, project)
        entity = memory.retag_entity(entity_id, project_id, user_id=user)
        name = ProjectNames(memory).name(project_id)
    answer(as_json(entity), json, f"{entity.name!r} is now {entity.id} in the project {name!r}.")
