"""The extractor without a model: rules, tuned for precision over recall. Pure functions of the statements.

The modules with the patterns are imported at first use: compiling them takes 0.1 s, and most processes extract nothing.
"""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cloister.domain.extraction import ExtractedEntity, ExtractedMemory, KnownMemory, Statement
from cloister.domain.identifiers import MessageId
from cloister.domain.memory import same_as

if TYPE_CHECKING:
    from cloister.models.rules.facts import Fact

_LOCK = threading.Lock()
"""The rules never release the GIL: several threads at once would not be faster, and would slow down requests (ISO-13)."""


class Rules:
    """Supports English only; text in another language gives nothing. Deterministic."""

    name = "rules/1"

    def memories(
        self, said: Sequence[Statement], known: Sequence[KnownMemory], of_user: Sequence[KnownMemory] = ()
    ) -> list[ExtractedMemory]:
        """The lasting facts that users state about themselves, their family and their things, without the `known` ones."""
        from cloister.models.rules.categories import IMPORTANCE
        from cloister.models.rules.memories import facts

        already = {same_as(memory.content) for memory in known}
        found: dict[bytes, tuple[Fact, list[MessageId]]] = {}
        for statement in said:
            if statement.role != "user":
                continue
            with _LOCK:
                stated = facts(statement.content, statement.author)
            for fact in stated:
                if (key := same_as(fact.content)) not in already:
                    found.setdefault(key, (fact, []))[1].append(statement.id)
        return [
            ExtractedMemory(content=fact.content, sources=tuple(sources), importance=IMPORTANCE[fact.category])
            for fact, sources in found.values()
        ]

    def entities(self, said: Sequence[Statement]) -> list[ExtractedEntity]:
        """The named things that users mention, with what they say about them (ISO-9)."""
        from cloister.models.rules.entities import entities

        with _LOCK:
            return entities(said)

    def notes(self, said: Sequence[Statement]) -> list[tuple[str, tuple[MessageId, ...]]]:
        """For every six messages the most informative sentence, with its speaker and source message."""
        from cloister.models.rules.notes import notes

        with _LOCK:
            return notes(said)

    def close(self) -> None:
        """There is nothing to close."""
