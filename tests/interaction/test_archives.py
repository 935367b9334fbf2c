"""Export and import through the library, at a server and on the command line (ORG-11, ORG-12)."""

import asyncio
import json
import stat
from collections.abc import Generator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cloister import AsyncCloister, Cloister, Forbidden, InvalidRequest, NotFound
from cloister.bootstrap import build_services
from cloister.interfaces.cli.main import app
from cloister.settings import read_settings
from support.samples.foreign_exports import chatgpt_conversation, write_chatgpt
from support.servers.http_server import serving


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A data directory with a project, two users, a memory and an archive of it all."""
    data = tmp_path / "source"
    with Cloister(data) as memory:
        garden = memory.create_project("Garden", member_visibility="shared").project_id
        for name, user in (("roses", "ann"), ("beans", "bob")):
            memory.create_session(name, project_id=garden, user_id=user)
            memory.record_episode(name, f"My neighbour {user} likes {name}.", "I see.")
            memory.extract(name)
        memory.add_memories("roses", ["Roses need water."])
        memory.export(tmp_path / "all.jsonl")
    return data


@pytest.fixture(params=["embedded", "remote"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Cloister]:
    """An empty tenant, in this process or at a server."""
    services = build_services(read_settings(tmp_path / "target"))
    with serving(services) as server:
        tenant = server.new_tenant()
        if request.param == "embedded":
            yield Cloister(services=services, tenant=tenant.tenant_id)
        else:
            with Cloister(server.address, key=tenant.key) as remote:
                yield remote
    services.close()


def test_org_11_an_archive_goes_in_and_comes_out_equal(source: Path, memory: Cloister, tmp_path: Path) -> None:
    """ORG-11: and is recalled; the file is its owner's alone, and never overwritten."""
    seen: list[tuple[int, int | None]] = []
    imported = memory.import_archive(tmp_path / "all.jsonl", progress=lambda done, total: seen.append((done, total)))
    assert imported.added.sessions == 2 and imported.added.messages == 4 and imported.skipped == {}
    assert seen[-1][0] == seen[-1][1] == (tmp_path / "all.jsonl").stat().st_size
    exported = memory.export(tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "all.jsonl").read_bytes()
    assert exported.counts["message"] == 4
    assert stat.S_IMODE((tmp_path / "again.jsonl").stat().st_mode) == 0o600
    assert "roses" in memory.search("Who likes roses?", session_id="roses")[0].content
    with pytest.raises(InvalidRequest, match="exists already"):
        memory.export(tmp_path / "again.jsonl")
    assert memory.import_archive(tmp_path / "all.jsonl").added.messages == 0


def test_org_11_a_project_or_a_user_is_exported_alone(source: Path, memory: Cloister, tmp_path: Path) -> None:
    """ORG-11."""
    memory.import_archive(tmp_path / "all.jsonl")
    garden = memory.find_project("Garden").project_id
    memory.create_session("elsewhere")
    assert memory.export(tmp_path / "garden.jsonl", project_id=garden).counts["session"] == 2
    assert memory.export(tmp_path / "ann.jsonl", user_id="ann").counts["session"] == 1
    with pytest.raises(NotFound):
        memory.export(tmp_path / "none.jsonl", project_id="proj_0000000000000001")
    with pytest.raises(InvalidRequest, match="one of them"):
        memory.export(tmp_path / "none.jsonl", project_id=garden, user_id="ann")
    assert [path.name for path in tmp_path.glob("none*")] == []


def test_org_11_a_damaged_file_is_refused_before_anything(source: Path, memory: Cloister, tmp_path: Path) -> None:
    """ORG-11: nothing of it is imported."""
    whole = (tmp_path / "all.jsonl").read_bytes()
    for name, content in (("cut", whole[:-9]), ("changed", whole.replace(b"likes beans", b"likes Beans"))):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InvalidRequest) as caught:
            memory.import_archive(tmp_path / name)
        assert "Nothing was imported." in caught.value.__notes__
    with pytest.raises(InvalidRequest, match="not a file"):
        memory.import_archive(tmp_path / "missing")
    assert memory.usage().sessions == 0


