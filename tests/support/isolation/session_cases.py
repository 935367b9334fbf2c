"""The store methods that take a session together with messages, given the messages of another session of the same tenant: they keep
to the session, whichever of the two has the smaller ids. `test_confined_stores` runs them, in both directions."""

from collections.abc import Callable, Iterable

from cloister.domain.branches import NO_MESSAGE, IdRange
from cloister.domain.conversation import Message
from cloister.domain.identifiers import MessageId, ReceiptId
from cloister.storage.interface import Transaction
from cloister.storage.stores.branches.branches import BranchStore
from cloister.storage.stores.branches.withdrawals import WithdrawalStore
from cloister.storage.stores.entity_groups import TouchedEntities
from cloister.storage.stores.extraction import ExtractionStore
from cloister.storage.stores.indexing.index_rows import IndexStore
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.observations import ObservationStore
from cloister.storage.stores.receipts.receipts import ReceiptStore
from cloister.storage.stores.sessions import SessionStore
from support.isolation.branch_cases import fail
from support.isolation.twin_tenants import GENERATION, MOMENT, Place

Attempt = Callable[[Transaction, Place, Place], bool]
"""Asks one session for messages of the other; true if the answer is of the first session only, and the other is unchanged."""


def only_of(place: Place, messages: Iterable[Message]) -> bool:
    return {message.id for message in messages} <= set(place.messages)


def before(transaction: Transaction, place: Place, other: Place) -> bool:
    store = MessageStore(transaction)
    ends = (other.messages[0], MessageId(other.messages[-1] + 1))
    return all(
        only_of(place, store.before(place.session, place.pool, end, limit=99, all_branches=all_branches))
        for end in ends
        for all_branches in (False, True)
    )


def page(transaction: Transaction, place: Place, other: Place) -> bool:
    store = MessageStore(transaction)
    return all(
        only_of(place, store.page(place.session, place.pool, limit=99, after=after, all_branches=all_branches))
        for after in (None, MessageId(other.messages[0] - 1))
        for all_branches in (False, True)
    )


def recent(transaction: Transaction, place: Place, other: Place) -> bool:
    """Of an unforked session, and of a forked one, which is searched from its first message on."""
    store = MessageStore(transaction)
    return all(
        only_of(
            place,
            store.recent(
                place.session, place.pool, "user", 99, is_forked=is_forked, until=other.messages[-1], with_partial=True
            ),
        )
        for is_forked in (False, True)
    )


def fork_both(transaction: Transaction, place: Place, other: Place) -> BranchStore:
    """The second message of both sessions follows none, and is not on the current branch."""
    branches = BranchStore(transaction)
    for each in (place, other):
        asked, reply = each.messages
        branches.set_parent(reply, NO_MESSAGE)
        branches.move(each.session, branches.tree(each.session), [IdRange(asked, asked)])
    return branches


def fork_other(transaction: Transaction, other: Place) -> BranchStore:
    asked, reply = other.messages
    branches = BranchStore(transaction)
    branches.set_parent(reply, asked)
    branches.move(other.session, branches.tree(other.session), [IdRange(asked, asked)])
    return branches


def tree(transaction: Transaction, place: Place, other: Place) -> bool:
    """Below no message of a session is a message of another."""
    found = fork_both(transaction, place, other).tree(place.session)
    ranges = [*found.path(place.messages[1]), *found.below(place.messages[0]), *found.outside([])]
    return not any(each.low <= message <= each.high for each in ranges for message in other.messages)


def remove(transaction: Transaction, place: Place, other: Place) -> bool:
    """As if the session were forked, and as if not: the other one keeps its messages, and its second message its parent."""
    branches = fork_other(transaction, other)
    session = SessionStore(transaction).get(place.name)
    removed = [branches.remove(session._replace(is_forked=is_forked), other.messages) for is_forked in (True, False)]
    left = ExtractionStore(transaction).present(other.session, other.messages, all_branches=True)
    parents = branches.parents(other.session, other.messages)
    return (removed, left, parents[other.messages[1]]) == ([0, 0], {*other.messages}, other.messages[0])


def uncheck(transaction: Transaction, place: Place, other: Place) -> bool:
    extraction = ExtractionStore(transaction)
    extraction.mark_checked(other.session, other.messages)
    BranchStore(transaction).uncheck(place.session, other.messages)
    return extraction.unchecked(other.session, 9) == []


def failed_replies(transaction: Transaction, place: Place, other: Place) -> bool:
    asked, reply = other.messages
    fail(transaction, reply)
    return BranchStore(transaction).failed_replies(place.session, asked, asked, limit=9) == []


def requeue(transaction: Transaction, place: Place, other: Place) -> bool:
    rows = IndexStore(transaction, GENERATION)
    rows.requeue(place.session, other.messages)
    return rows.waiting(other.session, limit=9) == []


def summaries(transaction: Transaction, place: Place, other: Place) -> bool:
    found = ReceiptStore(transaction).summaries(place.session, [*place.messages, *other.messages], MOMENT)
    return [summary.id for summary in found] == [ReceiptId(place.messages[1])]


def withdrawal(transaction: Transaction, place: Place, other: Place) -> WithdrawalStore:
    transaction.execute("delete_memory_revisions", memory_ids=f"[{other.memory:d}]")
    return WithdrawalStore(transaction, place.session, other.messages)


def forget_from(transaction: Transaction, place: Place, other: Place) -> bool:
    forgotten = ObservationStore(transaction).forget_from(place.session, other.messages[0])
    return {*forgotten} <= {place.observation} and ObservationStore(transaction).count(other.session) == 1


SESSION_CASES: dict[str, Attempt] = {
    "MessageStore.before": before,
    "MessageStore.page": page,
    "MessageStore.recent": recent,
    "MessageStore.found": lambda t, one, other: only_of(
        one, MessageStore(t).found(one.session, one.pool, [*one.messages, *other.messages])
    ),
    "BranchStore.tree": tree,
    "BranchStore.parents": lambda t, one, other: (
        BranchStore(t).parents(one.session, [*one.messages, *other.messages]).keys() == {*one.messages}
    ),
    "BranchStore.behind": lambda t, one, other: (
        BranchStore(t).behind(one.session, MessageId(other.messages[0] - 1)) in (NO_MESSAGE, one.messages[0])
    ),
    "BranchStore.has_others": lambda t, one, other: not fork_other(t, other).has_others(one.session),
    "BranchStore.failed_replies": failed_replies,
    "BranchStore.remove": remove,
    "BranchStore.uncheck": uncheck,
    "ExtractionStore.present": lambda t, one, other: (
        ExtractionStore(t).present(one.session, [*one.messages, *other.messages], all_branches=True) == {*one.messages}
    ),
    "IndexStore.requeue": requeue,
    "ObservationStore.forget_from": forget_from,
    "ReceiptStore.summaries": summaries,
    "WithdrawalStore.memories": lambda t, one, other: withdrawal(t, one, other).memories() == [],
    "WithdrawalStore.entities": lambda t, one, other: (
        withdrawal(t, one, other).entities() == (TouchedEntities(left=(), gone=()), set())
    ),
}
