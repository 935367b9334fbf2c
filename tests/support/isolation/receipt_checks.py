"""What a receipt may show, by the oracle (PRF-1): to any reader, whatever was moved, forgotten, shared or erased since."""

from dataclasses import dataclass, replace

from cloister.bootstrap import Services
from cloister.domain.context import Context
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import MessageId, ReceiptId
from cloister.domain.receipts.receipt import Receipt, receipt_of_context
from cloister.domain.scope import Reach
from cloister.services.receipts.reading import ShownReceipt
from support.isolation.derived_machine import numbers
from support.isolation.oracle import Conversation, Part, Tenant


@dataclass(kw_only=True, slots=True)
class MadeReceipt:
    """A receipt, and in which part it was recalled. It goes with its messages: the question and the reply, if it has them. Without
    a session, `conversation` only says for which project and user was searched, and it is there until one of them is erased."""

    id: ReceiptId
    home: Tenant
    conversation: Conversation
    part: Part
    messages: frozenset[MessageId] = frozenset()
    is_of_session: bool = True
    is_erased: bool = False


def receipt_for(context: Context, question: MessageId) -> Receipt:
    made = receipt_of_context(context, now=1)
    return replace(made, kind="reply", terms=replace(made.terms, question=None, question_id=question))


def check_receipt(services: Services, made: MadeReceipt, reach: Reach) -> None:
    """It is found by who reaches its session, while its question and its reply are there; and it shows nothing that the session
    could not recall now, nor anything after the session has left the part it was recalled from."""
    home, conversation = made.home, made.conversation
    is_there = (
        _is_left(made) and reach.confined_to in (None, conversation.project) and reach.user in (None, conversation.user)
    )
    try:
        shown = services.receipts.get(reach, made.id)
    except NotFound:
        assert not is_there
        return
    assert is_there
    assert len(shown.items) + sum(shown.hidden.values()) == len(shown.receipt.items)
    if conversation.project in home.gone_projects or home.part(conversation) != made.part:
        assert shown.items == ()
    else:
        _check_items(home, conversation, shown)


def _is_left(made: MadeReceipt) -> bool:
    if not made.is_of_session:
        return not made.is_erased
    conversation = made.conversation
    is_there = made.home.conversations.get(conversation.name) is conversation
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