def test_org_12_an_unpacked_export_is_previewed_and_imported(memory: Cloister, tmp_path: Path) -> None:
    """ORG-12: by the library, also at a server, and on the command line; importing the parts again changes nothing."""
    folder = tmp_path / "export"
    (folder / "chat").mkdir(parents=True)
    write_chatgpt(folder / "chat" / "conversations-000.json", 2, 4)
    assert (memory.preview_import(folder).conversations, memory.usage().sessions) == (2, 0)
    assert memory.import_conversations(folder, None, user_id="ann").added.messages == 8
    assert memory.import_conversations(folder / "chat", None, user_id="ann").added.messages == 0
    line = ["import", str(folder), "--data", str(tmp_path / "line")]
    assert "2 conversations, 8 messages" in CliRunner().invoke(app, [*line, "--preview"]).stdout
    assert "8 messages" in CliRunner().invoke(app, [*line, "--project", "none"]).stdout


def test_org_12_conversations_are_previewed_and_imported(memory: Cloister, tmp_path: Path) -> None:
    """ORG-12: twice, and then a longer export of the same conversations."""
    file = write_chatgpt(tmp_path / "conversations.json", 5, 4)
    preview = memory.preview_import(file)
    assert (preview.format, preview.conversations, preview.messages) == ("chatgpt", 5, 20)
    assert preview.first_at == "2019-02-12T19:33:20.250000Z" and preview.skipped == {}
    assert memory.usage().sessions == 0
    project = memory.create_project("Chats").project_id
    first = memory.import_conversations(file, project, user_id="ann")
    assert (first.added.sessions, first.added.messages) == (5, 20)
    assert memory.import_conversations(file, project, user_id="ann").added.messages == 0
    write_chatgpt(file, 6, 7)
    second = memory.import_conversations(file, project, user_id="ann")
    assert (second.added.sessions, second.added.messages, second.unchanged.messages) == (1, 22, 20)
    said = memory.messages("chatgpt:conversation-3")
    assert [message.created_at for message in said[:2]] == [
        "2019-02-13T03:53:20.250000Z",
        "2019-02-13T03:53:21.250000Z",
    ]
    session = memory.session("chatgpt:conversation-3")
    assert (session.project_id, session.user_id, session.title) == (project, "ann", "Roses 3")
    assert session.updated_at.startswith("2019-02-13")


def test_org_12_mem0_memories_become_memories_of_their_users(memory: Cloister, tmp_path: Path) -> None:
    """ORG-12: with their times, as imported."""
    found = [{"id": "1", "memory": "Ann likes tea.", "user_id": "ann", "created_at": "2020-02-02T00:00:00Z"}]
    (tmp_path / "mem0.json").write_text(json.dumps({"results": found}))
    assert memory.import_conversations(tmp_path / "mem0.json", None).added.memories == 1
    (kept,) = memory.user_memories("ann")
    assert (kept.content, kept.source, kept.valid_from) == ("Ann likes tea.", "imported", "2020-02-02T00:00:00Z")
    assert memory.import_conversations(tmp_path / "mem0.json", None, user_id="ann").added.memories == 0
    with pytest.raises(InvalidRequest, match=r"memories of 'ann'.*leave it out"):
        memory.import_conversations(tmp_path / "mem0.json", None, user_id="zoe")
    (tmp_path / "nobodys.json").write_text(json.dumps([{"memory": "Likes sun.", "created_at": "2020-02-02T00:00:00Z"}]))
    assert memory.import_conversations(tmp_path / "nobodys.json", None, user_id="zoe").added.memories == 1
    assert [kept.content for kept in memory.user_memories("zoe")] == ["Likes sun."]


def test_org_12_what_is_skipped_is_counted_with_its_reason(memory: Cloister, tmp_path: Path) -> None:
    """ORG-12."""
    wanted = [chatgpt_conversation(1, 2), {**chatgpt_conversation(2, 2), "is_do_not_remember": True}, {"mapping": 7}]
    (tmp_path / "c.json").write_text(json.dumps(wanted))
    imported = memory.import_conversations(tmp_path / "c.json", None)
    assert imported.added.sessions == 1 and sum(imported.skipped.values()) == 2
    with pytest.raises(NotFound):
        memory.import_conversations(tmp_path / "c.json", "proj_0000000000000001")


