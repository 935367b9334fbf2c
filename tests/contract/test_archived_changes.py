"""Archives after people changed entities in any order: merged, split, corrected, deleted, undone and retagged (ORG-11, MEM-17)."""

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from cloister.domain.archive.imported import ImportCounts
from cloister.domain.archive.target import ArchiveTarget
from cloister.domain.entity import Entity
from cloister.domain.errors import CloisterError
from cloister.domain.identifiers import ProjectId
from cloister.services.memories.entity_changes import Correction, EntitySplit
from support.databases.engines import Engine, opened_engine
from support.databases.postgres_server import PostgresServer
from support.setups.archives import archive_of, import_into
from support.setups.memories import MemorySetup, settle_house

NAMES = ("Marta", "Marta Silva", "Marta Rossi", "Martita", "Pim", "Pim Berg", "Tilda", "Orla Finch", "Orla")
USERS = ("ann", "bob")
STEPS = 30


@pytest.fixture
def other_engine(engine: Engine, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Engine]:
    kind = "postgres" if engine.name == "sqlite" else "sqlite"

    def server() -> PostgresServer:
        return request.getfixturevalue("postgres_server")

    with opened_engine(kind, tmp_path / "other", server) as made:
        yield made


class Changes:
    """Changes the entities of a shared and a private project at random; what is refused is left."""

    def __init__(self, house: MemorySetup, seed: int) -> None:
        self.house = house
        self.random = random.Random(seed)
        self.projects = [house.project("Garden", "shared"), house.project("Cellar", "private")]
        for user in USERS:
            for project in self.projects:
                house.session(f"{user} {project}", project, user)
        self.steps: list[Callable[[ProjectId, str, list[Entity]], object]] = [
            *[self.tell] * 3,
            *[self.merge] * 2,
            self.split,
            self.correct,
            self.name,
            self.delete,
            self.undo,
            self.forget,
            self.retag,
        ]

    def step(self) -> None:
        project, user = self.random.choice(self.projects), self.random.choice(USERS)
        known = self.house.entities(project, user)
        with suppress(CloisterError, IndexError):
            self.random.choice(self.steps)(project, user, known)

    def tell(self, project: ProjectId, user: str, known: list[Entity]) -> None:
        first, second = self.random.sample(NAMES, 2)
        self.house.tell(
            f"{user} {project}", f"My friend {first} works at Contoso.", f"My friend {second} lives in Graz."
        )

    def merge(self, project: ProjectId, user: str, known: list[Entity]) -> None:
        entity, into = (self.random.choice(known).id for _ in range(2))
        self.house.services.entity_changes.merge(self.house.reach, entity, into)

    def split(self, project: ProjectId, user: str, known: list[Entity]) -> None:
        entity = self.random.choice([each for each in known if each.aliases])
        given = EntitySplit(aliases=[self.random.choice(entity.aliases)])
        self.house.services.entity_changes.split(self.house.reach, entity.id, given)

    def correct(self, project: ProjectId, user: str, known: list[Entity]) -> None:
        given = Correction(
            name=self.random.choice([None, "Zed"]),
            type=self.random.choice(["person", "place"]),
            notes=self.random.choice([None, "A friend."]),
        )
        self.house.services.entity_changes.correct(self.house.reach, self.random.choice(known).id, given)

    def name(self, project: ProjectId, user: str, known: list[Entity]) -> None:
        entity = self.random.choice(known)
        given = Correction(aliases=[*entity.aliases, self.random.choice(["Al", "Bo", "Marta Berg"])])
        self.house.services.entity_changes.correct(self.house.reach, entity.id, given)

    def delete(self, project: ProjectId, user: str, known: list[Entity]) -> None:
        self.house.services.entity_changes.delete(self.house.reach, self.random.choice(known).id)

    def undo(self, project: ProjectId, user: str, known: list[Entity]) -> None:
        self.house.services.entity_undo.restore(self.house.reach, self.random.choice(known).id)

    def forget(self, project: ProjectId, user: str, known: list[Entity]) -> None:
        _, page = self.house.services.sessions.messages(self.house.reach, f"{user} {project}", limit=50)
        self.house.services.forgetting.message(self.house.reach, self.random.choice(page).id)

    def retag(self, project: ProjectId, user: str, known: list[Entity]) -> None:
        there, owner = self.random.choice(self.projects), self.random.choice([None, "ann"])
        self.house.services.entities.retag(self.house.reach, self.random.choice(known).id, there, user_id=owner)


@pytest.mark.parametrize("seed", [5, 38])
def test_org_11_an_archive_is_the_same_after_any_changes(engine: Engine, other_engine: Engine, seed: int) -> None:
    """ORG-11, MEM-17: byte-equal on the other engine, and importing it again changes nothing, nor does a part of it."""
    house = settle_house(engine)
    changes = Changes(house, seed)
    for _ in range(STEPS):
        changes.step()
    lines, before = archive_of(house), engine.dump()
    parts = [
        archive_of(house, ArchiveTarget(user="ann")),
        archive_of(house, ArchiveTarget(project=changes.projects[0])),
    ]
    for archive in (lines, *parts):
        assert import_into(house, archive).added == ImportCounts()
    assert engine.dump() == before
    other = settle_house(other_engine)
    import_into(other, lines)
    assert archive_of(other) == lines
    assert import_into(other, lines).added == ImportCounts()
    for archive in parts:
        third = settle_house(other_engine)
        import_into(third, archive)
        assert import_into(third, archive).added == ImportCounts()
