"""Reads of mem0's interface: memories by filter, by query and by id, and what it calls entities."""

from collections.abc import Iterator
from typing import Any

from cloister.domain.identifiers import format_memory_id
from cloister.interfaces.audit.reads.read import MEM0, Read, View
from cloister.interfaces.audit.targets import QUESTION

_PREFIX = "/mem0"


def mem0_reads(view: View) -> Iterator[Read]:
    """With the project of the target in the header. A filter names its user, or its session as a run."""
    target = view.target
    if target.scope.project is None:
        return
    headers = target.project_header
    filters: dict[str, dict[str, Any]] = {
        "by user": {"user_id": target.user},
        "by run": {"run_id": target.session},
    }
    for name, wanted in filters.items():
        sent = [target.session]
        body = {"filters": wanted}
        yield view.in_project(
            MEM0, f"memories {name}", "POST", f"{_PREFIX}/v3/memories/", body, headers=headers, sent=sent
        )
        body = {**body, "query": QUESTION, "threshold": 0.0, "top_k": 50}
        yield view.in_project(
            MEM0, f"search {name}", "POST", f"{_PREFIX}/v3/memories/search/", body, headers=headers, sent=sent
        )
    memory = f"{_PREFIX}/v1/memories/{format_memory_id(target.memory)}/"
    yield view.by_id(MEM0, "memory", "GET", memory, headers=headers)
    yield view.by_id(MEM0, "memory history", "GET", f"{memory}history/", headers=headers)
    listed = [other for other in view.targets if other.shares_project(target) and view.reader.reaches(other)]
    entities = f"{_PREFIX}/v1/entities/"
    yield view.in_project(MEM0, "entities", "GET", entities, headers=headers, allowed=listed)


def crossed_memories(view: View, base: View) -> Iterator[Read]:
    """In a project that the reader reaches, about a memory of another: as if there were none."""
    if base.target.scope.project is None or base.target.shares_project(view.target):
        return
    memory = format_memory_id(view.target.memory)
    for name, path in (("memory", ""), ("memory history", "history/")):
        yield Read(
            door=MEM0,
            name=f"{name} in another project",
            method="GET",
            path=f"{_PREFIX}/v1/memories/{memory}/{path}",
            headers=base.target.project_header,
            sent=[memory],
            is_answered=False,
            about=view.target.name,
        )
