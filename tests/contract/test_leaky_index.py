"""An index that lies: it names other pools' messages, other tenants' and invented ones, above everything true (ISO-4).

Whatever it says, content is read back from storage under the asking session's own scope; the rest is counted and never shown.
"""

from dataclasses import dataclass

import pytest

from cloister.bootstrap import Services
from cloister.domain.conversation import Draft
from cloister.domain.identifiers import MessageId, message_id, new_session_id
from cloister.domain.scope import MemberVisibility, Reach
from cloister.services.conversations.sessions import SessionFields
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import EpisodeHit, SearchTarget
from support.databases.engines import Engine
from support.isolation.leaky_index import LeakyIndex


@dataclass(frozen=True, kw_only=True, slots=True)
class Town:
    """Two tenants; in each a session in every kind of place, all saying the same."""

    services: Services
    index: LeakyIndex
    reaches: tuple[Reach, Reach]
    said: dict[tuple[int, str], list[MessageId]]

    def foreign_to(self, name: str) -> list[int]:
        """Every message but those of this session, which has its pool to itself."""
        return [identity for key, ids in self.said.items() if key != (0, name) for identity in ids]


PLACES = {
    "shared ann": (None, "ann"),
    "shared bob": (None, "bob"),
    "shared nobody": (None, None),
    "garden": ("shared", "ann"),
    "cellar ann": ("private", "ann"),
    "cellar bob": ("private", "bob"),
}


@pytest.fixture
def town(engine: Engine) -> Town:
    index = LeakyIndex()
    services = engine.services(index=index)
    said: dict[tuple[int, str], list[MessageId]] = {}
    reaches: list[Reach] = []
    for number in (0, 1):
        reach = Reach(tenant=services.projects.create_tenant("Town")[0])
        reaches.append(reach)
        visibilities: tuple[MemberVisibility, ...] = ("shared", "private")
        projects = {
            one: services.projects.create_project(reach, "Same", one, allow_duplicate_name=True).id
            for one in visibilities
        }
        for name, (visibility, user) in PLACES.items():
            project = None if visibility is None else projects["shared" if visibility == "shared" else "private"]
            services.sessions.create(reach, SessionFields(external_id=name, project=project, user_id=user))
            drafts = [Draft(role="user", content="Roses?"), Draft(role="assistant", content="Water them.")]
            said[number, name] = [message.id for message in services.record.messages(reach, name, drafts).messages]
    return Town(services=services, index=index, reaches=(reaches[0], reaches[1]), said=said)


def asked(town: Town, name: str) -> tuple[list[int], list[int]]:
    """The ids that a context and a search of the first tenant's session show."""
    reach = town.reaches[0]
    context = town.services.context.build(
        reach, name, ContextRequest(question="roses water", recent_limit=0, semantic_limit=1_000, min_relevance=0)
    )
    found = town.services.search.search(reach, "roses water", SearchTarget(session=name), 200, min_relevance=0)
    hits = [hit for hit in found if isinstance(hit, EpisodeHit)]
    return (
        sorted(item.message.id for item in context.relevant_history),
        sorted({hit.item.message.id for hit in hits} | {hit.episode for hit in hits}),
    )


@pytest.mark.parametrize("name", PLACES)
def test_an_index_that_names_foreign_messages_shows_none_of_them(town: Town, name: str) -> None:
    """ISO-4: other pools of the same tenant and all of the other tenant, from every kind of place."""
    own = town.said[0, name]
    town.index.lies[:] = town.foreign_to(name)
    in_context, in_search = asked(town, name)
    assert in_context == own
    assert set(in_search) <= set(own)
    assert own[0] in in_search
    assert town.services.recall.foreign_hits == 2 * len(town.index.lies)


def test_an_index_that_invents_ids_shows_nothing(town: Town) -> None:
    """ISO-4: ids that no one has, ids out of any range, and ids beside real ones."""
    own = town.said[0, "garden"]
    session = own[0] >> 21
    invented = [message_id(new_session_id(), 1), 0, -1, (1 << 63) - 1, -(1 << 63), (session << 21) | 99, session << 21]
    town.index.lies[:] = invented
    in_context, in_search = asked(town, "garden")
    assert in_context == own
    assert set(in_search) <= set(own)
    assert town.services.recall.foreign_hits == 2 * len(invented)


def test_an_index_that_is_late_shows_nothing_that_was_forgotten_or_moved(town: Town) -> None:
    """ISO-5: what storage no longer has in the pool vanishes, whatever the index still believes."""
    reach = town.reaches[0]
    services = town.services
    services.sessions.create(reach, SessionFields(external_id="late", user_id="ann"))
    late = [
        message.id
        for message in services.record.messages(reach, "late", [Draft(role="user", content="Roses")]).messages
    ]
    town.index.lies[:] = [*late, *town.said[0, "shared bob"]]
    services.forgetting.session(reach, "late")
    in_context, in_search = asked(town, "shared ann")
    assert in_context == town.said[0, "shared ann"]
    assert set(in_search) <= set(in_context)


def test_an_honest_index_has_no_foreign_hits(town: Town) -> None:
    for name in PLACES:
        assert asked(town, name)[0] == town.said[0, name]
    assert town.services.recall.foreign_hits == 0


def test_a_lie_about_the_sessions_own_role_or_session_does_not_change_what_is_read(town: Town) -> None:
    """ISO-4: roles, sessions and content come from storage, not from the index."""
    own = town.said[0, "garden"]
    town.index.lies[:] = own
    context = town.services.context.build(
        town.reaches[0], "garden", ContextRequest(question="roses water", recent_limit=0, min_relevance=0)
    )
    assert sorted(item.message.id for item in context.relevant_history) == own
    assert {item.message.role for item in context.relevant_history} == {"user", "assistant"}
    assert {item.session for item in context.relevant_history} == {"garden"}
    assert town.services.recall.foreign_hits == 0
