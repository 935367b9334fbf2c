"""The conversations of `changes_of_fact` through a real llama.cpp server with a very small model: the wire, not the quality.

    python benchmarks/changes_of_fact.py --model smollm2 [--half shown] [--every 6] [--minutes 40] [--json]

Every extraction asks the server as the product does; what the server answers is counted before it is used. Shapes are asserted: an
extraction stores valid memories or fails as a whole, and a memory is replaced only if the model was shown it. The schema demands
one memory of each answer: an empty list is valid too, and from a model this small it would be the only answer.
"""

# ruff: noqa: E402 - the means are those of the tests, which have to be on the path first

import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from temporary import open_engine

# This folder has an `http.py`, which would hide the standard library's.
sys.path[0] = str(Path(__file__).resolve().parent.parent / "tests")

from cloister import Cloister
from cloister.bootstrap import wire
from cloister.domain.errors import ModelAnswerInvalid
from cloister.domain.extraction import ExtractedMemory
from cloister.domain.timestamps import now
from cloister.index.exact.index import ExactIndex
from cloister.models.openai import answers
from cloister.models.openai.endpoint import Endpoint
from cloister.models.openai.extractor import OpenAiExtractor
from cloister.models.static.embedder import StaticEmbedder
from cloister.opening import open_database
from cloister.settings import read_settings
from support.servers.model_server import CONTEXT, ModelServer, weights

NEXT_SESSION = "---"


class CountedAnswers:
    """Counts the model's answers about memories while they are read, and asserts what is read from them."""

    def __init__(self) -> None:
        self.counts = Counter[str]()
        self._read = answers.read_memories
        self._schema = answers.memories_schema

    def schema(self, categories: Sequence[str]) -> answers.Schema:
        schema: Any = json.loads(json.dumps(self._schema(categories)))
        schema["properties"]["memories"]["minItems"] = 1
        return schema

    def read(self, reply: answers.Reply, asked: answers.Asked) -> list[ExtractedMemory]:
        self.counts["answers about memories"] += 1
        self.counts["known memories shown"] += len(asked.known)
        for number in _replaced(reply.text):
            is_shown = isinstance(number, int) and 0 < number <= len(asked.known)
            self.counts["numbers in `replaces`"] += 1
            self.counts["of them never shown, and ignored"] += not is_shown
        try:
            found = self._read(reply, asked)
        except answers.UnusableAnswer as problem:
            self.counts["refused answers"] += 1
            self.counts[f"refused: {problem}"] += 1
            raise
        for memory in found:
            assert 0 < len(memory.content.strip()) <= answers.LONGEST_TEXT
            assert memory.sources and {*memory.sources} <= {*asked.ids}
            assert {*memory.replaces} <= {*asked.known}
            assert {*memory.categories} <= {*asked.categories}
            assert memory.importance is None or 0 <= memory.importance <= 1
        self.counts["memories in usable answers"] += len(found)
        return found


def run_wire(cases: Sequence[Mapping[str, Any]], minutes: float, engine: str) -> dict[str, Any]:
    """The counts over as many of the cases as fit into these minutes, for the time given to each."""
    server, counted = ModelServer(weights()), CountedAnswers()
    until = time.monotonic() + 60 * minutes
    answers.read_memories, answers.memories_schema = counted.read, counted.schema
    server.start()
    try:
        with open_engine(engine) as location, _opened(location, server) as memory:
            for at, case in enumerate(cases):
                if time.monotonic() >= until:
                    break
                _run(memory, f"user-{at}", case, counted.counts)
                print(json.dumps(counted.counts), file=sys.stderr, flush=True)
    finally:
        server.close()
    return dict(counted.counts)


def _opened(location: str, server: ModelServer) -> Cloister:
    embedder = StaticEmbedder()
    endpoint = Endpoint(url=server.url, model=server.model, tries=2, seconds=300)
    services = wire(
        open_database(read_settings(location)),
        index=ExactIndex(embedder.embed_query, embedder.dimension, 64_000_000),
        embedder=embedder,
        clock=now,
        extractor=OpenAiExtractor(endpoint, context=CONTEXT),
    )
    return Cloister(services=services)


def _run(memory: Cloister, user: str, case: Mapping[str, Any], counts: Counter[str]) -> None:
    """Record and extract one conversation, statement by statement, so that later ones are extracted with known memories."""
    session = ""
    for at, line in enumerate((NEXT_SESSION, *case["said"])):
        if line == NEXT_SESSION:
            session = f"{user}-{at}"
            memory.create_session(session, user_id=user)
            continue
        memory.record(session, "user", line)
        counts["extractions"] += 1
        try:
            memory.extract(session)
        except ModelAnswerInvalid:
            counts["extractions that failed, and stored nothing"] += 1
    counts["conversations"] += 1
    _check_stored(memory, user, counts)


def _check_stored(memory: Cloister, user: str, counts: Counter[str]) -> None:
    stored = [*memory.user_memories(user, limit=200)]
    ids = {found.id for found in stored}
    for found in stored:
        assert found.content.strip() and found.status in ("active", "superseded")
        assert found.superseded_by is None or found.superseded_by in ids
    counts["memories stored"] += len(stored)
    counts["of them superseded"] += sum(found.status == "superseded" for found in stored)


def _replaced(text: str) -> Iterable[object]:
    """What stands in the lists `replaces` of an answer that is JSON in the shape that was asked for."""
    try:
        items = json.loads(text)["memories"]
        return [number for item in items for number in cast(list[object], item["replaces"])]
    except (ValueError, TypeError, KeyError):
        return ()


def readable(counts: Mapping[str, int]) -> str:
    return "\n".join(f"{count:6,} {what}" for what, count in counts.items())
