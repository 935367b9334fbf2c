"""The languages of one pool are not noticed in another: not by its results, and not by its scores."""

from pathlib import Path

import pytest

from cloister import Cloister

ENGLISH = ["Thomas sold the boats.", "I hope the plant will not die.", "The hat is in the van with my son."]
GERMAN = ["Thomas hat die Boote nicht verkauft.", "Die Pflanze war nicht bei mir.", "Der Hut ist nicht in dem Auto."]
QUERIES = ["Did Thomas sell the boats?", "boote thomas", "die hat", "Hat Thomas die Boote verkauft?", "van"]


def recalled(memory: Cloister, session: str) -> list[list[tuple[str, float | None]]]:
    sources = [{"role": "user", "method": "semantic", "limit": 10}]
    return [
        [(item.content, item.score) for item in memory.context(session, query, sources=sources).relevant_history]
        for query in QUERIES
    ]


@pytest.mark.parametrize(("own", "other"), [(ENGLISH, GERMAN), (GERMAN, ENGLISH)])
def test_iso_1_a_pool_recalls_the_same_whatever_language_another_has(
    tmp_path: Path, own: list[str], other: list[str]
) -> None:
    with Cloister(tmp_path) as memory:
        projects = [memory.create_project(name).project_id for name in ("own", "other")]
        for name, project in (("own", projects[0]), ("other", projects[1]), ("asking", projects[0])):
            memory.create_session(name, project_id=project)
        for text in own:
            memory.record("own", "user", text)
        before = recalled(memory, "asking")
        for text in [*other, *own]:
            memory.record("other", "user", text)
        assert recalled(memory, "asking") == before
        assert {content for found in before for content, _ in found} <= set(own)
