"""Every command does what it says: for people, and with --json for programs."""

import json
from pathlib import Path

import pytest

from cloister import Cloister
from cloister.interfaces.python.shapes import as_json
from support.clients.command_line import CommandLine, timeless


@pytest.fixture
def shell(tmp_path: Path) -> CommandLine:
    return CommandLine(data=str(tmp_path / "data"))


def test_a_new_place_has_one_default_project_org_2(shell: CommandLine) -> None:
    assert [(project["name"], project["is_default"]) for project in shell.json("projects", "list")] == [
        ("Default", True)
    ]
    assert "Default" in shell.run("projects", "list").stdout


def test_a_project_is_made_renamed_and_made_default_org_2(shell: CommandLine) -> None:
    project = shell.project("Garden", "--members", "private")
    shell.run("projects", "rename", project, "Orchard")
    assert "'Orchard' is now the default project." in shell.run("projects", "default", project).stdout
    found = {entry["name"]: entry for entry in shell.json("projects", "list")}
    assert found["Orchard"]["member_visibility"] == "private"
    assert [entry["is_default"] for entry in found.values()].count(True) == 1
    assert found["Orchard"]["is_default"]
    assert found["Orchard"]["isolated"]


def test_deleting_a_project_leaves_its_sessions_in_no_project_org_5(shell: CommandLine) -> None:
    project = shell.project("Garden")
    shell.run("record", "--create", "--project", project, "beds", "Peas go into the north bed.")
    assert shell.said("peas", "--project", "none") == []
    asked = shell.run("projects", "delete", project, answer="n\n", code=1)
    assert "its 1 session in no project? [y/N]" in asked.stderr
    assert shell.said("peas", "--project", project) == ["Peas go into the north bed."]
    assert "left 1 session in no project" in shell.run("projects", "delete", project, answer="y\n").stdout
    assert shell.said("peas", "--project", "none") == ["Peas go into the north bed."]


def test_sessions_are_made_listed_shown_and_renamed(shell: CommandLine) -> None:
    project = shell.project("Garden")
    shell.run(
        "sessions", "create", "beds", "--project", project, "--user", "anna", "--title", "Beds", "--tag", "spring"
    )
    shell.run("sessions", "create", "loose", "--project", "none")
    shell.run("sessions", "create", "plain")
    shell.run("sessions", "rename", "beds", "Raised beds")
    listed = shell.run("sessions", "list").stdout
    assert "Raised beds" in listed
    assert "no project" in listed
    assert [session["external_id"] for session in shell.json("sessions", "list", "--project", project)] == ["beds"]
    assert [session["external_id"] for session in shell.json("sessions", "list", "--project", "none")] == ["loose"]
    assert [session["external_id"] for session in shell.json("sessions", "list", "--user", "anna")] == ["beds"]
    shown = shell.run("sessions", "show", "beds").stdout
    for part in ("beds", "Garden", project, "anna", "Raised beds", "spring"):
        assert part in shown


def test_a_project_is_shown_with_its_settings(shell: CommandLine) -> None:
    project = shell.project("Garden", "--members", "private")
    with Cloister(shell.data) as memory:
        memory.update_project(project, settings={"system_prompt": "Be \x1b[31mred."})
        assert shell.json("projects", "show", project) == json.loads(json.dumps(as_json(memory.project(project))))
    shown = shell.run("projects", "show", project).stdout
    for part in (project, "Garden", "private", "ten_0000000000000001", '"Be \\u001b[31mred."'):
        assert part in shown


def test_a_session_without_a_name_gets_one(shell: CommandLine) -> None:
    assert shell.json("sessions", "create")["external_id"].startswith("ses_")


def test_an_empty_list_is_said_on_stderr_and_is_empty_on_stdout(shell: CommandLine) -> None:
    outcome = shell.run("sessions", "list")
    assert outcome.stdout == ""
    assert "No sessions here yet" in outcome.stderr
    assert shell.json("sessions", "list") == []


