"""What is older than a project or its tenant keeps is forgotten with all that derives from it, and nothing else is (MEM-18)."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from cloister.domain.conversation import Draft
from cloister.domain.errors import Forbidden, InvalidRequest, NotFound
from cloister.domain.files.commands import read_command
from cloister.domain.identifiers import ProjectId, format_project_id
from cloister.domain.memory import quoted
from cloister.domain.scope import Reach
from cloister.services.conversations import retention
from cloister.services.conversations.retention import NOTHING_OLD
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import SearchTarget
from cloister.storage.stores.erasure import OldCounts
from cloister.worker import Worker
from support.databases.engines import Engine
from support.setups.extraction import run_due
from support.setups.memories import HOUR, SECOND, MemorySetup, long_talk, settle_house

DAY = 24 * HOUR
OLD = "My brother Quillfeather works at Brambleworks."
NEW = "My sister Thistlewick lives in Ploverdale."


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def keep(house: MemorySetup, project: ProjectId, days: int | None) -> None:
    house.services.projects.change_project(house.reach, project, settings={"retention_days": days})


def said(house: MemorySetup, name: str) -> list[str]:
    _, page = house.services.sessions.messages(house.reach, name, limit=200)
    return [message.content for message in page]


def forget_old(house: MemorySetup) -> None:
    """As a worker does, in all tenants."""
    for aged in house.services.retention.due():
        for _ in house.services.retention.batches(aged):
            pass


def talk(house: MemorySetup, name: str, project: ProjectId | None, user: str | None = "ann") -> None:
    """Something was said forty days ago, and something ten days ago; both were extracted at the time."""
    house.session(name, project, user)
    moment = house.clock.moment
    house.clock.moment = moment - 40 * DAY
    house.tell(name, OLD)
    house.clock.moment = moment - 10 * DAY
    house.tell(name, NEW)
    house.clock.moment = moment


def test_what_is_too_old_goes_with_all_that_derives_from_it(engine: Engine, house: MemorySetup) -> None:
    """MEM-18: messages, memories and entities; what is younger stays, is recalled, and is counted."""
    garden = house.project()
    talk(house, "s", garden)
    keep(house, garden, 30)

    forget_old(house)

    assert said(house, "s") == [NEW, "I see."]
    assert house.memories("s") and not any("Quillfeather" in memory for memory in house.memories("s"))
    assert "Thistlewick" in house.names(garden) and "Quillfeather" not in house.names(garden)
    assert "Brambleworks" not in repr(engine.dump(house.reach.tenant))
    assert house.find("s").message_count == 2
    assert house.services.projects.usage(house.reach).messages == 2
    assert house.services.projects.project(house.reach, garden).memory_count == len(house.memories("s"))
    assert house.recalled("s", "Where does my sister live?") == house.memories("s")
    assert house.services.retention.forgotten["messages"] == 2


@pytest.mark.parametrize("tenant, project, kept", [(30, None, 2), (None, 30, 2), (30, 5, 0), (5, 30, 0), (0, 0, 4)])
def test_the_stricter_of_tenant_and_project_applies(
    house: MemorySetup, tenant: int | None, project: int | None, kept: int
) -> None:
    """MEM-18: 0 and null keep everything."""
    garden = house.project()
    talk(house, "s", garden)
    keep(house, garden, project)
    house.services.retention.set_of_tenant(house.reach, tenant)
    forget_old(house)
    assert len(said(house, "s")) == kept


def test_a_projects_setting_touches_no_other_project_and_no_other_tenant(engine: Engine, house: MemorySetup) -> None:
    """MEM-18, ISO-4: the same words of the same user in another project, outside all projects, and in another tenant stay."""
    garden, cellar = house.project("Garden"), house.project("Cellar")
    tenant, _ = house.services.projects.create_tenant("Neighbours")
    theirs = MemorySetup(services=house.services, reach=Reach(tenant=tenant), clock=house.clock)
    for setup, name, project in ((house, "g", garden), (house, "c", cellar), (house, "o", None), (theirs, "g", None)):
        talk(setup, name, project)
    keep(house, garden, 30)
    before = engine.dump(tenant)

    forget_old(house)

    assert [len(said(house, name)) for name in ("g", "c", "o")] == [2, 4, 4]
    assert engine.dump(tenant) == before
    assert any("Quillfeather" in memory for memory in house.memories("c"))


def test_a_tenants_setting_also_applies_outside_projects(house: MemorySetup) -> None:
    """MEM-18."""
    talk(house, "o", None)
    house.services.retention.set_of_tenant(house.reach, 30)
    forget_old(house)
    assert said(house, "o") == [NEW, "I see."]


def test_a_dry_run_counts_what_would_go_and_changes_nothing(engine: Engine, house: MemorySetup) -> None:
    """MEM-18, PRF-5: under the settings, or as if they were others; the same counts as the run."""
    garden = house.project(observation_scope="user")
    talk(house, "s", garden)
    moment = house.clock.moment
    house.clock.moment = moment - 50 * DAY
    house.session("long", garden, "ann")
    house.say("long", *long_talk(60))
    while run_due(house.services):
        pass
    assert house.notes("long")
    house.services.memories.add(house.reach, "long", ["Anna plays the cello."])
    house.clock.moment = moment
    before = engine.dump(house.reach.tenant)
    tried = house.services.retention.preview(house.reach, garden, days=30)
    for_all = house.services.retention.preview(house.reach, days=30)
    assert house.services.retention.preview(house.reach, garden) == NOTHING_OLD
    assert engine.dump(house.reach.tenant) == before

    keep(house, garden, 30)
    assert house.services.retention.preview(house.reach, garden) == tried == for_all
    done = house.services.retention.apply(house.reach, garden)

    assert (done.counts, done.complete) == (tried, True)
    assert tried.sessions == 2 and tried.messages == 122 and tried.observations > 0 and tried.memories > 10
    assert house.services.retention.apply(house.reach, garden).counts == NOTHING_OLD
    assert house.notes("long") == [] and house.memories("long") == []


def test_a_dry_run_for_one_project_still_obeys_the_tenant(house: MemorySetup) -> None:
    """MEM-18: no project can keep longer than its tenant."""
    garden = house.project()
    talk(house, "s", garden)
    house.services.retention.set_of_tenant(house.reach, 30)
    assert house.services.retention.preview(house.reach, garden, days=0).messages == 2
    assert house.services.retention.preview(house.reach, garden, days=5).messages == 4


def test_age_is_the_time_when_it_was_said_not_when_it_was_stored(house: MemorySetup) -> None:
    """MEM-18: old messages that are imported today are as old as they are."""
    garden = house.project()
    house.session("s", garden)
    old, new = house.clock.moment - 40 * DAY, house.clock.moment - 10 * DAY
    drafts = [
        Draft(role="user", content=OLD, created_at=old),
        Draft(role="assistant", content="I see.", created_at=new),
        Draft(role="user", content="And older, behind it.", created_at=old - DAY),
    ]
    house.services.record.messages(house.reach, "s", drafts[:2])
    keep(house, garden, 30)
    forget_old(house)
    assert said(house, "s") == ["I see."], "of an exchange that is half too old, the younger half stays"
    house.services.record.messages(house.reach, "s", drafts[2:])
    forget_old(house)
    assert said(house, "s") == ["I see."]


def test_what_becomes_too_old_later_is_forgotten_then(house: MemorySetup) -> None:
    """MEM-18: a session that was looked at before is looked at again in time."""
    garden = house.project()
    talk(house, "s", garden)
    keep(house, garden, 45)
    forget_old(house)
    assert len(said(house, "s")) == 4
    house.clock.moment += 6 * DAY
    forget_old(house)
    assert said(house, "s") == [NEW, "I see."]
    house.clock.moment += 60 * DAY
    forget_old(house)
    assert said(house, "s") == [] and house.memories("s") == [] and house.names(garden) == []


def test_old_memories_that_were_added_by_hand_go_too(house: MemorySetup) -> None:
    """MEM-18: they have no message to go with."""
    garden = house.project()
    house.session("s", garden)
    house.services.memories.add(house.reach, "s", ["Anna plays the cello."])
    house.clock.moment += 40 * DAY
    house.services.memories.add(house.reach, "s", ["Anna keeps bees."])
    keep(house, garden, 30)
    assert house.services.retention.preview(house.reach, garden) == OldCounts(
        sessions=0, messages=0, memories=1, observations=0
    )
    forget_old(house)
    assert house.memories("s") == ["Anna keeps bees."]


def test_replies_no_longer_quote_what_was_too_old(house: MemorySetup, engine: Engine) -> None:
    """MEM-18, MEM-9: in the session of another, who was told it later."""
    garden = house.project()
    talk(house, "s", garden)
    house.session("other", garden, "bob")
    house.say("other", "Who works where?", reply=f"I remember. {quoted([OLD, 'Herons nest in April.'])}")
    keep(house, garden, 30)
    forget_old(house)
    left = repr(engine.dump(house.reach.tenant))
    assert "Quillfeather" not in left and "Herons nest in April." in left


def test_it_goes_batch_by_batch_and_can_be_interrupted_between_any_two(
    house: MemorySetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MEM-18: after any transaction what is left is consistent, and the next run goes on."""
    monkeypatch.setattr(retention, "_BATCH", 7)
    garden = house.project()
    house.session("s", garden, "ann")
    house.say("s", *long_talk(20))
    house.clock.moment += 40 * DAY
    house.say("s", NEW)
    keep(house, garden, 30)
    (aged,) = house.services.retention.due()
    first = next(house.services.retention.batches(aged))
    assert first.messages == 7
    assert house.find("s").message_count == len(said(house, "s")) == 35
    assert house.services.retention.preview(house.reach, garden).messages == 33
    forget_old(house)
    assert said(house, "s") == [NEW, "I see."]
    assert list(house.services.retention.due()) == []


