"""`cloister serve`: answer over HTTP."""

from dataclasses import replace
from typing import Annotated

import typer

from cloister.interfaces.cli.options import Data, Json, named
from cloister.interfaces.cli.terminal import answer, is_watched, remark
from cloister.settings import read_settings


def serve(
    host: Annotated[str | None, typer.Option("--host", metavar="HOST", help=named("CLOISTER_HOST"))] = None,
    port: Annotated[
        int | None, typer.Option("--port", metavar="PORT", min=0, max=65_535, help=named("CLOISTER_PORT"))
    ] = None,
    no_worker: Annotated[
        bool,
        typer.Option(
            "--no-worker",
            help="Leave both queues to `cloister worker`. Environment: CLOISTER_WORKER=off.",
            show_default=False,
        ),
    ] = False,
    data: Data = None,
    json: Json = False,
) -> None:
    """Serve the memory over HTTP, until stopped.

    The first start makes an admin key, shows it once, and keeps it in the data directory as local.key. The link that is printed
    opens the console, once; `cloister console` makes another. Where the output is no terminal, but perhaps a log, neither key nor
    link is printed, and none is made for a PostgreSQL database: `cloister keys create` makes one.
    """
    from cloister.interfaces.http.serve import LOCAL_KEY_FILE, Announcement
    from cloister.interfaces.http.serve import serve as serve_http

    settings = read_settings(data)
    chosen = replace(
        settings,
        host=settings.host if host is None else host,
        port=settings.port if port is None else port,
        worker=settings.worker and not no_worker,
    )

    seen = json or is_watched()

    def announce(told: Announcement) -> None:
        kept = "" if settings.postgres else f" It is kept in {settings.data}/{LOCAL_KEY_FILE}."
        if told.key is not None and seen:
            remark(f"Your admin key, shown this once:\n\n  {told.key}\n\n{kept.strip()}")
        elif told.key is not None:
            remark(f"An admin key was made.{kept}")
        elif not told.has_keys:
            remark(
                "There is no admin key yet: `cloister keys create NAME --may admin`, with the same --data, makes one."
            )
        if seen:
            shown = {"address": told.address, "key": told.key, "console": told.console}
            answer(shown, json, f"Cloister answers on {told.address} – open {told.console or f'{told.address}/docs'}")
        else:
            answer(
                None,
                False,
                f"Cloister answers on {told.address} – `cloister console` makes a link that opens the console",
            )

    serve_http(chosen, announce=announce, shows_secrets=seen)
