"""The table of the wordllama wheel as an embedder."""

import random
import re
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file  # pyright: ignore[reportUnknownVariableType]
from tokenizers import Tokenizer

from cloister.domain.recall.passage import Passage, passage
from cloister.domain.text import MAX_CONTENT
from cloister.models.interface import Embedder
from cloister.models.static.embedder import StaticEmbedder
from cloister.models.static.sums import Sums, cut

EMBEDDER = StaticEmbedder()


def vector(content: str, prefix: str = "") -> npt.NDArray[np.float32]:
    stored = EMBEDDER.embed([Passage(prefix=prefix, content=content)])[0].vector
    return np.frombuffer(stored, "<f2").astype(np.float32)


def evenly(words: Sequence[str]) -> list[float]:
    return [1.0] * len(words)


def wheel() -> Path:
    spec = find_spec("wordllama")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


def plain_tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(wheel() / "tokenizers" / "l2_supercat_tokenizer_config.json"))


def wheel_table() -> npt.NDArray[np.float16]:
    return load_file(wheel() / "weights" / "l2_supercat_256.safetensors")["embedding.weight"]


TOKENIZER = plain_tokenizer()
TABLE = wheel_table()


def test_it_is_an_embedder_fit_for_writes() -> None:
    embedder: Embedder = EMBEDDER
    assert (embedder.dimension, embedder.immediate) == (256, True)


def test_a_stored_vector_is_256_half_floats_of_unit_length() -> None:
    assert len(EMBEDDER.embed([passage("I went to a support group", "Ana", 0)])[0].vector) == 512
    assert np.linalg.norm(vector("I went to a support group")) == pytest.approx(1, abs=2e-3)


def test_texts_of_like_meaning_are_nearer_than_others() -> None:
    question = EMBEDDER.embed_query("Which pet does she own?", evenly)
    assert question @ vector("She has a dog and two cats") > question @ vector("The invoice was paid in March")


def test_the_prefix_changes_the_vector_but_not_the_count_of_tokens() -> None:
    bare, dated = (
        EMBEDDER.embed([Passage(prefix=prefix, content="So powerful!")])[0] for prefix in ("", "[8 May 2023]")
    )
    assert bare.tokens == dated.tokens == len(TOKENIZER.encode("So powerful!", add_special_tokens=False).ids)
    assert bare.vector != dated.vector


def test_nothing_to_embed_is_the_zero_vector() -> None:
    assert not vector("").any()
    assert not EMBEDDER.embed_query("", evenly).any()
    assert EMBEDDER.embed([]) == []


def test_a_query_of_weightless_words_still_has_a_direction() -> None:
    assert np.linalg.norm(EMBEDDER.embed_query("what is it?", lambda words: [0.0] * len(words))) == pytest.approx(1)


def test_a_heavier_word_pulls_the_query_towards_itself() -> None:
    def favouring(chosen: str) -> npt.NDArray[np.float32]:
        return EMBEDDER.embed_query("guitar picnic", lambda words: [5.0 if word == chosen else 0.5 for word in words])

    assert favouring("guitar") @ vector("guitar") > favouring("picnic") @ vector("guitar")


def slowly(text: str) -> npt.NDArray[np.float32]:
    """A query embedded by tokenising it whole, each token weighing what the word it ends in weighs, a bare space nothing."""
    encoding = TOKENIZER.encode(text, add_special_tokens=False)
    at = [0.0] * len(text)
    for word in re.finditer(r"[^\W_]+", text):
        at[word.start() : word.end()] = [1.0 + len(word.group())] * len(word.group())
    ends = zip(encoding.tokens, encoding.offsets, strict=True)
    weights = np.array([0.0 if token == "▁" else at[end - 1] for token, (_, end) in ends], np.float32)
    if not weights.any():
        weights[:] = 1
    total = (TABLE[encoding.ids].astype(np.float32) * weights[:, None]).sum(axis=0)
    return total / max(float(np.linalg.norm(total)), 1e-12)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60) | st.text(alphabet=" ▁ab.Z'?,ü漢<s>/", max_size=40))
def test_a_query_cut_at_its_spaces_is_weighed_as_the_whole(text: str) -> None:
    text = text.encode("utf-8", "ignore").decode().strip(" ▁")
    found = EMBEDDER.embed_query(text, lambda words: [1.0 + len(word) for word in words])
    if text:
        assert np.allclose(found, slowly(text), atol=1e-4)


TEXTS = st.text(max_size=60) | st.text(alphabet=" ▁ab.Z'\n\tü漢<s>/", max_size=40)


def storable(text: str) -> str:
    return text.encode("utf-8", "ignore").decode()


@settings(max_examples=300, deadline=None)
@given(TEXTS.map(storable))
def test_cutting_a_text_at_its_spaces_gives_the_tokens_of_the_whole(text: str) -> None:
    whole = TOKENIZER.encode(text.strip(" ▁"), add_special_tokens=False).ids
    pieces = [TOKENIZER.encode(piece, add_special_tokens=False).ids for piece in cut(text)]
    assert list(chain.from_iterable(pieces)) == whole
    assert cut(f"  {text} ") == cut(text)


