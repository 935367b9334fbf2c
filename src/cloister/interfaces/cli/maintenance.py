"""`cloister reindex`, `migrate` and `backup`: maintenance of the database and the index."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cloister.interfaces.cli.options import Data, Json, Key
from cloister.interfaces.cli.terminal import answer, counted, progress_bar
from cloister.interfaces.python.library import Cloister
from cloister.services.indexing.reindex import IndexCounts


def index_counts(counts: IndexCounts) -> str:
    """The counts as part of a sentence; kinds with none are left out, or it is "0 messages"."""
    derived = (counts.memories, "memory", "memories"), (counts.entities, "entity", "entities")
    shown = [counted(number, one, many) for number, one, many in derived if number]
    return ", ".join([counted(counts.messages, "message"), *shown] if counts.messages or not shown else shown)


def reindex(
    everything: Annotated[
        bool,
        typer.Option("--everything", help="Rebuild everything, not only what another embedder or tokeniser indexed."),
    ] = False,
    data: Data = None,
    key: Key = None,
    json: Json = False,
) -> None:
    """Rebuild the recall index. Searches still work meanwhile; it can be stopped and started again."""
    with Cloister(data, key=key) as memory, progress_bar("reindexing") as bar:
        task = bar.add_task("", total=None)
        rebuilt = memory.reindex(
            everything=everything, progress=lambda done, total: bar.update(task, completed=done, total=total)
        )
    sentence = f"Rebuilt the index of {index_counts(rebuilt)}." if rebuilt.total else "The index was up to date."
    if rebuilt.vectors:
        sentence += f" Embedded {counted(rebuilt.vectors, 'message')}."
    answer({"reindexed": rebuilt.total, **asdict(rebuilt)}, json, sentence)


def migrate(data: Data = None, key: Key = None, json: Json = False) -> None:
    """Migrate the database's schema to this version. Every other command does so too; this one does nothing else."""
    with Cloister(data, key=key) as memory:
        version = memory.schema_version()
    answer({"schema_version": version}, json, f"The schema is up to date, at version {version}.")


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file; an existing one is never overwritten.")],
    data: Data = None,
    key: Key = None,
    json: Json = False,
) -> None:
    """Write a copy of an embedded database.

    The copy is consistent, while others go on reading and writing.
    """
    with Cloister(data, key=key) as memory:
        memory.backup(file)
    answer({"file": str(file)}, json, f"Wrote {file}. To use it: put it into an empty directory as cloister.db.")
