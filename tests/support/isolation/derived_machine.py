"""The isolation machine with all that derives: memories, entities and notes, which must never be wider than what was said.

Facts are planted in sentences that the rules understand, each with a number of its own; wherever one shows, the oracle says whether
it may.
"""

import re
import time
from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.stateful import rule

from cloister.bootstrap import Services
from cloister.domain.context import Context
from cloister.domain.conversation import Draft
from cloister.domain.entity import Entity
from cloister.domain.errors import InvalidRequest, NotFound
from cloister.domain.identifiers import EntityId, MemoryId, MessageId, ProjectId
from cloister.domain.observation import StoredObservation
from cloister.domain.scope import Reach
from cloister.domain.timestamps import now
from cloister.services.conversations.sessions import SessionFields
from cloister.services.memories.corrections import MemoryChange
from cloister.services.recall.search import HIGHEST_LIMIT, EntityHit, Hit, MemoryHit
from cloister.services.recall.validity import MOST_PINNED
from cloister.storage.stores.sessions import SessionStore
from support.isolation.isolation_machine import (
    MOST_PROJECTS,
    IsolationMachine,
    house_numbers,
    names,
    picks,
    refused,
    tenant_numbers,
    users,
)
from support.isolation.oracle import Conversation, Kept, Tenant
from support.setups.extraction import run_due

MOST_RECALLED = 10
MOST_NOTES = 20
NUMBER = re.compile(r"(?:marker|Xandor|hand)(\d+)")
USERS = ("ann", "bob", None)
changes = st.sampled_from(("correct", "pin", "unpin", "retract", "retract and restore", "expire"))


