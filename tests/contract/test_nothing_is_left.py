"""What was forgotten is in no file any more: not its words, not what was derived from them, not their terms and vectors.

After the engine's own vacuum. PostgreSQL's log of writes is rotated by the server in its time, and is not looked at here.
"""

import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from qdrant_client import QdrantClient

from cloister.domain.conversation import Draft
from cloister.domain.entity import same_name
from cloister.domain.memory import quoted, same_as
from cloister.domain.scope import Reach
from cloister.index.qdrant.index import QdrantIndex
from cloister.index.qdrant.points import row_id
from cloister.services.conversations.item_format import read_item
from cloister.services.memories.corrections import MemoryChange
from cloister.services.tenancy.api_keys import KeyFields
from cloister.services.tenancy.idempotency import request
from support.databases.engines import EMBEDDER, Engine, Rows
from support.setups.extraction import run_due
from support.setups.memories import HOUR, MemorySetup, long_talk, settle_house
from support.setups.qdrant import COLLECTION, ENTITY_COLLECTION
from support.waiting import eventually

SECRET = "My brother Quillfeather works at Brambleworks."
WORDS = (b"Quillfeather", b"quillfeather", b"Brambleworks", b"Ploverdale", b"Thistlewick")
# Where words, or what is made of them, are kept.
KEPT = (
    "SELECT content, terms, vector FROM message",
    "SELECT content, terms, vector, digest FROM memory",
    "SELECT before, digest FROM memory_revision",
    "SELECT name, terms, vector, digest FROM entity",
    "SELECT notes FROM mention",
    "SELECT content FROM observation",
)
LONG_ENOUGH = 8
# A transaction that is still running, such as one of PostgreSQL's own vacuum, keeps what was deleted since it began.
WORKING = """
SELECT pid FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
"""


@pytest.fixture
def files(engine: Engine, tmp_path: Path) -> Callable[[], Generator[bytes]]:
    """Every file of the database, after a vacuum."""

    def read() -> Generator[bytes]:
        if engine.name == "sqlite":
            engine.rows("VACUUM")
            engine.rows("PRAGMA wal_checkpoint(TRUNCATE)")
            folder = tmp_path / "data"
        else:
            eventually(lambda: not engine.rows(WORKING), seconds=60)
            for statement in ("VACUUM (FULL, ANALYZE)", "VACUUM (FULL)", "CHECKPOINT"):
                engine.rows(statement)
            ((data, oid),) = engine.rows(
                "SELECT current_setting('data_directory'), oid FROM pg_database WHERE datname = current_database()"
            )
            folder = Path(str(data)) / "base" / str(oid)
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                yield path.read_bytes()

    return read


def traces(engine: Engine) -> set[bytes]:
    """Everything that is kept of words at this moment, as bytes that can be looked for."""
    found: set[bytes] = set()
    for statement in KEPT:
        for row in engine.rows(statement):
            for value in row:
                kept = value.encode() if isinstance(value, str) else value
                if isinstance(kept, bytes) and len(kept) >= LONG_ENOUGH:
                    found.add(kept)
    return found


def rows_with(engine: Engine, word: str) -> Rows:
    return [row for statement in KEPT for row in engine.rows(statement) if word in repr(row)]


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    """Two sessions of a project that have told the same long story, and one of them a secret besides."""
    house = settle_house(engine)
    garden = house.project(observation_scope="user")
    for name in ("keeps", "tells"):
        house.session(name, garden, "ann")
        house.say(name, *[text.replace("Xandor", f"Xandor{name}") for text in long_talk(30)])
    while run_due(house.services):
        pass
    return house


def tell_secrets(house: MemorySetup) -> None:
    """So that each of the kinds holds one; old enough, too, to be in a note. A memory of it was corrected."""
    secrets = [
        SECRET,
        "My sister Ploverdale, who has known Quillfeather since 1987, lives in Thistlewick with eleven parrots.",
    ]
    house.say("tells", *secrets, *[text.replace("Zentrix", "Zentrixlater") for text in long_talk(32)])
    while run_due(house.services):
        pass
    for stored in house.stored("tells"):
        if "Quillfeather" in stored.memory.content:
            change = MemoryChange(given=frozenset({"content"}), content=f"{stored.memory.content} I think.")
            house.services.corrections.correct(house.reach, stored.memory.id, change, by=None)


def forget_message(house: MemorySetup) -> None:
    _, page = house.services.sessions.messages(house.reach, "tells", limit=200)
    for message in page:
        if "Quillfeather" in message.content:
            house.services.forgetting.message(house.reach, message.id)


def clear(house: MemorySetup) -> None:
    house.services.forgetting.contents(house.reach, "tells")


def delete(house: MemorySetup) -> None:
    house.services.forgetting.session(house.reach, "tells")


