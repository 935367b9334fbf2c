"""With Qdrant as the index: what is not on the current branch is not found, whether or not Qdrant knows it yet."""

from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

from cloister.services.recall.search import SearchTarget
from support.setups.branches import answer_again, choose, edit
from support.setups.qdrant import KINDS, QdrantSetup, open_house

OLD, NEW = "My brother Quokkason lives in Zanzibar.", "My brother Wombatson lives in Zanzibar."


@pytest.fixture(params=KINDS)
def house(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[QdrantSetup]:
    with open_house(request.param, tmp_path / "data") as opened:
        yield opened


def test_points_follow_the_current_branch(house: QdrantSetup) -> None:
    reach = house.tenant("one")
    garden = house.project(reach, "Garden")
    house.session(reach, "talk", garden)
    house.tell(reach, "talk", "Hello.", OLD)
    old = house.services.sessions.messages(reach, "talk", limit=9)[1][-1]
    house.drain()
    assert OLD in house.found(reach, "Who lives in Zanzibar?", garden)
    new, reply = edit(house.services, reach, "talk", old.id, NEW, "Does he?")
    house.services.extraction.extract_now(reach, "talk")
    house.drain()
    assert {new.id, reply.id} <= house.points().keys() and old.id not in house.points()
    assert house.found(reach, "Who lives in Zanzibar?", garden)[0] == NEW
    names = [payload["name"] for payload in house.entity_points().values()]
    assert "Wombatson" in names and "Quokkason" not in names
    choose(house.services, reach, "talk", old.id)
    house.services.extraction.extract_now(reach, "talk")
    house.drain()
    assert old.id in house.points() and not {new.id, reply.id} & house.points().keys()
    assert OLD in house.found(reach, "Who lives in Zanzibar?", garden)
    found = house.entities(reach, "Quokkason", SearchTarget(project=garden))
    assert "Quokkason" in [entity.name for entity in found]


def test_what_qdrant_still_has_of_another_branch_is_not_found(
    house: QdrantSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when Qdrant is out of reach, or slow."""
    reach = house.tenant("one")
    garden = house.project(reach, "Garden")
    house.session(reach, "talk", garden)
    house.say(reach, "talk", "Hello.", "Hello.", OLD, "Does he?")
    house.drain()
    old = house.services.sessions.messages(reach, "talk", limit=9)[1][2]

    def nothing(tenant: int, ids: Sequence[int]) -> None:
        """Nothing reaches it."""

    monkeypatch.setattr(house.index, "forget_messages", nothing)
    edit(house.services, reach, "talk", old.id, NEW, "Does he?")
    house.drain()
    assert old.id in house.points()
    assert OLD not in house.found(reach, "Who lives in Zanzibar?", garden)
    answer_again(house.services, reach, "talk", "Quokkason does not.")
    assert "Does he?" not in house.found(reach, "Does he?", garden)
