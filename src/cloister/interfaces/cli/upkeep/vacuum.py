"""`cloister vacuum`: gives the space of deleted rows back."""

from dataclasses import asdict

from cloister.interfaces.cli.options import Data, Json, Key
from cloister.interfaces.cli.terminal import answer, remark
from cloister.interfaces.cli.upkeep.progress import StepBar
from cloister.interfaces.python.library import Cloister

_MEGABYTE = 1_000_000


def vacuum(data: Data = None, key: Key = None, json: Json = False) -> None:
    """Give the space of deleted rows back to the file system.

    Readers go on meanwhile; writers wait until it is done, and are refused after 15 seconds. A directory needs free space of twice
    what its database contains. On PostgreSQL the space of dead rows is made free to be used again.
    """
    with Cloister(data, key=key) as memory, StepBar() as bar:
        done = memory.vacuum(progress=bar.show)
    if done.skipped and not json:
        remark(f"Not done, because another login owns them: {', '.join(done.skipped)}.")
    sizes = f"{done.bytes_before / _MEGABYTE:,.1f} MB before, {done.bytes_after / _MEGABYTE:,.1f} MB now"
    waiting = " Readers are still at work; the file shrinks when they have ended." if done.is_waiting else ""
    answer(asdict(done), json, f"Gave space back: {sizes}.{waiting}")
