"""`cloister serve`: answer over HTTP."""

from dataclasses import asdict, replace
from typing import Annotated

import typer

from cloister.interfaces.cli.options import Data, Json, named
from cloister.interfaces.cli.terminal import answer, remark
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
    opens the console, once; `cloister console` makes another.
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

    def announce(told: Announcement) -> None:
        kept = "" if settings.postgres else f" It is kept in {settings.data}/{LOCAL_KEY_FILE}."
        if told.key is not None:
            remark(f"Your admin key, shown this once:\n\n  {told.key}\n\n{kept.strip()}")
        opened = told.console or f"{told.address}/docs"
        answer(asdict(told), json, f"Cloister answers on {told.address} – open {opened}")

    serve_http(chosen, announce=announce)
