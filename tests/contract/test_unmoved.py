"""ISO-12: a reply that was given a context is recorded only where that context was recalled, by the context's token."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from cloister.domain.conversation import Draft
from cloister.domain.errors import Conflict, InvalidRequest, NotFound
from cloister.domain.identifiers import SEQUENCE_BITS
from cloister.domain.scope import MemberVisibility, Reach
from cloister.domain.sessions.expected import ExpectedSession
from cloister.services.conversations.record import Recorder, RecordRequest, RecordResult
from cloister.services.recall.build_context import ContextRequest
from support.databases.engines import Engine
from support.setups.memories import EVERYTHING, MemorySetup, settle_house

SAID = "The safe opens with 4711."
QUESTION = Draft(role="user", content="What does the safe open with?")
REPLY = Draft(role="assistant", content="It opens with 4711.")
Record = Callable[[MemorySetup, str, str], RecordResult]


@pytest.fixture
def setup(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def token(setup: MemorySetup, name: str = "now", reach: Reach | None = None) -> str:
    request = ContextRequest(question=QUESTION.content)
    found = setup.services.context.build(reach or setup.reach, name, request).unmoved_token
    assert found is not None
    return found


def alone(setup: MemorySetup, name: str, since: str) -> RecordResult:
    """Too long for a group commit."""
    long = Draft(role="user", content=QUESTION.content + " Please." * 1_000)
    return setup.services.record.messages(
        setup.reach, name, [long, REPLY], expected=ExpectedSession(unmoved_since=since)
    )


def in_a_group(setup: MemorySetup, name: str, since: str) -> RecordResult:
    return setup.services.record.messages(
        setup.reach, name, [QUESTION, REPLY], expected=ExpectedSession(unmoved_since=since)
    )


def once(setup: MemorySetup, name: str, since: str) -> RecordResult:
    return setup.services.record.messages(
        setup.reach,
        name,
        [QUESTION, REPLY],
        idempotency_key=f"once in {name}",
        expected=ExpectedSession(unmoved_since=since),
    )


every_record = pytest.mark.parametrize("record", [alone, in_a_group, once])


def contents(setup: MemorySetup, name: str) -> list[str]:
    _, page = setup.services.sessions.messages(setup.reach, name, limit=EVERYTHING)
    return [message.content for message in page]


@every_record
def test_iso_12_a_reply_is_recorded_while_its_session_recalls_from_the_same_pool(
    setup: MemorySetup, record: Record
) -> None:
    """Whatever is said meanwhile, in the session and elsewhere in its pool; also if it left and came back."""
    garden, kitchen = setup.project("Garden", "private"), setup.project("Kitchen")
    setup.session("now", garden, "ann")
    setup.session("other", garden, "ann")
    since = token(setup)
    setup.say("now", "And another thing.")
    setup.say("other", SAID)
    setup.services.projects.change_project(setup.reach, garden, name="Orchard", settings={"min_relevance": 0.5})
    setup.move("other", kitchen)
    assert len(record(setup, "now", since).messages) == 2
    setup.move("now", kitchen)
    setup.move("now", garden)
    assert token(setup) == since
    setup.services.record.messages(setup.reach, "now", [REPLY], expected=ExpectedSession(unmoved_since=since))
    assert contents(setup, "now")[-1] == REPLY.content


@every_record
@pytest.mark.parametrize("to_project", [True, False])
def test_iso_12_a_session_that_moved_stores_nothing(setup: MemorySetup, record: Record, to_project: bool) -> None:
    garden, kitchen = setup.project("Garden"), setup.project("Kitchen")
    setup.session("now", garden)
    since = token(setup)
    setup.move("now", kitchen if to_project else None)
    with pytest.raises(Conflict) as refused:
        record(setup, "now", since)
    assert refused.value.code == "conflict"
    assert contents(setup, "now") == []
    assert len(record(setup, "now", token(setup)).messages) == 2


@every_record
@pytest.mark.parametrize("user", ["ann", None])
@pytest.mark.parametrize("second", ["private", "shared"])
def test_iso_12_a_project_that_was_shared_or_divided_stores_nothing(
    setup: MemorySetup, record: Record, second: MemberVisibility, user: str | None
) -> None:
    """Also for a session without a user, whose pool stays the same: its readers do not."""
    garden = setup.project("Garden", "shared" if second == "private" else "private")
    setup.session("now", garden, user)
    since = token(setup)
    setup.services.projects.change_project(setup.reach, garden, member_visibility=second)
    with pytest.raises(Conflict):
        record(setup, "now", since)
    assert contents(setup, "now") == []


@every_record
def test_iso_12_a_session_that_was_deleted_and_created_again_stores_nothing(setup: MemorySetup, record: Record) -> None:
    setup.session("now")
    since = token(setup)
    setup.services.forgetting.session(setup.reach, "now")
    with pytest.raises(NotFound):
        record(setup, "now", since)
    setup.session("now")
    with pytest.raises(Conflict):
        record(setup, "now", since)
    assert contents(setup, "now") == []


@every_record
def test_iso_12_a_deleted_project_stores_nothing(setup: MemorySetup, record: Record) -> None:
    garden = setup.project("Garden")
    setup.session("now", garden)
    since = token(setup)
    setup.services.projects.delete_project(setup.reach, garden)
    with pytest.raises(Conflict):
        record(setup, "now", since)
    assert contents(setup, "now") == []


@every_record
def test_iso_4_tokens_of_other_sessions_and_tenants_and_forged_ones_are_refused_alike(
    setup: MemorySetup, record: Record
) -> None:
    setup.session("now")
    setup.session("other")
    since = token(setup)
    neighbour, _ = setup.services.projects.create_tenant("Neighbour")
    theirs = MemorySetup(services=setup.services, reach=Reach(tenant=neighbour))
    theirs.session("now")
    half = len(since) // 2
    forged = {
        "other session": token(setup, "other"),
        "other tenant": token(theirs),
        "changed pool": "0" * half + since[half:],
        "changed proof": since[:half] + "0" * half,
        "two tokens": since[:half] + token(setup, "other")[half:],
        **{repr(text): text for text in ("", "0" * 64, since.upper(), since + "\n", since[:-1], "é" * 64)},
    }
    said = set[str]()
    for name, each in forged.items():
        with pytest.raises(InvalidRequest) as refused:
            record(setup, "now", each)
        assert refused.value.field == "if_unmoved_since", name
        said.add(str(refused.value))
    assert len(said) == 1
    assert contents(setup, "now") == contents(theirs, "now") == []


def test_iso_12_a_tenant_without_a_secret_gets_one_with_its_first_token(setup: MemorySetup) -> None:
    """A token from before, such as of a copy of the database, is refused."""
    setup.session("now")
    with pytest.raises(InvalidRequest):
        in_a_group(setup, "now", "0" * 64)
    since = token(setup)
    assert token(setup) == since
    assert len(in_a_group(setup, "now", since).messages) == 2


def test_iso_12_a_token_shows_no_id(setup: MemorySetup) -> None:
    garden = setup.project("Garden")
    setup.session("now", garden)
    session = setup.find("now")
    since = token(setup)
    assert len(since) == 64
    for number in (session.id, session.pool, garden, session.id << SEQUENCE_BITS):
        assert f"{number:x}" not in since and str(number) not in since


def test_iso_12_a_refused_request_of_a_group_leaves_the_others(setup: MemorySetup) -> None:
    garden = setup.project("Garden")
    for name in ("now", "other"):
        setup.session(name, garden)
    since, others = token(setup), token(setup, "other")
    setup.move("now", None)
    answers = setup.services.record.all(
        [
            RecordRequest(
                reach=setup.reach, session="now", drafts=[REPLY], expected=ExpectedSession(unmoved_since=since)
            ),
            RecordRequest(
                reach=setup.reach, session="other", drafts=[REPLY], expected=ExpectedSession(unmoved_since=others)
            ),
            RecordRequest(
                reach=setup.reach, session="other", drafts=[REPLY], expected=ExpectedSession(unmoved_since=since)
            ),
        ]
    )
    assert [type(answer).__name__ for answer in answers] == ["TurnMoved", "RecordResult", "InvalidRequest"]
    assert (contents(setup, "now"), contents(setup, "other")) == ([], [REPLY.content])


def test_iso_12_a_repeated_request_has_its_first_answer_after_a_move(setup: MemorySetup) -> None:
    """It stores nothing; and the same key with another condition is another request."""
    garden = setup.project("Garden")
    setup.session("now", garden)
    first = once(setup, "now", token(setup))
    since = token(setup)
    setup.move("now", None)
    again = once(setup, "now", since)
    assert again.is_repeated and [each.id for each in again.messages] == [each.id for each in first.messages]
    with pytest.raises(InvalidRequest) as mismatch:
        once(setup, "now", token(setup))
    assert mismatch.value.code == "idempotency_mismatch"
    assert len(contents(setup, "now")) == 2


@pytest.mark.parametrize("change", ["move", "share"])
def test_iso_12_a_change_between_preparing_and_storing_is_seen(
    setup: MemorySetup, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """What is checked is the session that the transaction has locked."""
    garden = setup.project("Garden", "private")
    setup.session("now", garden)
    since = token(setup)
    prepare = Recorder.prepare

    def prepare_slowly(self: Recorder, drafts: list[Draft]) -> object:
        prepared = prepare(self, drafts)
        with ThreadPoolExecutor(1) as other:
            if change == "move":
                other.submit(setup.move, "now", None).result()
            else:
                projects = setup.services.projects
                other.submit(projects.change_project, setup.reach, garden, member_visibility="shared").result()
        return prepared

    monkeypatch.setattr(Recorder, "prepare", prepare_slowly)
    with pytest.raises(Conflict):
        once(setup, "now", since)
    monkeypatch.undo()
    assert contents(setup, "now") == []


def test_iso_12_a_caller_who_no_longer_reaches_the_session_does_not_find_it(setup: MemorySetup) -> None:
    garden = setup.project("Garden")
    setup.session("now", garden)
    confined = Reach(tenant=setup.reach.tenant, confined_to=garden)
    since = token(setup, reach=confined)
    assert since == token(setup)
    setup.move("now", None)
    with pytest.raises(NotFound):
        setup.services.record.messages(confined, "now", [REPLY], expected=ExpectedSession(unmoved_since=since))
    assert contents(setup, "now") == []
