"""An index that lies about what derives: it names other places' memories and entities, and invented ones (ISO-4, ISO-10).

As with messages, content is read back from storage under the asking session's own scope; the rest is counted and never shown.
"""

from dataclasses import dataclass

import pytest

from cloister.bootstrap import Services
from cloister.domain.conversation import Draft
from cloister.domain.identifiers import ProjectId, new_entity_id, new_memory_id
from cloister.domain.scope import MemberVisibility, Reach
from cloister.services.conversations.sessions import SessionFields
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import EntityHit, MemoryHit, SearchTarget
from support.databases.engines import Engine
from support.isolation.leaky_index import LeakyIndex

PLACES: dict[str, tuple[MemberVisibility | None, str | None]] = {
    "shared ann": (None, "ann"),
    "shared bob": (None, "bob"),
    "garden": ("shared", "ann"),
    "cellar ann": ("private", "ann"),
    "cellar bob": ("private", "bob"),
}
SAID = "My neighbour Anna plays the cello."


@dataclass(frozen=True, kw_only=True, slots=True)
class Town:
    """Two tenants; in each a session in every kind of place, all saying the same, and what derives from it."""

    services: Services
    index: LeakyIndex
    reaches: tuple[Reach, Reach]
    memories: dict[tuple[int, str], list[int]]
    entities: dict[tuple[int, str], list[int]]

    def lie(self, name: str) -> None:
        """All that is not of this place, and what nobody has."""
        for lies, known, invented in (
            (self.index.of_memories, self.memories, int(new_memory_id())),
            (self.index.of_entities, self.entities, int(new_entity_id())),
        ):
            lies[:] = [id for key, ids in known.items() if key != (0, name) for id in ids] + [invented, 0, -1]


@pytest.fixture
def town(engine: Engine) -> Town:
    index = LeakyIndex()
    services = engine.services(index=index)
    town = Town(
        services=services,
        index=index,
        reaches=(
            Reach(tenant=services.projects.create_tenant("Town")[0]),
            Reach(tenant=services.projects.create_tenant("Town")[0]),
        ),
        memories={},
        entities={},
    )
    for number, reach in enumerate(town.reaches):
        visibilities: tuple[MemberVisibility, ...] = ("shared", "private")
        projects = {
            one: services.projects.create_project(reach, "Same", one, allow_duplicate_name=True).id
            for one in visibilities
        }
        for name, (visibility, user) in PLACES.items():
            project = None if visibility is None else projects[visibility]
            services.sessions.create(reach, SessionFields(external_id=name, project=project, user_id=user))
            services.record.messages(reach, name, [Draft(role="user", content=SAID)])
            services.extraction.extract_now(reach, name)
            stored = services.memories.of_session(reach, name, limit=9)
            town.memories[number, name] = [one.memory.id for one in stored]
            found = [] if project is None else services.entities.page(reach, project, user_id=user, limit=9)
            town.entities[number, name] = [entity.id for entity in found]
    return town


def asked(town: Town, name: str) -> tuple[set[int], set[int]]:
    """The memories and entities that a context or a search of the first tenant's session shows."""
    reach = town.reaches[0]
    request = ContextRequest(question="Who plays the cello?", min_relevance=0)
    derived = town.services.context.build(reach, name, request).derived
    hits = town.services.search.search(reach, "Who plays the cello?", SearchTarget(session=name), 200, min_relevance=0)
    memories = {hit.stored.memory.id for hit in hits if isinstance(hit, MemoryHit)}
    entities = {hit.entity.id for hit in hits if isinstance(hit, EntityHit)}
    return (
        {*memories, *(stored.memory.id for stored in derived.memories)},
        {*entities, *(entity.id for entity in derived.entities)},
    )


@pytest.mark.parametrize("name", PLACES)
def test_an_index_that_names_what_derives_elsewhere_shows_none_of_it(town: Town, name: str) -> None:
    """ISO-4, ISO-10: of other pools, projects, users and tenants."""
    honest = asked(town, name)
    assert honest == (set(town.memories[0, name]), set(town.entities[0, name]))
    assert honest[0]
    assert town.services.recall.foreign_hits == 0
    town.lie(name)
    assert asked(town, name) == honest
    assert town.services.recall.foreign_hits > 0


def test_an_entity_is_never_found_outside_a_project_whatever_the_index_says(town: Town) -> None:
    """ISO-3: the index is not even asked."""
    town.index.of_entities[:] = [id for ids in town.entities.values() for id in ids]
    assert asked(town, "shared ann")[1] == set()
    assert town.services.recall.foreign_hits == 0


def test_an_index_that_is_late_shows_nothing_that_was_retagged_or_forgotten(town: Town) -> None:
    """ISO-6."""
    services, reach = town.services, town.reaches[0]
    (anna,) = town.entities[0, "garden"]
    (stored,) = services.memories.of_session(reach, "garden", limit=9)
    other = services.projects.create_project(reach, "Other").id
    services.entities.retag(reach, services.entities.page(reach, _project(town, "garden"), limit=1)[0].id, other)
    services.memories.forget(reach, stored.memory.id)
    town.index.of_entities[:], town.index.of_memories[:] = [anna], [stored.memory.id]
    assert asked(town, "garden") == (set(), set())
    assert services.recall.foreign_hits > 0


def _project(town: Town, name: str) -> ProjectId:
    project = town.services.sessions.get(town.reaches[0], name).project
    assert project is not None
    return project