def test_one_call_forgets_a_bounded_number(house: MemorySetup, monkeypatch: pytest.MonkeyPatch) -> None:
    """MEM-18: it says so, and the next goes on."""
    monkeypatch.setattr(retention, "_BATCH", 5)
    monkeypatch.setattr(retention, "MOST_MESSAGES_A_CALL", 10)
    garden = house.project(retention_days=30)
    house.session("s", garden, "ann")
    house.say("s", *long_talk(8))
    house.clock.moment += 40 * DAY
    done = house.services.retention.apply(house.reach, garden)
    assert (done.counts.messages, done.counts.sessions, done.complete) == (10, 1, False)
    done = house.services.retention.apply(house.reach, garden)
    assert (done.counts.messages, done.complete) == (6, True)


def test_notes_on_younger_messages_stay(house: MemorySetup) -> None:
    """MEM-18: only notes that cover a message that is too old go with it."""
    garden = house.project(pending_message_count=1)
    house.session("s", garden, "ann")
    house.say("s", *long_talk(40))
    while run_due(house.services):
        pass
    early = house.notes("s")
    house.clock.moment += 40 * DAY
    for name in ("Later", "Latest"):
        house.say("s", *[text.replace("Xandor", name) for text in long_talk(60)])
        while run_due(house.services):
            pass
    late = [note for note in house.notes("s") if note not in early]
    keep(house, garden, 30)
    forget_old(house)
    assert early and late
    left = house.notes("s")
    assert left and set(left) <= set(late) and not any("Xandor" in note for note in left)


