"""Which fact takes the place of which (MEM-12), and which questions ask about the past."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloister.domain.identifiers import MemoryId, SessionId
from cloister.domain.recall.past import asks_about_past
from cloister.domain.truth.supersession import Fact, successors


def fact(
    number: int,
    at: int,
    says: int = 0,
    subject: str | None = "home",
    *,
    session: int = 1,
    stands: bool = True,
    person: bool = False,
    kept: bool = False,
    since: int | None = None,
    former: tuple[tuple[int, str | None], ...] = (),
) -> Fact:
    return Fact(
        id=MemoryId(number),
        session=SessionId(session),
        subject=subject,
        statement=bytes([says]),
        valid_from=at,
        created_at=number,
        stands=stands,
        by_person=person,
        kept_by_person=kept,
        superseded_by=None,
        valid_until=None,
        kept_since=since,
        former_subjects=former,
    )


FACTS = st.lists(
    st.tuples(
        st.integers(0, 6),
        st.integers(0, 2),
        st.sampled_from([None, "home", "work"]),
        st.integers(1, 2),
        st.booleans(),
        st.booleans(),
        st.booleans(),
        st.sampled_from([None, 3, 6]),
        st.sampled_from([(), ((4, "home"),), ((4, None), (9, "work"))]),
    ),
    max_size=10,
).map(
    lambda rows: [
        fact(
            number,
            at,
            says,
            subject,
            session=session,
            stands=stands,
            person=person,
            kept=kept,
            since=since,
            former=former,
        )
        for number, (at, says, subject, session, stands, person, kept, since, former) in enumerate(rows, 1)
    ]
)
PAIRS = st.lists(st.tuples(st.integers(1, 10), st.integers(1, 10)), max_size=6)


def slowly(facts: list[Fact], pairs: dict[MemoryId, list[MemoryId]]) -> dict[MemoryId, Fact | None]:
    """The rule, word by word: the first later fact that stands, may supersede, and is about the same."""

    def takes_over(newer: Fact, older: Fact) -> bool:
        about_same = older.subject is not None and newer.subject == older.subject
        other = newer.statement != older.statement or newer.session == older.session
        was_there = older.kept_since is not None and newer.created_at < older.kept_since
        allowed = newer.stands and (newer.by_person or not older.kept_by_person or was_there)
        is_paired = newer.id in pairs.get(older.id, ()) and not {newer.id, older.id} & moved_on(newer, older)
        return newer.order > older.order and allowed and ((about_same and other) or is_paired)

    def moved_on(*both: Fact) -> set[MemoryId]:
        """Those that were about something else when they were paired."""
        paired_at = max(one.created_at for one in both)
        then = {one.id: [subject for at, subject in one.former_subjects if at > paired_at] for one in both}
        return {one.id for one in both if then[one.id] and then[one.id][0] not in (None, one.subject)}

    return {
        older.id: min((newer for newer in facts if takes_over(newer, older)), key=lambda one: one.order, default=None)
        for older in facts
    }


@settings(max_examples=400, deadline=None)
@given(FACTS, PAIRS)
def test_one_pass_gives_what_the_rule_says(facts: list[Fact], named: list[tuple[int, int]]) -> None:
    """MEM-12: whatever the facts, their order of arrival and the pairs."""
    pairs: dict[MemoryId, list[MemoryId]] = {}
    for one, other in named:
        pairs.setdefault(MemoryId(one), []).append(MemoryId(other))
        pairs.setdefault(MemoryId(other), []).append(MemoryId(one))
    assert successors(facts, pairs) == slowly(facts, pairs) == successors(reversed(facts), pairs)


def test_many_equal_statements_take_linear_time() -> None:
    """ISO-13: somebody who says the same in thousands of sessions makes nobody wait."""
    facts = [fact(number, number, session=number) for number in range(1, 50_001)]
    found = successors([*facts, fact(60_000, 60_000, says=1)], {})
    assert {None if one is None else one.id for one in found.values()} == {60_000, None}


@pytest.mark.parametrize(
    "question",
    [
        "Where did I live before?",
        "Where did I use to work before that?",
        "What did I used to eat?",
        "Where did Ann previously work?",
        "What was my old address?",
        "Who was my former employer?",
        "my previous job",
        "Have I ever lived in Rome?",
        "Where was I living in May 2021?",
        "What was her name before she married?",
        "Who is my ex-wife?",
        "Where did I use to work?",
        "Where did I work two years ago?",
        "Who was I dating last year?",
        "what city was I in before Oslo?",
        "What did I do for a living before Acme?",
        "What did I do for work?",
        "Where have I lived?",
        "Where did I live?",
        "where did i live",
        "Where did my brother work?",
        "Where did Ann Lee live?",
        "Was I married?",
        "Who did I break up with?",
        "Where did I move here from?",
        "Which jobs have I had?",
        "Which companies have I worked for?",
        "What was my surname?",
        "Which company was she with?",
        "How old was I then?",
        "What did I drive three years ago?",
        "Who was my manager before the merger?",
        "Where was she employed?",
        "What was my diet last winter?",
        "What did I want to be when I was a child?",
    ],
)
def test_mem_12_these_questions_ask_about_the_past(question: str) -> None:
    assert asks_about_past(question)


@pytest.mark.parametrize(
    "question",
    [
        "Where do I live?",
        "What should I pack before the trip?",
        "Where do I work now?",
        "What is my name?",
        "How old is my daughter?",
        "When is the last bus?",
        "Call me before dinner.",
        "What did I say about the garden?",
        "What did I say about work?",
        "Where did I put my keys?",
        "What did I work on yesterday?",
        "Did I work out this morning?",
        "What was the name of that restaurant?",
        "What was my number again?",
        "Did Ann call?",
        "Was the door open?",
        "How long have I lived here?",
        "What have I planned for Monday?",
        "Did I water the plants before Monday?",
        "Have I had lunch?",
        "What did we decide about the lamp last week?",
        "Which flat should I rent?",
        "Where do my parents live?",
        "Who am I dating?",
        "",
        "a" * 4_096,
    ],
)
def test_mem_12_these_do_not(question: str) -> None:
    assert not asks_about_past(question)
