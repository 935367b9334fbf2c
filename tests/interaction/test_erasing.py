"""Erasing a user, projects that are found by their names, and the tenants of one directory, through every way in."""

import asyncio
from pathlib import Path

import pytest

from cloister import AsyncCloister, Cloister, Conflict, DeletedContents, InvalidRequest, NotFound
from cloister.bootstrap import build_services
from cloister.settings import read_settings
from support.clients.command_line import CommandLine
from support.clients.entry_points import EMBEDDED, PROGRAMS, REMOTE, every_way, only
from support.servers.http_server import Server

NOTHING = (0, 0, 0, 0, 0, 0)
WORDS = "My neighbour Rosa plays the cello."


def talk(memory: Cloister, session: str, user: str | None, project_id: str | None) -> None:
    memory.create_session(session, user_id=user, project_id=project_id)
    memory.record_episode(session, WORDS, "How nice.")
    memory.extract(session)


def counts(memory: Cloister, user: str, *, dry_run: bool = False) -> tuple[int, ...]:
    erased = memory.erase_user(user, dry_run=dry_run)
    return (
        erased.sessions,
        erased.messages,
        erased.episodes,
        erased.memories,
        erased.observations,
        erased.entities,
    )


@every_way
def test_org_9_a_user_is_erased_in_one_call_with_counts(memory: Cloister) -> None:
    """In every project and in none; others keep what they have, and the same call again has nothing to do."""
    shared = memory.create_project("Shared", member_visibility="shared").project_id
    private = memory.create_project("Private").project_id
    for user in ("ada", "bob"):
        for project in (shared, private, None):
            talk(memory, f"{user} in {project}", user, project)
    assert counts(memory, "ada", dry_run=True) == (3, 6, 3, 3, 0, 1)
    assert counts(memory, "ada", dry_run=True) == (3, 6, 3, 3, 0, 1)
    assert counts(memory, "ada") == (3, 6, 3, 3, 0, 1)
    assert counts(memory, "ada") == NOTHING
    assert counts(memory, "nobody") == NOTHING
    assert memory.sessions(user_id="ada") == []
    assert memory.user_memories("ada") == []
    assert [session.message_count for session in memory.sessions(user_id="bob")] == [2, 2, 2]
    assert len(memory.user_memories("bob")) == 3
    with pytest.raises(NotFound):
        memory.context(f"ada in {shared}", "Who plays the cello?")
    with pytest.raises(InvalidRequest, match="user_id"):
        memory.erase_user("a\nb")


@every_way
def test_org_5_a_project_is_deleted_with_its_contents_in_one_call_with_counts(memory: Cloister) -> None:
    """Other projects keep what they have; a project that is gone, and one that never was, are the same error."""
    doomed, kept = (memory.create_project(name).project_id for name in ("Doomed", "Kept"))
    for project in (doomed, kept, None):
        talk(memory, f"in {project}", "ada", project)
    expected = DeletedContents(
        sessions=1, messages=2, episodes=1, memories=1, observations=0, entities=1, entries=0, files=0
    )
    tried = memory.delete_project(doomed, contents="delete", dry_run=True)
    assert (tried.deleted, tried.sessions_moved, tried.visible_to) == (expected, 0, None)
    assert tried.certificate is None and tried.would_remove is not None
    assert len(memory.sessions(user_id="ada")) == 3
    gone = memory.delete_project(doomed, contents="delete")
    assert gone.deleted == expected and gone.certificate is not None
    assert gone.certificate.removed == tried.would_remove.removed
    assert gone.certificate.removed["projects"] == (doomed,) and gone.certificate.removed["sessions"] == (
        f"in {doomed}",
    )
    assert all(check.passed for check in gone.certificate.checks)
    assert {session.external_id for session in memory.sessions()} == {f"in {kept}", "in None"}
    assert len(memory.user_memories("ada")) == 2
    default = next(project.project_id for project in memory.projects() if project.is_default)
    with pytest.raises(Conflict, match="default"):
        memory.delete_project(default, contents="delete")
    with pytest.raises(NotFound):
        memory.delete_project(doomed, contents="delete")
    assert memory.delete_project(kept, contents="keep").deleted is None


