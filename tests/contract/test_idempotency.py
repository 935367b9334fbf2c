"""A request that comes twice under one key is done once, on both engines; what is not the same request is told apart."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from cloister.bootstrap import Services
from cloister.domain.conversation import Draft, Message, Project, Session
from cloister.domain.errors import Conflict, IdempotencyMismatch, InvalidRequest, NotFound, TooLarge
from cloister.domain.identifiers import ProjectId
from cloister.domain.scope import MemberVisibility, Reach
from cloister.services.conversations.sessions import SessionChange, SessionFields
from cloister.services.memories.truth.additions import MemoryAdditions
from support.databases.engines import Engine, at_once
from support.isolation.twin_tenants import MOMENT

HOUR = 3_600 * 1_000_000
HELLO = Draft(role="user", content="Hello")


@dataclass(frozen=True, kw_only=True, slots=True)
class Home:
    """A tenant with a session `first` in its default project; `reach` may be confined to that."""

    engine: Engine
    services: Services
    reach: Reach
    default: ProjectId

    def session(self, key: str, **fields: Any) -> tuple[Session, bool]:
        return self.services.sessions.create(self.reach, SessionFields(**fields), idempotency_key=key)

    def project(self, key: str, name: str = "Garden", visibility: MemberVisibility = "shared") -> Project:
        return self.services.projects.create_project(self.reach, name, visibility, idempotency_key=key)

    def message(self, key: str, session: str = "first", draft: Draft = HELLO) -> Message:
        return self.services.record.messages(self.reach, session, [draft], idempotency_key=key).messages[0]

    def count(self, table: str) -> int:
        ((found,),) = self.engine.rows(f"SELECT count(*) FROM {table} WHERE tenant_id = {self.reach.tenant:d}")
        assert isinstance(found, int)
        return found


@pytest.fixture(scope="module")
def services(shared_engine: Engine) -> Services:
    return shared_engine.services()


def settle(engine: Engine, services: Services) -> Home:
    tenant, default = services.projects.create_tenant("Household")
    home = Home(engine=engine, services=services, reach=Reach(tenant=tenant), default=default)
    services.sessions.create(home.reach, SessionFields(external_id="first", project=default))
    return home


@pytest.fixture
def home(shared_engine: Engine, services: Services) -> Home:
    return settle(shared_engine, services)


# Each makes something new under a key; `table` is where it would be seen twice.
REQUESTS: dict[str, tuple[str, Callable[[Home, str], Any]]] = {
    "a session": ("session", lambda home, key: home.session(key, title="Roses", metadata={"a": 1, "b": [2]})),
    "a named session": ("session", lambda home, key: home.session(key, external_id="second", tags=("red",))),
    "a session in a project": ("session", lambda home, key: home.session(key, project=home.default, user_id="ann")),
    "a project": ("project", lambda home, key: home.project(key)),
    "a message": ("message", lambda home, key: home.message(key)),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_the_same_request_under_the_same_key_is_answered_alike_and_done_once(home: Home, name: str) -> None:
    table, make = REQUESTS[name]
    before = home.count(table)
    first = make(home, "k")
    elsewhere = replace(home, services=home.engine.services())
    assert [make(home, "k"), make(elsewhere, "k")] == [first, first]
    assert home.count(table) == before + 1


@pytest.mark.parametrize("name", REQUESTS)
def test_eight_of_the_same_at_once_are_done_once(home: Home, name: str) -> None:
    """Over two processes."""
    table, make = REQUESTS[name]
    before = home.count(table)
    houses = (home, replace(home, services=home.engine.services()))
    answers = at_once(lambda number: make(houses[number % 2], "k"))
    assert answers == [answers[0]] * 8
    assert home.count(table) == before + 1


def test_eight_different_ones_at_once_under_one_key_are_one_and_seven_refusals(home: Home) -> None:
    """Whoever comes first, the others are told."""

    def attempt(number: int) -> str:
        try:
            return home.project("k", f"Garden {number}").name
        except IdempotencyMismatch:
            return ""

    assert sorted(at_once(attempt))[:7] == [""] * 7
    assert home.count("project") == 2


SESSION = {
    "external_id": "second",
    "user_id": "ann",
    "title": "Roses",
    "tags": ("red", "white"),
    "metadata": {"a": 1, "b": {"c": [1, 2], "d": None}},
}


def test_the_order_of_metadata_is_not_part_of_a_request(home: Home) -> None:
    first = home.session("k", **SESSION)
    turned = {"b": {"d": None, "c": [1, 2]}, "a": 1}
    assert home.session("k", **{**SESSION, "metadata": turned}) == first
    assert home.session("none", metadata=None) == home.session("none", metadata={})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("external_id", None),
        ("external_id", "third"),
        ("user_id", "bob"),
        ("user_id", None),
        ("title", "roses"),
        ("title", None),
        ("tags", ()),
        ("tags", ("white", "red")),
        ("metadata", {}),
        ("metadata", {"a": "1", "b": {"c": [1, 2], "d": None}}),
        ("metadata", {"a": 1, "b": {"c": [2, 1], "d": None}}),
    ],
)
def test_another_field_of_a_session_is_another_request(home: Home, field: str, value: object) -> None:
    home.session("k", **SESSION)
    said = home.engine.unchanged_by(IdempotencyMismatch, lambda: home.session("k", **{**SESSION, field: value}))
    assert str(said) == "idempotency_key: 'k' was already used for a different request."


def test_another_project_of_a_session_is_another_request(home: Home) -> None:
    home.session("k", **SESSION)
    home.engine.unchanged_by(IdempotencyMismatch, lambda: home.session("k", **SESSION, project=home.default))


def test_another_name_or_visibility_of_a_project_is_another_request(home: Home) -> None:
    home.project("k")
    home.engine.unchanged_by(IdempotencyMismatch, lambda: home.project("k", "Cellar"))
    home.engine.unchanged_by(IdempotencyMismatch, lambda: home.project("k", "Garden", "private"))


def test_one_key_serves_requests_of_every_kind(home: Home) -> None:
    """What is asked is part of the place where a key is kept."""
    session, project, message = home.session("k"), home.project("k"), home.message("k")
    assert (home.session("k"), home.project("k"), home.message("k")) == (session, project, message)


def test_iso_4_the_keys_of_two_tenants_do_not_meet(home: Home) -> None:
    other = settle(home.engine, home.services)
    ours = (home.session("same"), home.project("same"), home.message("same"))
    theirs = (other.session("same"), other.project("same"), other.message("same"))
    assert ours[0][0].id != theirs[0][0].id
    assert ours[1].id != theirs[1].id
    assert ours[2].id != theirs[2].id
    other.project("another", "Cellar")
    assert home.project("another", "Orchard").tenant == home.reach.tenant


def test_iso_4_the_keys_of_a_confined_caller_are_its_own(home: Home) -> None:
    """ORG-4: it neither meets what the whole tenant asked, nor what another project's caller did."""
    cellar = home.services.projects.create_project(home.reach, "Cellar").id
    confined = [
        replace(home, reach=Reach(tenant=home.reach.tenant, confined_to=project)) for project in (home.default, cellar)
    ]
    made = [
        home.session("k", project=home.default, title="Whole tenant's")[0],
        confined[0].session("k", project=home.default, title="Garden's")[0],
        confined[1].session("k", project=cellar, title="Cellar's")[0],
    ]
    assert len({session.id for session in made}) == 3
    assert confined[1].session("k", project=cellar, title="Cellar's") == (made[2], True)