def test_what_is_remembered_is_shown_in_order(shell: CommandLine) -> None:
    shell.run("sessions", "create", "beds")
    shell.run("record", "beds", "Where do the peas go?")
    shell.run("record", "beds", "Into the north bed.", "--role", "assistant", "--author", "Ava")
    shell.run("record", "beds", "-", answer="Two\nlines.\n")
    found = shell.json("sessions", "show", "beds")
    assert [message["content"] for message in found["messages"]] == [
        "Where do the peas go?",
        "Into the north bed.",
        "Two\nlines.",
    ]
    assert found["session"]["message_count"] == 3
    assert "Ava · " in shell.run("sessions", "show", "beds").stdout


def test_a_long_session_is_shown_page_by_page(shell: CommandLine) -> None:
    for text in ("one", "two", "three"):
        shell.run("record", "--create", "beds", text)
    first = shell.run("sessions", "show", "beds", "--limit", "2")
    last = shell.json("sessions", "show", "beds", "--limit", "2")["messages"][-1]["id"]
    assert f"--after {last}" in first.stderr
    second = shell.run("sessions", "show", "beds", "--limit", "1", "--after", last)
    assert "three" in second.stdout
    assert second.stderr == ""


def test_a_session_made_by_remember_is_in_its_project_from_its_first_message_iso_7(shell: CommandLine) -> None:
    project = shell.project("Garden")
    shell.run("record", "--create", "--project", project, "--user", "anna", "beds", "Peas go into the north bed.")
    assert shell.said("peas", "--project", project, "--user", "anna") == ["Peas go into the north bed."]
    assert shell.said("peas", "--project", project) == shell.said("peas") == []
    shell.run("record", "--create", "beds", "Beans go beside them.")
    shell.run("record", "--create", "--project", project, "beds", "And basil.")
    assert shell.json("sessions", "show", "beds")["session"]["message_count"] == 3


def test_search_stays_in_one_pool_iso_4(shell: CommandLine) -> None:
    garden, kitchen = shell.project("Garden"), shell.project("Kitchen")
    shell.run("record", "--create", "--project", garden, "beds", "The peas are in the north bed.")
    shell.run("record", "--create", "--project", kitchen, "soup", "The peas are in the freezer.")
    shell.run("record", "--create", "loose", "The peas are on the list.")
    assert shell.said("peas", "--project", garden) == ["The peas are in the north bed."]
    assert shell.said("peas", "--session", "soup") == ["The peas are in the freezer."]
    assert shell.said("peas") == ["The peas are on the list."]
    assert "The peas are on the list." in shell.run("search", "peas").stdout


def test_search_in_the_shared_pool_stays_with_its_user_iso_10(shell: CommandLine) -> None:
    shell.run("record", "--create", "--user", "anna", "a", "Anna's peas.")
    shell.run("record", "--create", "--user", "bert", "b", "Bert's peas.")
    assert shell.said("peas", "--user", "anna") == ["Anna's peas."]
    assert shell.said("peas") == []
    assert "Nothing found" in shell.run("search", "peas").stderr


def test_a_moved_session_takes_its_history_along_iso_5(shell: CommandLine) -> None:
    project = shell.project("Garden")
    shell.run("record", "--create", "beds", "Peas go into the north bed.")
    moved = shell.run("sessions", "move", "beds", project).stdout
    assert moved == (
        "'beds' moved to the project 'Garden': its 1 message can be recalled there, and no longer in the project 'Default'.\n"
    )
    assert shell.said("peas", "--project", project) == ["Peas go into the north bed."]
    assert shell.said("peas") == []
    assert "already" in shell.run("sessions", "move", "beds", project).stdout
    shell.run("sessions", "move", "beds", "none")
    assert shell.said("peas", "--project", project) == shell.said("peas") == []
    assert shell.said("peas", "--project", "none") == ["Peas go into the north bed."]