def moved(house: MemorySetup, garden: ProjectId) -> None:
    house.move("s", None)


def kept_after_all(house: MemorySetup, garden: ProjectId) -> None:
    keep(house, garden, None)


def deleted(house: MemorySetup, garden: ProjectId) -> None:
    house.services.forgetting.session(house.reach, "s")


@pytest.mark.parametrize("change", [moved, kept_after_all, deleted])
def test_a_change_after_the_session_was_found_counts(
    house: MemorySetup, change: Callable[[MemorySetup, ProjectId], None]
) -> None:
    """MEM-18, ISO-12: moved out of the project, kept after all, or deleted, between the search and the transaction."""
    garden = house.project(retention_days=30)
    talk(house, "s", garden)
    (aged,) = house.services.retention.due()
    change(house, garden)
    assert list(house.services.retention.batches(aged)) == []
    if change is not deleted:
        assert len(said(house, "s")) == 4


def test_who_may_change_the_setting_of_a_tenant(house: MemorySetup) -> None:
    """MEM-18, ORG-4, ORG-10: nobody whose key reaches less than the tenant; a confined one may look at its own project."""
    garden, cellar = house.project("Garden", retention_days=30), house.project("Cellar", retention_days=30)
    talk(house, "s", garden)
    service = house.services.retention
    confined = Reach(tenant=house.reach.tenant, confined_to=garden)
    bound = Reach(tenant=house.reach.tenant, user="ann")
    for narrow in (confined, bound):
        with pytest.raises(Forbidden):
            service.set_of_tenant(narrow, 1)
        with pytest.raises(Forbidden):
            service.of_tenant(narrow)
        with pytest.raises(Forbidden):
            service.preview(narrow)
        with pytest.raises(Forbidden):
            service.apply(narrow)
    with pytest.raises(Forbidden):
        service.preview(bound, garden)
    with pytest.raises(NotFound) as foreign:
        service.preview(confined, cellar)
    assert str(foreign.value).count(format_project_id(cellar)) == 1
    assert service.preview(confined, garden).messages == 2
    assert service.apply(confined, garden).counts.messages == 2


