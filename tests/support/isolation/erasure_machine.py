"""The isolation machine with erasure: users are erased and projects deleted with their contents, at any moment; and receipts of
contexts and searches are stored, which never outlive any of it (PRF-1)."""

from collections.abc import Callable

from hypothesis import strategies as st
from hypothesis.stateful import rule

from cloister.bootstrap import Services
from cloister.domain.errors import Conflict, NotFound
from cloister.domain.identifiers import ProjectId
from cloister.services.recall.build_context import ContextRequest
from support.isolation.branch_machine import BranchMachine
from support.isolation.isolation_machine import (
    COMMON,
    EVERYTHING,
    MOST_PROJECTS,
    IsolationMachine,
    house_numbers,
    names,
    picks,
    refused,
    scope_of,
    tenant_numbers,
    users,
)
from support.isolation.oracle import Conversation, Tenant
from support.isolation.receipt_checks import MadeReceipt, check_receipt
from support.isolation.turn_machine import MOST_RECEIPTS

MOST_FOUND = 50


class ErasureMachine(BranchMachine):
    """ORG-9, ORG-5 and PRF-1, with all that the machines before it show."""

    @rule(house=house_numbers, tenant=tenant_numbers, user=st.sampled_from(("ann", "bob", "nobody", "nobody")))
    def erase_user(self, house: int, tenant: int, user: str) -> None:
        services, home = self._step(house, tenant)
        self._search(services, home, home.default, user)
        expected = home.erase_user(user)
        gone = services.erase_user.erase(home.reach, user)
        assert (gone.sessions, gone.messages, gone.memories) == expected
        self._check_after(services, home, lambda asked: asked.user == user)

    @rule(house=house_numbers, tenant=tenant_numbers, place=st.integers(0, MOST_PROJECTS), pick=picks)
    def delete_project_with_contents(self, house: int, tenant: int, place: int, pick: int) -> None:
        services, home = self._step(house, tenant)
        project = self._project(home, place)
        assert project is not None
        if project in home.gone_projects:
            refused(NotFound, lambda: services.erase_project.erase(home.reach, project))
        elif project == home.default:
            refused(Conflict, lambda: services.erase_project.erase(home.reach, project))
        elif pick % 2:
            self._search(services, home, project, "ann")
            expected = home.erase_project(project)
            gone = services.erase_project.erase(home.reach, project)
            assert (gone.sessions, gone.messages, gone.memories) == expected
            self._check_after(services, home, lambda asked: asked.project == project)

    def _check_after(self, services: Services, home: Tenant, is_erased: Callable[[Conversation], bool]) -> None:
        """Every receipt of the tenant, at once; later steps of the machine read them again."""
        for made in self.receipts:
            if made.home is home:
                made.is_erased |= not made.is_of_session and is_erased(made.conversation)
                IsolationMachine.questions += 1
                check_receipt(services, made, home.reach)

    @rule(house=house_numbers, tenant=tenant_numbers, name=names, pick=picks)
    def store_the_receipt_of_a_context(self, house: int, tenant: int, name: str, pick: int) -> None:
        services, home = self._step(house, tenant)
        conversation = home.conversations.get(name)
        if conversation is None or conversation.project is None:
            return
        services.projects.change_project(home.reach, conversation.project, settings={"store_receipts": True})
        request = ContextRequest(question=COMMON[pick % len(COMMON)], semantic_limit=EVERYTHING, min_relevance=0)
        context = services.context.build(home.reach, name, request)
        _, id = services.recall_receipts.of_context(home.reach, context, None)
        assert id is not None
        self._keep_receipt(MadeReceipt(id=id, home=home, conversation=conversation, part=home.part(conversation)))

    @rule(house=house_numbers, tenant=tenant_numbers, user=users, pick=picks)
    def store_the_receipt_of_a_search(self, house: int, tenant: int, user: str | None, pick: int) -> None:
        services, home = self._step(house, tenant)
        self._search(services, home, list(home.projects)[pick % len(home.projects)], user)

    def _search(self, services: Services, home: Tenant, project: ProjectId, user: str | None) -> None:
        """Of a project and a user, and of no session. Nothing is stored where nobody has said anything yet."""
        services.projects.change_project(home.reach, project, settings={"store_receipts": True})
        asking = Conversation(name="", project=project, user=user)
        found = services.search.find(home.reach, COMMON[0], scope_of(asking), MOST_FOUND, min_relevance=0)
        _, id = services.recall_receipts.of_search(home.reach, found, None, None)
        if id is not None:
            part = home.part(asking)
            made = MadeReceipt(id=id, home=home, conversation=asking, part=part, is_of_session=False)
            self._keep_receipt(made)

    def _keep_receipt(self, made: MadeReceipt) -> None:
        self.receipts = [*self.receipts, made][-MOST_RECEIPTS:]
