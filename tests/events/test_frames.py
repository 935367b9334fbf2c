"""Events are encoded once for readers who may see the same, and never shared by readers who may not (ISO-4)."""

from collections.abc import Generator
from pathlib import Path

import pytest

from cloister.domain.conversation import Session
from cloister.domain.identifiers import ProjectId, TenantId
from cloister.domain.scope import Reach
from cloister.interfaces.http.events import frames
from cloister.interfaces.http.events.frames import EventFrames
from cloister.services.events.bus import Delivery, EventBus
from cloister.services.processes import Processes
from cloister.storage.sqlite.database import open_sqlite
from support.samples.bare_sessions import bare_session

TENANT = TenantId(1)
WHOLE, GARDEN, CELLAR = (Reach(tenant=TENANT, confined_to=each) for each in (None, ProjectId(1), ProjectId(2)))
ANN = Reach(tenant=TENANT, user="ann")
OTHER = Reach(tenant=TenantId(2))


@pytest.fixture
def bus(tmp_path: Path) -> Generator[EventBus]:
    database = open_sqlite(tmp_path / "data")
    yield EventBus(database, lambda: 0, Processes(database, lambda: 0))
    database.close()


def session(name: str, project: int | None = None, user: str | None = None) -> Session:
    made = bare_session(tenant=TENANT, project=None if project is None else ProjectId(project), user_id=user)
    return made._replace(external_id=name)


def test_readers_of_one_reach_share_what_is_encoded(bus: EventBus, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[Delivery] = []
    frame = frames._frame  # pyright: ignore[reportPrivateUsage]

    def counted(delivery: Delivery) -> bytes:
        encoded.append(delivery)
        return frame(delivery)

    monkeypatch.setattr(frames, "_frame", counted)
    shared = EventFrames()
    readers = [bus.subscribe(GARDEN) for _ in range(100)]
    for number in range(3):
        bus.created(session(f"s{number}", 1))
    chunks = {shared.read(reader) for reader in readers}
    assert (len(chunks), len(encoded)) == (1, 3)
    assert not any(reader.has_events for reader in readers)
    assert {shared.read(reader) for reader in readers} == {b""}
    bus.created(session("s4", 1))
    (last,) = {shared.read(reader) for reader in readers}
    assert b'"session_id": "s4"' in last
    assert b"s0" not in last


def test_iso_4_no_chunk_crosses_from_one_reach_to_another(bus: EventBus) -> None:
    """Whoever reads first: all offsets are the same."""
    shared = EventFrames()
    for first in (WHOLE, GARDEN, CELLAR, ANN, OTHER):
        readers = {reach: bus.subscribe(reach) for reach in (first, WHOLE, GARDEN, CELLAR, ANN, OTHER)}
        of_ann = bus.subscribe(WHOLE, user="ann")
        bus.created(session("in-garden", 1, "bob"))
        bus.created(session("in-cellar", 2, "ann"))
        seen = {reach: shared.read(reader) for reach, reader in readers.items()}
        assert [b"in-garden" in seen[each] for each in (WHOLE, GARDEN, CELLAR, ANN, OTHER)] == [True, True] + [
            False
        ] * 3
        assert [b"in-cellar" in seen[each] for each in (WHOLE, GARDEN, CELLAR, ANN, OTHER)] == [
            True,
            False,
            True,
            True,
            False,
        ]
        assert (b"in-garden" in (chunk := shared.read(of_ann)), b"in-cellar" in chunk) == (False, True)


def test_a_reader_that_missed_events_is_told_so_each_time_anew(bus: EventBus) -> None:
    shared = EventFrames()
    kept = bus.subscribe(WHOLE)
    late = [bus.subscribe(WHOLE, after="00" * 24) for _ in range(2)]
    for reader in late:
        assert b'"type": "reset"' in shared.read(reader)
        bus.created(session("after"))
    assert shared.read(kept).count(b"event: session.created") == 2
