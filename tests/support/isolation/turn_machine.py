"""The isolation machine with turns in flight (ISO-12): asked, recalled for, followed and answered, again and again, while sessions
move, are emptied and deleted, and projects are shared, divided and deleted.

A turn here is taken apart: a step of the machine begins it, others recall for it, follow it and end it, and between any two of them
anything may happen.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from cloister.bootstrap import Services
from cloister.domain.context import Context
from cloister.domain.conversation import Draft
from cloister.domain.errors import Conflict, NotFound, TurnInProgress, TurnMoved
from cloister.domain.identifiers import MessageId, ProjectId, ReceiptId
from cloister.domain.memory import quoted
from cloister.domain.prompts.recalled_text import own_words
from cloister.domain.scope import MemberVisibility, Reach
from cloister.services.chat.turn_branches import ReplyBranch
from cloister.services.chat.turns import NamedSession, Turn, TurnLost, TurnRequest
from cloister.services.conversations.sessions import SessionFields
from support.isolation.derived_machine import DerivedMachine, numbers
from support.isolation.isolation_machine import (
    COMMON,
    MOST_PROJECTS,
    ONE,
    IsolationMachine,
    house_numbers,
    names,
    picks,
    refused,
    tenant_numbers,
)
from support.isolation.oracle import Conversation, Part, Said, Tenant, without
from support.isolation.receipt_checks import MadeReceipt, check_receipt, receipt_for

BUDGET = 100_000
DAY_SECONDS = 86_400
MOST_TURNS = 6
MOST_RECEIPTS = 12

callers = st.sampled_from(("whole", "confined", "bound", "both"))
visibilities = st.sampled_from(("shared", "private"))


@dataclass(kw_only=True, slots=True)
class InFlight:
    """A turn that was begun: by whom, in which conversation, and what that could recall then."""

    turn: Turn
    house: Services
    conversation: Conversation
    project: ProjectId | None
    visibility: MemberVisibility | None
    part: Part
    context: Context | None = None


class TurnMachine(DerivedMachine):
    """ISO-12, with all that the machines before it show."""

    def __init__(self) -> None:
        for services in self.houses:
            services.turns.leases.seconds = DAY_SECONDS  # no turn runs out, however slow the machine is
        self.in_flight: list[tuple[Tenant, InFlight]] = []
        self.receipts: list[MadeReceipt] = []
        super().__init__()

    def _new_tenant(self) -> Tenant:
        """One turn is running, and has recalled what another user said, in the project that all share, by a key of its user."""
        services, home = self.houses[0], super()._new_tenant()
        services.sessions.create(home.reach, SessionFields(external_id="fifth", project=home.default, user_id="ann"))
        home.conversations["fifth"] = Conversation(name="fifth", project=home.default, user="ann")
        self._say(services, home, home.conversations["fifth"], self._drafts([ONE]))
        running = self._begin(services, home, home.conversations["second"], "bound", COMMON[0])
        running.context = services.chat.recall(running.turn, BUDGET)
        assert "fifth" in {item.session for item in running.context.relevant_history}
        return home

    # Turns

    @rule(house=house_numbers, tenant=tenant_numbers, name=names, caller=callers, words=st.sampled_from(COMMON))
    def ask(self, house: int, tenant: int, name: str, caller: str, words: str) -> None:
        services, home = self._step(house, tenant)
        conversation = home.conversations.get(name)
        if conversation is None or len(self.in_flight) >= MOST_TURNS:
            return
        if conversation.is_answered:
            ask = TurnRequest(session=name, drafts=[Draft(role="user", content=words)])
            refused(TurnInProgress, lambda: services.turns.begin(home.reach, ask))
            return
        self._begin(services, home, conversation, caller, words)

    def _begin(self, services: Services, home: Tenant, conversation: Conversation, caller: str, words: str) -> InFlight:
        (draft,) = self._drafts([("user", "completed", words)])
        ask = TurnRequest(session=conversation.name, drafts=[draft])
        turn = services.turns.begin(reach_of(home, conversation, caller), ask)
        conversation.say(turn.question.id, "user", "completed", draft.content)
        return self._note(services, home, conversation, turn)

    def _note(self, services: Services, home: Tenant, conversation: Conversation, turn: Turn) -> InFlight:
        conversation.is_answered = True
        running = InFlight(
            turn=turn,
            house=services,
            conversation=conversation,
            project=conversation.project,
            visibility=home.projects[conversation.project] if conversation.project is not None else None,
            part=home.part(conversation),
        )
        self.in_flight.append((home, running))
        return running

    @rule(
        house=house_numbers,
        tenant=tenant_numbers,
        name=names,
        caller=callers,
        user=st.sampled_from((None, "ann", "bob")),
        place=st.integers(-1, MOST_PROJECTS),
        names_project=st.booleans(),
    )
    def ask_again(
        self, house: int, tenant: int, name: str, caller: str, user: str | None, place: int, names_project: bool
    ) -> None:
        """Regeneration makes the checks that asking makes, and appends nothing."""
        services, home = self._step(house, tenant)
        project = self._project(home, place)
        named = NamedSession(session=name, project=project, must_be_in=names_project, user_id=user)
        conversation = home.conversations.get(name)
        if conversation is None:
            refused(NotFound, lambda: services.turns.begin_again(home.reach, named))
            return
        asked = [said for said in conversation.said if (said.role, said.status) == ("user", "completed")]
        is_other = (names_project and project != conversation.project) or user not in (None, conversation.user)
        if is_other or conversation.is_answered or not asked:
            refused(Conflict, lambda: services.turns.begin_again(home.reach, named))
            return
        if len(self.in_flight) < MOST_TURNS:
            turn = services.turns.begin_again(reach_of(home, conversation, caller), named)
            assert (turn.question.id, turn.branch) == (asked[-1].id, branch_of_reply(conversation, asked[-1].id))
            self._note(services, home, conversation, turn)

    @rule(pick=picks)
    def recall_for_a_turn(self, pick: int) -> None:
        """The first time, or because the model could not read so much: from the pool in which it was asked, or not at all."""
        if self.in_flight:
            self._step(0, 0)
            self._recall_for(*self.in_flight[pick % len(self.in_flight)])

    def _recall_for(self, home: Tenant, running: InFlight) -> None:
        if not has_same_scope(home, running):
            refused(TurnMoved, lambda: running.house.chat.recall(running.turn, BUDGET))
            return
        context = running.house.chat.recall(running.turn, BUDGET)
        IsolationMachine.questions += 1
        recallable = {said.id for _, said in home.pool(running.conversation)}
        assert {item.message.id for item in context.relevant_history} <= recallable
        assert {stored.memory.content for stored in context.derived.memories} <= home.recallable_memories(
            running.conversation, running.turn.question.content
        )
        entities = home.entities(running.project, running.conversation.user)
        assert {entity.name for entity in context.derived.entities} <= set(entities)
        assert numbers(repr(context.current_conversation)) <= numbers(
            repr([home.shown(running.conversation, said) for said in running.conversation.said])
        )
        running.context = context

    @rule(house=house_numbers, pick=picks, place=st.integers(-1, MOST_PROJECTS))
    def move_while_it_is_answered(self, house: int, pick: int, place: int) -> None:
        """Any session may move at any time; one that is being answered does so more often than by chance, and then needs a shorter
        prompt."""
        if not self.in_flight:
            return
        services, _ = self._step(house, 0)
        home, running = self.in_flight[pick % len(self.in_flight)]
        conversation, project = running.conversation, self._project(home, place)
        if home.conversations.get(conversation.name) is conversation and project not in home.gone_projects:
            services.sessions.move(home.reach, conversation.name, project)
            conversation.project = project
        self._recall_for(home, running)

    @rule(
        pick=picks,
        quotes=st.sampled_from((True, True, False)),
        status=st.sampled_from(("completed", "completed", "partial")),
    )
    def answer(self, pick: int, quotes: bool, status: str) -> None:
        """The reply is stored wherever the session is by now, with where it came from; none is, where its question is gone, or
        where it was given text of a pool that the session has left."""
        if not self.in_flight:
            return
        self._step(0, 0)
        home, running = self.in_flight.pop(pick % len(self.in_flight))
        context, conversation, turn = running.context, running.conversation, running.turn
        recalled = [] if context is None else [item.message.content for item in context.relevant_history]
        own = f"marker{next(self.markers)} So it is."
        whole = f"{own} {quoted(recalled)}" if quotes and recalled else own
        reply = Draft(role="assistant", content=whole, status="partial" if status == "partial" else "completed")
        given = context is not None and context.holds_other_sessions
        turns = running.house.turns
        question = next((said for said in conversation.said if said.id == turn.question.id), None)
        if home.conversations.get(conversation.name) is not conversation or question is None:
            refused(TurnLost, lambda: turns.end(turn, reply, given_recalled_text=given))
            if conversation.is_answered and home.conversations.get(conversation.name) is conversation:
                conversation.is_answered = self._is_answered_by_another(conversation)
            return
        if (given or whole != own) and not has_same_scope(home, running):
            refused(TurnMoved, lambda: turns.end(turn, reply, given_recalled_text=given))
            conversation.is_answered = False
            return
        contexts = [] if context is None else [context]
        receipt = None if context is None else receipt_for(context, turn.question.id)
        message = turns.end(turn, reply, given_recalled_text=given, contexts=contexts, receipt=receipt)
        assert message is not None
        if context is not None:
            made = MadeReceipt(
                id=ReceiptId(message.id),
                home=home,
                conversation=conversation,
                messages=frozenset({message.id, turn.question.id}),
                part=running.part,
            )
            self.receipts = [*self.receipts, made][-MOST_RECEIPTS:]
        left = without(recalled, self._gone(home, running)) if quotes else ()
        assert message.content == (f"{own} {quoted(left)}" if left else own)
        answered = Said(
            id=message.id,
            role="assistant",
            status=reply.status,
            content=own_words(whole),
            episode=question.episode,
            project=running.project,
            quotes=left,
            quoted_of=running.part,
        )
        self._store(home, running, answered, is_current=message.is_current)
        conversation.is_answered = False

    def _store(self, home: Tenant, running: InFlight, answered: Said, *, is_current: bool) -> None:
        """A reply that is made again is a sibling of the one before, and current unless others have said something since."""
        conversation, turn = running.conversation, running.turn
        if turn.branch is not None:
            said = {one.id for one in conversation.said}
            after = turn.branch.after if turn.branch.after in said else conversation.leaf
            if turn.branch.sibling in said:
                after = conversation.parents[turn.branch.sibling]
            if (conversation.leaf or 0) > turn.last:
                assert not is_current
                conversation.parents[answered.id] = after
                conversation.aside.append(answered)
                return
            home.switch(conversation, after)
        assert is_current
        conversation.answer(answered)
        conversation.count([("assistant", answered.status)])

    def _gone(self, home: Tenant, running: InFlight) -> list[str]:
        """MEM-9: what was recalled for a turn and is not in its part any more."""
        context = running.context
        there = [one for one in home.conversations.values() if home.part(one) == running.part]
        present = {said.id for one in there for said in one.said}
        items = () if context is None else (*context.current_conversation, *context.relevant_history)
        return [own_words(item.message.content) for item in items if item.message.id not in present]

    def _is_answered_by_another(self, conversation: Conversation) -> bool:
        return any(running.conversation is conversation for _, running in self.in_flight)

    @rule(house=house_numbers, tenant=tenant_numbers, place=st.integers(0, MOST_PROJECTS), visibility=visibilities)
    def change_visibility(self, house: int, tenant: int, place: int, visibility: MemberVisibility) -> None:
        services, home = self._step(house, tenant)
        project = self._project(home, place)
        assert project is not None
        if project in home.gone_projects:
            refused(
                NotFound,
                lambda: services.projects.change_project(home.reach, project, member_visibility=visibility),
            )
            return
        changed = services.projects.change_project(home.reach, project, member_visibility=visibility)
        assert changed.member_visibility == visibility
        home.set_visibility(project, visibility)
        for of_tenant, running in self.in_flight:
            if of_tenant is home and running.project == project:
                self._recall_for(home, running)

    # Receipts

    @rule(house=house_numbers, pick=picks)
    def read_a_receipt(self, house: int, pick: int) -> None:
        """PRF-1: by every kind of credential."""
        if self.receipts:
            services, _ = self._step(house, 0)
            made = self.receipts[pick % len(self.receipts)]
            for reach in reaches(made.home):
                IsolationMachine.questions += 1
                check_receipt(services, made, reach)

    # Followers

    @invariant()
    def followers_see_what_they_could_have_asked_for(self) -> None:
        """After every third step, by either house, for every kind of credential."""
        if self.age % 3:
            return
        services = self.houses[self.age % 2]
        for home, running in self.in_flight:
            for reach in reaches(home):
                self._follow(services, home, running, reach)

    def _follow(self, services: Services, home: Tenant, running: InFlight, reach: Reach) -> None:
        IsolationMachine.questions += 1
        admitted = services.turn_readers.admits(reach, running.turn)
        assert admitted == may_follow(home, running, reach)
        if not admitted or running.context is None:
            return
        shown = services.turn_readers.still_recalled(reach, running.turn, running.context)
        there = [one for one in home.conversations.values() if home.part(one) == running.part]
        left = {said.id: said.content for one in there for said in one.said if said.status == "completed"}
        assert [item.message.id for item in shown.relevant_history] == [
            item.message.id for item in running.context.relevant_history if item.message.id in left
        ]
        assert all(item.message.content == left[item.message.id] for item in shown.relevant_history)
        memories = {content for one in there for content in one.memories}
        assert {stored.memory.content for stored in shown.derived.memories} <= memories
        mentioned = {
            one.name
            for one in home.mentions
            if (one.project, one.user) == running.part and one.project in home.projects
        }
        assert {entity.name for entity in shown.derived.entities} <= mentioned
        noted = numbers(" ".join(said.content for one in there for said in one.said))
        assert numbers(repr([stored.observation.content for stored in shown.derived.observations])) <= noted


def branch_of_reply(conversation: Conversation, question: MessageId) -> ReplyBranch | None:
    """Beside the first reply to the question, behind what came before that."""
    after = question
    for said in conversation.said:
        if said.id > question and said.role == "assistant":
            return ReplyBranch(sibling=said.id, after=after)
        after = max(after, said.id)
    return None


def reach_of(home: Tenant, conversation: Conversation, caller: str) -> Reach:
    """A credential that reaches a conversation: of the tenant, of its project, of its user, or of both."""
    project = conversation.project if caller in ("confined", "both") else None
    user = conversation.user if caller in ("bound", "both") else None
    return Reach(tenant=home.reach.tenant, confined_to=project, user=user)


def reaches(home: Tenant) -> Iterator[Reach]:
    for project in (None, *home.projects):
        for user in (None, "ann", "bob"):
            yield Reach(tenant=home.reach.tenant, confined_to=project, user=user)


def has_same_scope(home: Tenant, running: InFlight) -> bool:
    """Whether the conversation, if there still is one, is where the turn began, and its project shared as it was; and whether
    whoever asked still reaches it."""
    conversation = running.conversation
    if home.conversations.get(conversation.name) is not conversation or conversation.project != running.project:
        return False
    return running.project is None or home.projects[running.project] == running.visibility


def may_follow(home: Tenant, running: InFlight, reach: Reach) -> bool:
    """ISO-12, in the words of the requirement: who could have asked the question, and may read the session now. Where others' words
    may have been recalled, a credential of one user sees them only as long as they are shared."""
    conversation = running.conversation
    if home.conversations.get(conversation.name) is not conversation:
        return False
    if running.turn.question.id not in {said.id for said in conversation.said}:
        return False
    could_ask = reach.confined_to in (None, running.project) and reach.user in (None, conversation.user)
    reaches_it = reach.confined_to in (None, conversation.project)
    if not (could_ask and reaches_it):
        return False
    is_own = reach.user is None or running.visibility != "shared"
    return is_own or has_same_scope(home, running)
