"""The extractor without a model: rules, tuned for precision over recall. Pure functions of the statements.

The modules with the patterns are imported at first use: compiling them takes 0.1 s, and most processes extract nothing.
"""

import threading
from collections.abc import Sequence

from cloister.domain.extraction import (
    NO_GUIDANCE,
    ExtractedEntity,
    ExtractedMemory,
    FactOfMemory,
    Guidance,
    KnownMemory,
    ManualMemory,
    Statement,
)
from cloister.domain.identifiers import MessageId
from cloister.domain.memory import same_as

_LOCK = threading.Lock()
"""The rules never release the GIL: several threads at once would not be faster, and would slow down requests (ISO-13)."""


class Rules:
    """Supports English only; text in another language gives nothing. Deterministic."""

    name = "rules/1"
    languages = ("en",)

    def memories(
        self,
        said: Sequence[Statement],
        known: Sequence[KnownMemory],
        of_user: Sequence[KnownMemory] = (),
        guidance: Guidance = NO_GUIDANCE,
    ) -> list[ExtractedMemory]:
        """The lasting facts that users state about themselves, their family and their things, without the `known` ones. Rules
        cannot follow instructions; categories and importance are enforced by the caller."""
        from cloister.models.rules.changes.supersession import Supersession
        from cloister.models.rules.learned.run import Run

        run = Run(known={same_as(memory.content) for memory in known}, supersession=Supersession((*known, *of_user)))
        for statement in sorted(said, key=lambda one: (one.created_at, one.id)):
            if statement.role == "user":
                with _LOCK:
                    run.read(statement)
        return [memory.extracted() for memory in run.found.values()]

    def read(
        self, manual: Sequence[ManualMemory], known: Sequence[KnownMemory], user: str | None, authors: Sequence[str]
    ) -> list[FactOfMemory]:
        """The facts of memories that a person wrote, such as `home` of "The user lives in Oslo.", and the known ones that they make
        untrue; nothing where that is not clear."""
        from cloister.models.rules.changes.manual import read_manual

        with _LOCK:
            return read_manual(manual, known, user, authors)

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
        """Nothing is open: rules are tables in memory. A caller closes its extractor without knowing which it is."""