def test_the_members_of_a_project_share_only_when_asked_to_iso_10(shell: CommandLine) -> None:
    project = shell.project("Garden")
    for user in ("anna", "bert"):
        shell.run("record", "--create", "--project", project, "--user", user, user, f"{user}'s peas.")
    assert shell.said("peas", "--project", project, "--user", "anna") == ["anna's peas."]
    tried = shell.run("projects", "members", project, "shared", "--dry-run").stdout
    assert tried == "2 sessions of 2 users (anna, bert) would recall each other. Nothing was changed.\n"
    assert shell.json("projects", "members", project, "shared", "--dry-run") == {
        "sessions": 2,
        "users": 2,
        "user_ids": ["anna", "bert"],
    }
    asked = shell.run("projects", "members", project, "shared", answer="n\n", code=1)
    assert (
        "2 sessions of 2 users (anna, bert) would recall each other. Share the project 'Garden' between its users?"
        in asked.stderr
    )
    assert shell.said("peas", "--project", project, "--user", "anna") == ["anna's peas."]
    shell.run("projects", "members", project, "shared", answer="y\n")
    assert set(shell.said("peas", "--project", project)) == {"anna's peas.", "bert's peas."}
    divided = shell.run("projects", "members", project, "private").stdout
    assert divided == "'Garden' is private: each user now recalls only their own part.\n"
    assert shell.said("peas", "--project", project, "--user", "bert") == ["bert's peas."]


def test_a_context_keeps_this_conversation_apart_from_related_history_ctx_1_ctx_4(shell: CommandLine) -> None:
    shell.run("record", "--create", "one", "The gate code is 4417.")
    shell.run("record", "--create", "two", "Which gate was painted?")
    found = shell.json("context", "two", "gate code")
    assert [item["content"] for item in found["current_conversation"]] == ["Which gate was painted?"]
    assert [item["content"] for item in found["relevant_history"]] == ["The gate code is 4417."]
    shown = shell.run("context", "two").stdout
    current, related = shown.split("relevant history")
    assert "Which gate was painted?" in current
    assert "4417" not in current
    assert "4417" in related


def test_a_context_fits_its_budget_and_says_what_it_left_out_ctx_5(shell: CommandLine) -> None:
    for text in ("The first thing that was said.", "The second thing that was said."):
        shell.run("record", "--create", "one", text)
    found = shell.json("context", "one", "--budget", "15", "--semantic", "0")
    assert found["tokens"] <= 15
    assert found["omitted"]["current_conversation"] == 1
    assert "left out: 1 beyond the budget." in shell.run("context", "one", "--budget", "15", "--semantic", "0").stdout
    assert shell.json("context", "one", "--recent", "1", "--semantic", "0")["tokens"] <= 15


def test_forgetting_asks_first_and_names_the_count(shell: CommandLine) -> None:
    shell.run("record", "--create", "beds", "Peas.")
    shell.run("record", "beds", "Beans.")
    refused = shell.run("forget", "beds", answer="", code=1)
    assert "Forget the session 'beds' and its 2 messages for good? [y/N]" in refused.stderr
    assert refused.stdout == ""
    assert shell.json("sessions", "show", "beds")["session"]["message_count"] == 2
    assert shell.run("forget", "beds", answer="y\n").stdout == "Forgot the session 'beds': 2 messages in 2 episodes.\n"
    assert shell.json("sessions", "list") == []


def test_one_message_can_be_forgotten(shell: CommandLine) -> None:
    message = shell.json("record", "--create", "beds", "Peas.")["id"]
    shell.run("record", "beds", "Beans.")
    assert message in shell.run("forget", "--message", message, answer="no\n", code=1).stderr
    forgotten = shell.json("forget", "--message", message, "--yes")
    certificate = forgotten.pop("certificate")
    assert forgotten == {"messages": 1, "would_remove": None}
    assert (certificate["removed"], certificate["more"]) == ({"messages": [message]}, {})
    assert {check["passed"] for check in certificate["checks"]} == {True}
    assert shell.said("peas", "--min-relevance", "0") == ["Beans."]