def grow_old(house: MemorySetup) -> None:
    """MEM-18: in a project that keeps what was said for a day."""
    house.move("tells", house.project("Short", retention_days=1))
    house.clock.moment += 48 * HOUR
    house.services.retention.apply(house.reach)


def test_postgresql_samples_no_words(house: MemorySetup, engine: Engine) -> None:
    """MEM-9: what ANALYZE keeps of a table that has become empty stays for good."""
    tell_secrets(house)
    if engine.name == "sqlite":
        return
    engine.rows("ANALYZE")
    sampled = "SELECT concat(tablename, '.', attname), concat(most_common_vals, histogram_bounds) FROM pg_stats"
    found = engine.rows(f"{sampled} WHERE schemaname = 'public'")
    assert "message.created_at" in {column for column, _ in found}
    assert [column for column, values in found if "Xandor" in str(values) or "Quill" in str(values)] == []


@pytest.mark.parametrize("forget", [forget_message, clear, delete, grow_old])
def test_what_was_forgotten_is_in_no_file(
    house: MemorySetup, engine: Engine, files: Callable[[], Generator[bytes]], forget: Callable[[MemorySetup], None]
) -> None:
    """MEM-9, MEM-13: messages, memories, their revisions, entities, mentions and notes, with their terms, vectors and digests."""
    tell_secrets(house)
    for statement in KEPT:
        assert any("Quillfeather" in repr(row) or "Ploverdale" in repr(row) for row in engine.rows(statement)), (
            statement
        )
    before = traces(engine)
    forget(house)
    gone = before - traces(engine)
    assert len(gone) > 10
    assert rows_with(engine, "Quillfeather") == []
    kept = list(files())
    for trace in (*gone, *WORDS):
        assert not any(trace in content for content in kept), trace
    assert any(b"Xandorkeeps3" in content for content in kept)


PIN = "4711"
PINS = [f"{number:04}" for number in range(10_000)]


def said(pin: str) -> str:
    return f"My PIN is {pin}"


def item(pin: str) -> dict[str, str]:
    return {"type": "function_call", "call_id": "c", "name": "note", "arguments": said(pin)}


def tell_pin(house: MemorySetup) -> None:
    """As a message, as an item, as a memory by hand, and as the memory of another request that was known already, each under a
    key."""
    draft = Draft(role="user", content=said(PIN))
    house.services.record.messages(house.reach, "tells", [draft], idempotency_key="message")
    house.services.items.add(house.reach, "tells", [read_item(item(PIN))], idempotency_key="item")
    for key in ("memory", "known memory"):
        house.services.memories.add(house.reach, "tells", [said(PIN)], idempotency_key=key)


def hashes(secret: bytes, pin: str) -> set[bytes]:
    """Every digest that Cloister makes of such words, made as one who has all rows and knows the idempotency keys can make them."""
    nothing: dict[str, object] = {}
    message = request("message", [["user", said(pin), None, None, "completed", nothing]])
    requests = [
        message,
        request("item", [item(pin)]),
        *(request(key, [said(pin)]) for key in ("memory", "known memory")),
    ]
    digests = {each.digest for each in requests} | {each.fingerprint(secret) for each in requests}
    digests |= {sha256(said(pin).encode()).digest(), same_as(said(pin)), same_name(said(pin)), same_name(pin)}
    return digests | {digest.hex().encode() for digest in digests}


def secret_of(house: MemorySetup, engine: Engine) -> bytes:
    ((secret,),) = engine.rows(f"SELECT secret FROM tenant WHERE tenant_id = {house.reach.tenant:d}")
    assert isinstance(secret, bytes)
    return secret


def recovered(house: MemorySetup, engine: Engine) -> set[str]:
    """The PINs that can be worked out by trying all of them against every value of every row."""
    kept = {
        value.encode() if isinstance(value, str) else value
        for rows in engine.dump().values()
        for row in rows
        for value in row
        if isinstance(value, (str, bytes))
    }
    secret = secret_of(house, engine)
    return {pin for pin in PINS if not kept.isdisjoint(hashes(secret, pin))}


def forget_pin(house: MemorySetup) -> None:
    _, page = house.services.sessions.messages(house.reach, "tells", limit=200)
    (message,) = [message for message in page if PIN in message.content]
    house.services.forgetting.message(house.reach, message.id)
    (memory,) = [stored.memory for stored in house.stored("tells") if PIN in stored.memory.content]
    house.services.memories.forget(house.reach, memory.id)


@pytest.mark.parametrize("forget", [forget_pin, clear, delete, grow_old])
def test_a_forgotten_pin_cannot_be_worked_out_from_what_is_left(
    house: MemorySetup, engine: Engine, files: Callable[[], Generator[bytes]], forget: Callable[[MemorySetup], None]
) -> None:
    """MEM-9: whoever has the whole database, and knows the idempotency keys, finds no digest to try all PINs against."""
    tell_pin(house)
    assert recovered(house, engine) == {PIN}, "while it is remembered, it is there to be found"
    forget(house)
    assert recovered(house, engine) == set()
    left = list(files())
    for trace in (said(PIN).encode(), *hashes(secret_of(house, engine), PIN)):
        assert not any(trace in content for content in left), trace


