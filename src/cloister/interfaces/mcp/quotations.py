"""How tool answers quote what is remembered: with its speaker where several people may be quoted (MEM-11), and sanitised like the
text of `get_context` (MEM-10)."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cloister.domain.conversation import Message
from cloister.domain.entity import Entity
from cloister.domain.identifiers import format_entity_id, format_episode_id, format_memory_id
from cloister.domain.memory import StoredMemory
from cloister.domain.prompts.outside_text import harmless
from cloister.domain.prompts.speaker import attributed, speaker, user_named
from cloister.domain.timestamps import iso
from cloister.interfaces.mcp.connection import McpConnection
from cloister.interfaces.mcp.limits import excerpt, title_of
from cloister.services.recall.search import EntityHit, EpisodeHit, Hit, MemoryHit

_USER = "user"


class Quotation(NamedTuple):
    """A memory, an entity or the best message of an episode. `content` is not sanitised: it is cut first, so that a list of long
    messages takes little time. `said_by` is None for an entity, whose notes name their speakers themselves. `is_named` says that
    the content has to be shown with its speaker, and does not name them."""

    kind: str
    id: str
    content: str
    said_by: str | None
    session: str | None
    created_at: str
    is_named: bool = False

    @property
    def text(self) -> str:
        return harmless(self.content)

    @property
    def speaker(self) -> str | None:
        return None if self.said_by is None else harmless(self.said_by)

    @property
    def session_name(self) -> str | None:
        return None if self.session is None else harmless(self.session)

    @property
    def title(self) -> str:
        shown = harmless(title_of(self.content))
        return f"{self.speaker}: {shown}" if self.is_named else shown

    def excerpt(self, query: str) -> tuple[str, bool]:
        """The part of the content that a list of results shows, and whether it was cut."""
        part, is_cut = excerpt(self.content, query)
        return harmless(part), is_cut


def quoted_hits(connection: McpConnection, hits: Sequence[Hit]) -> list[Quotation]:
    named = names_speakers(connection, map(_user, hits))
    return [_quoted_hit(hit, named=named) for hit in hits]


def quoted_memories(connection: McpConnection, memories: Sequence[StoredMemory]) -> list[Quotation]:
    named = names_speakers(connection, (stored.user for stored in memories))
    return [_quoted_memory(stored, named=named) for stored in memories]


def quoted_entity(connection: McpConnection, entity: Entity) -> Quotation:
    named = names_speakers(connection, [entity.user])
    return _quoted_entity(entity, f" ({entity.type})", named=named)


def quoted_exchange(connection: McpConnection, messages: Sequence[Message], user: str | None) -> str:
    """The messages of an episode of this user, each with its speaker."""
    named = names_speakers(connection, [user])
    return "\n\n".join(
        f"{harmless(speaker(message, user, named=named))}: {harmless(message.content)}" for message in messages
    )


def names_speakers(connection: McpConnection, users: Iterable[str | None]) -> bool:
    """Whether an answer that quotes these users has to name its speakers: in a shared project, if the reader or a speaker has a
    name. This is the rule of `Context.names_speakers`."""
    is_shared = connection.project.member_visibility == "shared"
    return is_shared and (connection.reach.user is not None or any(user is not None for user in users))


def _user(hit: Hit) -> str | None:
    match hit:
        case EpisodeHit(item=item):
            return item.user
        case MemoryHit(stored=stored):
            return stored.user
        case EntityHit(entity=entity):
            return entity.user


def _quoted_hit(hit: Hit, *, named: bool) -> Quotation:
    match hit:
        case EpisodeHit(item=item):
            return Quotation(
                kind="episode",
                id=format_episode_id(hit.episode),
                content=item.message.content,
                said_by=speaker(item.message, item.user, named=named),
                session=item.session,
                created_at=iso(item.message.created_at),
                is_named=named,
            )
        case MemoryHit(stored=stored):
            return _quoted_memory(stored, named=named)
        case EntityHit(entity=entity):
            return _quoted_entity(entity, "", named=named)


def _quoted_memory(stored: StoredMemory, *, named: bool) -> Quotation:
    memory = stored.memory
    return Quotation(
        kind="memory",
        id=format_memory_id(memory.id),
        content=attributed(memory.content, stored.user, named=named),
        said_by=user_named(stored.user) if named else _USER,
        session=stored.session,
        created_at=iso(memory.created_at),
    )


def _quoted_entity(entity: Entity, kind: str, *, named: bool) -> Quotation:
    notes = entity.notes_for(named=named)
    return Quotation(
        kind="entity",
        id=format_entity_id(entity.id),
        content=f"{entity.name}{kind}{': ' if notes else ''}{notes}",
        said_by=None,
        session=None,
        created_at=iso(entity.created_at),
    )
