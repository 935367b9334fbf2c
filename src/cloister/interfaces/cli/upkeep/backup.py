"""`cloister backup` and `restore`: a copy of a whole database in one file, and a database made from it."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cloister.bootstrap import restore_backup
from cloister.domain.errors import Forbidden
from cloister.interfaces.cli.options import Data, Json, Key
from cloister.interfaces.cli.terminal import answer, counted
from cloister.interfaces.cli.upkeep.progress import StepBar
from cloister.interfaces.python.library import Cloister
from cloister.settings import read_remote, read_settings


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file; an existing one is never overwritten.")],
    data: Data = None,
    key: Key = None,
    json: Json = False,
) -> None:
    """Write a copy of the whole database, with all its tenants, and check it.

    The copy is of one moment, while others go on reading and writing. FILE appears when it is whole, checked and on the disk. It
    restores on a directory and on PostgreSQL. Settings, and the key in local.key, are not in it: keep those too.
    """
    with Cloister(data, key=key) as memory, StepBar() as bar:
        made = memory.backup(file, progress=bar.show)
    answer(asdict(made), json, f"Wrote {file}, and checked it: {counted(made.rows, 'row')}.")


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `cloister backup` wrote.")],
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Replace the database that is there, with all its tenants.", show_default=False),
    ] = False,
    data: Data = None,
    key: Key = None,
    json: Json = False,
) -> None:
    """Make a database from a backup: all of it, or nothing.

    --data names a directory without a database, or an empty PostgreSQL database; API keys work as before. Stop every process that
    uses the data first. An index outside the database is built again with: cloister reindex --everything
    """
    if read_remote(data, key) is not None:
        raise Forbidden("This needs the database itself, and is not possible over HTTP: run it on the server.")
    settings = read_settings(data)
    with StepBar() as bar:
        made = restore_backup(settings, file, replace=replace, progress=bar.show)
    answer(asdict(made), json, f"Restored {counted(made.rows, 'row')} from {file}. Look at it with: cloister doctor")
