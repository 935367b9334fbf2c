"""The processes that a server of several processes has started."""

from pathlib import Path


def children(parent: int) -> set[int]:
    """The process ids of the children of a process."""
    return {int(each) for each in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()}
