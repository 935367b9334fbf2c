"""Whether contexts have the current fact after it changed, and whether nothing that is still true was withdrawn (MEM-12).

    python benchmarks/changes_of_fact.py [--half shown|held_back|fresh|wordings|blind|everyday] [--engine sqlite|postgres]
        [--extract each|once] [--model smollm2 [--every 6] [--minutes 40]] [--json]

The conversations are in `changes_of_fact/`, one a line: what was `said` (`---` begins another session of the same user), what to
`ask`, phrases of a memory that is true `now`, phrases of memories that are `past`, and of memories that stay `true`. Those of the
kind `none` change nothing. The rules were tuned with `shown`, `wordings` and `everyday`; the other files have been looked at since
they were written. Each conversation is a user of its own. A case is right if the context of a new session has a memory with one of
the phrases of `now`, and none with one of `past`. Memories are extracted after each session, or `once`, after the last.

With `--model smollm2` every sixth conversation goes through a real llama.cpp server instead: see `changes_of_fact_wire.py`.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cloister import Cloister
from temporary import open_engine

CASES = Path(__file__).with_suffix("")
HALVES = ("shown", "held_back", "fresh", "wordings", "blind", "everyday")
NEXT_SESSION = "---"


class Outcome(NamedTuple):
    """`kept` of `true` phrases that had ever been remembered are in memories that are still active."""

    kind: str
    right: bool
    true: int
    kept: int


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--half", choices=HALVES)
    arguments.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    arguments.add_argument(
        "--extract", choices=("each", "once"), default="each", help="after each session, or at the end"
    )
    arguments.add_argument("--wrong", action="store_true", help="print the cases for tuning that went wrong")
    arguments.add_argument(
        "--model", choices=("smollm2",), help="count the answers of a real, very small model instead"
    )
    arguments.add_argument("--every", type=int, default=6, help="with a model: of so many conversations, take one")
    arguments.add_argument("--minutes", type=float, default=40, help="with a model: begin no conversation after them")
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    if given.model is not None:
        ask_model(given)
        return
    report: dict[str, Any] = {}
    with open_engine(given.engine) as location, Cloister(location) as memory:
        for half in HALVES if given.half is None else (given.half,):
            outcomes: list[Outcome] = []
            for at, case in enumerate(cases(half)):
                outcomes.append(run(memory, f"{half}-{at}", case, at_once=given.extract == "once"))
                if (
                    given.wrong
                    and half in ("shown", "wordings", "everyday")
                    and (not outcomes[-1].right or outcomes[-1].kept < outcomes[-1].true)
                ):
                    print(json.dumps(case, ensure_ascii=False))
            report[half] = measures(outcomes)
    print(json.dumps(report) if given.json else readable(report))


def ask_model(given: argparse.Namespace) -> None:
    from changes_of_fact_wire import readable as listed
    from changes_of_fact_wire import run_wire

    chosen = [*cases(given.half or "shown")][:: given.every]
    counts = run_wire(chosen, given.minutes, given.engine)
    print(json.dumps(counts) if given.json else listed(counts))


def cases(half: str) -> Iterator[dict[str, Any]]:
    for line in (CASES / f"{half}.jsonl").read_text("utf-8").splitlines():
        yield json.loads(line)


def run(memory: Cloister, user: str, case: dict[str, Any], *, at_once: bool) -> Outcome:
    """Record and extract one conversation, and ask its question in a new session of the same user."""
    sessions = [f"{user}-1"]
    memory.create_session(sessions[-1], user_id=user)
    for line in case["said"]:
        if line != NEXT_SESSION:
            memory.record(sessions[-1], "user", line)
            memory.record(sessions[-1], "assistant", "I see.")
            continue
        if not at_once:
            memory.extract(sessions[-1])
        sessions.append(f"{user}-{len(sessions) + 1}")
        memory.create_session(sessions[-1], user_id=user)
    for session in sessions if at_once else sessions[-1:]:
        memory.extract(session)
    memory.create_session(f"{user}-asks", user_id=user)
    context = memory.context(f"{user}-asks", query=case["ask"])
    now = [found.content.casefold() for found in context.memories if found.status == "active"]
    ever = [(found.content.casefold(), found.status) for found in memory.user_memories(user, limit=200)]
    stated = [phrase for phrase in case.get("true", ()) if any(phrase in content for content, _ in ever)]
    kept = [any(phrase in content and status == "active" for content, status in ever) for phrase in stated]
    return Outcome(
        kind=case["kind"],
        right=has_any(now, case["now"]) and not has_any(now, case["past"]),
        true=len(stated),
        kept=sum(kept),
    )


def has_any(contents: Sequence[str], phrases: Sequence[str]) -> bool:
    return any(phrase in content for phrase in phrases for content in contents)


def measures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    kinds: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        kinds["no change" if outcome.kind == "none" else outcome.kind].append(outcome)
    changes = [outcome for outcome in outcomes if outcome.kind != "none"]
    true = sum(outcome.true for outcome in outcomes)
    return {
        "changes": len(changes),
        "right": round(sum(outcome.right for outcome in changes) / len(changes), 4),
        "true": true,
        "kept": round(sum(outcome.kept for outcome in outcomes) / true, 4),
        "kinds": {kind: f"{sum(one.right for one in found)}/{len(found)}" for kind, found in kinds.items()},
    }


def readable(report: dict[str, Any]) -> str:
    lines: list[str] = []
    for half, found in report.items():
        lines += [
            f"{half}: right current fact {found['right']:.3f} of {found['changes']} changes;"
            f" still true and kept {found['kept']:.3f} of {found['true']}",
            "  " + ", ".join(f"{kind} {share}" for kind, share in found["kinds"].items()),
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