def test_a_cleared_session_stays_empty(shell: CommandLine) -> None:
    message = shell.json("record", "--create", "beds", "Peas.")["id"]
    shell.run("sessions", "clear", "beds", answer="n\n", code=1)
    cleared = shell.json("sessions", "clear", "beds", "--yes")
    certificate = cleared.pop("certificate")
    assert cleared == {
        "messages": 1,
        "episodes": 1,
        "memories": 0,
        "observations": 0,
        "files": 0,
        "would_remove": None,
    }
    removed = {"messages": [message], "episodes": [message.replace("msg_", "ep_")]}
    assert (certificate["removed"], certificate["more"]) == (removed, {})
    assert {check["passed"] for check in certificate["checks"]} == {True}
    assert shell.json("sessions", "show", "beds")["messages"] == []


def test_files_are_counted_when_they_go_org_9(shell: CommandLine) -> None:
    shell.run("record", "--create", "beds", "Peas.")
    with Cloister(shell.data) as memory:
        for name in ("north", "south"):
            memory.memory_tool("beds", {"command": "create", "path": f"/memories/{name}", "file_text": "Peas."})
    assert shell.json("forget", "beds", "--dry-run")["files"] == 2
    gone = shell.run("forget", "beds", "--yes").stdout
    assert gone.splitlines()[0] == "Forgot the session 'beds': 1 message in 1 episode, with 2 files."


def test_reindexing_says_how_much_it_rebuilt(shell: CommandLine) -> None:
    shell.run("record", "--create", "beds", "Peas.")
    assert shell.run("reindex").stdout == "The index was up to date.\n"
    assert shell.run("reindex", "--everything").stdout == "Rebuilt the index of 1 message.\n"
    assert shell.json("reindex", "--everything") == {
        "reindexed": 1,
        "messages": 1,
        "memories": 0,
        "entities": 0,
        "vectors": 0,
    }


def test_a_progress_bar_is_drawn_on_a_terminal_and_never_on_stdout(shell: CommandLine) -> None:
    shell.run("record", "--create", "beds", "Peas.")
    piped = shell.run("reindex", "--everything")
    drawn = shell.run("reindex", "--everything", FORCE_COLOR="1", TERM="xterm-256color")
    assert piped.stderr == ""
    assert "reindexing" in drawn.stderr
    assert drawn.stdout == piped.stdout


def test_migrate_says_the_schema_version(shell: CommandLine) -> None:
    version = shell.json("migrate")["schema_version"]
    assert f"version {version}." in shell.run("migrate").stdout


def test_a_backup_put_in_an_empty_directory_is_the_same_memory(shell: CommandLine, tmp_path: Path) -> None:
    shell.run("record", "--create", "beds", "Peas go into the north bed.")
    (tmp_path / "copy").mkdir()
    shell.run("backup", str(tmp_path / "copy" / "cloister.db"))
    assert CommandLine(data=str(tmp_path / "copy")).said("peas") == ["Peas go into the north bed."]


def test_data_and_json_mean_the_same_before_and_after_the_command(shell: CommandLine, tmp_path: Path) -> None:
    here = str(tmp_path / "here")
    shell.run("--data", here, "sessions", "create", "beds")
    before = json.loads(shell.run("--json", "--data", here, "sessions", "list").stdout)
    assert [session["external_id"] for session in before] == ["beds"]
    assert [session["external_id"] for session in shell.json("sessions", "list", "--data", here)] == ["beds"]
    assert shell.json("--data", "/nowhere", "sessions", "list", "--data", here) != []
    assert shell.json("sessions", "list") == []


def test_json_is_the_librarys_own_shape(shell: CommandLine) -> None:
    project = shell.project("Garden")
    shell.run("record", "--create", "--project", project, "beds", "Peas – in the „north“ bed.")
    with Cloister(shell.data) as memory:
        for command, shape in (
            (("projects", "list"), memory.projects()),
            (("sessions", "list"), memory.sessions()),
            (("context", "beds", "peas"), memory.context("beds", "peas")),
            (("search", "peas", "--session", "beds"), memory.search("peas", session_id="beds")),
        ):
            assert timeless(shell.json(*command)) == timeless(json.loads(json.dumps(as_json(shape))))


def test_the_version_is_said(shell: CommandLine) -> None:
    assert shell.run("--version").stdout.startswith("cloister ")
