"""What a receipt may show, by the oracle (PRF-1): for every reader, whatever was moved, forgotten or shared since it was made."""

from dataclasses import dataclass, replace

from cloister.bootstrap import Services
from cloister.domain.context import Context
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import MessageId, ReceiptId
from cloister.domain.receipts.receipt import Receipt, receipt_of_context
from cloister.domain.scope import Reach
from support.isolation.oracle import Conversation, Part, Tenant


@dataclass(frozen=True, kw_only=True, slots=True)
class MadeReceipt:
    """The receipt of a reply, and in which part it was recalled."""

    home: Tenant
    conversation: Conversation
    reply: MessageId
    question: MessageId
    part: Part


def receipt_for(context: Context, question: MessageId) -> Receipt:
    made = receipt_of_context(context, now=1)
    return replace(made, kind="reply", terms=replace(made.terms, question=None, question_id=question))


def check_receipt(services: Services, made: MadeReceipt, reach: Reach) -> None:
    """It is found by who reaches its session, while its question and its reply are there; and it shows nothing that the session
    could not recall now, nor anything after the session has left the part it was recalled from."""
    home, conversation = made.home, made.conversation
    said = {one.id for one in conversation.everything}
    is_there = (
        home.conversations.get(conversation.name) is conversation
        and {made.reply, made.question} <= said
        and reach.confined_to in (None, conversation.project)
        and reach.user in (None, conversation.user)
    )
    try:
        shown = services.receipts.get(reach, ReceiptId(made.reply))
    except NotFound:
        assert not is_there
        return
    assert is_there
    assert len(shown.items) + sum(shown.hidden.values()) == len(shown.receipt.items)
    if home.part(conversation) != made.part:
        assert shown.items == ()
    recallable = {one.id: one.content for _, one in home.pool(conversation)}
    for item in shown.items:
        if item.item.kind == "message":
            assert item.content == recallable[MessageId(item.item.id)]
