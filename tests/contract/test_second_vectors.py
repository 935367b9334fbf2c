"""Vectors of an additional embedder: they stay in their pool and go with their messages, whatever happens while they are made
(CTX-10)."""

from collections.abc import Callable

import numpy as np
import pytest

from cloister.bootstrap import Services
from cloister.domain.conversation import Draft
from cloister.domain.errors import ModelUnavailable
from cloister.domain.identifiers import MessageId, ProjectId, TenantId
from cloister.domain.scope import Reach, Scope
from cloister.services.conversations.record import RecordRequest
from cloister.services.conversations.sessions import SessionFields
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import EpisodeHit, SearchTarget
from cloister.services.recall.snapshot import read_snapshot
from cloister.storage.interface import Transaction
from cloister.storage.stores.pools import PoolStore
from support.databases.engines import Engine, at_once
from support.samples.additional_embedder import Synonyms
from support.setups.memories import SteppingClock

FILLER = [f"The weather report of day {number} mentions rain and wind." for number in range(12)]
VECTORS = "SELECT message_id, model_id FROM message_vector ORDER BY message_id, model_id"


class Pools:
    """A tenant with sessions in two projects; `embedder` is what its Cloister is configured with."""

    def __init__(self, engine: Engine, embedder: Synonyms, tenant: TenantId | None = None) -> None:
        self.clock = SteppingClock()
        self.embedder = embedder
        self.services: Services = engine.services(additional_embedder=embedder, clock=self.clock)
        assert self.services.vectors is not None
        self.vectors = self.services.vectors
        self.reach = Reach(tenant=tenant or self.services.projects.create_tenant("Pools")[0])
        self.projects: dict[str, ProjectId] = {}
        self.sessions: set[str] = set()

    def project(self, name: str) -> ProjectId:
        if name not in self.projects:
            self.projects[name] = self.services.projects.create_project(self.reach, name).id
        return self.projects[name]

    def say(self, session: str, project: str, *words: str) -> None:
        if session not in self.sessions:
            fields = SessionFields(external_id=session, project=self.project(project))
            self.services.sessions.create(self.reach, fields)
            self.sessions.add(session)
        self.services.record.messages(self.reach, session, [Draft(role="user", content=word) for word in words])

    def found(self, project: str, question: str, limit: int = 1) -> list[str]:
        target = SearchTarget(project=self.project(project))
        hits = self.services.search.search(self.reach, question, target, limit, ["episodes"])
        return [hit.item.message.content for hit in hits if isinstance(hit, EpisodeHit)]

    def meant(self, project: str, question: str) -> str | None:
        """The message of the pool that is close to the question by the additional embedder, if any is."""
        additional, generation = self.services.recall.additional, self.services.record.generation
        assert additional is not None
        vector = additional.query_vector(self.reach, question)
        assert vector is not None
        scope = Scope(tenant=self.reach.tenant, project=self.project(project), user=None)

        def work(transaction: Transaction) -> str | None:
            rows = PoolStore(transaction, generation).rows(scope)
            assert rows is not None
            ids = self.services.index.within(rows).evidence(question, 0).ids
            found = additional.similarities(transaction, rows.pool, ids, vector)
            if found is None or not np.nanmax(found.windowed) > 0.5:
                return None
            (message,) = rows.messages([MessageId(int(ids[np.nanargmax(found.windowed)]))]).values()
            return message.message.content

        return read_snapshot(self.services.database, self.reach, work)

    def vector_count(self, engine: Engine) -> int:
        return len(engine.rows(f"SELECT 1 FROM message_vector WHERE tenant_id = {self.reach.tenant:d}"))


@pytest.fixture
def pools(engine: Engine) -> Pools:
    return Pools(engine, Synonyms())


SECRET = "The zorblat is under the stairs."


def filled(pools: Pools, project: str = "garden", session: str = "garden") -> None:
    pools.say(session, project, *FILLER[:6])
    pools.say(session, project, SECRET)
    pools.say(f"{session} 2", project, *FILLER[6:])