@pytest.mark.parametrize("given", [-1, 36_501, 1.5, True, "30"])
def test_a_wrong_number_of_days_is_refused(house: MemorySetup, given: object) -> None:
    """MEM-18: and changes nothing."""
    garden = house.project()
    with pytest.raises(InvalidRequest, match="retention_days"):
        house.services.projects.change_project(house.reach, garden, settings={"retention_days": given})
    with pytest.raises(InvalidRequest, match="retention_days"):
        house.services.retention.set_of_tenant(house.reach, given)  # pyright: ignore[reportArgumentType]


def test_an_idempotency_key_of_what_went_is_used_but_says_nothing(engine: Engine, house: MemorySetup) -> None:
    """MEM-18, MEM-9: of a message that was old when it was sent."""
    garden = house.project(retention_days=30)
    house.session("s", garden)
    draft = Draft(role="user", content=OLD, created_at=house.clock.moment - 40 * DAY)
    house.services.record.messages(house.reach, "s", [draft], idempotency_key="once")
    forget_old(house)
    rows = engine.rows(f"SELECT fingerprint, answer FROM idempotency WHERE tenant_id = {house.reach.tenant:d}")
    assert rows == [(None, None)]


def test_an_erased_tenant_has_no_setting(engine: Engine, house: MemorySetup) -> None:
    """MEM-18, ORG-9."""
    house.services.retention.set_of_tenant(house.reach, 30)
    talk(house, "s", None)
    house.services.tenants.erase(house.reach.tenant)
    assert list(house.services.retention.due()) == []
    assert engine.rows(f"SELECT retention_days FROM tenant WHERE tenant_id = {house.reach.tenant:d}") == [(None,)]


def test_a_worker_forgets_and_counts(house: MemorySetup) -> None:
    """MEM-18: `cloister worker --drain`, and the worker inside a server."""
    garden = house.project(retention_days=30)
    talk(house, "s", garden)
    house.clock.moment += SECOND
    worker = Worker(house.services)
    worker.drain()
    worker.stop()
    assert said(house, "s") == [NEW, "I see."]
    assert worker.done.forgotten >= 2


def test_files_that_were_not_changed_for_so_long_are_forgotten(engine: Engine, house: MemorySetup) -> None:
    """MEM-18: also in a session in which nothing was said."""
    garden = house.project()
    house.session("files", garden, "ann")
    moment = house.clock.moment

    def store(path: str, text: str, age: int) -> None:
        house.clock.moment = moment - age
        command = read_command({"command": "create", "path": path, "file_text": text})
        assert not house.services.files.change(house.reach, "files", command).is_error
        house.clock.moment = moment

    store("/memories/old.txt", OLD, 40 * DAY)
    store("/memories/new.txt", NEW, 10 * DAY)
    keep(house, garden, 30)
    forget_old(house)
    shown = house.services.files.view(house.reach, "files", read_command({"command": "view", "path": "/memories"}))
    assert "new.txt" in shown.text and "old.txt" not in shown.text
    assert "Brambleworks" not in repr(engine.dump(house.reach.tenant))


