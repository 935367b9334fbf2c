"""What needs the database itself, and is refused over HTTP."""

from pathlib import Path
from typing import NoReturn

from cloister.domain.errors import Forbidden
from cloister.domain.maintenance.backup import BackupReport, StepProgress
from cloister.domain.maintenance.damage import RowCheck
from cloister.domain.maintenance.vacuum import VacuumReport
from cloister.services.health import HealthReport
from cloister.services.indexing.reindex import IndexCounts, Progress


class RemoteMaintenance:
    """Every call is `Forbidden`, and says which command to run on the server."""

    def reindex(self, everything: bool, progress: Progress | None) -> IndexCounts:
        _refuse("reindex")

    def backup(self, target: Path, progress: StepProgress) -> BackupReport:
        _refuse("backup")

    def vacuum(self, progress: StepProgress) -> VacuumReport:
        _refuse("vacuum")

    def check_rows(self, set_aside: Path | None, progress: StepProgress) -> RowCheck:
        _refuse("doctor")

    def health(self) -> HealthReport:
        _refuse("doctor")


def _refuse(command: str) -> NoReturn:
    raise Forbidden(
        f"This needs the database itself, and is not possible over HTTP: run `cloister {command}` on the server."
    )
