"""A worker is killed between the commit of something and its index, and between the index and the note that it is there."""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from qdrant_client import QdrantClient

from cloister.bootstrap import Services, wire
from cloister.domain.conversation import Draft
from cloister.domain.scope import Reach
from cloister.index.qdrant.index import QdrantIndex
from cloister.index.qdrant.points import row_id
from cloister.services.conversations.sessions import SessionFields
from cloister.services.recall.search import EntityHit, EpisodeHit
from cloister.services.recall.search import SearchTarget as Where
from cloister.worker import Worker, WorkerCounts
from support.databases.engines import EMBEDDER
from support.servers.worker_processes import FACT, Place, converse
from support.setups.qdrant import COLLECTION, ENTITY_COLLECTION

INDEXING = Path(__file__).with_name("indexing_process.py")
UNINDEXED = "SELECT count(*) FROM message WHERE indexed_at IS NULL"
UNINDEXED_ENTITIES = "SELECT count(*) FROM entity WHERE indexed_at IS NULL"


@contextmanager
def house(place: Place, points: Path) -> Generator[tuple[Services, QdrantClient]]:
    """Open for as long as no other process is: Qdrant's own file is for one at a time."""
    client = QdrantClient(path=str(points))
    index = QdrantIndex(client, EMBEDDER)
    services = wire(place.engine.open(), index=index, embedder=EMBEDDER)
    try:
        yield services, client
    finally:
        services.close()


def kill_at(place: Place, points: Path, moment: str) -> None:
    command = [sys.executable, str(INDEXING), place.engine.name, place.url, str(points), moment]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"{moment}\n"
        process.kill()


def drained(services: Services) -> WorkerCounts:
    """What a worker did that ran once."""
    worker = Worker(services)
    worker.drain()
    worker.stop()
    return worker.done


@pytest.mark.parametrize("moment", ["before", "after"])
def test_what_a_killed_worker_left_out_of_the_index_another_puts_there_once(
    place: Place, tmp_path: Path, moment: str
) -> None:
    points = tmp_path / "points"
    with house(place, points) as (services, _):
        reach = Reach(tenant=services.projects.create_tenant("Beekeepers")[0])
        for name in ("bees", "wasps"):
            converse(services, reach, name)
    assert place.number(UNINDEXED) == 8
    kill_at(place, points, moment)
    assert place.number(UNINDEXED) == 8, "nothing says that it is indexed"
    with house(place, points) as (services, client):
        assert drained(services).indexed == 8
        records, _ = client.scroll(COLLECTION, limit=100)
        stored = sorted(int(str(identity)) for (identity,) in place.rows("SELECT message_id FROM message"))
        assert sorted(row_id(str(record.id)) for record in records) == stored
        assert services.queue.waiting() == 0
        hits = services.search.search(reach, f"{FACT} wasps-1", Where(project=None), limit=8)
        assert f"{FACT} wasps-1." in [hit.item.message.content for hit in hits if isinstance(hit, EpisodeHit)]
        assert drained(services).indexed == 0


@pytest.mark.parametrize("moment", ["before entities", "after entities"])
def test_an_entity_that_a_killed_worker_left_out_of_the_index_another_puts_there(
    place: Place, tmp_path: Path, moment: str
) -> None:
    """ISO-8, ISO-9"""
    points = tmp_path / "points"
    with house(place, points) as (services, _):
        reach = Reach(tenant=services.projects.create_tenant("Beekeepers")[0])
        garden = services.projects.create_project(reach, "Garden").id
        services.sessions.create(reach, SessionFields(external_id="bees", project=garden))
        services.record.messages(reach, "bees", [Draft(role="user", content="My neighbour Anna plays the cello.")])
        services.extraction.extract_now(reach, "bees")
    assert place.number(UNINDEXED_ENTITIES) == 1
    kill_at(place, points, moment)
    assert place.number(UNINDEXED_ENTITIES) == 1, "nothing says that it is indexed"
    with house(place, points) as (services, client):
        drained(services)
        assert services.queue.waiting() == 0
        records, _ = client.scroll(ENTITY_COLLECTION, limit=100)
        stored = [int(str(identity)) for (identity,) in place.rows("SELECT entity_id FROM entity")]
        assert [row_id(str(record.id)) for record in records] == stored
        (found,) = services.search.search(reach, "cello", Where(project=garden), limit=9, kinds=["entities"])
        assert isinstance(found, EntityHit)
        assert found.entity.name == "Anna"