def test_org_4_a_confined_caller_is_answered_as_at_first_and_learns_nothing_of_what_came_since(home: Home) -> None:
    """ISO-4: the first answer was of the project; the session, and what it is now, are not any more."""
    confined = replace(home, reach=Reach(tenant=home.reach.tenant, confined_to=home.default))
    session, _ = confined.session("k", project=home.default)
    home.services.sessions.move(home.reach, session.external_id, None, SessionChange(title="Secret"))
    assert confined.session("k", project=home.default) == (session, True)
    with pytest.raises(NotFound):
        home.services.sessions.get(confined.reach, session.external_id)


# As long as a name may be, and of characters that nothing makes shorter.
LONGEST, LONG = (
    "".join(random.Random(seed).choices(list(map(chr, range(0x10000, 0x110000))), k=255)) for seed in (1, 2)
)
ODD = [
    *("a", "A", "a ", " a", "á", "a\u0301", "ａ", "k", "0", "null", "None", "true"),
    *("a/b", "a/b/", "/a/b", "a//b", "a\\b", "a:b", "a,b", "a b", "a\u00a0b", "a\u200bb"),
    *('"', '"]', '["k"]', 'k", null, "k', '", "k', "\\", "\\\\", '\\"', "\\u0061", "%61", "{}", "[]"),
    *("'; DROP TABLE idempotency; --", ":tenant_id", "%s", "%(key)s", "$1", "🌹", "x" * 255, "y" * 254 + "x", LONGEST),
]


