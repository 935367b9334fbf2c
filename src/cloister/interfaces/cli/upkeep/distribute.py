"""`cloister distribute`: spreads the tenants of a PostgreSQL database over the servers of a Citus cluster."""

from dataclasses import asdict

from cloister.bootstrap import distribute_database
from cloister.domain.errors import Forbidden
from cloister.interfaces.cli.options import Data, DryRun, Json, Key
from cloister.interfaces.cli.terminal import answer, counted
from cloister.interfaces.cli.upkeep.progress import StepBar
from cloister.settings import read_remote, read_settings


def distribute(data: Data = None, dry_run: DryRun = False, key: Key = None, json: Json = False) -> None:
    """Distribute a PostgreSQL database over the servers of a Citus cluster, by tenant.

    --data is the URL of the coordinator, where Citus is installed and knows its servers. All rows of a tenant are on one of them.
    Stop every other process of Cloister first, and make a backup. All tables are distributed, or none; what is distributed already
    stays as it is. Repeat the command if it is interrupted: it removes what is left of the rows on the coordinator.
    """
    if read_remote(data, key) is not None:
        raise Forbidden("This needs the database itself, and is not possible over HTTP: run it on the server.")
    settings = read_settings(data)
    with StepBar() as bar:
        report = distribute_database(settings, dry_run=dry_run, progress=bar.show)
    tables = len(report.tables) + len(report.copied_tables)
    what = f"{counted(tables, 'table')} with {counted(report.rows, 'row')}"
    where = f"{counted(report.servers, 'server')} in {counted(report.shards, 'shard')} (Citus {report.citus_version})"
    if not tables:
        text = f"All tables are distributed over {where}."
    else:
        text = f"{'Would distribute' if dry_run else 'Distributed'} {what} over {where}."
    answer({**asdict(report), "dry_run": dry_run}, json, text)
