"""How many entities the rules give no type, and how many a wrong one, on a corpus of conversations.

    python benchmarks/entities.py --data FILE [--json] [--labels FILE] [--sample N]

FILE (.json or .json.gz) has the shape of `docs/benchmarks.md`. Each conversation is a project, each of its sessions one extraction,
and every named speaker a user. Names that are the same but for case are one entity, with the first type that is not `other`, as in
storage. Labels are the types that a person accepts for each name of a corpus, under a digest of conversation and name: the corpora
are not ours to copy. Names without a label are counted apart; --sample prints some that have a type, to be judged by eye.
"""

import argparse
import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cloister.domain.extraction import Statement
from cloister.domain.identifiers import MessageId
from cloister.models.rules.entities import entities
from recall import read

LABELS = Path(__file__).with_name("entity_labels.json")
NO_NAMES = {"user", "assistant"}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--data", type=Path, required=True)
    arguments.add_argument("--labels", type=Path, default=LABELS)
    arguments.add_argument("--sample", type=int, default=0)
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    accepted: dict[str, list[str]] = json.loads(given.labels.read_text("utf-8"))
    found = list(typed(read(given.data)))
    report = measures(found, accepted)
    print(json.dumps(report) if given.json else "\n".join(f"{name:<12}{value}" for name, value in report.items()))
    named = [each for each in found if each[2] != "other"]
    for _, name, kind in random.sample(named, min(given.sample, len(named))):
        print(f"{kind:<14}{name}")


def measures(found: list[tuple[str, str, str]], accepted: dict[str, list[str]]) -> dict[str, Any]:
    types = Counter(kind for *_, kind in found)
    labels = [(accepted.get(digest(conversation, name)), kind) for conversation, name, kind in found if kind != "other"]
    return {
        "entities": len(found),
        "other": f"{types['other'] / max(len(found), 1):.1%}",
        "typed": len(labels),
        "wrong": sum(kind not in label for label, kind in labels if label is not None),
        "unlabelled": sum(label is None for label, _ in labels),
        "types": dict(types.most_common()),
    }


def typed(data: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The (conversation, name, type) of every entity."""
    for conversation in data["conversations"]:
        known: dict[str, tuple[str, str]] = {}
        for session in conversation["sessions"]:
            for entity in entities(list(statements(session))):
                name, kind = known.get(entity.name.casefold(), (entity.name, "other"))
                known[entity.name.casefold()] = (name, entity.type if kind == "other" else kind)
        yield from ((str(conversation["id"]), name, kind) for name, kind in known.values())


def statements(session: dict[str, Any]) -> Iterator[Statement]:
    """What was said. Where speakers are named both are people, whatever the role says."""
    for number, turn in enumerate(session["turns"], 1):
        speaker = turn.get("speaker")
        named = speaker is not None and speaker not in NO_NAMES
        role = "user" if named else turn.get("role") or "user"
        author = speaker if named else None
        yield Statement(id=MessageId(number), role=role, content=turn["text"], author=author, created_at=number)


def digest(conversation: str, name: str) -> str:
    return hashlib.sha256(f"{conversation}/{name.casefold()}".encode()).hexdigest()[:16]


if __name__ == "__main__":
    main()
