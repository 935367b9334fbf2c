"""All reads of one reader: about every target, about targets of other pools from within one that it reaches, and lists."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from cloister.interfaces.audit.reads.langgraph import langgraph_reads
from cloister.interfaces.audit.reads.lists import lists, part_reads
from cloister.interfaces.audit.reads.mcp import crossed_fetches, mcp_reads
from cloister.interfaces.audit.reads.mem0 import crossed_memories, mem0_reads
from cloister.interfaces.audit.reads.openai import openai_reads
from cloister.interfaces.audit.reads.read import ANTHROPIC, CONSOLE, EXPORT, HTTP, Read, View
from cloister.interfaces.audit.reads.recall import (
    crossed_explanations,
    crossed_filters,
    recall_reads,
    search_of_project,
)
from cloister.interfaces.audit.reads.resources import (
    entity_reads,
    entry_reads,
    memory_reads,
    receipt_reads,
    session_reads,
)
from cloister.interfaces.audit.targets import Reader, Target

_OF_TARGET: Final[tuple[Callable[[View], Iterator[Read]], ...]] = (
    session_reads,
    memory_reads,
    entity_reads,
    receipt_reads,
    entry_reads,
    recall_reads,
    search_of_project,
    part_reads,
    openai_reads,
    langgraph_reads,
    mem0_reads,
    mcp_reads,
)
_CROSSED: Final[tuple[Callable[[View, View], Iterator[Read]], ...]] = (
    crossed_explanations,
    crossed_filters,
    crossed_fetches,
    crossed_memories,
)
_OF_BROWSERS: Final = (HTTP, EXPORT, ANTHROPIC)


def reads_of(reader: Reader, targets: Sequence[Target], *, with_tenant: bool) -> list[Read]:
    """Of another tenant one target is asked for: the others would be refused by the same check. Of the second tenant, whose keys
    are there to ask for the first, so is one of its own. A browser asks through the routes that take its cookie."""
    inside = [target for target in targets if target.tenant == reader.reach.tenant]
    outside = [target for target in targets if target.tenant != reader.reach.tenant][-1:]
    is_first = targets[0].tenant == reader.reach.tenant
    found: list[Read] = []
    for target in (*(inside if is_first else inside[-2:-1]), *outside):
        view = View(reader=reader, target=target, targets=targets)
        found += [read for reads in _OF_TARGET for read in reads(view)]
        base = _other_pool(view, inside)
        if base is not None:
            found += [read for reads in _CROSSED for read in reads(view, base)]
    found += lists(reader, targets, with_tenant=with_tenant)
    if not reader.is_browser:
        return found
    return [replace(read, door=CONSOLE) for read in found if read.door in _OF_BROWSERS]


def _other_pool(view: View, targets: Sequence[Target]) -> View | None:
    """The last target that the reader reaches and that is in another pool than that of the view, if there is one."""
    reached = [target for target in targets if view.reader.reaches(target) and not target.shares_pool(view.target)]
    return replace(view, target=reached[-1]) if reached else None