def test_odd_keys_do_not_meet(home: Home) -> None:
    """Slashes, quotes, other cases and forms: each is a key of its own, and finds its own answer."""
    made = {key: home.session(key)[0].id for key in ODD}
    assert len(set(made.values())) == len(ODD)
    assert {key: home.session(key)[0].id for key in ODD} == made


def test_a_key_and_a_session_cannot_be_divided_in_two_ways(home: Home) -> None:
    """The longest names together are also short enough to be kept."""
    pairs = [("a", "b/c"), ("a/b", "c"), ('a", "b', "c"), ("a", 'b", "c'), ("a", "b"), ("b", "a"), (LONGEST, LONG)]
    for name in {name for name, _ in pairs}:
        home.services.sessions.create(home.reach, SessionFields(external_id=name))
    made = {pair: home.message(pair[1], pair[0]).id for pair in pairs}
    assert len(set(made.values())) == len(pairs)
    assert {pair: home.message(pair[1], pair[0]).id for pair in pairs} == made


@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.parametrize("key", ["", " ", "\n", "a\nb", "a\x00b", "\ud800", "\x1b[31m", "a\u2028b", "x" * 256])
def test_a_key_that_is_no_key_is_refused(home: Home, name: str, key: str) -> None:
    kind = TooLarge if len(key) > 255 else InvalidRequest
    said = home.engine.unchanged_by(kind, lambda: REQUESTS[name][1](home, key))
    assert str(said).startswith("idempotency_key")


def test_a_request_that_failed_is_not_remembered(home: Home) -> None:
    """Its key is free for the request that was meant."""
    missing = ProjectId(9)
    home.engine.unchanged_by(NotFound, lambda: home.session("k", project=missing))
    home.engine.unchanged_by(NotFound, lambda: home.message("k", "nowhere"))
    assert home.session("k", project=home.default)[1]


def test_a_project_is_answered_as_it_was_made_though_it_changed_since(home: Home) -> None:
    """The first answer again."""
    first = home.project("k")
    home.services.projects.change_project(home.reach, first.id, name="Orchard", is_default=True)
    assert home.project("k") == first


def test_a_session_that_was_there_before_the_key_is_answered_as_one_that_was(home: Home) -> None:
    """Whether it was made by the first request is part of the answer."""
    existing = home.services.sessions.get(home.reach, "first")
    for _ in range(2):
        assert home.session("k", external_id="first", project=home.default) == (existing, False)


def test_a_key_is_forgotten_after_a_day(shared_engine: Engine) -> None:
    """The day is counted from the first request, and nobody has to come for it to end."""
    moment = [MOMENT]
    home = settle(shared_engine, shared_engine.services(clock=lambda: moment[0]))
    first = home.project("k")
    moment[0] += 23 * HOUR
    assert home.project("k") == first
    moment[0] += 2 * HOUR
    second = home.project("k", "Cellar")
    assert second.id != first.id
    assert home.project("k", "Cellar") == second


def test_what_has_expired_is_dropped_though_nobody_writes_again(shared_engine: Engine) -> None:
    """In every tenant, and only what has expired."""
    moment = [MOMENT]
    homes = [settle(shared_engine, shared_engine.services(clock=lambda: moment[0])) for _ in range(2)]
    for home in homes:
        for name in REQUESTS:
            REQUESTS[name][1](home, f"key for {name}")
    moment[0] += 12 * HOUR
    homes[0].project("later", "Cellar")
    moment[0] += 12 * HOUR
    assert homes[1].services.idempotency_expiry.drop() >= 2 * len(REQUESTS) - 1
    assert [home.count("idempotency") for home in homes] == [1, 0]
    assert homes[1].services.idempotency_expiry.drop() == 0


