"""The isolation machine with branches: messages are edited, replies are made again, and any branch is chosen, at any moment.

What is not on the current branch is in `Conversation.aside`, which no question of the machine may find anywhere.
"""

from hypothesis.stateful import rule

from cloister.domain.conversation import Draft
from cloister.domain.errors import CloisterError, InvalidRequest, NotFound, TurnInProgress
from cloister.domain.identifiers import MessageId
from cloister.services.chat.turns import NamedSession, TurnRequest
from support.isolation.isolation_machine import COMMON, house_numbers, names, picks, refused, tenant_numbers
from support.isolation.oracle import Conversation, Said
from support.isolation.turn_machine import MOST_TURNS, ReplyBranch, TurnMachine, branch_of_reply, callers, reach_of


class BranchMachine(TurnMachine):
    """What is not on the current branch is neither the conversation, nor recalled, nor extracted."""

    @rule(house=house_numbers, tenant=tenant_numbers, name=names, caller=callers, pick=picks)
    def choose_branch(self, house: int, tenant: int, name: str, caller: str, pick: int) -> None:
        services, home = self._step(house, tenant)
        conversation = home.conversations.get(name)
        if conversation is None or not conversation.everything:
            return
        # More often than by chance one that is not current.
        candidates = [*conversation.everything, *conversation.aside, *conversation.aside]
        message = candidates[pick % len(candidates)].id
        reach = reach_of(home, conversation, caller)
        if conversation.is_answered:
            refused(TurnInProgress, lambda: services.branches.choose(reach, name, message))
            return
        services.branches.choose(reach, name, message)
        if message not in {said.id for said in conversation.said}:
            home.switch(conversation, conversation.newest_below(message))
        self._compare(services, home, conversation, "roses", 3, home.reach)

    @rule(house=house_numbers, tenant=tenant_numbers, name=names, caller=callers, pick=picks)
    def edit(self, house: int, tenant: int, name: str, caller: str, pick: int) -> None:
        """The new message is a sibling of the old one, which is not current from then on; the turn runs."""
        services, home = self._step(house, tenant)
        conversation = home.conversations.get(name)
        if conversation is None or not conversation.everything or len(self.in_flight) >= MOST_TURNS:
            return
        said = conversation.everything[pick % len(conversation.everything)]
        (draft,) = self._drafts([("user", "completed", COMMON[pick % len(COMMON)])])
        ask = TurnRequest(session=name, drafts=[draft], edits=said.id)
        refusal = _refusal_of_edit(conversation, said)
        if refusal is not None:
            refused(refusal, lambda: services.turns.begin(home.reach, ask))
            return
        turn = services.turns.begin(reach_of(home, conversation, caller), ask)
        home.switch(conversation, conversation.parents[said.id])
        conversation.say(turn.question.id, "user", "completed", draft.content)
        assert turn.question.parent == conversation.parents[said.id]
        self._note(services, home, conversation, turn)

    @rule(house=house_numbers, tenant=tenant_numbers, name=names, caller=callers, pick=picks)
    def make_any_reply_again(self, house: int, tenant: int, name: str, caller: str, pick: int) -> None:
        """A reply or a question on any branch, which is chosen with it."""
        services, home = self._step(house, tenant)
        conversation = home.conversations.get(name)
        if conversation is None or not conversation.everything or len(self.in_flight) >= MOST_TURNS:
            return
        said = conversation.everything[pick % len(conversation.everything)]
        named = NamedSession(session=name)
        asked = _question_of(conversation, said)
        if conversation.is_answered or asked is None:
            kind = TurnInProgress if conversation.is_answered else InvalidRequest
            refused(kind, lambda: services.turns.begin_again(home.reach, named, said.id))
            return
        turn = services.turns.begin_again(reach_of(home, conversation, caller), named, said.id)
        if said.id not in {one.id for one in conversation.said}:
            home.switch(conversation, conversation.newest_below(said.id))
        branch = ReplyBranch(sibling=said.id, after=conversation.parents[said.id] or MessageId(0))
        if said.role == "user":
            branch = branch_of_reply(conversation, said.id)
        assert (turn.question.id, turn.branch) == (asked, branch)
        self._note(services, home, conversation, turn)

    @rule(house=house_numbers, tenant=tenant_numbers, name=names, pick=picks)
    def reach_for_branches_that_are_not_ours(self, house: int, tenant: int, name: str, pick: int) -> None:
        """A message of another session, of another tenant or a deleted one does what a missing one does: nothing (ISO-4)."""
        services, home = self._step(house, tenant)
        conversation = home.conversations.get(name)
        other = self.tenants[1 - tenant]
        strangers = [said.id for one in other.conversations.values() for said in one.everything]
        strangers += [
            said.id for one in home.conversations.values() if one is not conversation for said in one.everything
        ]
        strangers += home.gone_messages
        if not strangers:
            return
        message = strangers[pick % len(strangers)]
        refused(NotFound, lambda: services.branches.choose(home.reach, name, message))
        if conversation is not None and not conversation.is_answered:
            ask = TurnRequest(session=name, drafts=[Draft(role="user", content="Mine.")], edits=message)
            refused(NotFound, lambda: services.turns.begin(home.reach, ask))
            named = NamedSession(session=name)
            refused(NotFound, lambda: services.turns.begin_again(home.reach, named, message))


def _refusal_of_edit(conversation: Conversation, said: Said) -> type[CloisterError] | None:
    if conversation.is_answered:
        return TurnInProgress
    return None if said.role == "user" else InvalidRequest


def _question_of(conversation: Conversation, said: Said) -> MessageId | None:
    """The question that a message asks, or that a reply answers; None if it is neither."""
    if said.role == "user":
        return said.id
    path = conversation.path(said.id)
    asked = [
        one.id for one in conversation.everything if one.id in path and (one.role, one.status) == ("user", "completed")
    ]
    return asked[-1] if said.role == "assistant" and asked else None
