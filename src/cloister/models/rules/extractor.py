"""Extraction without a model: rules that would rather miss a fact than invent one. Pure functions of what was said.

Their patterns are compiled when they are first used: that takes a tenth of a second, and most processes extract nothing.
"""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cloister.domain.extraction import ExtractedEntity, ExtractedMemory, Statement
from cloister.domain.identifiers import MessageId
from cloister.domain.memory import same_as

if TYPE_CHECKING:
    from cloister.models.rules.facts import Fact

_ONE_AT_A_TIME = threading.Lock()
"""Rules need the GIL all the time: threads that read at once are no faster together, and leave less of it to requests (ISO-13)."""


class Rules:
    """English only; text in another language gives nothing. The same statements always give the same answer."""

    name = "rules/1"

    def memories(
        self, said: Sequence[Statement], known: Sequence[str], of_user: Sequence[str] = ()
    ) -> list[ExtractedMemory]:
        """The lasting facts that users state about themselves and theirs, without those `known` already says."""
        from cloister.models.rules.categories import IMPORTANCE
        from cloister.models.rules.memories import facts

        already = {same_as(content) for content in known}
        found: dict[bytes, tuple[Fact, list[MessageId]]] = {}
        for statement in said:
            if statement.role != "user":
                continue
            with _ONE_AT_A_TIME:
                stated = facts(statement.content, statement.author)
            for fact in stated:
                if (key := same_as(fact.content)) not in already:
                    found.setdefault(key, (fact, []))[1].append(statement.id)
        return [
            ExtractedMemory(content=fact.content, sources=tuple(sources), importance=IMPORTANCE[fact.category])
            for fact, sources in found.values()
        ]

    def entities(self, said: Sequence[Statement]) -> list[ExtractedEntity]:
        """The named things users speak of, with what they say of them (ISO-9)."""
        from cloister.models.rules.entities import entities

        with _ONE_AT_A_TIME:
            return entities(said)

    def notes(self, said: Sequence[Statement]) -> list[tuple[str, tuple[MessageId, ...]]]:
        """A sentence for every six messages: the speaker and the words that carry most, with the message they come from."""
        from cloister.models.rules.notes import notes

        with _ONE_AT_A_TIME:
            return notes(said)

    def close(self) -> None:
        """Nothing is open."""
