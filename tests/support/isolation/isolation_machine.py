"""Anything in any order, by two Cloisters over the same data, compared after every question with a naive oracle."""

from itertools import count
from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from cloister.bootstrap import Services
from cloister.domain.context import Context, Method, Source
from cloister.domain.conversation import Draft, Role, Status
from cloister.domain.errors import CloisterError, Conflict, Forbidden, NotFound
from cloister.domain.identifiers import MessageId, ProjectId
from cloister.domain.scope import MemberVisibility, Reach
from cloister.services.conversations.sessions import SessionFields
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import HIGHEST_LIMIT, EpisodeHit, Hit, SearchTarget
from support.isolation.oracle import PAST_QUESTION, Conversation, Said, Tenant

EVERYTHING = 1_000
MOST_PROJECTS = 4
NAMES = ("first", "second", "third", "fourth", "fifth")
COMMON = ("roses", "the greenhouse needs water", PAST_QUESTION, "ann", "invoice 42")

house_numbers = st.integers(0, 1)
tenant_numbers = st.integers(0, 1)
names = st.sampled_from(NAMES)
users = st.sampled_from((None, "ann", "bob"))
roles = st.sampled_from(("user", "assistant", "user", "assistant", "system", "tool"))
statuses = st.sampled_from(("completed", "completed", "completed", "partial", "failed"))
places = st.integers(-1, MOST_PROJECTS)
drafts = st.tuples(roles, statuses, st.sampled_from(COMMON))
picks = st.integers(0, 1 << 16)


