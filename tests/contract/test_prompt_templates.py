"""PRF-1: the text of a replaced prompt is shown where the receipt's prompt was readable before, and goes with the last receipt that
names it."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from cloister.domain.errors import NotFound
from cloister.domain.identifiers import MessageId, ProjectId, ReceiptId
from cloister.domain.scope import Reach
from cloister.domain.sessions.fields import SessionChange
from cloister.domain.timestamps import now
from cloister.services.certificates.certify import Certificate
from cloister.services.receipts.prompt import ShownPrompt
from cloister.storage.interface import Transaction
from cloister.storage.stores.receipts.receipts import ReceiptStore
from cloister.storage.stores.receipts.templates import TemplateStore, remove_unused
from support.databases.engines import Engine
from support.setups.memories import HOUR, MemorySetup
from support.setups.replies import NotingModel, receipt_of_reply, settle_with_model

FORMER, LATER = "Prune daily. {RELEVANT.HISTORY}", "Dig. {RELEVANT.HISTORY}"
OWN = "Answer like Zephyrine. {RELEVANT.HISTORY}"
SECRET, QUESTION = "The gate code is 4417.", "What is the gate code?"
DAY = 24 * HOUR


@pytest.fixture
def model() -> NotingModel:
    return NotingModel()


@pytest.fixture
def house(engine: Engine, model: NotingModel) -> MemorySetup:
    """Its clock begins where that of the chat is."""
    return settle_with_model(engine, model, began_at=now())


def asked(house: MemorySetup, garden: ProjectId | None, name: str = "asks", user: str | None = None) -> ReceiptId:
    """The receipt of a reply in a new session of a project in which something was said."""
    for each in (f"tells {name}", name):
        house.session(each, garden, user)
    house.say(f"tells {name}", SECRET)
    return receipt_of_reply(house, name, QUESTION)


def prompt_of(house: MemorySetup, id: ReceiptId, reach: Reach | None = None) -> ShownPrompt:
    return house.services.receipt_prompts.get(reach or house.reach, id)


def set_prompt(house: MemorySetup, project: ProjectId, prompt: str | None) -> None:
    house.services.projects.change_project(house.reach, project, settings={"system_prompt": prompt})


def set_own_prompt(house: MemorySetup, session: str, prompt: str | None) -> None:
    change = SessionChange(system_prompt=prompt, resets=frozenset(() if prompt else ("system_prompt",)))
    house.services.sessions.change(house.reach, session, change)


def stored(engine: Engine) -> list[str]:
    return sorted(str(row[0]) for row in engine.rows("SELECT template FROM prompt_template"))


def sent(model: NotingModel) -> list[tuple[object, object]]:
    return [(message["role"], message["content"]) for message in model.requests[-1].messages]


def test_prf_1_a_prompt_is_exact_after_the_projects_was_edited(house: MemorySetup, model: NotingModel) -> None:
    garden = house.project(system_prompt=FORMER)
    id = asked(house, garden)
    for later in (LATER, None, FORMER):
        set_prompt(house, garden, later)
        shown = prompt_of(house, id)
        assert (shown.is_exact, shown.missing) == (True, ())
        assert list(map(tuple, shown.messages)) == sent(model)
    assert "Prune daily." in shown.messages[0].content


def test_prf_1_a_prompt_is_exact_after_the_conversations_own_was_edited(house: MemorySetup, model: NotingModel) -> None:
    """In a project and in none."""
    for garden, name in ((house.project(system_prompt=FORMER), "asks"), (None, "outside")):
        house.session(name, garden, "ann")
        set_own_prompt(house, name, OWN)
        id = receipt_of_reply(house, name, QUESTION)
        for later in ("Be short.", None):
            set_own_prompt(house, name, later)
            shown = prompt_of(house, id, replace(house.reach, user="ann"))
            assert shown.is_exact, shown.missing
            assert list(map(tuple, shown.messages)) == sent(model)
            assert "Zephyrine" in shown.messages[0].content


def test_org_10_a_key_of_one_user_is_not_shown_the_former_prompt_of_its_project(house: MemorySetup) -> None:
    """Nor by the length of anything, before and after the edit: it is answered the same."""
    garden = house.project(system_prompt=FORMER)
    id = asked(house, garden, user="ann")
    ann = replace(house.reach, user="ann")
    before = prompt_of(house, id, ann)
    set_prompt(house, garden, LATER)
    assert prompt_of(house, id, ann) == before
    assert "Prune" not in repr(before) and not before.is_exact
    assert "Prune" in repr(prompt_of(house, id))


def test_iso_12_a_moved_session_shows_no_former_prompt_of_the_project_it_left(house: MemorySetup) -> None:
    """Not even whether it is the prompt of the project where the session is now."""
    garden, cellar = house.project(system_prompt=FORMER), house.project("Cellar", system_prompt=FORMER)
    id = asked(house, garden)
    there = replace(house.reach, confined_to=cellar)
    answers: list[ShownPrompt] = []
    set_prompt(house, garden, LATER)
    house.move("asks", cellar)
    for prompt in (FORMER, LATER):
        set_prompt(house, cellar, prompt)
        answers.append(prompt_of(house, id, there))
    assert answers[0] == answers[1]
    assert "Prune" not in repr(answers) and not answers[0].is_exact
    house.move("asks", None)
    assert "Prune" not in repr(prompt_of(house, id))
    house.move("asks", garden)
    assert prompt_of(house, id).is_exact


def test_iso_10_a_change_of_visibility_that_hides_the_items_hides_the_former_prompt(house: MemorySetup) -> None:
    garden = house.project(system_prompt=FORMER)
    id = asked(house, garden)
    set_prompt(house, garden, LATER)
    for visibility in ("private", "shared"):
        house.services.projects.change_project(house.reach, garden, member_visibility=visibility)
        assert "Prune" not in repr(prompt_of(house, id))


def test_iso_4_a_foreign_receipt_is_a_missing_one(house: MemorySetup) -> None:
    garden, cellar = house.project(system_prompt=FORMER), house.project("Cellar")
    id = asked(house, garden, user="ann")
    set_prompt(house, garden, LATER)
    other = Reach(tenant=house.services.projects.create_tenant("Other")[0])
    narrow = (other, replace(house.reach, confined_to=cellar), replace(house.reach, user="bob"))
    errors: list[str] = []
    for reach, receipt in (*((each, id) for each in narrow), (house.reach, ReceiptId(id ^ 1))):
        with pytest.raises(NotFound) as refused:
            prompt_of(house, receipt, reach)
        errors.append(str(refused.value).replace(f"{receipt:016x}", "ID"))
    assert len(set(errors)) == 1


def test_prf_1_a_text_is_stored_once_in_a_project(house: MemorySetup, engine: Engine) -> None:
    """Nobody's default prompt is, and none of a turn without receipt."""
    garden, cellar = house.project(system_prompt=FORMER), house.project("Cellar", system_prompt=FORMER)
    for number in range(3):
        asked(house, garden, f"asks {number}")
    assert stored(engine) == [FORMER]
    set_prompt(house, garden, LATER)
    receipt_of_reply(house, "asks 0", QUESTION)
    set_prompt(house, garden, FORMER)
    receipt_of_reply(house, "asks 1", QUESTION)
    asked(house, cellar, "cellar")
    asked(house, None, "outside")
    assert stored(engine) == [LATER, FORMER, FORMER]
    ((distinct,),) = engine.rows("SELECT count(DISTINCT template_id) FROM receipt WHERE template_id IS NOT NULL")
    assert distinct == 3