def test_a_new_message_is_found_at_once_and_by_its_meaning_once_it_is_embedded(pools: Pools) -> None:
    filled(pools)
    assert pools.found("garden", "zorblat") == [SECRET]
    assert pools.meant("garden", "quimble") is None
    assert pools.vectors.waiting() == 13
    assert pools.vectors.drain() == 13
    assert pools.meant("garden", "quimble") == SECRET
    assert pools.vectors.waiting() == 0
    pools.say("garden", "garden", "The frestig is in the cellar.")
    assert pools.found("garden", "frestig") == ["The frestig is in the cellar."]
    assert pools.meant("garden", "ombrax") is None
    assert pools.vectors.drain() == 1
    assert pools.meant("garden", "ombrax") == "The frestig is in the cellar."
    assert len(pools.embedder.seen) == 14


def test_vectors_of_one_pool_are_never_used_in_another(engine: Engine, pools: Pools) -> None:
    """ISO-4: the same words under the same names in two pools and two tenants."""
    other = Pools(engine, Synonyms())
    for each in (pools, other):
        filled(each)
        each.say("cellar", "cellar", *FILLER)
    pools.vectors.drain()
    assert pools.meant("garden", "quimble") == other.meant("garden", "quimble") == SECRET
    assert pools.meant("cellar", "quimble") is None
    other.services.forgetting.session(other.reach, "garden")
    assert other.meant("garden", "quimble") is None
    assert pools.meant("garden", "quimble") == SECRET
    assert pools.vector_count(engine) == 25
    assert other.vector_count(engine) == 18


def test_a_session_that_moves_takes_its_vectors_along(pools: Pools) -> None:
    filled(pools)
    pools.say("cellar", "cellar", *FILLER)
    pools.vectors.drain()
    assert pools.meant("garden", "quimble") == SECRET
    assert pools.meant("cellar", "quimble") is None
    pools.services.sessions.move(pools.reach, "garden", pools.project("cellar"))
    assert pools.meant("cellar", "quimble") == SECRET
    assert pools.meant("garden", "quimble") is None
    assert pools.vectors.drain() == 0
    assert len(pools.embedder.seen) == 25


def test_a_session_that_moves_while_it_is_embedded_is_found_where_it_is(pools: Pools) -> None:
    filled(pools)
    pools.say("cellar", "cellar", *FILLER)
    assert pools.meant("garden", "quimble") is None
    assert pools.meant("cellar", "quimble") is None
    pools.embedder.meanwhile = lambda: pools.services.sessions.move(pools.reach, "garden", pools.project("cellar"))
    pools.vectors.drain()
    assert pools.meant("cellar", "quimble") == SECRET
    assert pools.meant("garden", "quimble") is None
    assert pools.vectors.waiting() == 0


def forget_session(pools: Pools) -> object:
    return pools.services.forgetting.session(pools.reach, "garden")


def forget_contents(pools: Pools) -> object:
    return pools.services.forgetting.contents(pools.reach, "garden")


def erase_tenant(pools: Pools) -> object:
    return pools.services.tenants.erase(pools.reach.tenant)


@pytest.mark.parametrize(
    ("forget", "left"),
    [(forget_session, 6), (forget_contents, 6), (erase_tenant, 0)],
    ids=["session", "contents", "tenant"],
)
@pytest.mark.parametrize("embedded_before", [True, False])
def test_a_vector_goes_with_its_message_and_is_never_made_for_one_that_is_gone(
    engine: Engine, pools: Pools, forget: Callable[[Pools], object], left: int, embedded_before: bool
) -> None:
    filled(pools)
    if embedded_before:
        pools.vectors.drain()
        assert pools.vector_count(engine) == 13
        forget(pools)
        assert pools.vector_count(engine) == left
    else:
        pools.embedder.meanwhile = lambda: forget(pools)
    pools.vectors.drain()
    assert pools.vector_count(engine) == left
    assert pools.vectors.waiting() == 0