@settings(max_examples=100, deadline=None)
@given(st.lists(TEXTS.map(storable), min_size=1, max_size=8))
def test_vectors_of_many_texts_are_those_of_their_tokens_and_of_each_alone(texts: list[str]) -> None:
    passages = [Passage(prefix="[8 May 2023]" if number % 2 else "", content=text) for number, text in enumerate(texts)]
    for one, found in zip(passages, EMBEDDER.embed(passages), strict=True):
        assert found == EMBEDDER.embed([one])[0]
        assert found.tokens == len(tokens_of(one.content))
        assert np.allclose(np.frombuffer(found.vector, "<f2"), directly(one), atol=2e-3)


def tokens_of(text: str) -> list[int]:
    return TOKENIZER.encode(text.strip(" ▁"), add_special_tokens=False).ids


def directly(one: Passage) -> npt.NDArray[np.float32]:
    """The vector of a passage whose parts are tokenised whole."""
    total = TABLE[[*tokens_of(one.prefix), *tokens_of(one.content)]].astype(np.float32).sum(axis=0)
    return total / max(float(np.linalg.norm(total)), 1e-12)


def is_true(sums: Sums, one: Passage) -> bool:
    (total,), (count,) = sums.of([one])
    content, prefix = tokens_of(one.content), tokens_of(one.prefix)
    return count == len(content) and np.array_equal(total, TABLE[content + prefix].astype(np.float64).sum(axis=0))


def test_sums_stay_true_when_more_pieces_come_than_have_a_row_or_are_kept() -> None:
    sums = Sums(TABLE, TOKENIZER)
    early = Passage(prefix="[8 May 2023]", content="an anchorage of amber")
    first = sums.of([early])[0]
    for turn in range(70):
        words = " ".join(f"w{turn}x{number}" for number in range(1_000))
        assert is_true(sums, Passage(prefix=f"[{turn} May 2023]", content=f"{words} {'x' * 60} amber"))
    assert np.array_equal(sums.of([early])[0], first)


def test_a_vector_does_not_tell_what_others_said_before() -> None:
    """Which words have a row depends on all that a process met; were sums not exact, the last bit of a vector would show it."""
    secret = "Moonraker-7741"
    filler = [passage(" ".join(f"{turn}x{number}" for number in range(1_000)), None, 0) for turn in range(20)]
    told, untold, empty = (Sums(TABLE, TOKENIZER) for _ in range(3))
    told.of([Passage(prefix="Zbigniew:", content=f"my word is {secret}")])
    told.of(filler)
    untold.of(filler)
    rng = random.Random(1)
    for length in (1, 30, 600, 3_000):
        for _ in range(10):
            words = [rng.choice((secret, "Zbigniew:", "amber", f"w{rng.random()}")) for _ in range(length)]
            probe = [Passage(prefix="[8 May 2023]", content=" ".join(words))]
            assert np.array_equal(told.of(probe)[0], untold.of(probe)[0])
            assert np.array_equal(told.of(probe)[0], empty.of(probe)[0])


def test_numbers_of_the_table_add_up_exactly() -> None:
    scaled = TABLE.astype(np.float64) * 2.0**24
    assert np.array_equal(scaled, np.rint(scaled))
    assert np.abs(scaled).max() * MAX_CONTENT * 4 < 2.0**53


def test_a_text_that_cannot_be_read_leaves_nothing_in_the_next() -> None:
    sums = Sums(TABLE, TOKENIZER)
    with pytest.raises((TypeError, UnicodeError)):
        sums.of([Passage(prefix="", content=f"{'secret' * 9} \ud800")])
    assert is_true(sums, Passage(prefix="", content="an anchorage of amber"))


def test_sums_of_a_text_longer_than_what_is_held_at_once_are_true() -> None:
    sums = Sums(TABLE, TOKENIZER)
    assert is_true(sums, Passage(prefix="", content=" ".join(f"w{number % 300}" for number in range(9_000))))
    assert is_true(sums, Passage(prefix="", content="漢字" * 9_000))


def test_sums_are_true_for_threads_that_come_with_the_same_new_pieces() -> None:
    sums = Sums(TABLE, TOKENIZER)
    wrong: list[str] = []

    def add_up(writer: int) -> None:
        for turn in range(200):
            text = " ".join(f"{turn}z{number} {writer}q{turn}z{number}" for number in range(20))
            if not is_true(sums, Passage(prefix="", content=text)):
                wrong.append(text)

    threads = [threading.Thread(target=add_up, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_threads_that_come_first_together_all_get_the_same_vectors() -> None:
    fresh, found = StaticEmbedder(), list[bytes]()
    threads = [
        threading.Thread(target=lambda: found.append(fresh.embed([passage("hello there", None, 0)])[0].vector))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert len(set(found)) == 1
