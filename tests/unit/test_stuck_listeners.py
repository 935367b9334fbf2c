"""What a process of one SQLite directory remembers of another that takes no events."""

from pathlib import Path

from cloister.domain.identifiers import TenantId
from cloister.storage.sqlite.notifications import FOLDER, SqliteNotifier


def test_nothing_is_remembered_of_a_process_that_has_ended(tmp_path: Path) -> None:
    """OPS-2: each process that was stuck once left its name for good."""
    notifier = SqliteNotifier(tmp_path, lambda: 0)
    (tmp_path / FOLDER).mkdir(mode=0o700)
    unsent, skipped = notifier._unsent, notifier._skipped_until  # pyright: ignore[reportPrivateUsage]
    unsent["0123456789abcdef"] = {TenantId(1)}
    skipped["0123456789abcdef"] = 1.0
    notifier._send([])  # pyright: ignore[reportPrivateUsage]
    notifier.close()
    assert (unsent, skipped) == ({}, {})
