"""What the login of a PostgreSQL database may do without becoming a role, and that the documented backup works for it (ISO-4)."""

import re
import shlex
import subprocess
from collections.abc import Generator
from pathlib import Path
from urllib.parse import urlencode

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from cloister.domain.maintenance.backup import no_progress
from cloister.storage.postgres.database import PostgresDatabase, open_postgres
from cloister.storage.postgres.row_security import MAINTENANCE_ROLE, ROLES
from support.databases.engines import TABLES, Engine, postgres_engine
from support.databases.postgres_server import PostgresServer
from support.setups.memories import MemorySetup, long_talk, settle_house

DEPLOY = Path(__file__).parents[2] / "docs" / "how-to" / "deploy.md"


@pytest.fixture
def owned(postgres_server: PostgresServer, empty_postgres: str, login: str) -> Generator[str]:
    """A database that belongs to a login without further rights, as the documents describe it; closed to all other tests."""
    role = sql.Identifier(login)
    with psycopg.connect(empty_postgres, autocommit=True) as connection:
        database = sql.Identifier(connection.info.dbname)
        for each in ROLES:
            exists = connection.execute("SELECT to_regrole(%s)", [each]).fetchone()
            if exists == (None,):
                connection.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(each)))
            connection.execute(sql.SQL("GRANT {} TO {}").format(sql.Identifier(each), role))
        connection.execute(sql.SQL("ALTER DATABASE {} OWNER TO {}").format(database, role))
    yield make_conninfo(empty_postgres, user=login)
    postgres_server.run(sql.SQL("ALTER DATABASE {} OWNER TO CURRENT_USER").format(database))


def granted_without_inheriting(empty_postgres: str, login: str) -> None:
    """As `doctor` asks for it."""
    with psycopg.connect(empty_postgres, autocommit=True) as connection:
        database = open_postgres(make_conninfo(empty_postgres, user=login))
        advice = database.maintenance.excess_rights()
        database.close()
        assert advice is not None
        (statement,) = re.findall(r"GRANT [^;]+;", advice)
        connection.execute(statement.encode())


def visible(url: str) -> dict[str, int]:
    """How many rows of each table a plain connection sees."""
    with psycopg.connect(url, autocommit=True) as connection:
        counted: dict[str, int] = {}
        for table in TABLES:
            row = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))).fetchone()
            assert row is not None
            counted[table] = row[0]
        return counted


def settled(url: str) -> MemorySetup:
    engine = postgres_engine(url)
    house = settle_house(engine)
    garden = house.project(observation_scope="user")
    house.session("tells", garden, "ann")
    house.tell("tells", *long_talk(12))
    return house


def test_a_login_that_inherits_sees_all_and_doctor_says_so(owned: str, empty_postgres: str, login: str) -> None:
    """An administrator granted the roles in the old way, and only an administrator can change that."""
    house = settled(owned)
    assert visible(owned)["message"] > 0
    advice = house.services.health.health().excess_rights
    assert advice is not None and f"TO {login} WITH INHERIT FALSE, SET TRUE;" in advice
    house.services.close()
    granted_without_inheriting(empty_postgres, login)
    assert set(visible(owned).values()) == {0}
    database = open_postgres(owned)
    assert (database.maintenance.excess_rights(), database.maintenance.check()) == (None, [])
    assert database.maintenance.rows("totals")[0][3] == 24
    database.close()


def test_a_login_that_grants_itself_the_roles_inherits_nothing(
    postgres_server: PostgresServer, empty_postgres: str, login: str
) -> None:
    """Where migrations make the grant, they make it narrow; also a grant that an older version made wide."""
    with psycopg.connect(empty_postgres, autocommit=True) as connection:
        for role in ROLES:
            if connection.execute("SELECT to_regrole(%s)", [role]).fetchone() == (None,):
                connection.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(role)))
            grant = sql.SQL("GRANT {} TO {} WITH ADMIN TRUE, INHERIT FALSE, SET FALSE")
            connection.execute(grant.format(sql.Identifier(role), sql.Identifier(login)))
        connection.execute(sql.SQL("GRANT CREATE ON SCHEMA public TO {}").format(sql.Identifier(login)))
    url = make_conninfo(empty_postgres, user=login)
    house = settled(url)
    assert set(visible(url).values()) == {0}
    assert house.services.health.health().excess_rights is None
    assert house.services.health.health().messages == 24
    house.services.close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(MAINTENANCE_ROLE)))
        assert connection.execute("SELECT count(*) FROM message").fetchone() == (24,)
    drop_grants(empty_postgres, login)


