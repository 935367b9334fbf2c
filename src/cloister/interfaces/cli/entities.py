"""`cloister entities`: list, retag. An entity belongs to one project."""

from functools import partial
from typing import Annotated

import typer

from cloister.interfaces.cli.listing import answer_list, listed
from cloister.interfaces.cli.options import All, Limit, ProjectArgument, User, after_item, with_library
from cloister.interfaces.cli.project_names import ProjectNames, project_id_of
from cloister.interfaces.cli.terminal import answer, table
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.shapes import as_json

app = typer.Typer(help="Entities: named things that a project's sessions mention.", no_args_is_help=True)


@app.command("list")
@with_library
def list_entities(
    memory: Cloister,
    json: bool,
    project: ProjectArgument,
    user: User = None,
    limit: Limit = 50,
    after: Annotated[str | None, after_item("entity (ent_…)")] = None,
    everything: All = False,
) -> None:
    """List the entities of a project, oldest first.

    A project with private members is divided by user: --user says whose part to list.
    """
    project_id = project_id_of(memory, project)
    found = listed(partial(memory.entities, project_id, user_id=user, after=after), limit, everything)
    rows = [(entity.id, entity.name, entity.type, entity.notes) for entity in found]
    empty = "No entities here yet. In a project that is divided by user, --user says whose to list."
    shown = table(("entity", "name", "type", "notes"), rows)
    answer_list(found, json, shown, empty=empty, after=lambda entity: entity.id)


@app.command("retag")
@with_library
def retag_entity(
    memory: Cloister,
    json: bool,
    entity_id: Annotated[str, typer.Argument(metavar="ID", help="The entity's id (ent_…).")],
    project: ProjectArgument,
    user: User = None,
) -> None:
    """Move an entity to another project.

    Nothing else does: an entity stays in the project it was extracted in, even when its session moves. If the other project has an
    entity of this name, the two are merged. --user says to whose part of a project with private members it goes.
    """
    project_id = project_id_of(memory, project)
    entity = memory.retag_entity(entity_id, project_id, user_id=user)
    name = ProjectNames(memory).name(project_id)
    answer(as_json(entity), json, f"{entity.name!r} is now {entity.id} in the project {name!r}.")
