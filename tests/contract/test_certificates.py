"""Forgetting answers what went, by kind and id, and the checks made afterwards, with their true results (PRF-4); a dry run answers
the same rows and changes nothing (PRF-5)."""

from collections.abc import Callable

import pytest

from cloister import Cloister
from cloister.domain.conversation import Draft
from cloister.domain.erasure import MOST_NAMED, EmptiedSession, Removal
from cloister.domain.errors import NotFound
from cloister.domain.files.commands import FileCommand
from cloister.domain.identifiers import (
    format_entity_id,
    format_memory_id,
    format_message_id,
    format_receipt_id,
    parse_receipt_id,
)
from cloister.domain.scope import Reach
from cloister.interfaces.python.certificates.shapes import Certificate, Removed, RemovedRows
from cloister.interfaces.python.shapes import Forgotten
from cloister.services.certificates.certify import LARGEST_FILE
from cloister.services.conversations.item_format import read_item
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import SearchTarget
from support.databases.engines import Engine
from support.setups.memories import HOUR, MemorySetup, settle_house

SAID = ("My brother Quillfeather works at Brambleworks.", "My neighbour Rosa plays the cello.")


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    """Two sessions of two users in a shared project; both mention Rosa."""
    house = settle_house(engine)
    garden = house.project("Garden", "shared")
    house.session("ann", garden, "ann")
    house.session("bob", garden, "bob")
    house.tell("ann", *SAID)
    house.tell("bob", "My neighbour Rosa keeps bees.")
    return house


def library(house: MemorySetup) -> Cloister:
    return Cloister(services=house.services, tenant=f"ten_{house.reach.tenant:016x}")


def certified(given: Forgotten | Removed) -> Certificate:
    assert given.certificate is not None
    assert given.would_remove is None
    return given.certificate


def passed(certificate: Certificate) -> dict[str, bool]:
    return {check.check: check.passed for check in certificate.checks}


def ids_of(house: MemorySetup, name: str) -> dict[str, list[str]]:
    _, messages = house.services.sessions.messages(house.reach, name, limit=200)
    return {
        "messages": [format_message_id(message.id) for message in messages],
        "memories": sorted(format_memory_id(stored.memory.id) for stored in house.stored(name)),
    }


def test_prf_4_a_deleted_session_is_named_row_by_row_and_checked(house: MemorySetup, engine: Engine) -> None:
    """Entities that another session still mentions stay, and are not named."""
    expected = ids_of(house, "ann")
    garden = house.find("ann").project
    assert garden is not None
    known = {entity.name: format_entity_id(entity.id) for entity in house.entities(garden)}
    certificate = certified(library(house).delete_session("ann"))
    removed = {kind: list(ids) for kind, ids in certificate.removed.items()}
    assert removed["sessions"] == ["ann"]
    assert removed["messages"] == expected["messages"]
    assert sorted(removed["memories"]) == expected["memories"]
    assert known["Quillfeather"] in removed["entities"]
    assert known["Rosa"] not in removed["entities"]
    assert certificate.more == {}
    results = passed(certificate)
    assert set(results.values()) == {True}
    assert {"storage: messages", "storage: memories", "storage: mentions", "index", "search"} <= set(results)
    assert ("file" in results) == (engine.name == "sqlite")
    assert [skipped.check for skipped in certificate.not_made] == ([] if engine.name == "sqlite" else ["file"])


def test_a_cleared_session_can_be_used_at_once_and_its_certificate_is_about_what_went(house: MemorySetup) -> None:
    expected = ids_of(house, "ann")
    certificate = certified(library(house).clear_session("ann"))
    assert list(certificate.removed["messages"]) == expected["messages"]
    assert "sessions" not in certificate.removed
    assert set(passed(certificate).values()) == {True}
    house.tell("ann", *SAID)
    again = certified(library(house).clear_session("ann"))
    assert len(again.removed["messages"]) == len(expected["messages"])
    assert not {*again.removed["messages"]} & {*certificate.removed["messages"]}


def test_messages_that_came_after_clearing_do_not_fail_a_check(house: MemorySetup) -> None:
    removal = house.services.forgetting.contents(house.reach, "ann").removal
    house.tell("ann", *SAID)
    checks = house.services.certification.certify(house.reach, removal).checks
    assert [check.check for check in checks if not check.passed] == []


def test_prf_4_a_row_that_is_still_there_fails_its_check(house: MemorySetup) -> None:
    """The checks look: of a removal that never happened, each fails that has something to find."""
    session = house.find("ann")
    _, messages = house.services.sessions.messages(house.reach, "ann", limit=200)
    rehearsed = house.services.forgetting.session(house.reach, "ann", dry_run=True).removal
    removal = Removal(
        sessions=[EmptiedSession(id=session.id, last_message=messages[-1].id, is_deleted=True)],
        memories=rehearsed.memories,
        entities=rehearsed.entities,
        texts=rehearsed.texts,
    )
    checks = house.services.certification.certify(house.reach, removal).checks
    failed = {check.check for check in checks if not check.passed}
    expected = {"sessions", "messages", "memories", "mentions", "entities", "memory sources"}
    assert {f"storage: {table}" for table in expected} | {"index", "search"} <= failed