def test_org_12_different_logs_of_the_same_name_are_both_stored(memory: Cloister, tmp_path: Path) -> None:
    """ORG-12: what tells them apart is what they say, also through a server."""
    files: list[Path] = []
    for folder, words in (("d1", "I have a cat."), ("d2", "I have a dog.")):
        (tmp_path / folder).mkdir()
        files.append(tmp_path / folder / "chat.jsonl")
        files[-1].write_text(json.dumps({"role": "user", "content": words}) + "\n")
    remark, undated = (
        "conversations that have the id of another one here, stored under an id of their own",
        "messages without a date, which get the date of the file",
    )
    assert memory.preview_import(files[0]).remarks == {undated: 1}
    assert memory.import_conversations(files[0], None, user_id="zoe").remarks == {undated: 1}
    second = memory.import_conversations(files[1], None, user_id="zoe")
    assert second.added.messages == 1 and second.remarks == {undated: 1, remark: 1}
    said = [memory.messages(session.external_id)[0].content for session in memory.sessions(user_id="zoe")]
    assert sorted(said) == ["I have a cat.", "I have a dog."]
    for file in files:
        assert memory.import_conversations(file, None, user_id="zoe").added.messages == 0


def test_org_11_a_key_without_admin_cannot_import(source: Path, tmp_path: Path) -> None:
    """ORG-11: at a server."""
    services = build_services(read_settings(tmp_path / "target"))
    with serving(services) as server:
        tenant = server.new_tenant()
        with Cloister(server.address, key=tenant.new_key("read", "write")) as memory, pytest.raises(Forbidden):
            memory.import_archive(tmp_path / "all.jsonl")
    services.close()


def test_org_11_the_asynchronous_library_exports_and_imports(source: Path, tmp_path: Path) -> None:
    """ORG-11."""

    async def run() -> int:
        async with AsyncCloister(tmp_path / "other") as memory:
            await memory.import_archive(tmp_path / "all.jsonl")
            return (await memory.export(tmp_path / "again.jsonl")).counts["message"]

    assert asyncio.run(run()) == 4
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "all.jsonl").read_bytes()


def test_org_11_the_command_line_exports_and_imports(source: Path, tmp_path: Path) -> None:
    """ORG-11, ORG-12: errors name the options, and say what to do."""
    runner = CliRunner()

    def run(*arguments: str, code: int = 0) -> str:
        result = runner.invoke(app, ["--data", str(tmp_path / "cli"), *arguments])
        assert result.exit_code == code, result.output
        return result.output

    archive, log = str(tmp_path / "all.jsonl"), tmp_path / "log.jsonl"
    assert "2 sessions, 4 messages" in run("import", archive, "--preview").replace("conversations", "sessions")
    assert run("import", archive).startswith("Imported 2 projects, 2 sessions, 4 messages")
    assert json.loads(run("import", archive, "--json"))["added"]["messages"] == 0
    assert "leave it out" in run("import", archive, "--project", "Garden", code=1)
    out = str(tmp_path / "out.jsonl")
    assert json.loads(run("export", out, "--project", "garden", "--json"))["counts"]["session"] == 2
    assert "name a new file" in run("export", out, code=1)
    log.write_text('{"role": "user", "content": "Hello", "timestamp": 1600000000}\nnonsense\n')
    assert "--project" in run("import", str(log), code=1)
    assert "Skipped 1 because it is not a JSON object." in run("import", str(log), "--project", "none", "--user", "ann")
    assert "chatgpt, claude" in run("import", str(log), "--project", "none", "--format", "word", code=1)
    log.write_text('{"role": "user", "content": "I live in Rome.", "createdAt": "05/01/2019"}')
    doubtful = " ".join(run("import", str(log), "--project", "none", "--user", "ann").split())
    assert doubtful.startswith("Imported nothing. Skipped 1 because its time cannot be read")
    log.write_text('{"role": "user", "content": "I live in Rome."}')
    assert "messages without a date, which get the date of the file" in " ".join(
        run("import", str(log), "--preview").split()
    )
    log.write_text('{"uuid": "k", "chat_messages": []}')
    for options in (("--preview",), ("--project", "none")):
        refused = " ".join(run("import", str(log), "--format", "mem0", *options, code=1).split())
        assert "memories with `memory`" in refused and "the format claude" in refused
    log.write_text('{"a": 1}')
    assert "has nothing of the format mem0" in run("import", str(log), "--format", "mem0", "--project", "none", code=1)
