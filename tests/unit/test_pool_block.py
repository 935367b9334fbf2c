"""A pool's block: the evidence of a query, checked against the recipe worked out the slow way."""

import math
import random
import threading
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from cloister.domain.recall.ranking import best, rank
from cloister.index import terms
from cloister.index.exact import block
from cloister.index.exact.background import start_in_thread
from cloister.index.exact.block import PoolBlock
from support.samples.index_rows import (
    DAY,
    DIMENSION,
    MAY_8_2023,
    StoredRow,
    conversation,
    embed_query,
    ids_by,
    message,
    rows_of,
)


def block_of(*batches: Sequence[StoredRow]) -> PoolBlock:
    block = PoolBlock(DIMENSION)
    for batch in batches:
        block.append([rows_of(batch)])
    return block


def terms_held(stored: bytes) -> list[int]:
    return np.frombuffer(stored, "<u4").tolist()


def bm25(counts: Sequence[Counter[int]], idf: dict[int, float]) -> list[float]:
    lengths = [sum(count.values()) for count in counts]
    average = sum(lengths) / len(lengths)
    return [
        sum(idf[t] * 2.5 * count[t] / (count[t] + 1.5 * (0.25 + 0.75 * length / average)) for t in idf)
        for count, length in zip(counts, lengths, strict=True)
    ]


def slowly(stored: Sequence[StoredRow], query: str) -> tuple[dict[int, float], dict[int, float]]:
    """Lexical and semantic evidence by the recipe's own words."""
    sessions: dict[int, list[StoredRow]] = {}
    for row in sorted(stored):
        sessions.setdefault(row[1], []).append(row)
    asked = set(terms.term_list(query))
    own = {row[0]: Counter(terms_held(row[6])) for row in stored}
    derived = {row[0]: Counter(terms.term_list(f"{row[3]} 8 May 2023")) for row in stored}
    frequency = {t: sum(1 for row in stored if own[row[0]][t] or derived[row[0]][t]) for t in asked}
    idf = {t: math.log(1 + (len(stored) - df + 0.5) / (df + 0.5)) for t, df in frequency.items()}
    asked_vector = embed_query(query, None).astype(np.float16).astype(np.float64)
    order: list[int] = []
    windows: list[Counter[int]] = []
    semantic: dict[int, float] = {}
    for rows in sessions.values():
        vectors = [np.frombuffer(row[5] or bytes(2 * DIMENSION), "<f2").astype(np.float64) for row in rows]
        for at, row in enumerate(rows):
            counts = Counter[int](own[row[0]])
            counts.update(derived[row[0]])
            total = vectors[at].copy()
            for other in range(max(0, at - 3), min(len(rows), at + 4)):
                distance = abs(other - at)
                lent = 0.5**distance * min(1, 12 / max(1, own[rows[other][0]].total()))
                if distance:
                    for t, count in own[rows[other][0]].items():
                        counts[t] += lent * count  # pyright: ignore[reportArgumentType]
                if 1 <= distance <= 2:
                    total += lent * vectors[other]
            order.append(row[0])
            windows.append(counts)
            semantic[row[0]] = float(total @ asked_vector) / max(float(np.linalg.norm(total)), 1e-3)
    return dict(zip(order, bm25(windows, idf), strict=True)), semantic


def assert_as_slow(block: PoolBlock, stored: Sequence[StoredRow], query: str) -> None:
    evidence = block.evidence(query, embed_query)
    lexical, semantic = slowly(stored, query)
    assert ids_by(evidence, evidence.lexical) == pytest.approx(lexical, rel=1e-4, abs=1e-5)
    assert ids_by(evidence, evidence.semantic) == pytest.approx(semantic, abs=5e-3)


QUERY = "Did Ana play the violin on the mountain in May?"


def test_evidence_is_that_of_the_recipe() -> None:
    stored = conversation(1, 12, 1) + conversation(2, 7, 2) + conversation(3, 1, 3)
    assert_as_slow(block_of(stored), stored, QUERY)