def test_a_message_that_is_deleted_while_it_is_embedded_gets_no_vector(engine: Engine, pools: Pools) -> None:
    filled(pools)
    (hit,) = pools.services.search.search(
        pools.reach, "zorblat", SearchTarget(project=pools.project("garden")), 1, ["episodes"]
    )
    assert isinstance(hit, EpisodeHit)
    pools.embedder.meanwhile = lambda: pools.services.forgetting.message(pools.reach, hit.item.message.id)
    pools.vectors.drain()
    assert pools.vector_count(engine) == 12
    assert pools.meant("garden", "quimble") is None


def test_messages_recorded_while_others_are_embedded_follow(pools: Pools) -> None:
    filled(pools)
    pools.embedder.meanwhile = lambda: pools.say("garden", "garden", "The trellop is in the well.")
    pools.vectors.drain()
    assert pools.vectors.waiting() == 0
    assert pools.meant("garden", "vastun") == "The trellop is in the well."


def test_many_sessions_of_one_version_are_all_embedded(pools: Pools) -> None:
    """More messages than a batch, in sessions that changed with the same version of the pool."""
    for number in range(30):
        fields = SessionFields(external_id=f"s{number}", project=pools.project("garden"))
        pools.services.sessions.create(pools.reach, fields)
    drafts = [Draft(role="user", content=f"{FILLER[number % 12]} {number}") for number in range(7)]
    requests = [RecordRequest(reach=pools.reach, session=f"s{number}", drafts=drafts) for number in range(30)]
    assert not [answer for answer in pools.services.record.all(requests) if isinstance(answer, BaseException)]
    assert pools.vectors.waiting() == 210
    assert pools.vectors.drain() == 210
    assert len(pools.embedder.seen) == 210
    assert pools.vectors.waiting() == 0


def test_two_processes_embed_nothing_twice(engine: Engine, pools: Pools) -> None:
    other = Pools(engine, Synonyms(), pools.reach.tenant)
    for number in range(6):
        pools.say(f"s{number}", f"project {number}", *FILLER)
    at_once(lambda number: (pools, other)[number].vectors.drain(), 2)
    for each in (pools, other):
        each.vectors.drain()
    assert len(pools.embedder.seen) + len(other.embedder.seen) == 72
    assert pools.vectors.waiting() == 0


def test_a_process_that_died_while_it_embedded_is_replaced_when_its_lease_ends(engine: Engine, pools: Pools) -> None:
    class Killed(BaseException):
        """As if the process were gone: nothing is released."""

    filled(pools)
    dying = Pools(engine, Synonyms(), pools.reach.tenant)

    def die() -> None:
        dying.services.database.close()
        raise Killed

    dying.embedder.meanwhile = die
    with pytest.raises((Killed, Exception)):
        dying.vectors.drain()
    assert pools.vector_count(engine) == 0
    assert pools.vectors.drain() == 0, "the lease is not over"
    pools.clock.moment += 61_000_000
    assert pools.vectors.drain() == 13
    assert pools.meant("garden", "quimble") == SECRET


def test_an_embedder_that_is_down_delays_nothing_and_loses_nothing(pools: Pools) -> None:
    pools.embedder.down = True
    filled(pools)
    with pytest.raises(ModelUnavailable):
        pools.vectors.drain()
    assert pools.vectors.failures == 1
    assert pools.found("garden", "zorblat") == [SECRET]
    assert pools.vectors.waiting() == 13
    assert "cannot be reached" in (pools.services.health.health().embedder_problem or "")
    pools.embedder.down = False
    assert pools.vectors.drain() == 13
    assert pools.services.health.health().embedder_problem is None


def test_a_text_that_the_embedder_refuses_does_not_stop_the_others(pools: Pools) -> None:
    pools.embedder.refused = ("weather report of day 3 ",)
    filled(pools)
    assert pools.vectors.drain() == 13
    assert pools.vectors.waiting() == 0
    assert pools.meant("garden", "quimble") == SECRET
    assert FILLER[3] in pools.found("garden", "weather report of day 3", 20)


