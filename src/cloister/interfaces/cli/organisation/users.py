"""`cloister users`: profile, timeline, activity, erase."""

from typing import Annotated

import typer
from rich.table import Table

from cloister.domain.prompts.profile import DEFAULT_PROFILE_TOKENS
from cloister.interfaces.cli.certificates.sentences import checks_made
from cloister.interfaces.cli.options import DryRun, ProfileBudget, Project, Yes, with_library
from cloister.interfaces.cli.organisation.listings import show_user_activity, show_user_timeline
from cloister.interfaces.cli.organisation.project_names import chosen_project
from cloister.interfaces.cli.terminal import answer, confirm, counted, table
from cloister.interfaces.python.derived_shapes import Profile
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.shapes import DeletedContents, as_json
from cloister.interfaces.python.tenant_shapes import ErasedTenant, ErasedUser

_NOUNS = {
    "projects": ("project",),
    "sessions": ("session",),
    "messages": ("message",),
    "memories": ("memory", "memories"),
    "observations": ("note",),
    "entities": ("entity", "entities"),
    "entries": ("entry", "entries"),
    "files": ("file",),
    "api_keys": ("API key",),
}
app = typer.Typer(help="Users: the people whom sessions belong to.", no_args_is_help=True)


@app.command("profile")
@with_library
def show_profile(
    memory: Cloister,
    json: bool,
    user_id: Annotated[str, typer.Argument(metavar="USER", help="The id that the user's sessions carry.")],
    project: Project = None,
    budget: ProfileBudget = DEFAULT_PROFILE_TOKENS,
) -> None:
    """Show the stable facts of a user that are true now, in one project."""
    found = memory.user_profile(user_id, project_id=chosen_project(memory, project), budget_tokens=budget)
    answer(as_json(found), json, profile_table(found))


def profile_table(found: Profile) -> Table | str:
    """The facts with their memories, or a sentence if there are none."""
    if not found.facts:
        return "Nothing is known, or nothing fits the budget."
    return table(("fact", "memories"), [(fact.content, " ".join(fact.memory_ids)) for fact in found.facts])


app.command("timeline")(show_user_timeline)
app.command("activity")(show_user_activity)


@app.command("erase")
@with_library
def erase_user(
    memory: Cloister,
    json: bool,
    user_id: Annotated[str, typer.Argument(metavar="USER", help="The id that the user's sessions carry.")],
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Erase everything of a user, in all projects and in none.

    That is the user's sessions and messages, everything that derives from them, and the keys that are bound to the user.
    """
    preview = memory.erase_user(user_id, dry_run=True)
    if dry_run:
        answer(as_json(preview), json, f"Of {user_id!r} there are {_counts(preview)}. Nothing was changed.")
        return
    confirm(f"Erase the user {user_id!r}, with {_counts(preview)}, for good?", yes)
    gone = memory.erase_user(user_id)
    sentence = f"Erased the user {user_id!r}: {_counts(gone)}."
    answer(as_json(gone), json, sentence, *checks_made(gone.certificate))


def erased_counts(erased: ErasedUser | ErasedTenant | DeletedContents, *always: str) -> str:
    """The counts as part of a sentence; kinds with none are left out, except those that are `always` shown."""
    numbers = ((getattr(erased, kind, 0), kind, nouns) for kind, nouns in _NOUNS.items())
    parts = [counted(number, *nouns) for number, kind, nouns in numbers if number or kind in always]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _counts(erased: ErasedUser) -> str:
    return erased_counts(erased, "sessions", "messages")
