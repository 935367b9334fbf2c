"""What a receipt may show, by the oracle (PRF-1): to any reader, whatever was moved, forgotten, shared or erased since."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from cloister.bootstrap import Services
from cloister.domain.context import Context
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import MessageId, ReceiptId, format_message_id
from cloister.domain.prompts.prompt import placeholders
from cloister.domain.receipts.receipt import Receipt, Sent, receipt_of_context
from cloister.domain.scope import Reach
from cloister.domain.timestamps import now
from cloister.services.receipts.reading import ShownReceipt
from support.isolation.derived_machine import numbers
from support.isolation.oracle import Conversation, Part, Tenant

MISSING = MessageId(1 << 21 | 1)


@dataclass(kw_only=True, slots=True)
class MadeReceipt:
    """A receipt, and in which part it was recalled. It goes with its messages: the question and the reply, if it has them, and with
    everything of its session when that is cleared. Without a session, `conversation` only says for which project and user was
    searched, and it is there until one of them is erased. Either kind is erased when it is too old."""

    id: ReceiptId
    home: Tenant
    conversation: Conversation
    part: Part
    messages: frozenset[MessageId] = frozenset()
    is_of_session: bool = True
    is_erased: bool = False
    times_cleared: int = field(init=False)

    def __post_init__(self) -> None:
        self.times_cleared = self.conversation.times_cleared


def receipt_for(context: Context, question: MessageId) -> Receipt:
    """The receipt of a reply that was asked for with the default prompt."""
    made = receipt_of_context(context, now=now())
    sent = Sent(
        prompt="default",
        template=None,
        placeholders=placeholders(None),
        parts=(),
        conversation=tuple(item.message.id for item in context.current_conversation),
    )
    return replace(made, kind="reply", terms=replace(made.terms, question=None, question_id=question), sent=sent)


def check_receipt(services: Services, made: MadeReceipt, reach: Reach) -> None:
    """It is found by who reaches its session, while its question and its reply are there; and it shows nothing that the session
    could not recall now, nor anything after the session has left the part it was recalled from. So do its prompt, and what it
    explains."""
    home, conversation = made.home, made.conversation
    is_there = (
        is_left(made) and reach.confined_to in (None, conversation.project) and reach.user in (None, conversation.user)
    )
    try:
        shown = services.receipts.get(reach, made.id)
    except NotFound as missing:
        assert not is_there
        _check_missing(services, made, reach, str(missing))
        return
    assert is_there
    assert len(shown.items) + sum(shown.hidden.values()) == len(shown.receipt.items)
    is_within = conversation.project not in home.gone_projects and home.part(conversation) == made.part
    if is_within:
        _check_items(home, conversation, shown)
    else:
        assert shown.items == ()
    if shown.receipt.sent is not None:
        _check_prompt(services, made, reach, is_within=is_within)
    # What was recalled before the project changed its visibility stays hidden when it changes back (ISO-10).
    is_explained = is_within and shown.version is not None
    for message in (*_some_messages(made, shown), MISSING):
        _check_explanation(services, made, reach, message, is_within=is_explained)


def _check_missing(services: Services, made: MadeReceipt, reach: Reach, words: str) -> None:
    """All three say the same of a receipt that is not there, or that the caller does not reach."""
    for ask in (
        lambda: services.receipt_prompts.get(reach, made.id),
        lambda: services.explain.receipt(reach, made.id, MISSING),
    ):
        try:
            ask()
        except NotFound as missing:
            assert str(missing) == words
        else:
            raise AssertionError("a receipt that is not found answers")


def _check_prompt(services: Services, made: MadeReceipt, reach: Reach, *, is_within: bool) -> None:
    """Its own session's words, and those that it could recall now if it is where it was."""
    home, asking = made.home, made.conversation
    prompt = services.receipt_prompts.get(reach, made.id)
    own = [home.shown(asking, one) for one in asking.everything]
    recallable = [one.content for _, one in home.pool(asking)] if is_within else []
    assert numbers(repr(prompt.messages)) <= numbers(repr([*own, *recallable]))


def _check_explanation(
    services: Services, made: MadeReceipt, reach: Reach, message: MessageId, *, is_within: bool
) -> None:
    """Only messages of the part in which it was recalled are explained, and none is named that is not there."""
    home, asking = made.home, made.conversation
    there = {
        one.id for other in home.conversations.values() if home.may_recall(asking, other) for one in other.everything
    }
    try:
        explained = services.explain.receipt(reach, made.id, message)
    except NotFound as missing:
        assert str(missing) == f"There is no message '{format_message_id(message)}' here."
        assert not is_within or message not in {one.id for _, one in home.pool(asking)}
        return
    assert is_within and message in there
    if explained.changed is not None:
        named = (*explained.changed.entered, *explained.changed.dropped)
        assert {MessageId(number) for kind, number in named if kind == "message"} <= there


def _some_messages(made: MadeReceipt, shown: ShownReceipt) -> Iterator[MessageId]:
    """A message that was given, the newest one of the session, and one that the session cannot recall."""
    given = next((item.id for item in shown.receipt.items if item.kind == "message"), None)
    if given is not None:
        yield MessageId(given)
    yield from (one.id for one in made.conversation.everything[-1:])
    for other in made.home.conversations.values():
        if other.said and not made.home.may_recall(made.conversation, other):
            yield other.said[0].id
            return


def is_left(made: MadeReceipt) -> bool:
    if made.is_erased or not made.is_of_session:
        return not made.is_erased
    conversation = made.conversation
    is_there = (
        made.home.conversations.get(conversation.name) is conversation
        and conversation.times_cleared == made.times_cleared
    )
    return is_there and made.messages <= {one.id for one in conversation.everything}


def _check_items(home: Tenant, asking: Conversation, shown: ShownReceipt) -> None:
    recallable = {one.id: one.content for _, one in home.pool(asking)}
    sharing = [one for one in home.conversations.values() if home.may_recall(asking, one)]
    memories = {content for one in sharing for content in one.memories}
    entities = home.entities(asking.project, asking.user)
    for item in shown.items:
        match item.item.kind:
            case "message":
                assert item.content == recallable[MessageId(item.item.id)]
            case "memory":
                assert item.content in memories
            case "entity":
                assert numbers(item.words.notes or "") <= numbers(" ".join(entities[item.content]))
            case "observation":
                assert numbers(item.content) <= numbers(" ".join(recallable.values()))
