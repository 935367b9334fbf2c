"""Examples from labelled sentences, and a softmax classifier of hashed features that is trained with them. Deterministic."""

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cloister.models.rules.grammar import expanded
from cloister.models.rules.learned.features import BUCKETS, masked, of_span, of_text
from cloister.models.rules.learned.readings import with_known
from cloister.models.rules.learned.spans import Span, spans, tokens
from cloister.models.rules.learned.weights import CLASSES, Question
from cloister.models.rules.sentences import sentences
from learned_facts.generate import FIRMS, PEOPLE, TOWNS, Sentence

CASES = Path(__file__).parent.parent / "changes_of_fact"
_HEAD: dict[str, Question] = {"name": "name", "workplace": "name", "role": "role", "number": "number"}
_SLOTS = {
    "H": "home", "FH": "former home", "E": "employer", "FE": "former employer", "W": "employer", "N": "own name",
    "FN": "former name", "R": "role", "FR": "former role", "A": "age", "AO": "age",
}  # fmt: skip
_FORMER = ("FH", "FE", "FN", "FR", "FA", "K")
_OLD = {
    "FH": "oldhome", "P": "oldhome", "FE": "oldwork", "O": "oldwork", "FN": "oldname", "FR": "oldrole", "OR": "oldrole",
    "FA": "oldage", "K": "oldlove", "M": "oldlove",
}  # fmt: skip


class Example(NamedTuple):
    head: Question
    features: list[int]
    label: str
    group: str
    text: str


def plain(text: str) -> str:
    """The text as it is read: in the speaker's own voice, sentences joined, contractions expanded."""
    said = [one.text + ("?" if one.asked else ".") for one in sentences(text)]
    return expanded(" ".join(said))


def names_of_all() -> frozenset[str]:
    return frozenset(one.lower() for one in (*TOWNS, *FIRMS, *PEOPLE) if " " not in one)


def common_words(texts: Iterable[str]) -> frozenset[str]:
    found: set[str] = set()
    for text in texts:
        found.update(token.lower for token in tokens(plain(text)) if token.text.islower())
        for token in tokens(plain(text))[:1]:
            found.add(token.lower)
    return frozenset(found)


def examples(said: Iterable[Sentence], common: frozenset[str], towns: frozenset[str], seed: int) -> Iterator[Example]:
    chance = random.Random(seed)
    for one in said:
        yield from of_sentence(one, common, towns, chance)


def of_sentence(
    one: Sentence, common: frozenset[str], towns: frozenset[str], chance: random.Random
) -> Iterator[Example]:
    text = plain(one.text)
    found = tokens(text)
    candidates = spans(found, common, towns)
    wanted = [(slot, value.casefold()) for slot, value in one.values]
    labels: list[str] = []
    old: dict[tuple[int, int], str] = {}
    for span in candidates:
        slot = next((slot for slot, value in wanted if _is(span, value)), None)
        label = _SLOTS.get(slot or "", "none")
        labels.append(label if label in CLASSES[_HEAD[span.type]] else "none")
        share = 0.5 if slot in _FORMER else 0.1 if slot in ("P", "O", "OR", "M") else 0.0
        if slot is not None and chance.random() < share:
            old[span.begin, span.end] = _OLD[slot]
    words = masked(found, candidates, old)
    for number, span in enumerate(candidates):
        features = of_span(words, number)
        if features is not None:
            yield Example(_HEAD[span.type], features, labels[number], one.group, one.text)
    if one.status is not None:
        yield Example("status", of_text(words), one.status, one.group, one.text)
    liked = next((value for slot, value in one.values if slot == "L"), None)
    if one.change is not None and liked is not None:
        heads = [word.lower() for word in liked.split() if word.lower() not in ("the", "my")]
        change = {"stop": "stopped", "start": "started"}.get(one.change, one.change)
        yield Example("change", of_text(with_known(words, heads)), change, one.group, one.text)


def _is(span: Span, value: str) -> bool:
    mine = span.value.casefold()
    if span.type == "number":
        return mine == value.rstrip("stndrh") or (not value.isdecimal() and _as_number(value) == mine)
    return (
        mine == value
        or mine.startswith(f"{value} ")
        or (span.type == "workplace" and mine.endswith(value.split(" ", 1)[-1]))
    )


def _as_number(value: str) -> str:
    found = [span.value for span in spans(tokens(value), frozenset()) if span.type == "number"]
    return found[0] if found else ""


class Trained(NamedTuple):
    classes: tuple[str, ...]
    weights: npt.NDArray[np.float32]  # (BUCKETS + 1, classes); the last row is the bias