def recall_receipts(house: MemorySetup, project: ProjectId, user: str | None = None) -> None:
    """A context of the session `asks`, and a search without a session: both receipts are stored, with the question."""
    context = house.services.context.build(house.reach, "asks", ContextRequest(question="Where is Quillfeather?"))
    found = house.services.search.find(
        house.reach, "Is Quillfeather ill?", SearchTarget(project=project, user_id=user), 5
    )
    stored = (
        house.services.recall_receipts.of_context(house.reach, context, None)[1],
        house.services.recall_receipts.of_search(house.reach, found, None, None)[1],
    )
    assert None not in stored


@pytest.mark.parametrize("by_worker", [False, True])
def test_mem_18_what_was_asked_in_a_session_without_messages_is_forgotten(
    engine: Engine, house: MemorySetup, by_worker: bool
) -> None:
    """MEM-18, PRF-1: receipts contain the question. Nothing else is in the session, and a search has none; others stay."""
    garden = house.project("Garden", store_receipts=True, receipt_days=3_650)
    house.session("asks", garden)
    recall_receipts(house, garden)
    house.clock.moment += 400 * DAY
    recall_receipts(house, garden)
    assert house.services.retention.preview(house.reach, garden, days=30).receipts == 2
    keep(house, garden, 30)

    if by_worker:
        forget_old(house)
        assert house.services.retention.searches().receipts == 1
    else:
        done = house.services.retention.apply(house.reach, garden)
        assert done.counts == replace(NOTHING_OLD, receipts=2)
        assert len(done.removal.receipts) == 2

    assert len(engine.rows("SELECT receipt_id FROM receipt")) == 2
    assert house.services.retention.forgotten["receipts"] == 2
    assert house.services.retention.apply(house.reach).counts == NOTHING_OLD


def test_mem_18_what_was_asked_in_another_project_or_tenant_stays(engine: Engine, house: MemorySetup) -> None:
    """MEM-18, ISO-4: also where it was searched without a session, and outside all projects."""
    garden = house.project("Garden", store_receipts=True, receipt_days=3_650)
    cellar = house.project("Cellar")
    tenant, _ = house.services.projects.create_tenant("Neighbours")
    theirs = MemorySetup(services=house.services, reach=Reach(tenant=tenant), clock=house.clock)
    their_garden = theirs.project("Garden", store_receipts=True, receipt_days=3_650)
    for setup, project in ((house, garden), (theirs, their_garden)):
        setup.session("asks", project)
        recall_receipts(setup, project)
    house.clock.moment += 400 * DAY
    keep(house, cellar, 30)
    house.services.retention.apply(house.reach)
    forget_old(house)
    house.services.retention.searches()
    assert len(engine.rows("SELECT receipt_id FROM receipt")) == 4
    house.services.retention.set_of_tenant(house.reach, 30)
    forget_old(house)
    house.services.retention.searches()
    left = engine.rows("SELECT tenant_id FROM receipt")
    assert [int(str(row[0])) for row in left] == [int(tenant)] * 2


def test_mem_18_what_was_searched_in_a_project_that_was_deleted_since_is_forgotten(
    engine: Engine, house: MemorySetup
) -> None:
    """It is in no project now, and the tenant's own number of days applies, as to the project's sessions."""
    garden = house.project("Garden", store_receipts=True, receipt_days=3_650)
    house.session("asks", garden)
    recall_receipts(house, garden)
    house.services.projects.delete_project(house.reach, garden)
    house.clock.moment += 40 * DAY
    assert house.services.retention.preview(house.reach, days=30).receipts == 2
    house.services.retention.set_of_tenant(house.reach, 30)
    assert house.services.retention.apply(house.reach).counts.receipts == 2
    assert engine.rows("SELECT receipt_id FROM receipt") == []


