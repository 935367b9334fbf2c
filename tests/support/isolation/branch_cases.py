"""The stores of branches, method by method, as `test_store_isolation` runs them: with our own ids, and with foreign ones."""

from cloister.domain.branches import NO_MESSAGE, IdRange
from cloister.storage.interface import Transaction, integers
from cloister.storage.stores.branches.branches import BranchStore
from cloister.storage.stores.branches.withdrawals import SettledStore, WithdrawalStore
from cloister.storage.stores.entity_groups import TouchedEntities
from support.isolation.twin_tenants import MOMENT, Case, Home


def forked(transaction: Transaction, home: Home) -> BranchStore:
    """The second message of the first session begins a branch of its own, and is not on the current one."""
    asked, reply = home.first.messages
    branches = BranchStore(transaction)
    branches.set_parent(reply, NO_MESSAGE)
    branches.move(home.first.session, branches.tree(home.first.session), [IdRange(asked, asked)])
    return branches


def whole(home: Home) -> list[IdRange]:
    return [IdRange(home.first.messages[0], home.first.messages[1])]


def withdrawal(transaction: Transaction, home: Home) -> WithdrawalStore:
    return WithdrawalStore(transaction, home.first.session, home.first.messages)


def memories(transaction: Transaction, home: Home) -> list[int]:
    """The memory, after nobody has changed it."""
    transaction.execute("delete_memory_revisions", memory_ids=integers([home.first.memory]))
    return [*withdrawal(transaction, home).memories()]


def check_all(transaction: Transaction, home: Home) -> None:
    transaction.execute("mark_checked", session_id=home.first.session, message_ids=integers(home.first.messages))


def failed(transaction: Transaction, home: Home) -> list[int]:
    asked, reply = home.first.messages
    fail(transaction, reply)
    return [*BranchStore(transaction).failed_replies(home.first.session, asked, asked, limit=9)]


def fail(transaction: Transaction, reply: int) -> None:
    """Make a reply a failed one."""
    transaction.execute(
        "blank_message",
        message_id=reply,
        role="assistant",
        content="x",
        tokens=1,
        vector=b"",
        terms=b"",
        checksum=None,
    )


BRANCH_CASES: dict[str, Case] = {
    "BranchStore.tree": Case(
        act=lambda t, h: forked(t, h).tree(h.first.session).path(h.first.messages[1])[0].low == h.first.messages[1],
        nothing=False,
        writes=True,
    ),
    "BranchStore.parents": Case(act=lambda t, h: BranchStore(t).parents(h.first.session, h.first.messages), nothing={}),
    "BranchStore.set_parent": Case(
        act=lambda t, h: BranchStore(t).set_parent(h.first.messages[1], NO_MESSAGE), writes=True
    ),
    "BranchStore.last_in": Case(act=lambda t, h: BranchStore(t).last_in(whole(h)), nothing=NO_MESSAGE),
    "BranchStore.current_in": Case(act=lambda t, h: BranchStore(t).current_in(whole(h)), nothing=[]),
    "BranchStore.others_in": Case(act=lambda t, h: forked(t, h).others_in(whole(h)), nothing=[], writes=True),
    "BranchStore.move": Case(act=lambda t, h: (forked(t, h), None)[1], writes=True),
    "BranchStore.set_leaf": Case(
        act=lambda t, h: BranchStore(t).set_leaf(h.first.session, h.first.messages[0], is_forked=True), writes=True
    ),
    "BranchStore.note_change": Case(
        act=lambda t, h: BranchStore(t).note_change(
            h.first.session, h.first.messages[0], is_forked=True, version=9, is_due=True, now=MOMENT
        ),
        writes=True,
    ),
    "BranchStore.has_others": Case(
        act=lambda t, h: forked(t, h).has_others(h.first.session), nothing=False, writes=True
    ),
    "BranchStore.remove": Case(
        act=lambda t, h: forked(t, h).remove(
            h.tail(h.first).session._replace(is_forked=True, leaf=h.first.messages[0]), h.first.messages
        ),
        nothing=0,
        writes=True,
    ),
    "BranchStore.uncheck": Case(
        act=lambda t, h: (check_all(t, h), BranchStore(t).uncheck(h.first.session, h.first.messages[:1])), writes=True
    ),
    "BranchStore.failed_replies": Case(act=failed, nothing=[], writes=True),
    "BranchStore.behind": Case(
        act=lambda t, h: BranchStore(t).behind(h.first.session, h.first.messages[0]), nothing=NO_MESSAGE
    ),
    "SettledStore.settle": Case(act=lambda t, h: SettledStore(t).settle(h.first.session), writes=True),
    "SettledStore.settle_mentioning": Case(
        act=lambda t, h: SettledStore(t).settle_mentioning(h.first.entity), writes=True
    ),
    "WithdrawalStore.memories": Case(act=memories, nothing=[], writes=True),
    "WithdrawalStore.sources": Case(act=lambda t, h: withdrawal(t, h).sources([h.first.memory]), nothing=set[int]()),
    "WithdrawalStore.entities": Case(
        act=lambda t, h: withdrawal(t, h).entities(),
        nothing=(TouchedEntities(left=(), gone=()), set[int]()),
        writes=True,
    ),
}