def test_quoted_text_is_not_sent_to_the_embedder(pools: Pools) -> None:
    """ISO-12: recalled text stays in its pool."""
    quoted = "<recalled-memory>\nThe ploveth is in the attic.\n</recalled-memory>\nThanks."
    pools.say("garden", "garden", quoted)
    pools.vectors.drain()
    assert pools.embedder.seen == ["Thanks."]


def test_vectors_of_another_model_are_never_compared_and_go_when_the_new_ones_are_complete(
    engine: Engine, pools: Pools
) -> None:
    filled(pools)
    pools.vectors.drain()
    changed = Pools(engine, Synonyms(name="synonyms/2", dimension=16), pools.reach.tenant)
    changed.projects = pools.projects
    assert changed.vectors.waiting() == 13
    assert changed.meant("garden", "quimble") is None
    assert changed.found("garden", "zorblat") == [SECRET]
    assert pools.meant("garden", "quimble") == SECRET, "the old model still answers where it is configured"
    changed.vectors.remove_unused(at_once=True)
    assert pools.vector_count(engine) == 13, "the new vectors are not complete"
    changed.vectors.drain()
    assert changed.meant("garden", "quimble") == SECRET
    assert pools.vector_count(engine) == 26
    changed.vectors.remove_unused()
    assert pools.vector_count(engine) == 26, "another process used the old model a moment ago"
    changed.clock.moment += 3_700 * 1_000_000
    changed.vectors.remove_unused()
    assert pools.vector_count(engine) == 13
    assert engine.rows("SELECT name FROM embedding_model") == [("synonyms/2",)]
    assert changed.meant("garden", "quimble") == SECRET


def test_another_dimension_under_the_same_name_is_refused_until_everything_is_rebuilt(
    engine: Engine, pools: Pools
) -> None:
    filled(pools)
    pools.vectors.drain()
    replaced = Pools(engine, Synonyms(dimension=16), pools.reach.tenant)
    replaced.projects, replaced.sessions = pools.projects, pools.sessions
    replaced.say("garden", "garden", "The trellop is in the well.")
    with pytest.raises(ModelUnavailable, match="16 numbers, and those stored under its name have 8"):
        replaced.vectors.drain()
    assert replaced.meant("garden", "quimble") is None
    assert replaced.found("garden", "zorblat") == [SECRET]
    replaced.services.reindex.run(everything=True)
    assert replaced.meant("garden", "quimble") == SECRET
    assert replaced.meant("garden", "vastun") == "The trellop is in the well."
    assert pools.found("garden", "zorblat") == [SECRET]


def test_questions_are_answered_while_the_model_is_changed_and_messages_come_and_go(
    engine: Engine, pools: Pools
) -> None:
    filled(pools)
    pools.vectors.drain()
    changed = Pools(engine, Synonyms(name="synonyms/2", dimension=16), pools.reach.tenant)
    changed.projects = pools.projects

    def work(number: int) -> list[list[str]]:
        if number == 0:
            changed.vectors.drain()
            return []
        if number == 1:
            for each in range(10):
                pools.say("more", "garden", f"Note {each}.")
            pools.services.forgetting.session(pools.reach, "garden 2")
            return []
        asked = pools if number == 2 else changed
        return [asked.found("garden", "where is the zorblat") for _ in range(20)]

    pools.say("more", "garden", "A note.")
    answers = [answer for answers in at_once(work, 4) for answer in answers]
    assert answers == [[SECRET]] * 40
    changed.vectors.drain()
    assert changed.meant("garden", "quimble") == SECRET


def test_a_context_uses_the_vector_of_the_session_s_last_question_too(pools: Pools) -> None:
    filled(pools)
    pools.vectors.drain()
    pools.say("ask", "garden", "quimble")
    given = pools.services.context.build(pools.reach, "ask", ContextRequest(semantic_limit=1))
    assert SECRET in [item.message.content for item in given.relevant_history]
    assert pools.embedder.asked == ["quimble"]
    pools.services.context.build(pools.reach, "ask", ContextRequest(question="vastun", semantic_limit=0))
    assert pools.embedder.asked == ["quimble"]