@pytest.mark.parametrize("erased", ["user", "tenant"])
def test_org_9_an_erased_user_or_tenant_is_in_no_file(
    engine: Engine, files: Callable[[], Generator[bytes]], erased: str
) -> None:
    """Not their words, not what derives from them, not what the user, the project or the tenant was called."""
    house = settle_house(engine)
    # PostgreSQL keeps samples of what it analysed, and takes new ones only where there is something.
    house.session("keeps", house.project(), "ann")
    house.tell("keeps", *long_talk(30))
    tenant, _ = house.services.projects.create_tenant("Household of Ploverdale")
    doomed = MemorySetup(services=house.services, reach=Reach(tenant=tenant), clock=house.clock)
    garden = doomed.project("Garden" if erased == "user" else "Garden of Thistlewick")
    doomed.session("tells of Quillfeather", garden, "Brambleworks 7")
    doomed.tell("tells of Quillfeather", SECRET)
    keys = house.services.api_keys
    keys.create(doomed.reach, KeyFields(name="Brambleworks browser", user_id="Brambleworks 7"))
    before = traces(engine)
    if erased == "user":
        house.services.erase_user.erase(doomed.reach, "Brambleworks 7")
    else:
        house.services.tenants.erase(tenant)
    words = WORDS if erased == "tenant" else [word for word in WORDS if word not in (b"Ploverdale", b"Thistlewick")]
    gone, kept = before - traces(engine), list(files())
    assert len(gone) > 5
    for trace in (*gone, *words):
        assert not any(trace in content for content in kept), trace


@pytest.mark.parametrize("forget", [forget_message, clear, delete])
def test_a_reply_that_quoted_what_was_forgotten_is_in_no_file(
    house: MemorySetup, files: Callable[[], Generator[bytes]], forget: Callable[[MemorySetup], None]
) -> None:
    """MEM-9: in the session of another, who was told it."""
    house.say("tells", SECRET)
    house.say("keeps", "Who works where?", reply=f"I remember. {quoted([SECRET, 'Herons nest in April.'])}")
    forget(house)
    left = list(files())
    for word in WORDS:
        assert not any(word in content for content in left), word
    assert any(b"Herons nest in April." in content for content in left)


def test_a_memory_that_was_forgotten_by_itself_is_in_no_file(
    house: MemorySetup, engine: Engine, files: Callable[[], Generator[bytes]]
) -> None:
    (stored,) = house.services.memories.add(house.reach, "tells", ["Quillfeather collects thimbles."]).memories
    before = traces(engine)
    house.services.memories.forget(house.reach, stored.memory.id)
    gone = before - traces(engine)
    assert len(gone) == 4
    kept = list(files())
    for trace in (*gone, b"thimbles"):
        assert not any(trace in content for content in kept), trace


def test_qdrant_is_told_no_words_but_those_of_entities_and_keeps_nothing_of_what_was_forgotten(
    engine: Engine, tmp_path: Path
) -> None:
    """ISO-8: a message's point holds ids, times, numbers of terms and a vector; an entity's also its name, type and notes."""
    folder = tmp_path / "qdrant"
    client = QdrantClient(path=str(folder))
    index = QdrantIndex(client, EMBEDDER)
    house = settle_house(engine, index=index)
    house.session("keeps", house.project())
    house.session("tells", house.project())
    house.tell("keeps", "My brother Xandor works at Zentrix.")
    house.tell("tells", SECRET)
    house.services.queue.drain()
    tells = house.find("tells").id
    assert {row_id(str(record.id)) >> 21 for record in client.scroll(COLLECTION)[0]} == {tells, house.find("keeps").id}
    of_messages, of_entities = (folder / "collection" / name for name in (COLLECTION, ENTITY_COLLECTION))
    assert everything_in(of_messages) == set()
    assert everything_in(of_entities) == {b"Quillfeather", b"Brambleworks"}
    house.services.forgetting.session(house.reach, "tells")
    assert tells not in {row_id(str(record.id)) >> 21 for record in client.scroll(COLLECTION)[0]}
    client.close()
    left = {}
    for file in folder.rglob("*.sqlite"):
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("VACUUM")
            left[file.parent] = connection.execute("SELECT count(*) FROM points").fetchone()[0]
    assert left == {of_messages: 2, of_entities: 2}
    assert everything_in(folder) == set()


def everything_in(folder: Path) -> set[bytes]:
    """Which of the words are anywhere in a folder."""
    contents = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert contents
    return {word for word in WORDS if any(word in content for content in contents)}
