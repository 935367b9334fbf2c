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
    processes: Annotated[
        int | None,
        typer.Option("--processes", metavar="N", min=1, max=64, help=named("CLOISTER_PROCESSES")),
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
    """Serve the API and the console over HTTP, until stopped.

    The first start creates an admin key, shows it once, and stores it in the data directory as local.key. The link that is printed
    opens the console, once; `cloister console` prints another. If the output is not a terminal, it may be a log: then neither key
    nor link is printed, and no key is created for a PostgreSQL database; `cloister keys create` creates one.
    """
    from cloister.interfaces.http.serve import LOCAL_KEY_FILE, Announcement
    from cloister.interfaces.http.serve import serve as serve_http

    settings = read_settings(data)
    chosen = replace(
        settings,
        host=settings.host if host is None else host,
        port=settings.port if port is None else port,
        processes=settings.processes if processes is None else processes,
        worker=settings.worker and not no_worker,
    )

    # Secrets are printed on a terminal or on demand, but not into what may be a log.
    shows_secrets = json or is_watched()

    def announce(started: Announcement) -> None:
        kept = "" if settings.postgres else f" It is kept in {settings.data}/{LOCAL_KEY_FILE}."
        if started.key is not None and shows_secrets:
            remark(f"Your admin key, shown this once:\n\n  {started.key}\n\n{kept.strip()}")
        elif started.key is not None:
            remark(f"An admin key was made.{kept}")
        elif not started.has_keys:
            remark(
                "There is no admin key yet: `cloister keys create NAME --may admin`, with the same --data, makes one."
            )
        if shows_secrets:
            shown = {"address": started.address, "key": started.key, "console": started.console}
            answer(
                shown,
                json,
                f"Cloister answers on {started.address} – open {started.console or f'{started.address}/docs'}",
            )
        else:
            answer(
                None,
                False,
                f"Cloister answers on {started.address} – `cloister console` makes a link that opens the console",
            )

    serve_http(chosen, announce=announce, shows_secrets=shows_secrets)