def test_mem_18_the_worker_forgets_searches(engine: Engine, house: MemorySetup) -> None:
    garden = house.project("Garden", store_receipts=True, receipt_days=3_650)
    house.session("asks", garden)
    recall_receipts(house, garden)
    house.clock.moment += 400 * DAY
    keep(house, garden, 30)
    worker = Worker(house.services)
    worker.drain()
    worker.stop()
    assert engine.rows("SELECT receipt_id FROM receipt") == []
    assert worker.done.forgotten == 2


def test_mem_18_a_dry_run_counts_the_entities_that_lose_their_last_mention(house: MemorySetup) -> None:
    """MEM-18, MEM-17: of two names of one entity only the last counts, and an entity that is mentioned again stays."""
    garden = house.project()
    house.session("s", garden)
    moment = house.clock.moment
    house.clock.moment = moment - 40 * DAY
    house.tell("s", OLD, "My sister Marta Silva works at Plumbing House.")
    house.clock.moment = moment - 10 * DAY
    house.tell("s", "My sister Marta lives in Ploverdale.", "My aunt works at Brambleworks.")
    house.clock.moment = moment
    before = {entity.id for entity in house.entities(garden)}
    tried = house.services.retention.preview(house.reach, garden, days=30)
    keep(house, garden, 30)
    done = house.services.retention.apply(house.reach, garden)
    after = {entity.id for entity in house.entities(garden)}
    assert "Brambleworks" in house.names(garden) and "Quillfeather" not in house.names(garden)
    assert tried == done.counts and tried.entities == len(before) - len(after) > 0


def test_mem_18_a_dry_run_counts_entities_of_the_project_that_a_session_has_left(house: MemorySetup) -> None:
    """MEM-18, ISO-6: entities stay where it was said; they go with their last mention, wherever its session is now."""
    garden, cellar = house.project("Garden"), house.project("Cellar")
    talk(house, "s", garden)
    house.move("s", cellar)
    before = {entity.id for entity in house.entities(garden)}
    assert house.services.retention.preview(house.reach, garden, days=30) == NOTHING_OLD
    tried = house.services.retention.preview(house.reach, cellar, days=30)
    for_all = house.services.retention.preview(house.reach, days=30)
    confined = Reach(tenant=house.reach.tenant, confined_to=cellar)
    assert house.services.retention.preview(confined, cellar, days=30).entities == 0
    keep(house, cellar, 30)
    done = house.services.retention.apply(house.reach, cellar)
    assert tried == for_all == done.counts
    assert tried.entities == len(before) - len(house.entities(garden)) > 0


def test_mem_18_a_confined_caller_is_not_told_how_many_entities_end_elsewhere(house: MemorySetup) -> None:
    """MEM-18, ISO-4."""
    garden, cellar = house.project("Garden"), house.project("Cellar", retention_days=30)
    talk(house, "s", garden)
    house.move("s", cellar)
    confined = Reach(tenant=house.reach.tenant, confined_to=cellar)
    done = house.services.retention.apply(confined, cellar)
    assert (done.counts.messages, done.counts.entities) == (2, 0)
    assert "Quillfeather" not in house.names(garden)


def test_mem_18_a_dry_run_counts_entities_that_sessions_of_several_projects_mention(house: MemorySetup) -> None:
    """MEM-18: each project with its own days, and the tenant's outside them; an entity goes if all its mentions do."""
    garden, cellar = house.project("Garden"), house.project("Cellar")
    for name in ("one", "two", "three"):
        talk(house, name, garden)
    house.move("two", cellar)
    house.move("three", None)
    for setting in ((garden, 30), (cellar, 30)):
        keep(house, *setting)
        assert house.services.retention.preview(house.reach).entities == 0
    house.services.retention.set_of_tenant(house.reach, 35)
    before = {entity.id for entity in house.entities(garden)}
    tried = house.services.retention.preview(house.reach)
    assert house.services.retention.apply(house.reach).counts == tried
    assert tried.entities == len(before) - len(house.entities(garden)) > 0