def test_prf_4_a_memory_and_an_entity_that_are_still_there_fail_the_check_of_the_index(house: MemorySetup) -> None:
    """The index has memories and entities too, not messages alone."""
    services, reach, garden = house.services, house.reach, house.find("ann").project
    assert garden is not None
    memory = house.stored("ann")[0].memory.id
    entity = next(entity.id for entity in house.entities(garden) if entity.name == "Rosa")
    for removal, table in (
        (services.memories.forget(reach, memory, dry_run=True), "storage: memories"),
        (services.entity_changes.delete(reach, entity, dry_run=True), "storage: entities"),
    ):
        checks = services.certification.certify(reach, removal).checks
        assert {table, "index", "search"} <= {check.check for check in checks if not check.passed}


def test_the_file_of_sqlite_is_read_through_also_where_it_is_no_longer_used(house: MemorySetup, engine: Engine) -> None:
    """Rows are found while they are stored, and not after they were deleted."""
    session = house.find("ann")
    maintenance = house.services.database.maintenance
    maintenance.scrub()
    before = maintenance.rows_in_file([session.id], LARGEST_FILE)
    too_small = maintenance.rows_in_file([session.id], 100)
    house.services.forgetting.session(house.reach, "ann")
    after = maintenance.rows_in_file([session.id], LARGEST_FILE)
    if engine.name == "sqlite":
        assert (before, after) == (4, 0)
        assert "more than" in str(too_small)
    else:
        assert isinstance(before, str)


def one_message(memory: Cloister, dry_run: bool) -> Removed:
    return memory.forget_message(memory.messages("ann")[0].id, dry_run=dry_run)


def one_memory(memory: Cloister, dry_run: bool) -> Removed:
    return memory.forget_memory(memory.memories("ann")[0].id, dry_run=dry_run)


def one_entity(memory: Cloister, dry_run: bool) -> Removed:
    project = memory.session("ann").project_id
    assert project is not None
    found = next(entity for entity in memory.entities(project) if entity.name == "Rosa")
    return memory.delete_entity(found.id, dry_run=dry_run)


CALLS: dict[str, Callable[[Cloister, bool], Forgotten | Removed]] = {
    "session": lambda memory, dry_run: memory.delete_session("ann", dry_run=dry_run),
    "contents": lambda memory, dry_run: memory.clear_session("ann", dry_run=dry_run),
    "message": one_message,
    "memory": one_memory,
    "entity": one_entity,
}


@pytest.mark.parametrize("call", CALLS)
def test_prf_5_a_dry_run_names_what_the_deletion_removes_and_changes_nothing(
    house: MemorySetup, engine: Engine, call: str
) -> None:
    """PRF-4: every certificate has checks, and all of them pass."""
    memory, before = library(house), engine.dump(house.reach.tenant)
    tried = CALLS[call](memory, True)
    assert engine.dump(house.reach.tenant) == before
    assert tried.certificate is None
    done = CALLS[call](memory, False)
    certificate = certified(done)
    assert tried.would_remove == RemovedRows(removed=certificate.removed, more=certificate.more)
    assert certificate.removed
    results = passed(certificate)
    assert {"index", "search"} <= set(results)
    assert set(results.values()) == {True}
    if isinstance(tried, Forgotten):
        assert tried == done


def test_a_user_is_certified_with_keys_entries_and_all_sessions(house: MemorySetup) -> None:
    """ORG-9, PRF-4, PRF-5: a dry run names the same rows, and changes nothing."""
    tried = library(house).erase_user("ann", dry_run=True)
    assert tried.certificate is None and house.find("ann").user_id == "ann"
    erased = library(house).erase_user("ann")
    assert erased.certificate is not None and erased == tried
    assert tried.would_remove == RemovedRows(removed=erased.certificate.removed, more=erased.certificate.more)
    assert erased.certificate.removed["sessions"] == ("ann",)
    assert len(erased.certificate.removed["messages"]) == erased.messages
    assert len(erased.certificate.removed["memories"]) == erased.memories
    assert len(erased.certificate.removed["entities"]) == erased.entities
    results = passed(erased.certificate)
    assert {"storage: entries", "storage: api keys"} <= set(results)
    assert set(results.values()) == {True}


