"""Train the classifiers of facts, and store their weights in the package (MEM-12).

    python benchmarks/learned_facts/train.py [--without FILE ...] [--only-templates] [--output FILE]

They learn from templates (`*.txt`) and from the labelled sentences of `changes_of_fact/` except `blind.jsonl`, which is never
read. The same input gives the same weights. `--without` leaves a file out, to measure with it what was not learned from it.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parent.parent))  # last: `http.py` is there too

from cloister.models.rules.learned.weights import CLASSES, FILE
from learned_facts.generate import generate
from learned_facts.training import common_words, examples, names_of_all, of_cases, train

HALVES = ("shown", "held_back", "fresh", "wordings", "everyday")
AMBIGUOUS = frozenset({
    "me", "will", "may", "nice", "bath", "split", "target", "meta", "orange", "reading", "pat", "mo",
    "subway", "slack", "zoom", "visa", "kim", "leo",
})  # fmt: skip
"""Names that are as often words: known as names only with a capital."""
ROUNDS = 12
EACH = 6


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--without", nargs="*", choices=HALVES, default=())
    arguments.add_argument("--only-templates", action="store_true")
    arguments.add_argument("--output", type=Path, default=FILE)
    given = arguments.parse_args()
    left_out = HALVES if given.only_templates else given.without
    store(given.output, [half for half in HALVES if half not in left_out])


def store(output: Path, halves: list[str]) -> None:
    generated = list(generate(7, EACH))
    labelled = [one for half in halves for one in of_cases(half)]
    names = names_of_all() - AMBIGUOUS
    common = common_words(one.text for one in generated) - names
    given = [*examples(generated, common, names, 3), *examples([*labelled, *labelled, *labelled], common, names, 4)]
    arrays: dict[str, np.ndarray] = {}
    for question in CLASSES:
        weights = train(given, question, rounds=ROUNDS).weights
        scale = float(np.abs(weights).max()) / 127
        arrays[question] = np.round(weights / scale).astype(np.int8)
        arrays[f"{question} scale"] = np.array(scale)
    arrays["common"] = np.frombuffer(" ".join(sorted(common)).encode(), np.uint8)
    arrays["names"] = np.frombuffer(" ".join(sorted(names)).encode(), np.uint8)
    np.savez_compressed(output, allow_pickle=False, **arrays)


if __name__ == "__main__":
    main()
