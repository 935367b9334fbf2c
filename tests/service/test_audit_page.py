"""The tables of audits in `docs/proof.md` are what an audit prints (PRF-3). To write them anew, after a change of what is asked:
CLOISTER_WRITE_PAGES=1 .venv/bin/pytest tests/service/test_audit_page.py"""

import os
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from support.clients.command_line import CommandLine
from support.databases.engines import Engine, postgres_engine, sqlite_engine
from support.servers.http_server import Server, Tenant

PAGE = Path(__file__).parents[2] / "docs" / "proof.md"
WIDTH = 110
OF_DIRECTORY = "cloister audit"
OF_SERVER = "cloister --data https://memory.example.com --key clo_… audit"


def block(command: str) -> re.Pattern[str]:
    return re.compile(rf"(?<=^```\n\$ {re.escape(command)}\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)


def shown(command: str) -> str:
    found = block(command).search(PAGE.read_text("utf-8"))
    assert found is not None
    return found[0]


def compare(command: str, printed: str) -> None:
    """Words and numbers; lines may be wrapped for reading."""
    if os.environ.get("CLOISTER_WRITE_PAGES"):
        wrapped = "\n".join("\n".join(textwrap.wrap(line, WIDTH)) for line in printed.splitlines())
        page = block(command).sub(lambda _: f"{wrapped}\n", PAGE.read_text("utf-8"))
        PAGE.write_text(page, "utf-8")
    assert shown(command).split() == printed.split(), "CLOISTER_WRITE_PAGES=1 pytest tests/service/test_audit_page.py"


INDEXES: dict[str, dict[str, str]] = {
    "exact": {},
    "qdrant": {"CLOISTER_INDEX": "qdrant", "CLOISTER_QDRANT_URL": ":memory:"},
}


@pytest.mark.parametrize("installation", ["sqlite-exact", "sqlite-qdrant", "postgres-exact"])
def test_prf_3_the_page_shows_what_an_audit_of_a_new_directory_prints(
    request: pytest.FixtureRequest, tmp_path: Path, installation: str
) -> None:
    """With both engines and both indexes, number for number; Qdrant in its local mode. What was stored before is as it was, and of
    the audit no row is left: only the bare ids of erased tenants and sessions, as after every erasure."""
    kind, _, index = installation.partition("-")
    engine = (
        sqlite_engine(tmp_path) if kind == "sqlite" else postgres_engine(request.getfixturevalue("migrated_postgres"))
    )
    shell = CommandLine(data=engine.address)
    shell.run("record", "mine", "My neighbour Rosa plays the cello.", "--create")
    with engine.closing:
        before = rows_with_content(engine)
        environment = {**INDEXES[index], "COLUMNS": str(WIDTH)}
        outcome = shell.run("audit", code=0, answer=None, **environment)
        compare(OF_DIRECTORY, outcome.stdout)
        assert page_cells()["library"], "the library was not asked"
        assert rows_with_content(engine) == before
    assert [one["name"] for one in shell.json("tenants", "list")] == ["local"]


def rows_with_content(engine: Engine) -> dict[str, Any]:
    """Every row of every table, but for the blank rows of erased tenants and sessions."""
    return {table: rows for table, rows in engine.dump().items() if table not in ("tenant", "session")}


def test_prf_3_the_page_shows_what_an_audit_at_a_server_prints(tenant: Tenant) -> None:
    outcome = CommandLine(data=tenant.address, key=tenant.key).run("audit", COLUMNS=str(WIDTH))
    compare(OF_SERVER, outcome.stdout)


@pytest.mark.parametrize("either_engine", ["postgres"], indirect=True)
def test_prf_3_the_operator_audits_postgresql_with_the_same_numbers(either_server: Server) -> None:
    """With tenants of the audit's own, which are gone afterwards. The library is no door of a server."""
    answer = either_server.operator.post("/operator/audit", timeout=600)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["crossings"], found["not_seen"], found["left"], found["passed"]) == (0, [], [], True)
    assert found["tenants"] == 2
    assert printed_cells(found["matrix"]) == {
        reader: cells for reader, cells in page_cells().items() if reader != "library"
    }
    assert all("audit" not in one["name"] for one in either_server.operator.everything("/operator/tenants"))


def printed_cells(matrix: list[dict[str, Any]]) -> dict[str, list[str]]:
    cells: dict[str, list[str]] = {}
    for cell in matrix:
        cells.setdefault(cell["reader"], []).append(str(cell["seen"]) if cell["allowed"] else "-")
    return cells


def page_cells() -> dict[str, list[str]]:
    rows = [line for line in shown(OF_DIRECTORY).splitlines() if re.search(r"(?:  +(?:\d+|-)){12}$", line)]
    split = [re.split(r"  +", row.strip()) for row in rows]
    return {reader: cells for reader, *cells in split if reader != "reader"}