def test_prf_1_a_reply_that_is_not_stored_leaves_no_text(
    house: MemorySetup, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One transaction."""
    house.session("asks", house.project(system_prompt=FORMER))

    def fails(*given: object, **named: object) -> None:
        raise RuntimeError("no receipt")

    monkeypatch.setattr(ReceiptStore, "add", fails)
    with pytest.raises(RuntimeError, match="no receipt"):
        receipt_of_reply(house, "asks", QUESTION)
    assert stored(engine) == []


def _message(house: MemorySetup, garden: ProjectId) -> None:
    house.services.forgetting.message(house.reach, MessageId(_reply(house)))


def _reply(house: MemorySetup) -> int:
    return house.services.sessions.messages(house.reach, "asks", limit=9)[1][-1].id


def _question(house: MemorySetup, garden: ProjectId) -> None:
    house.services.forgetting.message(
        house.reach, house.services.sessions.messages(house.reach, "asks", limit=9)[1][0].id
    )


def _expire(house: MemorySetup, garden: ProjectId) -> None:
    house.services.receipt_expiry.set_days_of_tenant(house.reach, 2)
    house.clock.moment += 3 * DAY
    assert house.services.receipt_expiry.drop() >= 1


REMOVALS: dict[str, Callable[[MemorySetup, ProjectId], object]] = {
    "its reply is forgotten": _message,
    "its question is forgotten": _question,
    "its session is cleared": lambda house, _: house.services.forgetting.contents(house.reach, "asks"),
    "its session is deleted": lambda house, _: house.services.forgetting.session(house.reach, "asks"),
    "it expired": _expire,
    "its user is erased": lambda house, _: house.services.erase_user.erase(house.reach, "ann"),
    "its project is deleted": lambda house, garden: house.services.projects.delete_project(house.reach, garden),
    "its project is erased": lambda house, garden: house.services.erase_project.erase(house.reach, garden),
    "its tenant is erased": lambda house, _: house.services.tenants.erase(house.reach.tenant),
}


@pytest.mark.parametrize("removal", REMOVALS)
def test_mem_9_a_text_goes_with_the_last_receipt_that_names_it(
    house: MemorySetup, engine: Engine, removal: str
) -> None:
    """One of another tenant, with the same words, stays."""
    garden = house.project(system_prompt=FORMER)
    asked(house, garden, user="ann")
    other = settle_with_model(engine, NotingModel(), began_at=now())
    asked(other, other.project(system_prompt=FORMER), user="ann")
    set_prompt(house, garden, LATER)
    assert stored(engine) == [FORMER, FORMER]
    REMOVALS[removal](house, garden)
    assert stored(engine) == [FORMER]
    assert engine.rows("SELECT tenant_id FROM prompt_template") == [(other.reach.tenant,)]


@pytest.mark.parametrize("removal", [each for each in REMOVALS if "project" not in each and "tenant" not in each])
def test_prf_1_a_text_stays_while_another_receipt_names_it(house: MemorySetup, engine: Engine, removal: str) -> None:
    """When the first receipt expires, the second is younger."""
    garden = house.project(visibility="private", system_prompt=FORMER)
    first = asked(house, garden, user="ann")
    house.clock.moment += 2 * DAY
    kept = asked(house, garden, "bob", "bob")
    set_prompt(house, garden, LATER)
    if removal == "it expired":
        engine.rows(f"UPDATE receipt SET expires_at = {house.clock.moment} WHERE receipt_id = {first}")
        assert house.services.receipt_expiry.drop() == 1
    else:
        REMOVALS[removal](house, garden)
    assert stored(engine) == [FORMER]
    assert prompt_of(house, kept).is_exact


def _remove_nothing(transaction: Transaction, templates: Sequence[int]) -> None:
    """As a removal that forgets the texts."""


def test_prf_4_a_certificate_checks_that_the_text_went(
    house: MemorySetup, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a text that another receipt names it does not ask; one that was left behind fails its check."""

    def certified(name: str) -> dict[str, bool]:
        removed = house.services.forgetting.session(house.reach, name)
        certificate: Certificate = house.services.certification.certify(house.reach, removed.removal)
        return {check.check: check.passed for check in certificate.checks}

    garden = house.project(system_prompt=FORMER)
    for name in ("first", "second", "third"):
        asked(house, garden, name)
    assert certified("first")["storage: prompts"]
    assert stored(engine) == [FORMER]
    assert certified("second")["storage: prompts"]
    with monkeypatch.context() as patch:
        patch.setattr("cloister.storage.stores.messages.remove_unused", _remove_nothing)
        checks = certified("third")
    assert [check for check, passed in checks.items() if not passed] == ["storage: prompts"]


def test_prf_1_a_worker_removes_a_text_that_no_receipt_names(house: MemorySetup, engine: Engine) -> None:
    """Two transactions that remove its last receipts at once each see that of the other."""
    garden = house.project(system_prompt=FORMER)
    asked(house, garden)
    database = engine.database()
    database.write(house.reach, lambda each: TemplateStore(each).keep(garden, "0" * 64, "Left behind."))
    assert stored(engine) == ["Left behind.", FORMER]
    house.services.receipt_expiry.drop()
    assert stored(engine) == [FORMER]


def test_prf_1_a_text_that_a_reply_names_meanwhile_stays(house: MemorySetup, engine: Engine) -> None:
    """A reply is stored while the last receipt is removed: whoever is first, the reply's text is there afterwards."""
    garden = house.project(system_prompt=FORMER)
    id = asked(house, garden)
    house.session("later", garden)
    template = engine.rows("SELECT template_id, digest FROM prompt_template")[0]
    waits, goes_on = threading.Event(), threading.Event()
    first, second = engine.database(), engine.database()

    def remove(transaction: Transaction) -> None:
        transaction.execute("delete_receipts", session_id=house.find("asks").id)
        waits.set()
        goes_on.wait(2)
        remove_unused(transaction, [int(str(template[0]))])

    def keep(transaction: Transaction) -> int | None:
        return TemplateStore(transaction).keep(garden, str(template[1]), FORMER)

    thread = threading.Thread(target=lambda: first.write(house.reach, remove))
    thread.start()
    assert waits.wait(5)
    if engine.name == "postgres":

        def stores(transaction: Transaction) -> None:
            kept = keep(transaction)
            goes_on.set()
            found = ReceiptStore(transaction).find(id, now())
            assert found is not None
            ReceiptStore(transaction).add(
                ReceiptId(id ^ 1), found.receipt, session=house.find("later").id, template=kept
            )

        second.write(house.reach, stores)
        thread.join()
        assert engine.rows("SELECT template_id FROM prompt_template") == [(template[0],)]
    else:
        goes_on.set()
        thread.join()
        assert stored(engine) == []
        second.write(house.reach, keep)
        assert stored(engine) == [FORMER]
