"""A house whose index is Qdrant: real services on SQLite, with Qdrant in memory or on the server of CLOISTER_TEST_QDRANT_URL."""

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qdrant_client import QdrantClient, models

from cloister.bootstrap import Services, wire
from cloister.domain.conversation import Draft, Message, Session
from cloister.domain.entity import Entity
from cloister.domain.identifiers import PoolId, ProjectId, SessionId
from cloister.domain.scope import MemberVisibility, Reach
from cloister.index.interface import Row
from cloister.index.qdrant.index import QdrantIndex, collection_name, entity_collection_name
from cloister.index.qdrant.points import row_id
from cloister.models.static.embedder import StaticEmbedder
from cloister.services.conversations.sessions import SessionFields
from cloister.services.recall.search import EntityHit, EpisodeHit, SearchTarget
from cloister.storage.sqlite.database import open_sqlite

EMBEDDER = StaticEmbedder()
COLLECTION = collection_name(EMBEDDER)
ENTITY_COLLECTION = entity_collection_name(EMBEDDER)
SERVER = os.environ.get("CLOISTER_TEST_QDRANT_URL")
KINDS = ("memory", "server") if SERVER else ("memory",)
MAY_2023 = 1_683_500_400_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class QdrantSetup:
    services: Services
    client: QdrantClient
    index: QdrantIndex

    def tenant(self, name: str) -> Reach:
        return Reach(tenant=self.services.projects.create_tenant(name)[0])

    def project(self, reach: Reach, name: str, visibility: MemberVisibility = "shared") -> ProjectId:
        return self.services.projects.create_project(reach, name, visibility, allow_duplicate_name=True).id

    def session(self, reach: Reach, name: str, project: ProjectId | None = None, user: str | None = None) -> Session:
        return self.services.sessions.create(reach, SessionFields(external_id=name, project=project, user_id=user))[0]

    def say(self, reach: Reach, session: str, *lines: str, author: str | None = None) -> Sequence[Message]:
        drafts = [
            Draft(role="assistant" if at % 2 else "user", content=line, author=author, created_at=MAY_2023)
            for at, line in enumerate(lines)
        ]
        return self.services.record.messages(reach, session, drafts).messages

    def move(self, reach: Reach, session: str, project: ProjectId | None) -> None:
        self.services.sessions.move(reach, session, project)

    def drain(self) -> int:
        return self.services.queue.drain()

    def found(self, reach: Reach, question: str, project: ProjectId | None = None) -> list[str]:
        """What a search of one pool shows, best first."""
        hits = self.services.search.search(reach, question, SearchTarget(project=project), limit=20, min_relevance=0)
        return [hit.item.message.content for hit in hits if isinstance(hit, EpisodeHit)]

    def points(self, *, with_vectors: bool = False) -> dict[int, models.Record]:
        records, _ = self.client.scroll(COLLECTION, limit=1000, with_payload=True, with_vectors=with_vectors)
        return {row_id(str(record.id)): record for record in records}

    def tell(self, reach: Reach, session: str, *lines: str) -> None:
        """Said, and extracted; what derives from it waits in the queue."""
        self.services.record.messages(reach, session, [Draft(role="user", content=line) for line in lines])
        self.services.extraction.extract_now(reach, session)

    def entities(self, reach: Reach, question: str, place: SearchTarget) -> list[Entity]:
        """Those that a search of one place shows, best first."""
        hits = self.services.search.search(reach, question, place, 20, kinds=["entities"], min_relevance=0)
        return [hit.entity for hit in hits if isinstance(hit, EntityHit)]

    def entity_points(self) -> dict[int, dict[str, Any]]:
        """What Qdrant holds of each entity."""
        records, _ = self.client.scroll(ENTITY_COLLECTION, limit=1000, with_payload=True)
        return {row_id(str(record.id)): record.payload or {} for record in records}


class Reader:
    """A pool of given sessions, as storage would name them."""

    def __init__(self, tenant: int, sessions: Sequence[int]) -> None:
        self.tenant = tenant
        self.pool = PoolId(1)
        self._sessions = [SessionId(session) for session in sessions]

    def state(self) -> tuple[int, int]:
        return 1, 0

    def size(self) -> int:
        return len(self._sessions)

    def members(self) -> list[SessionId]:
        return self._sessions

    def changes(self, version: int) -> list[tuple[SessionId, int]]:
        return []

    def all_rows(self) -> Generator[Row]:
        yield from ()

    def session_rows(self, session: SessionId, after: int) -> list[Row]:
        return []

    def vectors(self, ids: Sequence[int]) -> dict[int, bytes]:
        return {}


@contextmanager
def open_house(kind: str, path: Path) -> Generator[QdrantSetup]:
    with opened_index(kind) as (client, index):
        services = wire(open_sqlite(path), index=index, embedder=EMBEDDER)
        try:
            yield QdrantSetup(services=services, client=client, index=index)
        finally:
            services.close()


@contextmanager
def opened_index(kind: str) -> Generator[tuple[QdrantClient, QdrantIndex]]:
    """Empty, and emptied again at the end. Who uses it closes it."""
    _empty(kind)
    client = _client(kind)
    try:
        yield client, QdrantIndex(client, EMBEDDER)
    finally:
        _empty(kind)


def _empty(kind: str) -> None:
    """Those in memory go with their client."""
    if kind == "server":
        client = _client(kind)
        for name in (COLLECTION, ENTITY_COLLECTION):
            client.delete_collection(name)
        client.close()


def _client(kind: str) -> QdrantClient:
    return QdrantClient(":memory:") if kind == "memory" else QdrantClient(url=SERVER)
