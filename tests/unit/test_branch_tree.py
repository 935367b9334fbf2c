"""The tree of a session's branches, compared with a naive one that knows the parent of every message."""

from hypothesis import given
from hypothesis import strategies as st

from cloister.domain.branches import NO_MESSAGE, BranchTree, Fork, IdRange, is_within
from cloister.domain.identifiers import MAX_SEQUENCE, MessageId, SessionId, message_id

SESSION = SessionId(7)


def at(sequence: int) -> MessageId:
    return message_id(SESSION, sequence)


@st.composite
def parents(draw: st.DrawFn) -> dict[MessageId, MessageId]:
    """Up to thirty messages, some of which were deleted; each follows the one before it, another one before it, or none."""
    found: dict[MessageId, MessageId] = {}
    for sequence in draw(st.lists(st.integers(1, 40), min_size=1, max_size=30, unique=True).map(sorted)):
        before = list(found)
        choice = draw(st.integers(-3, len(before)))
        usual = before[-1] if before else NO_MESSAGE
        found[at(sequence)] = usual if choice < 0 else [NO_MESSAGE, *before][choice]
    return found


def tree_of(parents: dict[MessageId, MessageId]) -> BranchTree:
    """Only those that do not follow the one before them are forks."""
    before, forks = NO_MESSAGE, list[Fork]()
    for message, parent in parents.items():
        if parent != before:
            forks.append(Fork(message, parent))
        before = message
    return BranchTree(SESSION, forks)


def path_of(parents: dict[MessageId, MessageId], leaf: MessageId) -> set[MessageId]:
    path: set[MessageId] = set()
    while leaf != NO_MESSAGE:
        path.add(leaf)
        leaf = parents[leaf]
    return path


@given(parents())
def test_the_ranges_of_a_path_have_its_messages_and_no_others(parents: dict[MessageId, MessageId]) -> None:
    tree = tree_of(parents)
    for leaf in (*parents, NO_MESSAGE):
        ranges = tree.path(leaf)
        inside = {message for message in parents if is_within(ranges, message)}
        assert inside == path_of(parents, leaf)
        outside = {message for message in parents if is_within(tree.outside(ranges), message)}
        assert outside == parents.keys() - inside


@given(parents())
def test_what_is_below_a_message_is_all_whose_path_has_it(parents: dict[MessageId, MessageId]) -> None:
    tree = tree_of(parents)
    for message in parents:
        below = {other for other in parents if message in path_of(parents, other)}
        assert {other for other in parents if is_within(tree.below(message), other)} == below


def test_a_session_without_forks_is_one_line() -> None:
    tree = BranchTree(SESSION, [])
    assert tree.path(at(5)) == [IdRange(at(1), at(5))]
    assert tree.below(at(3)) == [IdRange(at(3), at(MAX_SEQUENCE))]
    assert tree.outside(tree.path(at(5))) == [IdRange(at(6), at(MAX_SEQUENCE))]
    assert tree.path(NO_MESSAGE) == []


def test_many_forks_cost_little() -> None:
    """ISO-13: a conversation that was regenerated a hundred thousand times; all of it is looked at once."""
    forks = [Fork(at(sequence), at(1)) for sequence in range(3, 100_003)]
    tree = BranchTree(SESSION, forks)
    assert len(tree.below(at(1))) == 100_001
    assert tree.path(at(100_002)) == [IdRange(at(1), at(1)), IdRange(at(100_002), at(100_002))]