class DerivedMachine(IsolationMachine):
    """ISO-4, ISO-6, ISO-10, MEM-3, MEM-8, MEM-9, MEM-12, MEM-13, TAB-7, ORG-1, ORG-5."""

    def _new_tenant(self) -> Tenant:
        """With memories, entities and notes in every kind of place, and two users in the private project, of whom one said
        something elsewhere before, which is read only now (ISO-6)."""
        services, home = self.houses[0], super()._new_tenant()
        private = home.conversations["third"].project
        assert private is not None
        services.sessions.create(home.reach, SessionFields(external_id="fourth", project=home.default, user_id="bob"))
        home.conversations["fourth"] = fourth = Conversation(name="fourth", project=home.default, user="bob")
        self._plant(services, home, fourth, 1)
        services.sessions.move(home.reach, "fourth", private)
        fourth.project = private
        services.projects.change_project(home.reach, private, settings={"observation_scope": "user"})
        home.shares_notes.add(private)
        for conversation in home.conversations.values():
            for _ in range(2):
                self._plant(services, home, conversation, 3)
            services.extraction.extract_now(home.reach, conversation.name)
            home.extract(conversation)
        return home

    def _plant(self, services: Services, home: Tenant, conversation: Conversation, facts: int) -> None:
        sentences = [f"My brother Xandor{next(self.markers)} works at Zentrix." for _ in range(facts)]
        made = [Draft(role="user", content=content) for content in sentences]
        self._say(
            services,
            home,
            conversation,
            [*made, Draft(role="assistant", content=f"I see, marker{next(self.markers)}.")],
        )

    @rule(house=house_numbers, tenant=tenant_numbers, name=names, facts=st.integers(1, 4))
    def plant(self, house: int, tenant: int, name: str, facts: int) -> None:
        services, home = self._step(house, tenant)
        conversation = home.conversations.get(name)
        if conversation is not None:
            self._plant(services, home, conversation, facts)

    @rule(house=house_numbers, tenant=tenant_numbers, name=names)
    def extract(self, house: int, tenant: int, name: str) -> None:
        services, home = self._step(house, tenant)
        conversation = home.conversations.get(name)
        if conversation is None:
            refused(NotFound, lambda: services.extraction.extract_now(home.reach, name))
            return
        unchecked, known = len(conversation.unchecked), len(conversation.memories)
        extracted = services.extraction.extract_now(home.reach, name)
        home.extract(conversation)
        assert (extracted.checked_messages, extracted.memories) == (unchecked, len(conversation.memories) - known)

    @rule(house=house_numbers)
    def work_through_what_is_due(self, house: int) -> None:
        """Everyone's, also what earlier runs of this machine left behind."""
        services, _ = self._step(house, 0)
        due = [(home, one) for home in self.tenants for one in home.conversations.values() if one.is_pending]
        done = 0
        while more := run_due(services):
            done += more
        assert done >= len(due)
        for home, conversation in due:
            home.extract(conversation)

    @rule(house=house_numbers, tenant=tenant_numbers, name=names)
    def remember_by_hand(self, house: int, tenant: int, name: str) -> None:
        services, home = self._step(house, tenant)
        content = f"Written by hand{next(self.markers)}."
        if name not in home.conversations:
            refused(NotFound, lambda: services.memories.add(home.reach, name, [content]))
            return
        services.memories.add(home.reach, name, [content, content.upper()])
        home.conversations[name].memories[content] = None

    @rule(house=house_numbers, tenant=tenant_numbers, name=names)
    def move_house(self, house: int, tenant: int, name: str) -> None:
        """MEM-12: where somebody lives now takes the place of where they lived."""
        services, home = self._step(house, tenant)
        number = next(self.markers)
        content = f"The user lives in hand{number}."
        if name in home.conversations:
            services.memories.add(home.reach, name, [content])
            home.conversations[name].memories[content] = None
            home.conversations[name].kept[content] = Kept(home=number)

    @rule(house=house_numbers, tenant=tenant_numbers, name=names, pick=picks, how=changes)
    def change_memory(self, house: int, tenant: int, name: str, pick: int, how: str) -> None:
        """MEM-13: correct, pin, retract and undo, or let one expire."""
        services, home = self._step(house, tenant)
        conversation = home.conversations.get(name)
        if conversation is None or not conversation.memories:
            return
        stored = services.memories.of_session(home.reach, name, limit=HIGHEST_LIMIT)
        memory = stored[pick % len(stored)].memory
        kept, corrections = conversation.kept[memory.content], services.corrections
        if how not in ("pin", "unpin"):
            home.withdrawn.add(memory.content)
        match how:
            case "correct":
                content = f"Written by hand{next(self.markers)}."
                change = MemoryChange(given=frozenset({"content"}), content=content)
                corrections.correct(home.reach, memory.id, change, by=None)
                conversation.memories[content] = conversation.memories.pop(memory.content)
                kept = conversation.kept[content] = replace(conversation.kept.pop(memory.content), home=None)
                conversation.corrected.add(memory.content)
            case "pin" | "unpin":
                change = MemoryChange(given=frozenset({"pinned"}), pinned=how == "pin")
                corrections.correct(home.reach, memory.id, change, by=None)
                kept.is_pinned = how == "pin"
            case "retract":
                corrections.retract(home.reach, memory.id, by=None)
                kept.is_retracted = True
            case "retract and restore":
                if not kept.is_retracted:
                    corrections.retract(home.reach, memory.id, by=None)
                    assert corrections.restore(home.reach, memory.id, by=None).memory == memory
            case _:
                expire(services, home, memory.id)
                kept.is_expired = True
        kept.is_changed = bool(corrections.history(home.reach, memory.id, limit=1))

    @rule(house=house_numbers, tenant=tenant_numbers, name=names, pick=picks)
    def forget_memory(self, house: int, tenant: int, name: str, pick: int) -> None:
        services, home = self._step(house, tenant)
        conversation = home.conversations.get(name)
        if conversation is None or not conversation.memories:
            return
        stored = services.memories.of_session(home.reach, name, limit=HIGHEST_LIMIT)
        chosen = stored[pick % len(stored)].memory
        services.memories.forget(home.reach, chosen.id)
        home.withdrawn.add(chosen.content)
        del conversation.memories[chosen.content]
        conversation.settled = last_recorded(services, home, name)
        refused(NotFound, lambda: services.memories.forget(home.reach, chosen.id))

    @rule(house=house_numbers, tenant=tenant_numbers, place=st.integers(0, MOST_PROJECTS), of_user=st.booleans())
    def change_observation_scope(self, house: int, tenant: int, place: int, of_user: bool) -> None:
        services, home = self._step(house, tenant)
        project = self._project(home, place)
        if project is not None and project in home.projects:
            settings = {"observation_scope": "user" if of_user else "session"}
            services.projects.change_project(home.reach, project, settings=settings)
            (home.shares_notes.add if of_user else home.shares_notes.discard)(project)

    @rule(house=house_numbers, tenant=tenant_numbers, user=users, pick=picks, place=st.integers(0, MOST_PROJECTS))
    def retag(self, house: int, tenant: int, user: str | None, pick: int, place: int) -> None:
        services, home = self._step(house, tenant)
        target = self._project(home, place)
        known = [entity for project in home.projects for entity in self._entities(services, home, project, user)]
        if not known or target is None:
            return
        entity = known[pick % len(known)]
        if target in home.gone_projects:
            refused(NotFound, lambda: services.entities.retag(home.reach, entity.id, target))
            return
        services.entities.retag(home.reach, entity.id, target)
        home.retag(entity.name, (entity.project, entity.user), target)

    @rule(house=house_numbers, tenant=tenant_numbers, name=names, pick=picks)
    def reach_for_what_derives_elsewhere(self, house: int, tenant: int, name: str, pick: int) -> None:
        """Foreign memories and entities do what missing ones do: nothing (ISO-4)."""
        services, home = self._step(house, tenant)
        other = self.tenants[1 - tenant]
        memories = [
            stored.memory.id
            for one in other.conversations.values()
            for stored in services.memories.of_session(other.reach, one.name, limit=HIGHEST_LIMIT)
        ]
        entities = [
            entity.id for project in other.projects for entity in self._entities(services, other, project, "ann")
        ]
        memory = [*memories, MemoryId(1)][pick % (len(memories) + 1)]
        entity = [*entities, EntityId(1)][pick % (len(entities) + 1)]
        project = next(iter(other.projects))
        refused(NotFound, lambda: services.memories.forget(home.reach, memory))
        refused(NotFound, lambda: services.corrections.get(home.reach, memory))
        refused(NotFound, lambda: services.corrections.retract(home.reach, memory, by=None))
        refused(NotFound, lambda: services.corrections.history(home.reach, memory, limit=9))
        refused(NotFound, lambda: services.entities.retag(home.reach, entity, home.default))
        refused(NotFound, lambda: services.entities.page(home.reach, project, limit=9))
        if name not in home.conversations:
            refused(NotFound, lambda: services.memories.of_session(home.reach, name, limit=9))
            refused(NotFound, lambda: services.observations.of_session(home.reach, name, limit=9))

    def teardown(self) -> None:
        super().teardown()
        for services in self.houses:
            for home in self.tenants:
                self._compare_lists(services, home)

    def _entities(self, services: Services, home: Tenant, project: ProjectId, user: str | None) -> list[Entity]:
        return services.entities.page(home.reach, project, user_id=user, limit=HIGHEST_LIMIT)

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
        memories, entities = home.recallable_memories(asking, question), home.entities(asking.project, asking.user)
        recalled = {stored.memory.content for stored in context.derived.memories}
        named = {entity.name for entity in context.derived.entities}
        assert recalled <= memories
        assert named <= set(entities)
        pinned = home.pinned(memories)
        assert len(pinned & recalled) == min(MOST_PINNED, len(pinned))
        assert min(MOST_RECALLED, len(memories)) <= len(recalled) <= MOST_RECALLED + len(pinned)
        assert len(named) == min(MOST_RECALLED, len(entities))
        for entity in context.derived.entities:
            assert_notes(entity, entities[entity.name], home.withdrawn)
        assert numbers(context.memory_context) <= numbers(" ".join(memories))
        self._compare_notes(services, home, asking, reach, context.derived.observations)
        found = [hit.stored.memory.content for hit in hits if isinstance(hit, MemoryHit)]
        assert sorted(found) == sorted(memories)
        assert sorted(hit.entity.name for hit in hits if isinstance(hit, EntityHit)) == sorted(entities)
        session = services.sessions.get(reach, asking.name)
        assert (session.memory_job_pending, session.memory_count) == (asking.is_pending, len(asking.memories))
        assert session.last_extraction_error is None

    def _compare_notes(
        self,
        services: Services,
        home: Tenant,
        asking: Conversation,
        reach: Reach,
        shown: tuple[StoredObservation, ...],
    ) -> None:
        """TAB-7: those of the session, or of its user in the same pool; none says more than what is still there."""
        expected: list[StoredObservation] = []
        for one in home.sharing_notes(asking):
            notes = services.observations.of_session(reach, one.name, limit=HIGHEST_LIMIT)
            ids = {said.id for said in one.said}
            assert all(ids.issuperset(stored.observation.sources) for stored in notes)
            said = numbers(" ".join(said.content for said in one.said))
            assert all(numbers(stored.observation.content) <= said for stored in notes)
            expected += notes
        expected.sort(key=lambda stored: (stored.observation.said_at, stored.observation.id))
        assert list(shown) == expected[-MOST_NOTES:]

    def _compare_some(self, services: Services, *, pick: int, recent: int, everything: bool) -> None:
        super()._compare_some(services, pick=pick, recent=recent, everything=everything)
        for home in self.tenants if everything else [self.tenants[self.comparisons % 2]]:
            self._compare_lists(services, home)

    def _compare_lists(self, services: Services, home: Tenant) -> None:
        """Every list of one tenant, by session, user, project and user's part of a project, and what is counted of them."""
        for one in home.conversations.values():
            stored = services.memories.of_session(home.reach, one.name, limit=HIGHEST_LIMIT)
            assert {memory.memory.content: memory.memory.sources for memory in stored} == {
                content: () if source is None else (source,) for content, source in one.memories.items()
            }
        for user in ("ann", "bob"):
            of_user = services.memories.of_user(home.reach, user, limit=HIGHEST_LIMIT)
            assert sorted(memory.memory.content for memory in of_user) == sorted(
                content for one in home.conversations.values() if one.user == user for content in one.memories
            )
        for project in services.projects.projects(home.reach, limit=HIGHEST_LIMIT):
            assert project.memory_count == home.memories_of_project(project.id)
            for user in USERS:
                expected = home.entities(project.id, user)
                found = self._entities(services, home, project.id, user)
                assert sorted(entity.name for entity in found) == sorted(expected)
                for entity in found:
                    assert_notes(entity, expected[entity.name], home.withdrawn)


def last_recorded(services: Services, home: Tenant, name: str) -> MessageId:
    """The id of the last message that was recorded in a session, even if it was deleted since."""
    with services.database.read(home.reach) as transaction:
        sessions = SessionStore(transaction)
        return sessions.last_message(sessions.get(name).id)


def expire(services: Services, home: Tenant, memory: MemoryId) -> None:
    """Set an expiry that is as near as a busy machine allows, and wait until it has passed."""
    microseconds = 10_000
    while True:
        at = now() + microseconds
        try:
            change = MemoryChange(given=frozenset({"expires_at"}), expires_at=at)
            services.corrections.correct(home.reach, memory, change, by=None)
            break
        except InvalidRequest:
            microseconds *= 2
    while now() <= at:
        time.sleep(0.001)


def numbers(text: str) -> set[str]:
    """The facts that a text speaks of."""
    return set(NUMBER.findall(text))


def assert_notes(entity: Entity, expected: set[str], withdrawn: set[str]) -> None:
    """Nothing but what was said here and is still there. Of many notes not all are kept, and none of what people withdrew."""
    shown, said = numbers(entity.notes), numbers(" ".join(expected))
    assert shown <= said
    assert shown or said & numbers(" ".join(withdrawn))
