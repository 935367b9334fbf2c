"""The isolation machine with retention (MEM-18): at any moment some of what is stored is old, and what a project or the tenant does
not keep so long goes, with all that derives from it, as the dry run said."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import rule

from cloister.bootstrap import Services
from cloister.domain.conversation import Draft
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import MessageId, ProjectId
from cloister.domain.observation import StoredObservation
from cloister.domain.timestamps import now
from cloister.services.conversations.retention import DAY_MICROSECONDS, NOTHING_OLD
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import HIGHEST_LIMIT
from cloister.storage.stores.erasure import OldCounts
from support.isolation.archive_machine import ArchiveMachine
from support.isolation.isolation_machine import (
    COMMON,
    MOST_PROJECTS,
    house_numbers,
    names,
    picks,
    refused,
    scope_of,
    tenant_numbers,
    users,
)
from support.isolation.oracle import Conversation, Tenant
from support.isolation.receipt_checks import MadeReceipt, is_left

LONG_AGO = now() - 1_000 * DAY_MICROSECONDS
KEPT_DAYS = 365
LONGEST_RECEIPT_DAYS = 3_650
EVERYWHERE = MOST_PROJECTS + 1
places = st.integers(0, EVERYWHERE)


@dataclass(kw_only=True, slots=True)
class Old:
    """What the oracle expects to go, and the notes on what was said in the sessions before, by their names."""

    counts: OldCounts
    messages: set[MessageId]
    notes: dict[str, list[StoredObservation]] = field(default_factory=dict[str, list[StoredObservation]])


class RetentionMachine(ArchiveMachine):
    """MEM-18, with all that the machines before it show."""

    past: ClassVar[Services]
    """Over the same data, with a clock that says `LONG_AGO`."""

    def __init__(self) -> None:
        self.old_messages: set[MessageId] = set()
        self.old_receipts: list[MadeReceipt] = []
        super().__init__()

    # What is old

    @rule(
        house=house_numbers,
        tenant=tenant_numbers,
        name=names,
        facts=st.integers(0, 3),
        reads=st.booleans(),
        leaves=st.sampled_from((False, False, True)),
    )
    def record_what_was_said_long_ago(
        self, house: int, tenant: int, name: str, facts: int, reads: bool, leaves: bool
    ) -> None:
        """And extract it, alone or with what was said before; and leave its project, where its entities stay (ISO-6)."""
        services, home = self._step(house, tenant)
        conversation = home.conversations.get(name)
        if conversation is None:
            return
        said = [f"My brother Xandor{next(self.markers)} works at Zentrix." for _ in range(facts)]
        made = [
            Draft(role="user", content=content, created_at=LONG_AGO)
            for content in (*said, f"marker{next(self.markers)} roses")
        ]
        made.append(Draft(role="assistant", content=f"I see, marker{next(self.markers)}.", created_at=LONG_AGO))
        before = len(conversation.said)
        self._say(services, home, conversation, made)
        self.old_messages |= {one.id for one in conversation.said[before:]}
        if reads:
            services.extraction.extract_now(home.reach, name)
            home.extract(conversation)
        if leaves:
            project = next((one for one in home.projects if one != conversation.project), None)
            services.sessions.move(home.reach, name, project)
            conversation.project = project

    @rule(tenant=tenant_numbers, name=names)
    def remember_long_ago(self, tenant: int, name: str) -> None:
        _, home = self._step(0, tenant)
        conversation = home.conversations.get(name)
        if conversation is None:
            return
        content = f"Written by hand{next(self.markers)}."
        self.past.memories.add(home.reach, name, [content])
        conversation.memories[content] = None
        conversation.kept[content] = replace(conversation.kept[content], is_old=True)

    @rule(tenant=tenant_numbers, name=names)
    def ask_long_ago(self, tenant: int, name: str) -> None:
        """The receipt of a context."""
        _, home = self._step(0, tenant)
        conversation = home.conversations.get(name)
        if conversation is None or conversation.project is None:
            return
        self._store_receipts(home, conversation.project)
        context = self.past.context.build(home.reach, name, ContextRequest(question=COMMON[0], min_relevance=0))
        _, id = self.past.recall_receipts.of_context(home.reach, context, None)
        assert id is not None
        self._keep_old(MadeReceipt(id=id, home=home, conversation=conversation, part=home.part(conversation)))

    @rule(tenant=tenant_numbers, user=users, pick=picks)
    def search_long_ago(self, tenant: int, user: str | None, pick: int) -> None:
        """The receipt of a search without a session."""
        _, home = self._step(0, tenant)
        project = list(home.projects)[pick % len(home.projects)]
        self._store_receipts(home, project)
        asking = Conversation(name="", project=project, user=user)
        found = self.past.search.find(home.reach, COMMON[0], scope_of(asking), 9, min_relevance=0)
        _, id = self.past.recall_receipts.of_search(home.reach, found, None, None)
        if id is not None:
            part = home.part(asking)
            self._keep_old(MadeReceipt(id=id, home=home, conversation=asking, part=part, is_of_session=False))

    def _store_receipts(self, home: Tenant, project: ProjectId) -> None:
        """Long enough that none of them expires."""
        settings = {"store_receipts": True, "receipt_days": LONGEST_RECEIPT_DAYS}
        self.past.projects.change_project(home.reach, project, settings=settings)

    def _keep_old(self, made: MadeReceipt) -> None:
        self.old_receipts.append(made)
        self._keep_receipt(made)

    def _check_after(self, services: Services, home: Tenant, is_erased: Callable[[Conversation], bool]) -> None:
        for made in self.old_receipts:
            if made.home is home:
                made.is_erased |= not made.is_of_session and is_erased(made.conversation)
        super()._check_after(services, home, is_erased)

    # What goes

    @rule(house=house_numbers, tenant=tenant_numbers, place=places, by_worker=st.booleans())
    def forget_what_is_old(self, house: int, tenant: int, place: int, by_worker: bool) -> None:
        """In one project, or everywhere in the tenant: the dry run, what is forgotten and the oracle say the same."""
        services, home = self._step(house, tenant)
        project = None if place == EVERYWHERE else self._project(home, place)
        if project in home.gone_projects:
            refused(NotFound, lambda: services.retention.preview(home.reach, project, days=KEPT_DAYS))
            return
        expected = self._forget_in_oracle(services, home, project)
        tried = services.retention.preview(home.reach, project, days=KEPT_DAYS)
        self._keep(services, home, project, KEPT_DAYS)
        assert services.retention.preview(home.reach, project) == tried == expected.counts
        if by_worker:
            self._forget_as_a_worker(services, expected.counts)
        else:
            done = services.retention.apply(home.reach, project)
            assert (done.counts, done.complete) == (expected.counts, True)
        assert services.retention.preview(home.reach, project) == NOTHING_OLD
        self._keep(services, home, project, None)
        for name, before in expected.notes.items():
            left = services.observations.of_session(home.reach, name, limit=HIGHEST_LIMIT)
            assert left == [stored for stored in before if expected.messages.isdisjoint(stored.observation.sources)]
        self._compare_lists(services, home)
        self._compare_some(services, pick=self.age, recent=3, everything=False)
        self._check_after(services, home, lambda _: False)

    def _forget_as_a_worker(self, services: Services, expected: OldCounts) -> None:
        """No other tenant has days that it keeps."""
        counts = services.retention.searches()
        for aged in services.retention.due():
            for batch in services.retention.batches(aged):
                counts += batch
        services.retention.clean_up()
        assert counts == expected

    def _keep(self, services: Services, home: Tenant, project: ProjectId | None, days: int | None) -> None:
        if project is None:
            services.retention.set_of_tenant(home.reach, days)
        else:
            services.projects.change_project(home.reach, project, settings={"retention_days": days})

    def _forget_in_oracle(self, services: Services, home: Tenant, project: ProjectId | None) -> Old:
        """Everything is compared with what the oracle knows after this, which says what goes."""
        inside = [one for one in home.conversations.values() if project is None or one.project == project]
        old = {one.name: self.old_messages & {said.id for said in one.everything} for one in inside}
        notes = {
            one.name: services.observations.of_session(home.reach, one.name, limit=HIGHEST_LIMIT) for one in inside
        }
        gone_notes = [
            stored
            for name, each in notes.items()
            for stored in each
            if not old[name].isdisjoint(stored.observation.sources)
        ]
        memories, entities = sum(len(one.memories) for one in inside), home.known_entities
        for conversation in inside:
            home.forget_old(conversation, old[conversation.name])
        receipts = 0
        for made in self.old_receipts:
            if made.home is home and is_left(made) and (project is None or made.conversation.project == project):
                made.is_erased = True
                receipts += 1
        counts = OldCounts(
            sessions=sum(bool(messages) for messages in old.values()),
            messages=sum(map(len, old.values())),
            memories=memories - sum(len(one.memories) for one in inside),
            observations=len(gone_notes),
            entities=len(entities - home.known_entities),
            receipts=receipts,
        )
        return Old(counts=counts, messages={message for each in old.values() for message in each}, notes=notes)