def train(given: Sequence[Example], head: Question, *, rounds: int = 60, decay: float = 0.0, seed: int = 1) -> Trained:
    classes = CLASSES[head]
    mine = [one for one in given if one.head == head]
    rng = np.random.default_rng(seed)
    longest = max(len(one.features) for one in mine) + 1
    rows = np.full((len(mine), longest), BUCKETS + 1, np.int32)
    for at, one in enumerate(mine):
        rows[at, : len(one.features)] = one.features
        rows[at, len(one.features)] = BUCKETS
    target = np.array([classes.index(one.label) for one in mine])
    weights = np.zeros((BUCKETS + 2, len(classes)), np.float32)
    squares = np.full_like(weights, 1e-6)
    size = 512
    for turn in range(rounds):
        order = rng.permutation(len(mine))
        rate = 0.15 * (1 - turn / rounds) + 0.01
        for begin in range(0, len(order), size):
            chosen = order[begin : begin + size]
            index = rows[chosen].copy()
            index[rng.random(index.shape) < 0.2] = BUCKETS + 1
            index[:, 0] = BUCKETS
            scores = weights[index].sum(axis=1)
            scores -= scores.max(axis=1, keepdims=True)
            chances = np.exp(scores)
            chances /= chances.sum(axis=1, keepdims=True)
            chances[np.arange(len(chosen)), target[chosen]] -= 1
            gradient = np.empty_like(weights)
            flat = index.ravel()
            for column in range(len(classes)):
                gradient[:, column] = np.bincount(flat, np.repeat(chances[:, column], index.shape[1]), BUCKETS + 2)
            gradient = gradient / len(chosen) + decay * weights * 100
            gradient[BUCKETS + 1] = 0
            squares += gradient**2
            weights -= rate * gradient / np.sqrt(squares)
            weights[BUCKETS + 1] = 0
    return Trained(classes, weights[: BUCKETS + 1])


def chances(trained: Trained, features: Sequence[int]) -> dict[str, float]:
    scores = trained.weights[[*features, BUCKETS]].sum(axis=0)
    scores = np.exp(scores - scores.max())
    scores /= scores.sum()
    return dict(zip(trained.classes, scores.tolist(), strict=True))


_STATUS = (
    ("engaged", "engaged"), ("fianc", "engaged"), ("proposed", "engaged"), ("divorc", "divorced"),
    ("separat", "divorced"), ("widow", "widowed"),
    ("married", "married"), ("husband", "married"), ("wife", "married"), ("single", "single"), ("split", "single"),
    ("broke", "single"), ("dating", "dating"), ("girlfriend", "dating"), ("boyfriend", "dating"), ("together", "dating"),
    ("relationship", "dating"), ("partner", "dating"), ("seeing", "dating"),
)  # fmt: skip
_OF_KIND = {"home": ("H", "FH"), "work": ("E", "FE"), "role": ("R", "FR"), "name": ("N", "FN"), "age": ("A", "FA")}


def of_cases(half: str) -> Iterator[Sentence]:
    """What is labelled in a file of changes of fact: its last statement, and the one before it."""
    for at, line in enumerate((CASES / f"{half}.jsonl").read_text("utf-8").splitlines()):
        case: dict[str, Any] = json.loads(line)
        said = [one for one in case["said"] if one != "---"]
        yield labelled(case, said[-1], f"{half}-{at}")
        if case["kind"] in ("none", "preference") and len(said) > 1:
            yield from of_habit(case, said[0], said[-1], f"{half}-{at}")


_NEGATED = (
    "not ",
    "n't",
    "no longer",
    "stopped",
    "quit",
    "gave",
    "gone off",
    "hate",
    "dislike",
    "no more",
    "over ",
    "sick of",
    "any more",
)
_EMPTY = frozenset({
    "love", "like", "enjoy", "hate", "drink", "play", "every", "prefer", "favourite", "really", "there",
    "that", "with", "have", "this", "from", "your", "live", "work",
})  # fmt: skip


def of_habit(case: Mapping[str, Any], first: str, last: str, group: str) -> Iterator[Sentence]:
    """Of a conversation about a liking or a habit: whether its last statement ends what the first one states."""
    words = [token.lower for token in tokens(plain(first)) if len(token.lower) > 3 and token.lower not in _EMPTY]
    shared = [word for word in words if word[:4] in plain(last).casefold()]
    if not shared:
        return
    change = "none"
    if case["kind"] == "preference":
        if any(word in plain(first).casefold() for word in ("not ", "hate", "dislike")):
            change = "start"
        elif any(word in " ".join(case["now"]) for word in _NEGATED):
            change = "stop"
        else:
            return
    yield Sentence(last, (("L", " ".join(shared)),), None, change, group)


def labelled(case: Mapping[str, Any], text: str, group: str) -> Sentence:
    kind = case["kind"]
    if kind == "none":
        return Sentence(text, (), "none", "none", group)
    if kind in _OF_KIND:
        new, former = _OF_KIND[kind]
        folded = text.casefold()
        values = [
            (new, phrase) for phrase in case["now"] if (phrase.casefold() in folded and kind != "age") or kind == "age"
        ]
        first = next(one for one in case["said"] if one != "---")
        known = [span.value for span in spans(tokens(plain(first)), frozenset())]
        olds = [(former, value.casefold()) for value in known if value.casefold() in folded]
        return Sentence(text, (*[(slot, value) for slot, value in values], *olds), "none", "none", group)
    if kind == "relationship":
        phrases = " ".join(case["now"]).casefold()
        status = next((status for word, status in _STATUS if word in phrases), None)
        if status in ("dating", "married", "engaged") and any(
            w in phrases for w in ("not ", "n't", "over", "left", "no longer", "aren't")
        ):
            status = "single"
        return Sentence(text, (), status, "none", group)
    return Sentence(text, (), None, None, group)