def drop_grants(empty_postgres: str, login: str) -> None:
    with psycopg.connect(empty_postgres, autocommit=True) as connection:
        for role in ROLES:
            statement = sql.SQL("REVOKE {} FROM {} CASCADE")
            connection.execute(statement.format(sql.Identifier(role), sql.Identifier(login)))


def documented(tool: str) -> list[str]:
    """The command of the documents that begins with this tool, in words."""
    (line,) = re.findall(rf"^\$ ({tool} .*)$", DEPLOY.read_text("utf-8"), re.MULTILINE)
    return shlex.split(line)


def url_of(conninfo: str) -> str:
    parts = conninfo_to_dict(conninfo)
    return f"postgresql:///{parts.pop('dbname')}?{urlencode(parts)}"


def run(server: PostgresServer, command: list[str], replacing: dict[str, str]) -> None:
    """As it is written, but with the server's own tools, and our files and addresses."""
    words = [str(server.tools / command[0]), *command[1:]]
    for written, ours in replacing.items():
        assert any(written in word for word in words), written
        words = [word.replace(written, ours) for word in words]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


@pytest.mark.parametrize("inherits", [True, False])
def test_the_documented_backup_of_a_login_is_restored_whole(
    postgres_server: PostgresServer, owned: str, empty_postgres: str, login: str, tmp_path: Path, inherits: bool
) -> None:
    """With the real tools: every row of every tenant, the walls, and a Cloister that goes on from there."""
    settled(owned).services.close()
    if not inherits:
        granted_without_inheriting(empty_postgres, login)
    copy = tmp_path / "cloister.dump"
    copy.parent.chmod(0o777)
    run(
        postgres_server,
        documented("pg_dump"),
        {"/var/backups/cloister.dump": str(copy), "$CLOISTER_DATA": url_of(owned)},
    )
    with postgres_server.empty_database() as other:
        target = make_conninfo(other, user=login)
        with psycopg.connect(other, autocommit=True) as connection:
            name = sql.Identifier(connection.info.dbname)
            connection.execute(sql.SQL("ALTER DATABASE {} OWNER TO {}").format(name, sql.Identifier(login)))
        restored = {"/var/backups/cloister.dump": str(copy), "$RESTORED_URL": url_of(target)}
        run(postgres_server, documented("pg_restore"), restored)
        before, after = postgres_engine(empty_postgres), postgres_engine(other)
        assert after.dump() == before.dump()
        assert after.rows("SELECT secret FROM notification_key") == before.rows("SELECT secret FROM notification_key")
        database: PostgresDatabase = open_postgres(target)
        assert database.maintenance.check() == []
        assert database.maintenance.rows("totals")[0][3] == 24
        database.close()
        before.closing.close()
        after.closing.close()
        with psycopg.connect(other, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(login)))
            connection.execute(sql.SQL("ALTER DATABASE {} OWNER TO CURRENT_USER").format(name))


def test_a_plain_dump_of_a_login_is_refused_by_row_level_security(
    postgres_server: PostgresServer, owned: str, tmp_path: Path
) -> None:
    """Rather than written without the rows; hence the options of the documented command."""
    settled(owned).services.close()
    plain = [word for word in documented("pg_dump") if "row-security" not in word and "role" not in word]
    tmp_path.chmod(0o777)
    replacing = {"/var/backups/cloister.dump": str(tmp_path / "copy"), "$CLOISTER_DATA": url_of(owned)}
    with pytest.raises(AssertionError, match="row-level security"):
        run(postgres_server, plain, replacing)


def test_a_login_that_can_open_the_database_backs_all_of_it_up(owned: str, tmp_path: Path) -> None:
    """OPS-6: row-level security does not hide rows from the backup, and the login needs no more rights."""
    services = settled(owned).services
    totals = services.health.health()
    services.close()
    database = open_postgres(owned)
    report = database.maintenance.backup(tmp_path / "copy", no_progress)
    database.close()
    assert report.rows > totals.messages > 0


def test_doctor_says_what_forgetting_leaves(engine: Engine) -> None:
    """MEM-9: on SQLite nothing, on PostgreSQL dead rows and the log."""
    remains = settle_house(engine).services.health.health().remains
    assert (remains is None) == (engine.name == "sqlite")
    assert remains is None or "VACUUM" in remains
