"""Certificates and dry runs of removals, as sentences for people. With --json they are printed whole."""

from cloister.interfaces.cli.terminal import answer
from cloister.interfaces.python.certificates.shapes import Certificate, Removed, RemovedRows
from cloister.interfaces.python.shapes import as_json


def checks_made(certificate: Certificate | None) -> list[str]:
    """A line that names the checks that failed after a removal; nothing if all passed, which --json shows one by one."""
    failed = [] if certificate is None else [check.check for check in certificate.checks if not check.passed]
    return [f"FAILED, so something is left: {', '.join(failed)}. Run `cloister doctor`."] if failed else []


def answer_dry_run(removed: Removed, json: bool) -> None:
    """Print what a removal would remove."""
    answer(as_json(removed), json, f"{_counts(removed.would_remove)} would go. Nothing was changed.")


def _counts(rows: RemovedRows | None) -> str:
    if rows is None:
        return "Nothing"
    numbers = {kind: len(ids) + rows.more.get(kind, 0) for kind, ids in rows.removed.items()}
    return ", ".join(f"{number:,} {kind}" for kind, number in (dict(rows.more) | numbers).items()) or "Nothing"