@only([*EMBEDDED, *REMOTE])
def test_org_5_an_unknown_way_to_delete_a_project_is_refused(memory: Cloister) -> None:
    project = memory.create_project("Garden").project_id
    for wrong in ("Delete", "", "all"):
        with pytest.raises(InvalidRequest, match="contents"):
            memory.delete_project(project, contents=wrong)  # pyright: ignore[reportArgumentType]
    assert memory.project(project).name == "Garden"


def test_a_second_project_of_the_same_name_is_refused_unless_it_is_asked_for(memory: Cloister) -> None:
    first = memory.create_project("Ångström notes")
    for same in ("Ångström notes", "ångström  NOTES", " A\u030angstro\u0308m notes ", "Ångström notes"):
        with pytest.raises(Conflict, match=first.project_id):
            memory.create_project(same)
    assert [project.project_id for project in memory.projects(name="ÅNGSTRÖM notes")] == [first.project_id]
    second = memory.create_project("Ångström Notes", allow_duplicate_name=True)
    found = [project.project_id for project in memory.projects(name="ångström notes")]
    assert found == [first.project_id, second.project_id]
    assert memory.projects(name="Angstrom notes") == []
    memory.delete_project(second.project_id)
    memory.delete_project(first.project_id)
    assert memory.create_project("ångström notes").name == "ångström notes"


@only(PROGRAMS)
def test_a_project_is_not_renamed_to_the_name_of_another(memory: Cloister) -> None:
    garden, cellar = memory.create_project("Garden"), memory.create_project("Cellar")
    with pytest.raises(Conflict, match=garden.project_id):
        memory.update_project(cellar.project_id, name="garden", is_default=True)
    assert memory.project(cellar.project_id) == cellar
    assert memory.update_project(garden.project_id, name="GARDEN").name == "GARDEN"
    assert memory.update_project(cellar.project_id, name="Garden", allow_duplicate_name=True).name == "Garden"
    assert memory.update_project(cellar.project_id, settings={"pending_message_count": 5}).name == "Garden"


@only([*EMBEDDED, *REMOTE])
def test_a_project_is_found_by_its_only_name(memory: Cloister) -> None:
    garden = memory.create_project("Garden")
    assert memory.find_project("garden") == memory.project(garden.project_id)
    with pytest.raises(NotFound):
        memory.find_project("Cellar")
    memory.create_project("Garden", allow_duplicate_name=True)
    with pytest.raises(Conflict, match="by its id"):
        memory.find_project("Garden")


def test_commands_take_the_name_of_a_project_where_they_take_its_id(tmp_path: Path) -> None:
    shell = CommandLine(data=str(tmp_path))
    garden = shell.project("Garden")
    assert shell.json("sessions", "create", "s", "--project", "garden", "--user", "ada")["project_id"] == garden
    shell.run("record", "s", WORDS, "--create", "--project", "GARDEN", "--user", "ada")
    assert [session["external_id"] for session in shell.json("sessions", "list", "--project", "Garden")] == ["s"]
    assert shell.said("cello", "--project", "Garden", "--user", "ada", "--kind", "episodes") == [WORDS]
    assert shell.json("keys", "create", "k", "--project", "Garden", "--confined")["project_id"] == garden
    shell.run("extract", "s")
    assert shell.json("entities", "list", "Garden", "--user", "ada")[0]["name"] == "Rosa"
    assert shell.json("projects", "members", "Garden", "shared", "--dry-run") == {
        "sessions": 1,
        "users": 1,
        "user_ids": ["ada"],
    }
    assert shell.json("projects", "default", "Garden")["is_default"]
    assert shell.json("projects", "rename", "Garden", "Orchard")["project_id"] == garden
    assert shell.json("sessions", "move", "s", "none")["project_id"] is None
    assert shell.json("sessions", "move", "s", "Orchard")["project_id"] == garden
    assert "There is no project 'Garden' here" in shell.refusal("projects", "show", "Garden")
    assert "called 'Orchard' already" in shell.refusal("projects", "create", "orchard")
    shell.run("projects", "create", "Orchard", "--allow-duplicate-name")
    assert "by its id (proj_…)" in shell.refusal("projects", "delete", "Orchard", "--yes")