class IsolationMachine(RuleBasedStateMachine):
    """ISO-3, ISO-4, ISO-5, ISO-7, ISO-9, ISO-10, CTX-1, CTX-4, ORG-2, ORG-5, ORG-7."""

    houses: ClassVar[tuple[Services, Services]]
    steps: ClassVar[int] = 0
    questions: ClassVar[int] = 0

    @staticmethod
    def count_from_zero() -> None:
        """For the test of one engine: the numbers are those of all machines of the process."""
        IsolationMachine.steps = IsolationMachine.questions = 0

    def __init__(self) -> None:
        super().__init__()
        self.markers = count(1)
        self.comparisons = 0
        self.age = 0
        self.tenants = [self._new_tenant(), self._new_tenant()]

    def _new_tenant(self) -> Tenant:
        """A shared project, a private one, and three sessions that have spoken; the same in every tenant."""
        services = self.houses[0]
        identity, default = services.projects.create_tenant("same name")
        home = Tenant(reach=Reach(tenant=identity), default=default, projects={default: "shared"})
        services.projects.change_project(home.reach, default, member_visibility="shared")
        private = services.projects.create_project(home.reach, "Garden", "private").id
        home.projects[private] = "private"
        for name, project, user in (("first", None, "ann"), ("second", default, "bob"), ("third", private, "ann")):
            services.sessions.create(home.reach, SessionFields(external_id=name, project=project, user_id=user))
            home.conversations[name] = Conversation(name=name, project=project, user=user)
            self._say(services, home, home.conversations[name], self._drafts([ONE]))
        return home

    def _step(self, house: int, tenant: int) -> tuple[Services, Tenant]:
        IsolationMachine.steps += 1
        self.age += 1
        return self.houses[house], self.tenants[tenant]

    def _project(self, tenant: Tenant, place: int) -> ProjectId | None:
        """None, one that is there, or one that was deleted."""
        known = [*tenant.projects, *tenant.gone_projects]
        return None if place < 0 else known[place % len(known)]

    def _drafts(self, given: list[tuple[Role, Status, str]]) -> list[Draft]:
        return [
            Draft(role=role, status=status, content=f"marker{next(self.markers)} {words}")
            for role, status, words in given
        ]

    # What changes

    @rule(house=house_numbers, tenant=tenant_numbers, visibility=st.sampled_from(("shared", "private")))
    def create_project(self, house: int, tenant: int, visibility: MemberVisibility) -> None:
        services, home = self._step(house, tenant)
        if len(home.projects) < MOST_PROJECTS:
            home.projects[
                services.projects.create_project(home.reach, "Garden", visibility, allow_duplicate_name=True).id
            ] = visibility

    @rule(house=house_numbers, tenant=tenant_numbers, name=names, user=users, place=places)
    def create_session(self, house: int, tenant: int, name: str, user: str | None, place: int) -> None:
        services, home = self._step(house, tenant)
        project = self._project(home, place)
        fields = SessionFields(external_id=name, user_id=user, project=project)
        known = home.conversations.get(name)
        if known is not None and (known.project, known.user) != (project, user):
            refused(Conflict, lambda: services.sessions.create(home.reach, fields))
        elif known is None and project in home.gone_projects:
            refused(NotFound, lambda: services.sessions.create(home.reach, fields))
        else:
            session, is_new = services.sessions.create(home.reach, fields)
            assert is_new == (known is None)
            assert (session.project, session.user_id) == (project, user)
            home.conversations.setdefault(name, Conversation(name=name, project=project, user=user))

    @rule(house=house_numbers, tenant=tenant_numbers, name=names, given=st.lists(drafts, min_size=1, max_size=4))
    def record(self, house: int, tenant: int, name: str, given: list[tuple[Role, Status, str]]) -> None:
        services, home = self._step(house, tenant)
        made = self._drafts(given)
        if name not in home.conversations:
            refused(NotFound, lambda: services.record.messages(home.reach, name, made))
            return
        self._say(services, home, home.conversations[name], made)

    def _say(self, services: Services, home: Tenant, conversation: Conversation, made: list[Draft]) -> None:
        recorded = services.record.messages(home.reach, conversation.name, made).messages
        for message, draft in zip(recorded, made, strict=True):
            conversation.say(message.id, draft.role, draft.status, draft.content)
        conversation.count([(draft.role, draft.status) for draft in made])
        assert [message.episode for message in recorded] == [said.episode for said in conversation.said[-len(made) :]]

    @rule(tenant=tenant_numbers, name=names, draft=drafts)
    def record_once_though_both_try(self, tenant: int, name: str, draft: tuple[Role, Status, str]) -> None:
        _, home = self._step(0, tenant)
        if name not in home.conversations:
            return
        made = self._drafts([draft])
        key = f"key {next(self.markers)}"
        first, second = (
            services.record.messages(home.reach, name, made, idempotency_key=key).messages[0]
            for services in self.houses
        )
        assert first == second
        home.conversations[name].say(first.id, first.role, first.status, first.content)
        home.conversations[name].count([(first.role, first.status)])

    @rule(house=house_numbers, tenant=tenant_numbers, name=names, place=places)
    def move(self, house: int, tenant: int, name: str, place: int) -> None:
        services, home = self._step(house, tenant)
        project = self._project(home, place)
        if name not in home.conversations or project in home.gone_projects:
            refused(NotFound, lambda: services.sessions.move(home.reach, name, project))
            return
        assert services.sessions.move(home.reach, name, project).project == project
        home.conversations[name].project = project

    @rule(house=house_numbers, tenant=tenant_numbers, name=names)
    def delete_session(self, house: int, tenant: int, name: str) -> None:
        services, home = self._step(house, tenant)
        known = home.conversations.pop(name, None)
        if known is None:
            refused(NotFound, lambda: services.forgetting.session(home.reach, name))
            return
        gone = services.forgetting.session(home.reach, name)
        assert (gone.messages, gone.memories) == (len(known.everything), len(known.memories))
        home.clear(known)

    @rule(house=house_numbers, tenant=tenant_numbers, name=names)
    def clear_session(self, house: int, tenant: int, name: str) -> None:
        services, home = self._step(house, tenant)
        known = home.conversations.get(name)
        if known is None:
            refused(NotFound, lambda: services.forgetting.contents(home.reach, name))
            return
        gone = services.forgetting.contents(home.reach, name)
        episodes = {said.episode for said in known.everything}
        assert (gone.messages, gone.episodes) == (len(known.everything), len(episodes))
        assert gone.memories == len(known.memories)
        home.clear(known)

    @rule(house=house_numbers, tenant=tenant_numbers, pick=picks)
    def delete_message(self, house: int, tenant: int, pick: int) -> None:
        services, home = self._step(house, tenant)
        present = [(one, said.id) for one in home.conversations.values() for said in one.everything]
        if present:
            conversation, message = present[pick % len(present)]
            services.forgetting.message(home.reach, message)
            home.unsay(conversation, message)

    @rule(house=house_numbers, tenant=tenant_numbers, place=st.integers(0, MOST_PROJECTS))
    def delete_project(self, house: int, tenant: int, place: int) -> None:
        services, home = self._step(house, tenant)
        project = self._project(home, place)
        assert project is not None
        if project in home.gone_projects:
            refused(NotFound, lambda: services.projects.delete_project(home.reach, project))
        elif project == home.default:
            refused(Conflict, lambda: services.projects.delete_project(home.reach, project))
        else:
            memories = home.memories_of_project(project)
            moved = services.projects.delete_project(home.reach, project)
            assert (moved.sessions, moved.memories) == (home.drop_project(project), memories)

    @rule(house=house_numbers, tenant=tenant_numbers, place=st.integers(0, MOST_PROJECTS))
    def make_default(self, house: int, tenant: int, place: int) -> None:
        services, home = self._step(house, tenant)
        project = self._project(home, place)
        if project is not None and project in home.projects:
            assert services.projects.change_project(home.reach, project, is_default=True).is_default
            home.default = project

    # What must not work

    @rule(house=house_numbers, tenant=tenant_numbers, name=names, pick=picks)
    def reach_for_what_is_not_ours(self, house: int, tenant: int, name: str, pick: int) -> None:
        """Foreign and deleted ids do what missing ones do: nothing (ISO-4)."""
        services, home = self._step(house, tenant)
        other = self.tenants[1 - tenant]
        strangers = list(other.projects)
        project = strangers[pick % len(strangers)]
        fields = SessionFields(external_id=f"new {name}", project=project)
        refused(NotFound, lambda: services.sessions.create(home.reach, fields))
        refused(NotFound, lambda: services.sessions.move(home.reach, name, project))
        refused(NotFound, lambda: services.projects.change_project(home.reach, project, name="Mine"))
        refused(NotFound, lambda: services.projects.delete_project(home.reach, project))
        refused(NotFound, lambda: services.search.search(home.reach, "roses", SearchTarget(project=project), 10))
        foreign = [said.id for one in other.conversations.values() for said in one.everything] + home.gone_messages
        if foreign:
            refused(NotFound, lambda: services.forgetting.message(home.reach, foreign[pick % len(foreign)]))

    @rule(house=house_numbers, tenant=tenant_numbers, name=names, place=st.integers(0, MOST_PROJECTS))
    def reach_out_of_a_project(self, house: int, tenant: int, name: str, place: int) -> None:
        """A key confined to a project finds nothing outside it and takes nothing out of it (ISO-4, ORG-4)."""
        services, home = self._step(house, tenant)
        project = self._project(home, place)
        if project not in home.projects:
            return
        confined = Reach(tenant=home.reach.tenant, confined_to=project)
        listed = services.sessions.page(confined, limit=EVERYTHING)
        assert {session.external_id for session in listed} == {
            one.name for one in home.conversations.values() if one.project == project
        }
        conversation = home.conversations.get(name)
        if conversation is None or conversation.project != project:
            refused(NotFound, lambda: services.context.build(confined, name, ContextRequest(question="roses")))
            refused(NotFound, lambda: services.search.search(confined, "roses", SearchTarget(session=name), 10))
            refused(NotFound, lambda: services.record.messages(confined, name, self._drafts([ONE])))
            refused(NotFound, lambda: services.forgetting.session(confined, name))
            if conversation is not None and conversation.said:
                refused(NotFound, lambda: services.forgetting.message(confined, conversation.said[0].id))
        else:
            self._compare(services, home, conversation, "roses", 2, confined)
            refused(Forbidden, lambda: services.sessions.move(confined, name, None))

    # Questions

    @rule(house=house_numbers, tenant=tenant_numbers, name=names, recent=st.integers(0, 3), pick=picks)
    def recall(self, house: int, tenant: int, name: str, recent: int, pick: int) -> None:
        services, home = self._step(house, tenant)
        conversation = home.conversations.get(name)
        if conversation is None:
            refused(NotFound, lambda: services.context.build(home.reach, name, ContextRequest(question="roses")))
        else:
            self._compare(services, home, conversation, self._question(pick), recent, home.reach)

    @invariant()
    def everything_is_where_it_belongs(self) -> None:
        """One house asks after every fourth step, the other after every seventh: each has several changes to catch up with. One
        session of each tenant asks, in turn; all of them do at every 28th step, by both houses, and at the end."""
        for services, pause in zip(self.houses, (4, 7), strict=True):
            if self.age % pause == 0:
                self._compare_some(services, pick=self.age, recent=self.age % 4, everything=self.age % 28 == 0)

    @invariant()
    def everything_is_counted(self) -> None:
        """ORG-2, ORG-7: by either house, in turns."""
        organise = self.houses[self.age % 2].projects
        for home in self.tenants:
            usage = organise.usage(home.reach)
            assert (usage.messages, usage.sessions, usage.projects) == home.usage
            assert organise.default_project(home.reach) == home.default

    def _compare_some(self, services: Services, *, pick: int, recent: int, everything: bool) -> None:
        self.comparisons += 1
        for home in self.tenants:
            asking = list(home.conversations.values())
            if asking and not everything:
                asking = [asking[self.comparisons % len(asking)]]
            for conversation in asking:
                self._compare(services, home, conversation, self._question(pick), recent, home.reach)

    def teardown(self) -> None:
        """At the end both houses know all of it, and no index ever named what was not in the pool."""
        for services in self.houses:
            for home in self.tenants:
                for conversation in home.conversations.values():
                    self._compare(services, home, conversation, "roses", 20, home.reach)
                    session, page = services.sessions.messages(home.reach, conversation.name, limit=EVERYTHING)
                    assert [(message.id, message.content) for message in page] == [
                        (said.id, home.shown(conversation, said)) for said in conversation.said
                    ]
                    assert session.message_count == len(conversation.everything)
                    assert (session.leaf, session.is_forked) == (conversation.leaf, bool(conversation.aside))
                    _, every = services.sessions.messages(
                        home.reach, conversation.name, limit=EVERYTHING, all_branches=True
                    )
                    current = {said.id for said in conversation.said}
                    assert [(message.id, message.parent, message.is_current) for message in every] == [
                        (said.id, conversation.parents[said.id], said.id in current) for said in conversation.everything
                    ]
                listed = services.projects.projects(home.reach, limit=EVERYTHING)
                assert {project.id: project.member_visibility for project in listed} == home.projects
                assert [project.id for project in listed if project.is_default] == [home.default]
            assert services.recall.foreign_hits == 0

    def _question(self, pick: int) -> str:
        """Common words, or a word that stands in one message of any tenant."""
        markers = [
            said.content.partition(" ")[0]
            for home in self.tenants
            for conversation in home.conversations.values()
            for said in conversation.everything
        ]
        return [*COMMON, *markers][pick % (len(COMMON) + len(markers))]

    def _compare(
        self, services: Services, home: Tenant, asking: Conversation, question: str, recent: int, reach: Reach
    ) -> None:
        IsolationMachine.questions += 1
        pool = {said.id: (one.name, said) for one, said in home.pool(asking)}
        expected = asking.recent(recent)
        context = self._context(services, asking, question, recent, reach)
        current = [item.message.id for item in context.current_conversation]
        relevant = [item.message.id for item in context.relevant_history]
        spoken = {one for one, (_, said) in pool.items() if said.role in ("user", "assistant")}
        assert current == expected
        assert sorted(relevant) == sorted(spoken - set(expected))
        self._contents_are_true(home, context, asking, pool)

        if self.questions % 3 == 0:
            request = ContextRequest(question=question, sources=POOL_SOURCES, min_relevance=0)
            everything = services.context.build(reach, asking.name, request)
            assert {item.message.id for item in everything.relevant_history} == set(pool)
            assert everything.current_conversation == ()
        hits = self._searched(services, asking, question, reach)
        episodes = [hit for hit in hits if isinstance(hit, EpisodeHit)]
        assert sorted(hit.episode for hit in episodes) == sorted({said.episode for _, said in pool.values()})
        assert {hit.item.message.id for hit in episodes} <= set(pool)
        self._compare_derived(services, home, asking, question, reach, context, hits)

    def _context(self, services: Services, asking: Conversation, question: str, recent: int, reach: Reach) -> Context:
        request = ContextRequest(question=question, recent_limit=recent, semantic_limit=EVERYTHING, min_relevance=0)
        return services.context.build(reach, asking.name, request)

    def _searched(self, services: Services, asking: Conversation, question: str, reach: Reach) -> list[Hit]:
        """All hits of all kinds, by the session and by its project and user in turn: both are the same pool."""
        of_session = self.questions % 2 == 0
        target = SearchTarget(session=asking.name) if of_session else scope_of(asking)
        return [
            hit
            for kinds in (["episodes"], ["memories", "entities"])
            for hit in services.search.search(reach, question, target, HIGHEST_LIMIT, kinds, min_relevance=0)
        ]

    def _compare_derived(
        self,
        services: Services,
        home: Tenant,
        asking: Conversation,
        question: str,
        reach: Reach,
        context: Context,
        hits: list[Hit],
    ) -> None:
        """For machines that derive."""

    def _contents_are_true(
        self, home: Tenant, context: Context, asking: Conversation, pool: dict[MessageId, tuple[str, Said]]
    ) -> None:
        own = {said.id: (asking.name, said) for said in asking.said}
        for item in context.chat_history:
            is_own = item.source == "session"
            session, said = own[item.message.id] if is_own else pool[item.message.id]
            words = home.shown(asking, said) if is_own else said.content
            assert (item.session, item.message.content, item.message.role) == (session, words, said.role)


ONE: tuple[Role, Status, str] = ("user", "completed", "roses")
POOL_METHODS: tuple[tuple[Role, Method], ...] = (
    ("user", "recent"),
    ("assistant", "semantic"),
    ("system", "semantic"),
    ("tool", "recent"),
)
POOL_SOURCES = [
    Source(role=role, method=method, limit=EVERYTHING, conversation_scope="pool") for role, method in POOL_METHODS
]


def scope_of(asking: Conversation) -> SearchTarget:
    return SearchTarget(project=asking.project, user_id=asking.user)


def refused(kind: type[CloisterError], call: Any) -> None:
    with pytest.raises(kind):
        call()
