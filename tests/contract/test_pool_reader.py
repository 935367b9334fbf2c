"""Reading one pool by ids, on each engine: what a connection that is one pool may open, and what it may not."""

import pytest

from cloister.domain.conversation import Draft
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import MemoryId, MessageId, ProjectId
from cloister.domain.scope import Reach
from cloister.services.conversations.sessions import SessionFields
from support.databases.engines import Engine

SAID = "My neighbour Anna plays the cello."


def said_in(engine: Engine, reach: Reach, session: str, project: ProjectId | None, user: str | None) -> MessageId:
    services = engine.services()
    services.sessions.create(reach, SessionFields(external_id=session, project=project, user_id=user))
    drafts = [Draft(role="user", content=SAID), Draft(role="assistant", content="A fine instrument.")]
    episode = services.record.episode(reach, session, *drafts)
    services.extraction.extract_now(reach, session)
    return episode.id


def test_a_reach_reads_its_own_pool_and_no_other(engine: Engine) -> None:
    """ISO-4, ISO-10: also a reach without a user, which covers every user's rows, reads only the part without one."""
    services = engine.services()
    tenant, _ = services.projects.create_tenant("Household")
    whole = Reach(tenant=tenant)
    garden, kitchen = (services.projects.create_project(whole, name).id for name in ("Garden", "Kitchen"))
    pools = {
        "garden-ada": (garden, "ada"),
        "garden-bob": (garden, "bob"),
        "garden-nobody": (garden, None),
        "kitchen-ada": (kitchen, "ada"),
    }
    episodes = {name: said_in(engine, whole, name, project, user) for name, (project, user) in pools.items()}
    said_in(engine, whole, "pool-ada", None, "ada")
    memories: dict[str, MemoryId] = {}
    for name in pools:
        (stored,) = services.memories.of_session(whole, name, limit=9)
        memories[name] = stored.memory.id
    entities = {
        name: services.entities.page(whole, project, user_id=user, limit=9)[0].id
        for name, (project, user) in pools.items()
    }
    reader = services.pool_reader
    for name, (project, user) in pools.items():
        reach = Reach(tenant=tenant, confined_to=project, user=user)
        assert [stored.memory.id for stored in reader.memories(reach, limit=9)] == [memories[name]]
        assert reader.memory(reach, memories[name]).session == name
        assert reader.entity(reach, entities[name]).name == "Anna"
        assert [each.message.content for each in reader.episode(reach, episodes[name])] == [SAID, "A fine instrument."]
        assert reader.session(reach, name).external_id == name
        for other in [*pools.keys() - {name}, "pool-ada"]:
            with pytest.raises(NotFound):
                reader.session(reach, other)
        for other in pools.keys() - {name}:
            with pytest.raises(NotFound):
                reader.memory(reach, memories[other])
            with pytest.raises(NotFound):
                reader.entity(reach, entities[other])
            with pytest.raises(NotFound):
                reader.episode(reach, episodes[other])


def test_a_message_in_the_middle_is_no_episode(engine: Engine) -> None:
    services = engine.services()
    tenant, project = services.projects.create_tenant("Household")
    opening = said_in(engine, Reach(tenant=tenant), "s", project, None)
    reach = Reach(tenant=tenant, confined_to=project)
    with pytest.raises(NotFound):
        services.pool_reader.episode(reach, MessageId(opening + 1))
    with pytest.raises(NotFound):
        services.pool_reader.episode(reach, MessageId((1 << 63) - 1))


def test_pages_of_a_pool_hold_each_memory_once(engine: Engine) -> None:
    services = engine.services()
    tenant, project = services.projects.create_tenant("Household")
    reach = Reach(tenant=tenant, confined_to=project)
    for session in ("one", "two"):
        services.sessions.create(reach, SessionFields(external_id=session, project=project))
        services.memories.add(reach, session, [f"Fact {number} of {session}." for number in range(7)])
    seen: list[str] = []
    after = None
    while page := services.pool_reader.memories(reach, limit=3, after=after):
        seen += [stored.memory.content for stored in page]
        after = (page[-1].memory.created_at, page[-1].memory.id)
    assert seen == [f"Fact {number} of {session}." for session in ("one", "two") for number in range(7)]


def test_a_reach_that_is_no_single_pool_is_refused(engine: Engine) -> None:
    services = engine.services()
    tenant, _ = services.projects.create_tenant("Household")
    with pytest.raises(ValueError, match="no single pool"):
        services.pool_reader.memories(Reach(tenant=tenant), limit=9)
