"""What an extractor is shown of messages, and what is kept of its answer, whatever it answers (MEM-10, MEM-11, MEM-15)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cloister.domain.entity import without_statements
from cloister.domain.extraction import (
    NO_GUIDANCE,
    ExtractedEntity,
    ExtractedMemory,
    ExtractedRelation,
    Guidance,
    KnownMemory,
    Statement,
)
from cloister.domain.identifiers import MessageId
from cloister.domain.memory import same_as
from cloister.domain.prompts.recalled_text import own_words
from cloister.domain.recall.filter import same_json
from cloister.domain.text import Metadata
from cloister.domain.timestamps import is_valid_time
from cloister.models.interface import Extractor
from cloister.services.memories.languages import language_code


def evidence(statements: Sequence[Statement]) -> list[Statement]:
    """The statements without the recalled text that they quote (MEM-10)."""
    own = (replace(one, content=own_words(one.content)) for one in statements)
    return [one for one in own if one.content]


def stated_memories(
    extractor: Extractor,
    said: Sequence[Statement],
    known: Sequence[KnownMemory],
    of_user: Sequence[KnownMemory],
    guidance: Guidance,
) -> list[ExtractedMemory]:
    """The memories that the statements give; `wanted_memories` chooses those that the project wants. Only messages of users are
    evidence, whatever the extractor names as a source (MEM-11)."""
    read = _in_languages(said, guidance)
    users = _of_users(read)
    if not users:
        return []
    found = extractor.memories(read, known, of_user, guidance)
    by_users = (replace(one, sources=tuple(filter(users.__contains__, one.sources))) for one in found)
    said_at = {one.id: one.created_at for one in read}
    return [_dated(one, said_at) for one in by_users if one.sources]


def wanted_memories(stated: Sequence[ExtractedMemory], guidance: Guidance) -> list[ExtractedMemory]:
    """The memories that the project wants (MEM-15)."""
    return [one for one in stated if guidance.keeps(one)]


def extracted_entities(
    extractor: Extractor, said: Sequence[Statement], guidance: Guidance, stated: Sequence[ExtractedMemory]
) -> list[ExtractedEntity]:
    """The entities of the statements. An entity that a reply mentions is kept (ISO-9), but only users' messages count as sources of
    notes: an entity that only replies mention has no notes, and one that both mention has the users' messages as its sources. No
    note says what a memory of an unwanted category says; `stated` are all memories that the statements give (MEM-15)."""
    read = _in_languages(said, guidance)
    users = _of_users(read)
    of_category = replace(NO_GUIDANCE, unwanted=guidance.unwanted)
    unwanted = {same_as(memory.content) for memory in stated if not of_category.keeps(memory)}
    kept: list[ExtractedEntity] = []
    for entity in extractor.entities(read) if read else ():
        by_users = tuple(source for source in entity.sources if source in users)
        if by_users:
            relations = _stated_by(entity.relations, set(by_users))
            notes = without_statements(entity.notes, unwanted)
            kept.append(replace(entity, sources=by_users, relations=relations, notes=notes))
        else:
            kept.append(replace(entity, notes="", relations=()))
    return kept


def _stated_by(relations: Sequence[ExtractedRelation], messages: set[MessageId]) -> tuple[ExtractedRelation, ...]:
    """The relations that some of these messages state, with no other sources (MEM-17)."""
    stated = (
        replace(relation, sources=tuple(filter(messages.__contains__, relation.sources))) for relation in relations
    )
    return tuple(relation for relation in stated if relation.sources)


def _in_languages(said: Sequence[Statement], guidance: Guidance) -> Sequence[Statement]:
    """The statements in one of the project's languages, and those that are too short to tell."""
    if not guidance.languages:
        return said
    allowed = {None, *guidance.languages}
    return [one for one in said if language_code(one.content) in allowed]


def _of_users(statements: Sequence[Statement]) -> set[MessageId]:
    return {one.id for one in statements if one.role == "user"}


def _dated(memory: ExtractedMemory, said_at: Mapping[MessageId, int]) -> ExtractedMemory:
    """A memory that is valid from when its first source was said, unless the extractor knows better (MEM-12)."""
    if memory.valid_from is not None and is_valid_time(memory.valid_from):
        return memory
    return replace(memory, valid_from=min(said_at[source] for source in memory.sources))


def common_metadata(sources: Sequence[MessageId], given: Mapping[MessageId, Metadata]) -> Metadata:
    """The entries of metadata that all these messages have, with equal values."""
    first, *others = [given.get(source, {}) for source in sources] or [{}]
    return {
        key: value
        for key, value in first.items()
        if all(key in other and same_json(other[key], value) for other in others)
    }
