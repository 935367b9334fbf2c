"""Who recalls whom in a project (ISO-10): divided by user unless somebody asked to share, and changed for all of it at once."""

from dataclasses import dataclass
from itertools import count

import pytest

from cloister.bootstrap import Services
from cloister.domain.conversation import Draft
from cloister.domain.erasure import Readers
from cloister.domain.errors import Forbidden, InvalidRequest, NotFound
from cloister.domain.identifiers import ProjectId
from cloister.domain.scope import MemberVisibility, Reach
from cloister.services.conversations.sessions import SessionFields
from cloister.services.memories import extract
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import SearchTarget
from support.databases.engines import Engine, at_once

NUMBERS = count(1)
USERS = ("ann", "bob", None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Home:
    services: Services
    reach: Reach
    default: ProjectId

    def add(self, visibility: MemberVisibility | None = None) -> ProjectId:
        """Without a visibility it is made with a name only."""
        create, name = self.services.projects.create_project, f"Garden {next(NUMBERS)}"
        return (create(self.reach, name) if visibility is None else create(self.reach, name, visibility)).id

    def tell(self, session: str, project: ProjectId, user: str | None, *words: str) -> None:
        fields = SessionFields(external_id=session, project=project, user_id=user)
        self.services.sessions.create(self.reach, fields)
        said = [
            draft
            for text in words
            for draft in (Draft(role="user", content=text), Draft(role="assistant", content="Noted."))
        ]
        self.services.record.messages(self.reach, session, said)
        self.services.extraction.extract_now(self.reach, session)

    def fill(self, project: ProjectId) -> None:
        """Each user tells of a neighbour who is called the same."""
        for user in USERS:
            self.tell(f"told by {user}", project, user, f"My neighbour Anna plays the cello for {user}.")
            self.services.sessions.create(
                self.reach, SessionFields(external_id=f"asked by {user}", project=project, user_id=user)
            )

    def change(self, project: ProjectId, visibility: MemberVisibility) -> None:
        changed = self.services.projects.change_project(self.reach, project, member_visibility=visibility)
        assert changed.member_visibility == visibility

    def seen(self, project: ProjectId, user: str | None) -> dict[str, set[str]]:
        """By kind, whose words a session of this user is given, and what a search of theirs finds."""
        context = self.services.context.build(
            self.reach, f"asked by {user}", ContextRequest(question="Who plays the cello, Anna?", min_relevance=0)
        )
        hits = self.services.search.search(
            self.reach, "cello Anna", SearchTarget(project=project, user_id=user), 50, min_relevance=0
        )
        return {
            "messages": {item.session for item in context.relevant_history},
            "memories": {stored.session for stored in context.derived.memories},
            "entities": {whose for entity in context.derived.entities for whose in whose_words(entity.notes)},
            "listed": {
                whose
                for entity in self.services.entities.page(self.reach, project, user_id=user, limit=50)
                for whose in whose_words(entity.notes)
            },
            "hits": {whose for hit in hits for whose in whose_words(repr(hit))},
        }


def whose_words(text: str) -> set[str]:
    return {f"told by {user}" for user in USERS if f"for {user}" in text}


def of(*users: str | None) -> dict[str, set[str]]:
    sessions = {f"told by {user}" for user in users}
    return dict.fromkeys(("messages", "memories", "entities", "listed", "hits"), sessions)


@pytest.fixture(scope="module")
def services(shared_engine: Engine) -> Services:
    return shared_engine.services()


@pytest.fixture
def home(services: Services) -> Home:
    tenant, default = services.projects.create_tenant("Household")
    return Home(services=services, reach=Reach(tenant=tenant), default=default)


def test_every_project_is_divided_by_user_unless_somebody_asks_to_share(home: Home) -> None:
    """ISO-10: the default project of a new tenant, and a project made with a name only."""
    listed = home.services.projects.projects(home.reach, limit=9)
    assert [project.member_visibility for project in listed] == ["private"]
    home.fill(home.default)
    for user in USERS:
        assert home.seen(home.default, user) == of(user)


def test_members_of_a_project_made_shared_recall_each_other(home: Home) -> None:
    project = home.add("shared")
    home.fill(project)
    for user in USERS:
        assert home.seen(project, user) == of(*USERS)


@pytest.mark.parametrize("first", ["shared", "private"])
def test_a_change_holds_from_the_next_request_on_for_all_that_was_ever_said(
    home: Home, first: MemberVisibility
) -> None:
    """ISO-10: messages, memories, entities and what search finds, there and back again."""
    second: MemberVisibility = "private" if first == "shared" else "shared"
    project = home.add(first)
    home.fill(project)
    for visibility in (second, first, second):
        home.change(project, visibility)
        for user in USERS:
            assert home.seen(project, user) == (of(*USERS) if visibility == "shared" else of(user))


def test_what_is_said_after_a_change_is_where_it_belongs(home: Home) -> None:
    project = home.add("shared")
    home.fill(project)
    home.change(project, "private")
    home.tell("told by ann", project, "ann", "My neighbour Anna lives in Lisbon.")
    found = home.services.entities.page(home.reach, project, user_id="ann", limit=9)
    assert [entity.name for entity in found if "Lisbon" in entity.notes] == ["Anna", "Lisbon"]
    for user in ("bob", None):
        assert "Lisbon" not in repr(home.services.entities.page(home.reach, project, user_id=user, limit=9))
        assert home.seen(project, user) == of(user)


def test_counts_survive_a_change(home: Home, shared_engine: Engine) -> None:
    project = home.add("private")
    home.fill(project)
    mentions = f"SELECT count(*) FROM mention WHERE tenant_id = {home.reach.tenant:d}"
    before, mentioned = home.services.projects.project(home.reach, project).memory_count, shared_engine.rows(mentions)
    for visibility in ("shared", "private"):
        home.change(project, visibility)
        assert home.services.projects.project(home.reach, project).memory_count == before == 3
        assert shared_engine.rows(mentions) == mentioned


def test_an_entity_of_a_session_that_moved_on_is_divided_by_the_user_who_mentioned_it(home: Home) -> None:
    """ISO-6, ISO-10."""
    project, other = home.add("shared"), home.add("private")
    home.fill(project)
    home.services.sessions.move(home.reach, "told by ann", other)
    home.change(project, "private")
    listed = {user: home.seen(project, user)["listed"] for user in USERS}
    assert listed == {user: {f"told by {user}"} for user in USERS}


def test_notes_of_a_user_stay_with_the_user(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """TAB-7, ISO-10."""
    monkeypatch.setattr(extract, "RECENT_WINDOW", 2)
    monkeypatch.setattr(extract, "_FEWEST_TO_OBSERVE", 1)
    project = home.add("shared")
    home.services.projects.change_project(home.reach, project, settings={"observation_scope": "user"})
    for user in USERS:
        words = [f"In week {week} {user} planted peas in Lisbon." for week in range(6)]
        home.tell(f"told by {user}", project, user, *words)
        home.services.sessions.create(
            home.reach, SessionFields(external_id=f"asked by {user}", project=project, user_id=user)
        )
    for visibility in ("private", "shared"):
        home.change(project, visibility)
        for user in ("ann", "bob"):
            found = home.services.context.build(
                home.reach, f"asked by {user}", ContextRequest(question="peas")
            ).derived.observations
            assert {stored.session for stored in found} == {f"told by {user}"}


def test_a_change_can_be_tried_first(home: Home, shared_engine: Engine) -> None:
    """ISO-10: how many sessions, of how many users, would recall each other that do not now."""
    project = home.add("private")
    home.fill(project)
    before = shared_engine.dump(home.reach.tenant)
    preview = home.services.projects.preview_visibility
    assert preview(home.reach, project, "shared") == Readers(sessions=6, users=2)
    assert preview(home.reach, project, "private") == Readers(sessions=0, users=0)
    assert shared_engine.dump(home.reach.tenant) == before
    home.change(project, "shared")
    assert preview(home.reach, project, "shared") == Readers(sessions=0, users=0)
    assert preview(home.reach, project, "private") == Readers(sessions=0, users=0)


def test_who_may_not_change_it_changes_nothing(home: Home, shared_engine: Engine) -> None:
    project, other = home.add("private"), home.add("shared")
    organise, tenant = home.services.projects, home.reach.tenant
    elsewhere = Reach(tenant=tenant, confined_to=other)
    bound = Reach(tenant=tenant, user="ann")
    for reach, refusal in ((elsewhere, NotFound), (bound, Forbidden)):
        shared_engine.unchanged_by(
            refusal, lambda reach=reach: organise.change_project(reach, project, member_visibility="shared"), tenant
        )
        shared_engine.unchanged_by(
            refusal, lambda reach=reach: organise.preview_visibility(reach, project, "shared"), tenant
        )
    shared_engine.unchanged_by(
        InvalidRequest,
        lambda: organise.change_project(home.reach, project, member_visibility="public"),  # pyright: ignore[reportArgumentType]
        tenant,
    )


def test_whoever_reads_along_is_told_to_look_again(home: Home) -> None:
    project, other = home.add("private"), home.add("private")
    events = home.services.events
    readers = {
        name: events.subscribe(Reach(tenant=home.reach.tenant, confined_to=confined_to))
        for name, confined_to in (("tenant", None), ("project", project), ("other", other))
    }
    try:
        home.change(project, "shared")
        home.change(project, "shared")
        kinds = {
            name: [told.event.kind for told in reader.read() if told.event is not None]
            for name, reader in readers.items()
        }
        assert kinds == {"tenant": ["reset"], "project": ["reset"], "other": []}
    finally:
        for reader in readers.values():
            reader.close()


def test_changes_and_writers_at_once_leave_every_session_in_its_pool(home: Home, shared_engine: Engine) -> None:
    """ISO-10: a session that is made while its project changes is in the pool of what the project is then."""
    project = home.add("private")

    def work(number: int) -> None:
        if number % 4 == 0:
            for step in range(6):
                home.change(project, "shared" if (number + step) % 2 else "private")
            return
        for step in range(6):
            user = USERS[step % 3]
            fields = SessionFields(external_id=f"{number} {step}", project=project, user_id=user)
            home.services.sessions.create(home.reach, fields)
            draft = Draft(role="user", content=f"The ladder of {user}.")
            home.services.record.messages(home.reach, f"{number} {step}", [draft])

    at_once(work)
    home.change(project, "private")
    rows = shared_engine.rows(
        "SELECT s.user_id, p.user_id, p.project_id FROM session AS s JOIN pool AS p ON p.pool_id = s.pool_id "
        f"WHERE s.tenant_id = {home.reach.tenant:d} AND s.project_id = {project:d}"
    )
    assert len(rows) == 36
    assert all(user == part and place == project for user, part, place in rows)
