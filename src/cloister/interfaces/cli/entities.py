"""`cloister entities`: list, show, mentions, update, delete, merge, split, restore, retag. An entity belongs to one project."""

from collections.abc import Iterator
from functools import partial
from typing import Annotated

import typer
from rich.console import RenderableType

from cloister.interfaces.cli.certificates.sentences import answer_dry_run, checks_made
from cloister.interfaces.cli.listing import answer_list, listed
from cloister.interfaces.cli.options import (
    After,
    All,
    DryRun,
    Filter,
    Limit,
    ProjectArgument,
    User,
    Yes,
    after_item,
    filter_option,
    with_library,
)
from cloister.interfaces.cli.organisation.project_names import ProjectNames, project_id_of
from cloister.interfaces.cli.terminal import answer, confirm, minute, quotation, table
from cloister.interfaces.python.derived_shapes import EntityDetail, EntityMention
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
    filter: Filter = None,
) -> None:
    """List the entities of a project, oldest first.

    A project with private members is divided by user: --user says whose part to list.
    """
    project_id = project_id_of(memory, project)
    fetch = partial(memory.entities, project_id, user_id=user, after=after, filter=filter_option(filter))
    found = listed(fetch, limit, everything)
    rows = [(entity.id, entity.name, entity.type, entity.notes) for entity in found]
    empty = "No entities here yet. In a project that is divided by user, --user says whose to list."
    shown = table(("entity", "name", "type", "notes"), rows)
    answer_list(found, json, shown, empty=empty, after=lambda entity: entity.id)


EntityArgument = Annotated[str, typer.Argument(metavar="ID", help="The entity's id (ent_…).")]


@app.command("show")
@with_library
def show_entity(memory: Cloister, json: bool, entity_id: EntityArgument) -> None:
    """Show an entity with its other names, its relations, and the latest messages that mention it."""
    entity = memory.entity(entity_id)
    answer(as_json(entity), json, *_described(entity), *map(_quoted, entity.mentions))


@app.command("mentions")
@with_library
def list_mentions(
    memory: Cloister,
    json: bool,
    entity_id: EntityArgument,
    limit: Limit = 50,
    after: After = None,
    everything: All = False,
    filter: Filter = None,
) -> None:
    """List the messages that mention an entity, the last extracted first."""
    found = listed(partial(memory.entity_mentions, entity_id, filter=filter_option(filter)), limit, everything, after)
    answer_list(found, json, *map(_quoted, found), empty="No message here mentions it.")


@app.command("update")
@with_library
def update_entity(
    memory: Cloister,
    json: bool,
    entity_id: EntityArgument,
    name: Annotated[str | None, typer.Option("--name", help="The new name; the old one stays an alias.")] = None,
    kind: Annotated[
        str | None, typer.Option("--type", help="person, place, organisation, project, product, event or other.")
    ] = None,
    notes: Annotated[str | None, typer.Option("--notes", help="Replace what was extracted until now.")] = None,
    aliases: Annotated[
        list[str] | None, typer.Option("--alias", help="One of all other names; repeat it for each.")
    ] = None,
) -> None:
    """Correct an entity. No extraction changes back what is corrected."""
    entity = memory.update_entity(entity_id, name=name, type=kind, notes=notes, aliases=aliases)
    answer(as_json(entity), json, *_described(entity))


@app.command("delete")
@with_library
def delete_entity(
    memory: Cloister, json: bool, entity_id: EntityArgument, dry_run: DryRun = False, yes: Yes = False
) -> None:
    """Delete an entity. The messages that mention it stay; `entities restore` brings it back within a day."""
    if dry_run:
        answer_dry_run(memory.delete_entity(entity_id, dry_run=True), json)
        return
    confirm(f"Delete the entity {entity_id!r}?", yes)
    gone = memory.delete_entity(entity_id)
    answer({"entities": 1, **as_json(gone)}, json, f"Deleted {entity_id}.", *checks_made(gone.certificate))


@app.command("merge")
@with_library
def merge_entity(
    memory: Cloister,
    json: bool,
    entity_id: EntityArgument,
    into: Annotated[str, typer.Argument(metavar="INTO", help="The id of the entity that it becomes part of.")],
) -> None:
    """Make an entity part of another one of the same project, whose id and name stay."""
    entity = memory.merge_entity(entity_id, into)
    answer(as_json(entity), json, *_described(entity))


@app.command("split")
@with_library
def split_entity(
    memory: Cloister,
    json: bool,
    entity_id: EntityArgument,
    aliases: Annotated[
        list[str] | None, typer.Option("--alias", help="A name to split off; repeat it for several.")
    ] = None,
    message_ids: Annotated[
        list[str] | None, typer.Option("--message", help="A message to split off (msg_…), with --name.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="The name of the new entity, with --message.")] = None,
) -> None:
    """Split off aliases, or messages under a new name, as an entity of their own."""
    entity = memory.split_entity(entity_id, aliases=aliases, message_ids=message_ids, name=name)
    answer(as_json(entity), json, *_described(entity))


@app.command("restore")
@with_library
def restore_entity(memory: Cloister, json: bool, entity_id: EntityArgument) -> None:
    """Undo the last merge, split or deletion of an entity, or with it, of the last day."""
    entity = memory.restore_entity(entity_id)
    answer(as_json(entity), json, *_described(entity))


@app.command("retag")
@with_library
def retag_entity(
    memory: Cloister,
    json: bool,
    entity_id: EntityArgument,
    project: ProjectArgument,
    user: User = None,
) -> None:
    """Move an entity to another project.

    Nothing else does: an entity stays in the project it was extracted in, even when its session moves. If the other project has an
    entity of this name, the two are merged. --user says to whose part of a project with private members it goes; with --key
    that needs an admin key, unless it is in that user's part already.
    """
    project_id = project_id_of(memory, project)
    entity = memory.retag_entity(entity_id, project_id, user_id=user)
    name = ProjectNames(memory).name(project_id)
    answer(as_json(entity), json, f"{entity.name!r} is now {entity.id} in the project {name!r}.")


def _described(entity: EntityDetail) -> Iterator[str]:
    yield f"{entity.name} ({entity.type}), {entity.id}"
    if entity.aliases:
        yield f"Also called {', '.join(entity.aliases)}."
    if entity.notes:
        yield entity.notes
    for relation in entity.relations:
        yield f"{relation.relation}: {relation.entity_id}"


def _quoted(mention: EntityMention) -> RenderableType:
    return quotation([mention.session_id, minute(mention.created_at), mention.message_id], mention.content)
