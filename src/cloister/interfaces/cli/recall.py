"""`cloister context` and `cloister search`: what can be recalled."""

from collections.abc import Sequence
from typing import Annotated, cast

import typer
from rich.console import RenderableType
from rich.text import Text

from cloister.interfaces.cli.options import (
    Data,
    Filter,
    Json,
    Key,
    Project,
    SessionArgument,
    Tenant,
    User,
    filter_option,
    with_library,
)
from cloister.interfaces.cli.organisation.project_names import ProjectNames, chosen_project
from cloister.interfaces.cli.terminal import answer, counted, minute, quotation, remark, speaker
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.recall.shapes import Context, ContextItem, Hit
from cloister.interfaces.python.shapes import as_json
from cloister.services.recall.search import KINDS, Kind

MinRelevance = Annotated[
    float | None,
    typer.Option(
        "--min-relevance", metavar="0..1", help="Leave out what is less relevant; 0 shows all (the project's)."
    ),
]
AsOf = Annotated[
    str | None,
    typer.Option("--as-of", metavar="TIME", help="The memories that were true then, in ISO 8601 (those of now)."),
]
AskedAt = Annotated[
    str | None,
    typer.Option(
        "--asked-at", metavar="TIME", help='When the query is asked, in ISO 8601, for "last week" and such (now).'
    ),
]


@with_library
def context(
    memory: Cloister,
    json: bool,
    session_id: SessionArgument,
    query: Annotated[
        str | None, typer.Argument(metavar="QUERY", help="What to recall; without it, the user's last message.")
    ] = None,
    budget: Annotated[int | None, typer.Option("--budget", metavar="N", help="The most tokens.")] = None,
    recent: Annotated[
        int | None, typer.Option("--recent", metavar="N", help="The last N messages of each role (20).")
    ] = None,
    semantic: Annotated[
        int | None, typer.Option("--semantic", metavar="N", help="The best N matches of each role (10).")
    ] = None,
    min_relevance: MinRelevance = None,
    asked_at: AskedAt = None,
    as_of: AsOf = None,
    filter: Filter = None,
) -> None:
    """Show the context for an assistant's next reply.

    That is the recent messages of the session, and what is related to them in the session's pool.
    """
    found = memory.context(
        session_id,
        query,
        budget_tokens=budget,
        recent_limit=recent,
        semantic_limit=semantic,
        min_relevance=min_relevance,
        asked_at=asked_at,
        as_of=as_of,
        filter=filter_option(filter),
    )
    session = memory.session(session_id)
    pool = ProjectNames(memory).phrase(session)
    answer(
        as_json(found),
        json,
        *_part("current conversation", f"in {session_id!r}", found.current_conversation, session.user_id),
        "",
        *_part("relevant history", f"from {pool}", found.relevant_history, session.user_id),
        "",
        *_derived(found, session.user_id),
        _sum(found),
    )


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for.")],
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="Search what this session may recall.")
    ] = None,
    project: Project = None,
    user: User = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option("--kind", metavar="|".join(KINDS), help="Only of this kind; may be repeated (all kinds)."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="How many hits, 1 to 200.")] = 10,
    min_relevance: MinRelevance = None,
    asked_at: AskedAt = None,
    as_of: AsOf = None,
    filter: Filter = None,
    data: Data = None,
    key: Key = None,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Find the best episodes, memories and entities of one pool.

    The pool is that of --session, else that of --project: without it the default project, and `none` for no project. --user says
    whose part to search if it is divided by user. There is no search across pools, and entities are found in projects only. The
    number of a hit is its relevance, from 0 to 1.
    """
    if session is not None and (project or user):
        raise typer.BadParameter("--session names the pool already; leave out --project and --user.")
    with Cloister(data, key=key, tenant=tenant) as memory:
        hits = memory.search(
            query,
            session_id=session,
            project_id=chosen_project(memory, project),
            user_id=user,
            kinds=cast(list[Kind] | None, kinds or None),
            limit=limit,
            min_relevance=min_relevance,
            asked_at=asked_at,
            as_of=as_of,
            filter=filter_option(filter),
        )
    several = len({hit.user_id for hit in hits if hit.session_id}) > 1
    answer(as_json(hits), json, *(_found(hit, several) for hit in hits))
    if not hits:
        whose = "" if session or user else " Where users do not share, --user says whose part to search."
        remark(f"Nothing found in this pool.{whose}")


def _found(hit: Hit, several: bool) -> RenderableType:
    """A hit, with its user if the hits are of several users."""
    whence = (hit.session_id, speaker(hit.role, hit.author) or hit.kind) if hit.session_id else (hit.kind,)
    whence += (_user(hit.user_id),) if several and hit.session_id else ()
    return quotation((*map(str, whence), minute(hit.created_at), *_relevance(hit), hit.id), hit.content)


def _part(name: str, whence: str, items: Sequence[ContextItem], user: str | None) -> list[RenderableType]:
    head = Text(name, style="bold underline")
    head.append(f" {whence}", style="not bold not underline")
    return [head, *((_quoted(item, user) for item in items) if items else ["    nothing"])]


def _derived(found: Context, user: str | None) -> list[RenderableType]:
    """The memories, entities and notes of a context; a kind with none has no heading."""
    parts: list[RenderableType] = []
    for name, quoted in (
        (
            "memories",
            [
                quotation(
                    (stored.session_id, *_other_user(stored.user_id, user), minute(stored.created_at)), stored.content
                )
                for stored in found.memories
            ],
        ),
        ("entities", [quotation((entity.name, entity.type), entity.notes) for entity in found.entities]),
        ("notes", [quotation((note.session_id, minute(note.created_at)), note.content) for note in found.observations]),
    ):
        if quoted:
            parts += [Text(name, style="bold underline"), *quoted, ""]
    return parts


def _user(user: str | None) -> str:
    return "a user without a name" if user is None else f"user {user!r}"


def _other_user(whose: str | None, user: str | None) -> tuple[str, ...]:
    """The user of a memory or message, if it is not the user of the session."""
    return () if whose == user else (_user(whose),)


def _quoted(item: ContextItem, user: str | None) -> RenderableType:
    about = [str(speaker(item.role, item.author)), *_other_user(item.user_id, user), minute(item.created_at)]
    if item.source != "session":
        about.append(item.session_id)
    about += _relevance(item)
    if item.is_excerpt:
        about.append(f"excerpt of {item.id}")
    return quotation(about, item.content)


def _relevance(found: ContextItem | Hit) -> list[str]:
    """The relevance of what was searched for, and how often it was said if more than once."""
    if found.relevance is None:
        return []
    said = [f"said {found.times_said} times"] if found.times_said > 1 else []
    return [f"relevance {found.relevance:.2f}", *said]


def _sum(found: Context) -> str:
    """The size of a context, and what was left out and why."""
    reasons = {"weak": "weak", "duplicate": "duplicate", "limit": "beyond the limit", "budget": "beyond the budget"}
    left_out = [f"{found.omitted[reason]:,} {words}" for reason, words in reasons.items() if found.omitted[reason]]
    return f"{counted(found.tokens, 'token')}; left out: {', '.join(left_out) or 'nothing'}."