def test_the_command_asks_before_it_erases_a_user_and_says_what_went(tmp_path: Path) -> None:
    shell = CommandLine(data=str(tmp_path))
    shell.run("record", "s", WORDS, "--create", "--user", "ada")
    shell.run("extract", "s")
    counted = "1 session, 1 message, 1 memory and 1 entity"
    assert (
        shell.run("users", "erase", "ada", "--dry-run").stdout
        == f"Of 'ada' there are {counted}. Nothing was changed.\n"
    )
    kept = shell.run("users", "erase", "ada", answer="n\n", code=1)
    assert kept.stdout == "" and f"Erase the user 'ada', with {counted}, for good? [y/N]" in kept.stderr
    assert shell.run("users", "erase", "ada", answer="y\n").stdout == f"Erased the user 'ada': {counted}.\n"
    assert shell.json("users", "erase", "ada", "--yes")["sessions"] == 0


@pytest.fixture
def household(tmp_path: Path) -> tuple[str, str]:
    """Two tenants of one directory that have the same ids and were told the same words, and one fact each."""
    shell = CommandLine(data=str(tmp_path))
    made = [shell.json("tenants", "create", name)["tenant_id"] for name in ("North", "South")]
    for tenant, code in zip(made, ("4417", "9082"), strict=True):
        with Cloister(tmp_path, tenant=tenant) as memory:
            memory.create_project("Garden", member_visibility="shared")
            talk(memory, "s", "ada", memory.find_project("Garden").project_id)
            memory.record("s", "user", f"The door code is {code}.")
    return made[0], made[1]


def test_iso_4_tenants_of_one_directory_do_not_see_each_other(tmp_path: Path, household: tuple[str, str]) -> None:
    """The same session id, user, project name and words: each recalls its own, and erasing in one leaves the other."""
    north, south = household
    with (
        Cloister(tmp_path, tenant=north) as ours,
        Cloister(tmp_path, tenant="South") as theirs,
        Cloister(tmp_path) as local,
    ):
        garden, foreign = ours.find_project("Garden"), theirs.find_project("Garden")
        assert (garden.tenant_id, foreign.tenant_id) == (north, south)
        for memory, code, other in ((ours, "4417", "9082"), (theirs, "9082", "4417")):
            memory.create_session("asks", user_id="ada", project_id=memory.find_project("Garden").project_id)
            told = repr(memory.context("asks", "What is the door code?")) + repr(
                memory.search("door code", session_id="asks")
            )
            assert code in told and other not in told
        assert local.sessions() == [] and local.user_memories("ada") == []
        with pytest.raises(NotFound):
            local.session("s")
        with pytest.raises(NotFound):
            ours.project(foreign.project_id)
        with pytest.raises(NotFound):
            ours.forget_message(theirs.messages("s")[0].id)
        with pytest.raises(NotFound):
            ours.forget_memory(theirs.memories("s")[0].id)
        assert counts(ours, "ada")[0] == 2
        assert len(theirs.sessions(user_id="ada")) == 2


def test_a_tenant_is_opened_by_its_id_or_its_only_name_and_never_made_silently(
    tmp_path: Path, household: tuple[str, str]
) -> None:
    north, _ = household
    with Cloister(tmp_path, tenant="North") as by_name, Cloister(tmp_path, tenant=north) as by_id:
        assert by_name.sessions() == by_id.sessions()
    for unknown in ("north", "East", "ten_00000000000000ff", "ten_"):
        with pytest.raises(NotFound, match="tenant"):
            Cloister(tmp_path, tenant=unknown)
    CommandLine(data=str(tmp_path)).json("tenants", "create", "North")
    with pytest.raises(Conflict, match="by its id"):
        Cloister(tmp_path, tenant="North")
    with Cloister(tmp_path, tenant="local") as local, Cloister(tmp_path) as same:
        assert local.projects() == same.projects()


