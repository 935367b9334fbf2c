"""Conversations of other assistants, as lines that can be imported (ORG-12): without ids of ours, and with those of their source.

A stream of them is an archive of its own format: a header with the project to import into, conversations with their messages or
memories, and a last line with counts and hashes.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated

from cloister.domain.archive import codecs
from cloister.domain.archive.codecs import one_of, optional
from cloister.domain.archive.lines import CONVERSATIONS, CONVERSATIONS_VERSION, Tally, encoded
from cloister.domain.archive.records import Record
from cloister.domain.conversation import ROLES, Role
from cloister.domain.identifiers import ProjectId
from cloister.domain.memory import MAX_MEMORY
from cloister.domain.text import Metadata


@dataclass(frozen=True, kw_only=True, slots=True)
class ConversationsHeader(Record):
    """The header: where the conversations go. `project_id` is null for no project."""

    kind = "header"
    format: Annotated[str, one_of((CONVERSATIONS,))]
    version: Annotated[int, codecs.SEQUENCE]
    project_id: Annotated[ProjectId | None, optional(codecs.PROJECT_ID)]
    user_id: Annotated[str | None, optional(codecs.NAME)]
    created_by: Annotated[str, codecs.NAME]


@dataclass(frozen=True, kw_only=True, slots=True)
class ConversationRecord(Record):
    """A conversation, which becomes a session of this `external_id`, or of one computed from it if that is another conversation's.
    `continues`: more of the conversation of this `external_id` that came last in the same stream."""

    kind = "conversation"
    external_id: Annotated[str, codecs.NAME]
    user_id: Annotated[str | None, optional(codecs.NAME)]
    title: Annotated[str | None, optional(codecs.NAME)]
    created_at: Annotated[int, codecs.TIME]
    updated_at: Annotated[int, codecs.TIME]
    continues: Annotated[bool, codecs.FLAG] = False


@dataclass(frozen=True, kw_only=True, slots=True)
class SpokenRecord(Record):
    """A message of the conversation before it. `source_id` is its id in the source: a message is imported once,
    unless its words are others."""

    kind = "spoken"
    source_id: Annotated[str, codecs.NAME]
    role: Annotated[Role, one_of(ROLES)]
    author: Annotated[str | None, optional(codecs.NAME)]
    content: Annotated[str, codecs.CONTENT]
    created_at: Annotated[int, codecs.TIME]


@dataclass(frozen=True, kw_only=True, slots=True)
class FactRecord(Record):
    """A memory of the conversation before it, as another memory product stored it."""

    kind = "fact"
    content: Annotated[str, codecs.text(MAX_MEMORY)]
    categories: Annotated[tuple[str, ...], codecs.CATEGORIES]
    metadata: Annotated[Metadata, codecs.METADATA]
    created_at: Annotated[int, codecs.TIME]


Spoken = ConversationRecord | SpokenRecord | FactRecord


def conversation_lines(
    records: Iterable[Spoken], *, project: ProjectId | None, user: str | None, created_by: str
) -> Iterator[bytes]:
    """The lines of a stream of conversations."""
    header = ConversationsHeader(
        format=CONVERSATIONS, version=CONVERSATIONS_VERSION, project_id=project, user_id=user, created_by=created_by
    )
    tally = Tally()
    for line in _lines(header, records):
        text = encoded(line)
        tally.add(str(line["kind"]), text)
        yield text
    yield encoded(tally.last_line())


def _lines(header: ConversationsHeader, records: Iterable[Spoken]) -> Iterator[dict[str, object]]:
    yield header.line()
    for record in records:
        yield record.line()