def test_a_tenant_is_certified_without_the_ids_that_its_callers_chose(house: MemorySetup) -> None:
    """ORG-9, PRF-4: names of sessions and users may be people's names, and the operator is no reader."""
    erased = house.services.tenants.erase(house.reach.tenant)
    certificate = house.services.certification.certify(house.reach, erased.removal)
    assert "ann" not in repr(certificate.removal.named)
    assert certificate.removal.more["sessions"] == erased.sessions == 2
    assert {check.passed for check in certificate.checks} == {True}
    assert "storage: projects" in {check.check for check in certificate.checks}


def test_iso_4_entities_of_a_project_that_a_confined_key_does_not_see_are_not_named(house: MemorySetup) -> None:
    """A session that moved leaves its entities behind (ISO-6); they go with it all the same."""
    garden, cellar = house.find("ann").project, house.project("Cellar", "shared")
    house.move("ann", cellar)
    assert garden is not None
    confined = Reach(tenant=house.reach.tenant, confined_to=cellar)
    removal = house.services.forgetting.session(confined, "ann").removal
    assert removal.entities
    assert "entities" not in removal.named
    assert "entities" not in removal.more
    certificate = house.services.certification.certify(confined, removal)
    assert {check.passed for check in certificate.checks} == {True}
    assert "Quillfeather" not in {entity.name for entity in house.entities(garden)}


def receipt_of(house: MemorySetup, session: str | None = "ann", user: str | None = None) -> str:
    """A stored receipt of a context of a session, or of a search for a user."""
    if session is None:
        target = SearchTarget(project=house.find("ann").project, user_id=user)
        found = house.services.search.find(house.reach, "Who plays the cello?", target, 5)
        _, id = house.services.recall_receipts.of_search(house.reach, found, None, None)
    else:
        context = house.services.context.build(house.reach, session, ContextRequest(question="Who plays the cello?"))
        _, id = house.services.recall_receipts.of_context(house.reach, context, None)
    assert id is not None
    return format_receipt_id(id)


def store_receipts(house: MemorySetup) -> None:
    garden = house.find("ann").project
    assert garden is not None
    house.services.projects.change_project(house.reach, garden, settings={"store_receipts": True})


def test_prf_4_receipts_that_went_are_named_and_checked(house: MemorySetup, engine: Engine) -> None:
    """Of a session, of its contents, of one message that is the question, of a user, and of a tenant."""
    store_receipts(house)
    memory = library(house)
    house.say("ann", "Who plays the cello?")
    context = house.services.context.build(house.reach, "ann", ContextRequest())
    _, asked = house.services.recall_receipts.of_context(house.reach, context, None)
    assert asked is not None
    question = house.services.receipts.get(house.reach, asked).receipt.terms.question_id
    assert question is not None
    of_message = certified(memory.forget_message(format_message_id(question)))
    assert of_message.removed["receipts"] == (format_receipt_id(asked),)
    for empty in (memory.clear_session, memory.delete_session):
        kept = receipt_of(house)
        certificate = certified(empty("ann"))
        assert certificate.removed["receipts"] == (kept,)
        assert passed(certificate)["storage: receipts"]
        house.tell("ann", *SAID) if empty == memory.clear_session else house.session(
            "ann", house.find("bob").project, "ann"
        )
    searched, other = receipt_of(house, None, "ann"), receipt_of(house, "bob")
    erased = memory.erase_user("ann").certificate
    assert erased is not None and erased.removed["receipts"] == (searched,)
    assert passed(erased)["storage: receipts"]
    whole = house.services.tenants.erase(house.reach.tenant)
    assert whole.removal.named["receipts"] == [other]
    assert engine.rows("SELECT receipt_id FROM receipt") == []


def test_prf_4_a_receipt_that_is_still_there_fails_its_check(house: MemorySetup) -> None:
    store_receipts(house)
    kept = receipt_of(house)
    checks = house.services.certification.certify(house.reach, Removal(receipts=[parse_receipt_id(kept)])).checks
    assert {check.check for check in checks if not check.passed} == {"storage: receipts"}


def test_prf_4_retention_is_certified_with_what_it_forgot(house: MemorySetup, engine: Engine) -> None:
    """MEM-18: messages, what derives from them, files and receipts, of all sessions of the call; the ids are bounded."""
    store_receipts(house)
    memory, garden = library(house), house.find("ann").project
    assert garden is not None
    file = FileCommand(name="create", texts={"path": "/memories/plan.txt", "file_text": "Roses."})
    house.services.files.run(house.reach, "ann", file)
    expected = {name: ids_of(house, name) for name in ("ann", "bob")}
    entities = {entity.name: format_entity_id(entity.id) for entity in house.entities(garden)}
    kept = receipt_of(house)
    house.clock.moment += 40 * 24 * HOUR
    house.say("bob", "The roses need water.")
    house.services.projects.change_project(house.reach, garden, settings={"retention_days": 30})
    tried = memory.apply_retention(dry_run=True)
    assert tried.certificate is None
    done = memory.apply_retention()
    certificate = done.certificate
    assert certificate is not None
    removed = {kind: sorted(ids) for kind, ids in certificate.removed.items()}
    for kind in ("messages", "memories"):
        assert removed[kind] == sorted(id for ids in expected.values() for id in ids[kind])
    assert removed["receipts"] == [kept] and removed["files"] == ["/memories/plan.txt"]
    assert removed["entities"] == sorted(entities.values())
    assert len(removed["messages"]) == done.messages == tried.messages
    results = passed(certificate)
    assert set(results.values()) == {True}
    tables = {"messages", "memories", "mentions", "entities", "receipts", "files", "vectors"}
    assert {f"storage: {table}" for table in tables} | {"index", "search"} <= set(results)
    assert memory.apply_retention().certificate is None, "nothing was too old any more"