def test_opening_an_unknown_tenant_leaves_the_directory_as_it_was(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        Cloister(tmp_path / "new", tenant="North")
    services = build_services(read_settings(tmp_path / "new", {}))
    assert services.tenants.page(limit=9) == []
    services.close()


def test_the_async_library_opens_a_tenant_too(tmp_path: Path, household: tuple[str, str]) -> None:
    async def look() -> tuple[str, int]:
        async with AsyncCloister(tmp_path, tenant="South") as memory:
            garden = await memory.find_project("garden")
            erased = await memory.erase_user("ada")
            return garden.tenant_id, erased.sessions

    assert asyncio.run(look()) == (household[1], 1)


def test_the_tenant_comes_from_the_option_or_the_environment(tmp_path: Path, household: tuple[str, str]) -> None:
    """After the command, before it, or as CLOISTER_TENANT; the nearest wins."""
    north, south = household
    shell = CommandLine(data=str(tmp_path))
    said = [
        shell.run("sessions", "show", "s", "--tenant", "North").stdout,
        shell.run("--tenant", north, "sessions", "show", "s").stdout,
        shell.run("sessions", "show", "s", CLOISTER_TENANT="North").stdout,
        shell.run("sessions", "show", "s", "--tenant", "North", CLOISTER_TENANT="South").stdout,
    ]
    assert all("4417" in each and "9082" not in each for each in said)
    assert "9082" in shell.run("sessions", "show", "s", "--tenant", south).stdout
    assert shell.json("sessions", "list") == []
    assert "There is no tenant 'East' here" in shell.refusal("sessions", "list", "--tenant", "East")


def test_at_a_server_the_key_decides_the_tenant(sqlite_service: Server) -> None:
    tenant = sqlite_service.new_tenant()
    with pytest.raises(InvalidRequest, match="tenant: is for a directory"):
        Cloister(tenant.address, key=tenant.key, tenant=tenant.tenant_id)
    shell = CommandLine(data=tenant.address, key=tenant.key)
    assert "the key says which tenant" in shell.refusal("sessions", "list", "--tenant", "North")
    assert "the key says which tenant" in shell.run("sessions", "list", code=1, CLOISTER_TENANT="North").stderr


def test_the_operator_lists_erases_and_opens_tenants_beside_the_data(
    tmp_path: Path, household: tuple[str, str]
) -> None:
    """ORG-9, on a directory; over HTTP the same is asked with the operator's key."""
    north, south = household
    shell = CommandLine(data=str(tmp_path))
    listed = shell.json("tenants", "list")
    assert [(tenant["tenant_id"], tenant["sessions"], tenant["messages"]) for tenant in listed] == [
        (north, 1, 3),
        (south, 1, 3),
    ]
    assert "North" in shell.run("tenants", "list").stdout
    made = shell.json("tenants", "key", "North")
    assert sorted(made) == ["key", "key_id"]
    assert shell.json("tenants", "key", north)["key"].startswith("clo_")
    assert "this may be a log" in shell.refusal("tenants", "key", north)
    with Cloister(tmp_path, tenant=north) as memory:
        assert made["key_id"] in [key.key_id for key in memory.keys(limit=9)]
    preview = shell.json("tenants", "erase", "North", "--dry-run")
    assert (preview["sessions"], preview["projects"], preview["api_keys"]) == (1, 2, 3)
    asked = shell.run("tenants", "erase", "North", answer="\n", code=1)
    assert "Erase the tenant 'North', with 2 projects, 1 session, 3 messages" in asked.stderr
    erased = shell.json("tenants", "erase", "North", "--yes")
    assert {check["passed"] for check in erased["certificate"]["checks"]} == {True}
    assert {**erased, "certificate": None} == preview
    assert "There is no tenant 'North' here" in shell.refusal("tenants", "erase", "North", "--yes")
    assert [tenant["name"] for tenant in shell.json("tenants", "list")] == ["South"]
    with Cloister(tmp_path):
        pass
    assert "cannot be erased" in shell.refusal("tenants", "erase", "local", "--yes")