@pytest.mark.parametrize("seed", range(6))
def test_a_block_grown_and_shrunk_step_by_step_equals_one_built_at_once(seed: int) -> None:
    rng = random.Random(seed)
    waiting = {session: conversation(session, rng.randint(1, 14), seed * 10 + session) for session in range(1, 7)}
    block, stored = PoolBlock(DIMENSION), list[StoredRow]()
    while any(waiting.values()):
        batch: list[StoredRow] = []
        for session in rng.sample(sorted(waiting), 3):
            taken = rng.randint(0, 4)
            batch += waiting[session][:taken]
            del waiting[session][:taken]
        block.append([rows_of(batch)])
        stored += batch
        if rng.random() < 0.2 and stored:
            gone = rng.choice(stored)[1]
            block.drop([gone])
            stored = [row for row in stored if row[1] != gone]
            waiting[gone] = []
    if stored:
        assert_as_slow(block, stored, QUERY)
    assert block.sessions == {row[1] for row in stored}
    assert all(block.last_message(row[1]) >= row[0] for row in stored)
    once = block_of(sorted(stored)).evidence(QUERY, embed_query)
    grown = block.evidence(QUERY, embed_query)
    assert ids_by(grown, rank(grown)) == pytest.approx(ids_by(once, rank(once)), abs=1e-4)


def test_a_large_block_worked_on_by_two_threads_equals_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    batches = [rows_of(conversation(session, 40, session)) for session in range(1, 6)]
    small, large = PoolBlock(DIMENSION), PoolBlock(DIMENSION)
    small.append(batches)
    monkeypatch.setattr(block, "_LARGE", 1)
    threads = beside_threads(monkeypatch)
    large.reserve(1_000)
    large.append(batches)
    found = large.evidence("Ana, what of the violin lantern?", embed_query)
    assert len(threads) == 2
    monkeypatch.undo()
    expected = small.evidence("Ana, what of the violin lantern?", embed_query)
    for column in ("ids", "lexical", "semantic", "author", "session_prior"):
        assert np.array_equal(getattr(found, column), getattr(expected, column)), column