def add_item_and_response(house: MemorySetup, name: str) -> tuple[str, str]:
    """A tool call after the last message of a session, and a response whose output is that message; returns their ids."""
    said = house.services.sessions.messages(house.reach, name, limit=200)[1]
    call = {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{}"}
    (stored,) = house.services.items.add(house.reach, name, [read_item(call)])
    response = house.services.audit_plants.respond(house.reach, house.find(name), said[-2], said[-1])
    return stored.id, response


def test_prf_4_items_and_responses_go_with_their_message_and_are_named(house: MemorySetup) -> None:
    """Of one message, in its dry run too, and of messages that are too old."""
    memory = library(house)
    item, response = add_item_and_response(house, "ann")
    last = memory.messages("ann")[-1].id
    tried = memory.forget_message(last, dry_run=True).would_remove
    done = certified(memory.forget_message(last))
    assert tried is not None and tried.removed == done.removed
    assert (done.removed["items"], done.removed["responses"]) == ((item,), (response,))
    assert passed(done)["storage: items"] and passed(done)["storage: responses"]
    old = add_item_and_response(house, "bob")
    house.clock.moment += 40 * 24 * HOUR
    house.services.retention.set_of_tenant(house.reach, 30)
    forgotten = memory.apply_retention().certificate
    assert forgotten is not None
    assert (forgotten.removed["items"], forgotten.removed["responses"]) == ((old[0],), (old[1],))
    assert set(passed(forgotten).values()) == {True}


def test_prf_4_what_is_still_there_of_one_message_fails_its_check(house: MemorySetup) -> None:
    """By the id of the message alone: in every table that could have a row of it."""
    draft = Draft(role="user", content="My neighbour Rosa moved to Porto.")
    (said,) = house.services.record.messages(house.reach, "ann", [draft], idempotency_key="once").messages
    house.services.extraction.extract_now(house.reach, "ann")
    add_item_and_response(house, "ann")
    store_receipts(house)
    context = house.services.context.build(house.reach, "ann", ContextRequest())
    house.services.recall_receipts.of_context(house.reach, context, None)
    checks = house.services.certification.certify(house.reach, Removal(messages=[said.id])).checks
    failed = {check.check.removeprefix("storage: ") for check in checks if not check.passed}
    expected = {"messages", "memory sources", "mentions", "relations", "items", "responses", "receipts"}
    assert failed == {*expected, "idempotent answers"}
    house.services.forgetting.message(house.reach, said.id)
    after = house.services.certification.certify(house.reach, Removal(messages=[said.id])).checks
    assert [check.check for check in after if not check.passed] == []


def test_beyond_a_thousand_ids_the_rest_is_counted(house: MemorySetup) -> None:
    house.session("long")
    memory = library(house)
    memory.record_batch("long", [{"role": "user", "content": f"Line {number}."} for number in range(MOST_NAMED)])
    memory.record_batch("long", [{"role": "user", "content": "One more."}] * 3)
    certificate = certified(memory.delete_session("long"))
    assert len(certificate.removed["messages"]) == MOST_NAMED
    assert certificate.more == {"messages": 3, "episodes": 3}


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_foreign_id_and_a_missing_one_are_not_found_alike(house: MemorySetup, dry_run: bool) -> None:
    """ISO-4: a dry run is no way to look."""
    other = Reach(tenant=house.reach.tenant, user="bob")
    message = house.services.sessions.messages(house.reach, "ann", limit=1)[1][0].id
    memory = house.stored("ann")[0].memory.id
    attempts = (
        lambda: house.services.forgetting.session(other, "ann", dry_run=dry_run),
        lambda: house.services.forgetting.contents(other, "ann", dry_run=dry_run),
        lambda: house.services.forgetting.message(other, message, dry_run=dry_run),
        lambda: house.services.memories.forget(other, memory, dry_run=dry_run),
    )
    for attempt in attempts:
        with pytest.raises(NotFound):
            attempt()
