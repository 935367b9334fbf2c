"""The current branch of a conversation that is a tree: from its tip to its root, in the order in which it was said."""

from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

N = TypeVar("N")
K = TypeVar("K", bound=Hashable)


def current_branch(nodes: Mapping[K, N], tip: K | None, parent: Callable[[N], K | None]) -> list[N]:
    """The nodes from the root to the tip; without a tip, to the last node that is no parent. A parent that does not exist ends the
    branch, and so does a cycle."""
    if tip not in nodes:
        parents = {parent(node) for node in nodes.values()}
        tip = next((key for key in reversed(list(nodes)) if key not in parents), None)
    branch: list[N] = []
    seen: set[K] = set()
    while tip is not None and tip in nodes and tip not in seen:
        seen.add(tip)
        branch.append(nodes[tip])
        tip = parent(nodes[tip])
    return branch[::-1]