def beside_threads(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What is started on another thread from now on."""
    begun: list[object] = []

    def noted(work: Callable[[], object]) -> Callable[[], object]:
        begun.append(work)
        return start_in_thread(work)

    monkeypatch.setattr(block, "start_in_thread", noted)
    return begun


def test_an_error_beside_is_raised_where_its_result_is_asked_for() -> None:
    def fail() -> None:
        raise MemoryError("no room")

    result = start_in_thread(fail)
    with pytest.raises(MemoryError, match="no room"):
        result()


def test_without_another_thread_one_goes_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert start_in_thread(lambda: 7)() == 7


def test_a_dropped_session_leaves_no_trace_in_the_statistics() -> None:
    kept, dropped = conversation(1, 9, 1), [message(2, at, "violin violin", "Cleo") for at in range(9)]
    block = block_of(kept, dropped)
    block.drop([2, 99])
    expected = block_of(kept).evidence("Cleo violin", embed_query)
    found = block.evidence("Cleo violin", embed_query)
    assert found.lexical.tolist() == pytest.approx(expected.lexical.tolist())
    assert found.session_prior.tolist() == pytest.approx(expected.session_prior.tolist())


def test_evidence_given_stays_as_it_was_when_the_block_changes() -> None:
    block = block_of(conversation(1, 5, 1), conversation(2, 5, 2))
    evidence = block.evidence(QUERY, embed_query)
    before = evidence.ids.tolist(), evidence.roles.tolist(), evidence.semantic.tolist()
    block.drop([1])
    block.append([rows_of(conversation(3, 50, 3))])
    assert (evidence.ids.tolist(), evidence.roles.tolist(), evidence.semantic.tolist()) == before


@pytest.mark.parametrize("query", ["", "   ", "what is the of", "🎉", "xylophone zzzz", "violin " * 10_000, "a\\b(c[d"])
def test_any_query_gets_an_answer_from_any_pool(query: str) -> None:
    one, emoji = [message(1, 0, "violin", "Ana")], [message(1, 0, "🎉"), message(1, 1, "", embedded=False)]
    for stored in ([], one, emoji, conversation(1, 20, 4)):
        evidence = block_of(stored).evidence(query, embed_query)
        scores = rank(evidence)
        assert len(best(evidence, scores, 5)) == min(5, len(stored))
        assert np.isfinite(scores).all()


def test_a_query_of_very_many_words_is_cut_to_the_rarest() -> None:
    stored = [message(1, at, f"topic{at} common") for at in range(200)]
    evidence = block_of(stored).evidence(" ".join(f"topic{at}" for at in range(200)) + " common", embed_query)
    assert np.isfinite(evidence.lexical).all()
    assert (evidence.lexical > 0).sum() >= 64


def test_the_speaker_named_is_favoured() -> None:
    block = block_of([message(1, 0, "tea", "Ana Lima"), message(1, 1, "tea", "Bo"), message(1, 2, "tea", "Ana Lima")])
    assert block.evidence("What does Ana drink?", embed_query).author.tolist() == [1, 0, 1]
    assert not block.evidence("What do Ana and Bo drink?", embed_query).author.any()
    assert not block.evidence("What is drunk?", embed_query).author.any()


def test_between_user_and_assistant_the_query_says_whose_words_it_wants() -> None:
    block = block_of([message(1, 0, "tea"), message(1, 1, "coffee", role="assistant")])
    assert block.evidence("What do I drink?", embed_query).author.tolist() == [1, 0]
    assert block.evidence("What did you recommend?", embed_query).author.tolist() == [0, 1]
    assert not block.evidence("What was in our conversation?", embed_query).author.any()


def test_dates_named_favour_the_messages_near_them() -> None:
    days = {"on the day": 0, "three days on": 3, "month after": 30, "long after": 90, "year after": 366}
    block = block_of([message(at, 0, "tea", created_at=MAY_8_2023 + days[k] * DAY) for at, k in enumerate(days, 1)])
    by_day = block.evidence("on 8 May 2023", embed_query).date.tolist()
    assert by_day == pytest.approx([1, 0.6 + 0.4 * 4 / 7, 0.5, 0, 0])
    assert block.evidence("in May", embed_query).date.tolist() == pytest.approx([1, 1, 0.5, 0, 1])
    assert block.evidence("during 2024", embed_query).date.tolist() == [0, 0, 0, 0, 1]


def test_a_misspelt_word_finds_the_pools_own_word() -> None:
    block = block_of([message(1, 0, "she plays the violin"), message(2, 0, "they baked bread")])
    for query in ("voilin", "viollin", "vioin", "violyn"):
        assert block.evidence(query, embed_query).lexical.argmax() == 0
        assert block.evidence(query, embed_query).lexical.max() > 0
    assert not block.evidence("piolin", embed_query).lexical.any()


def test_a_misspelt_name_still_names_its_speaker() -> None:
    block = block_of([message(1, 0, "hello", "Caroline"), message(1, 1, "hello", "Mel")])
    assert block.evidence("Where did Carolne go?", embed_query).author.tolist() == [1, 0]


def test_a_word_the_pool_knows_is_never_repaired() -> None:
    block = block_of([message(1, 0, "boat"), *(message(2, at, "boats coat coat") for at in range(9))])
    assert block.evidence("boat", embed_query).lexical[0] > 0


def test_a_session_that_speaks_of_the_query_lifts_all_its_messages() -> None:
    block = block_of(
        [message(1, at, "violin lessons" if at == 0 else "fine") for at in range(9)], [message(2, 0, "fine")]
    )
    prior = block.evidence("violin", embed_query).session_prior
    assert prior[8] > prior[9]


def test_memory_is_counted() -> None:
    block = block_of(conversation(1, 100, 1))
    assert block.nbytes >= 100 * DIMENSION * 2
    assert len(block) == 100


def test_words_of_days_count_unless_they_name_a_relative_date() -> None:
    """CTX-9: "in the morning" is asked for, "last week" is answered by the date."""
    block = block_of([message(1, 0, "my morning walk"), message(2, 0, "a new lamp")])
    assert block.evidence("What do I do in the morning?", embed_query).coverage[0] > 0.3
    plain = block.evidence("Which lamp was new?", embed_query).coverage[1]
    assert block.evidence("Which lamp was new last week?", embed_query).coverage[1] == pytest.approx(plain)