def test_a_key_used_in_a_deleted_session_is_free_in_another_of_the_same_outside_id(home: Home) -> None:
    """ISO-1: a key belongs to the session itself, so that what is said in the new one is stored."""
    first = home.message("k")
    home.services.forgetting.session(home.reach, "first")
    home.services.sessions.create(home.reach, SessionFields(external_id="first", project=home.default))
    second = home.message("k")
    assert second.session != first.session
    assert [entry.id for entry in home.services.sessions.messages(home.reach, "first", limit=9)[1]] == [second.id]
    assert home.message("k") == second
    home.engine.unchanged_by(IdempotencyMismatch, lambda: home.message("k", draft=Draft(role="user", content="Bye")))


def test_a_key_is_not_shared_by_sessions_that_had_one_outside_id_after_the_other(home: Home) -> None:
    """ISO-1: also for memories, and for the request that makes the session."""
    made, _ = home.session("k", external_id="again")
    appended = home.services.memories.add(home.reach, "again", ["Ann likes tea."], idempotency_key="k")
    home.services.forgetting.session(home.reach, "again")
    assert home.count("idempotency") == 0
    second, is_new = home.session("k", external_id="again")
    assert is_new and second.id != made.id
    anew = home.services.memories.add(home.reach, "again", ["Ann likes tea."], idempotency_key="k")
    assert anew.memories[0].memory.id != appended.memories[0].memory.id


FORGETTING: dict[str, Callable[[Home, Message], object]] = {
    "the message": lambda home, message: home.services.forgetting.message(home.reach, message.id),
    "all that was said": lambda home, message: home.services.forgetting.contents(home.reach, "first"),
}


@pytest.mark.parametrize("name", FORGETTING)
def test_a_repeated_key_brings_nothing_back_that_was_forgotten_and_says_so(home: Home, name: str) -> None:
    """MEM-9: neither is anything acknowledged that is not stored; whatever the repeated request says."""
    first = home.message("k")
    home.message("other key", draft=Draft(role="user", content="Other"))
    FORGETTING[name](home, first)
    for draft in (HELLO, Draft(role="user", content="Something else")):
        said = home.engine.unchanged_by(Conflict, lambda draft=draft: home.message("k", draft=draft))
        assert str(said) == (
            "What was stored under the idempotency key 'k' was deleted since. To store it again, use a new key."
        )
    assert home.message("new key").id != first.id


def test_forgetting_one_message_of_a_batch_ends_its_request_and_no_other(home: Home) -> None:
    drafts = [Draft(role="user", content=text) for text in ("one", "two", "three")]

    def batch() -> list[Message]:
        return list(home.services.record.messages(home.reach, "first", drafts, idempotency_key="batch").messages)

    before, said, after = home.message("before"), batch(), home.message("after")
    home.services.forgetting.message(home.reach, said[1].id)
    home.engine.unchanged_by(Conflict, batch)
    assert (home.message("before"), home.message("after")) == (before, after)


def test_a_memory_that_was_forgotten_is_not_brought_back_by_its_key(home: Home) -> None:
    """MEM-2, MEM-9."""

    def append() -> MemoryAdditions:
        return home.services.memories.add(home.reach, "first", ["Ann likes tea."], idempotency_key="k")

    first = append()
    assert append() == first
    home.services.memories.forget(home.reach, first.memories[0].memory.id)
    home.engine.unchanged_by(Conflict, append)


def test_neither_the_idempotency_key_nor_a_plain_digest_is_kept(home: Home) -> None:
    """Two tenants with the same request under the same key have different fingerprints."""
    other = settle(home.engine, home.services)
    kept = [home.message("secret key") and home.engine.dump(home.reach.tenant)["idempotency"] for home in (home, other)]
    assert "secret key" not in repr(kept)
    prints = [row[6] for rows in kept for row in rows]
    assert len(prints) == 2 and prints[0] != prints[1]


def test_what_was_said_is_not_kept_under_the_key(home: Home) -> None:
    """Ids and times are; so what is forgotten is forgotten here too."""
    home.session("k", external_id="by name", title="Secret title", tags=("secret tag",), metadata={"secret": "word"})
    home.project("k", "Secret project")
    home.message("k", draft=Draft(role="user", content="Secret words", author="Secret author"))
    kept = repr(home.engine.dump(home.reach.tenant)["idempotency"])
    assert "ecret" not in kept
    assert home.count("idempotency") == 3
