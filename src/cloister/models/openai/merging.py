"""Merges the answers for the parts of a conversation: equal items become one, with the sources of all of them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from cloister.domain.extraction import ExtractedEntity, ExtractedMemory
from cloister.domain.identifiers import MessageId
from cloister.domain.memory import same_as
from cloister.models.openai.answers import LONGEST_TEXT, Note
from cloister.models.openai.quotations import KnownLine


def merged_memories(found: Iterable[ExtractedMemory], known: Iterable[str]) -> list[ExtractedMemory]:
    """Merge equal memories, without the known ones. The higher importance wins."""
    kept: dict[bytes, ExtractedMemory] = {}
    old = set(map(same_as, known))
    for memory in found:
        key = same_as(memory.content)
        if key in old:
            continue
        before = kept.get(key, memory)
        kept[key] = replace(
            before,
            sources=_united(before.sources, memory.sources),
            importance=max((i for i in (before.importance, memory.importance) if i is not None), default=None),
            replaces=tuple(dict.fromkeys(before.replaces + memory.replaces)),
        )
    return list(kept.values())


def merged_entities(found: Iterable[ExtractedEntity]) -> list[ExtractedEntity]:
    """Merge entities of the same name. A type other than `other` wins."""
    kept: dict[bytes, ExtractedEntity] = {}
    for entity in found:
        key = same_as(entity.name)
        before = kept.get(key, entity)
        kept[key] = replace(
            before,
            type=entity.type if before.type == "other" else before.type,
            notes=_joined(before.notes, entity.notes),
            sources=_united(before.sources, entity.sources),
            relations=before.relations if before is entity else before.relations + entity.relations,
        )
    return list(kept.values())


def merged_notes(found: Iterable[Note]) -> list[Note]:
    kept: dict[bytes, Note] = {}
    for text, sources in found:
        before, earlier = kept.get(same_as(text), (text, sources))
        kept[same_as(text)] = (before, _united(earlier, sources))
    return list(kept.values())


def most_alike_first(known: Sequence[KnownLine], said: str) -> list[KnownLine]:
    """Sort the known memories by the number of long words they share with `said`, latest first among equals."""
    words = _longer_words(said)
    later_first = [*reversed(known)]
    return sorted(later_first, key=lambda line: -len(_longer_words(line.text) & words))


def _longer_words(text: str) -> set[str]:
    return {word for word in text.casefold().split() if len(word) > 3}


def _joined(first: str, second: str) -> str:
    """Join two notes, unless one contains the other or the result would be too long."""
    if second in first or len(first) + len(second) > LONGEST_TEXT:
        return first
    return second if first in second else f"{first} {second}"


def _united(first: tuple[MessageId, ...], second: tuple[MessageId, ...]) -> tuple[MessageId, ...]:
    return tuple(dict.fromkeys(first + second))
