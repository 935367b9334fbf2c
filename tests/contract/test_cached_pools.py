"""What recall keeps of pools in memory: nothing of an empty one, all under one limit, and the same answers after eviction."""

import pytest

from cloister.bootstrap import Services
from cloister.domain.conversation import Draft
from cloister.domain.scope import Reach
from cloister.index.exact.index import LARGE, ExactIndex
from cloister.services.conversations.sessions import SessionFields
from cloister.services.recall.build_context import ContextRequest
from support.databases.engines import EMBEDDER, Engine, exact_index

USERS = [f"user {number}" for number in range(12)]


def settle(services: Services) -> Reach:
    """Twelve users of a private project, with the same words but for one."""
    reach = Reach(tenant=services.projects.create_tenant("House")[0])
    project = services.projects.create_project(reach, "Garden").id
    for user in USERS:
        fields = SessionFields(external_id=f"{user}: roses", project=project, user_id=user)
        services.sessions.create(reach, fields)
        services.sessions.create(reach, SessionFields(external_id=f"{user}: new", project=project, user_id=user))
        said = [f"The roses of {user} want water, day {day}" for day in range(20)]
        drafts = [Draft(role="user", content=content) for content in said]
        services.record.messages(reach, f"{user}: roses", drafts)
    return reach


def recalled(services: Services, reach: Reach, session: str) -> list[tuple[str, float | None]]:
    request = ContextRequest(question="Do the roses want water?", min_relevance=0)
    context = services.context.build(reach, session, request)
    return [(item.message.content, item.relevance) for item in context.relevant_history]


@pytest.mark.parametrize("large", [1, LARGE])
def test_answers_are_the_same_after_eviction_and_the_cache_stays_under_its_limit(engine: Engine, large: int) -> None:
    """OPS-7, ISO-4: with room for a few pools, and asked in turn, every block is made anew again and again."""
    index = ExactIndex(EMBEDDER.embed_query, EMBEDDER.dimension, 150_000, large)
    few, many = engine.services(index=index), engine.services(index=exact_index(large=large))
    reach = settle(few)
    for round in range(3):
        for user in USERS:
            found = recalled(few, reach, f"{user}: new")
            assert found == recalled(many, reach, f"{user}: new")
            assert found
            assert all(user in content.replace(",", "").split("of ")[1] for content, _ in found)
            assert 0 < index.cache.nbytes <= 150_000
            more = [Draft(role="user", content=f"The roses of {user} want water, week {round}")]
            few.record.messages(reach, f"{user}: roses", more)
    assert many.index.cache.nbytes > 150_000


def test_a_pool_without_messages_has_no_entry(engine: Engine) -> None:
    """OPS-7: new users cost nothing until they say something, and nothing again after they have cleared it."""
    services = engine.services(index=exact_index())
    reach = Reach(tenant=services.projects.create_tenant("House")[0])
    project = services.projects.create_project(reach, "Garden").id
    for user in USERS:
        services.sessions.create(reach, SessionFields(external_id=user, project=project, user_id=user))
        assert recalled(services, reach, user) == []
    assert (len(services.index.cache), services.index.cache.nbytes) == (0, 0)
    services.sessions.create(reach, SessionFields(external_id="other", project=project, user_id=USERS[0]))
    services.record.messages(reach, "other", [Draft(role="user", content="The roses want water")])
    assert [content for content, _ in recalled(services, reach, USERS[0])] == ["The roses want water"]
    assert services.index.cache.nbytes > 0
    services.forgetting.contents(reach, "other")
    assert recalled(services, reach, USERS[0]) == []
    assert (len(services.index.cache), services.index.cache.nbytes) == (0, 0)
