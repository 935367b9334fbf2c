"""Which project a request means (ORG-3, ORG-4): every combination of header, key and route, each with its outcome."""

from itertools import product
from typing import NoReturn

import pytest

from cloister.domain.access import resolve_project
from cloister.domain.errors import CloisterError, Forbidden, InvalidProjectId, NotFound, ProjectRequired
from cloister.domain.identifiers import ProjectId, format_project_id

GARDEN, KITCHEN, DEFAULT = ProjectId(11), ProjectId(12), ProjectId(13)
OURS = {GARDEN, KITCHEN, DEFAULT}
MISSING, FOREIGN, DELETED = ProjectId(21), ProjectId(22), ProjectId(23)

HEADERS = {
    "absent": None,
    "malformed": "garden",
    "missing": format_project_id(MISSING),
    "foreign": format_project_id(FOREIGN),
    "impossible": "proj_ffffffffffffffff",
    "garden": format_project_id(GARDEN),
    "kitchen": format_project_id(KITCHEN),
}
# The project a key is pinned to, and whether it is confined to it. A confined key always has one.
KEYS = {"unpinned": (None, False), "pinned to the garden": (GARDEN, False), "confined to the garden": (GARDEN, True)}
ROUTES = {"needs a project": True, "needs none": False}

Outcome = ProjectId | type[CloisterError]

OUTCOMES: dict[tuple[str, str, str], Outcome] = {
    ("absent", "unpinned", "needs a project"): ProjectRequired,
    ("absent", "unpinned", "needs none"): DEFAULT,
    ("absent", "pinned to the garden", "needs a project"): GARDEN,
    ("absent", "pinned to the garden", "needs none"): GARDEN,
    ("absent", "confined to the garden", "needs a project"): GARDEN,
    ("absent", "confined to the garden", "needs none"): GARDEN,
    ("malformed", "unpinned", "needs a project"): InvalidProjectId,
    ("malformed", "unpinned", "needs none"): InvalidProjectId,
    ("malformed", "pinned to the garden", "needs a project"): InvalidProjectId,
    ("malformed", "pinned to the garden", "needs none"): InvalidProjectId,
    ("malformed", "confined to the garden", "needs a project"): InvalidProjectId,
    ("malformed", "confined to the garden", "needs none"): InvalidProjectId,
    ("missing", "unpinned", "needs a project"): NotFound,
    ("missing", "unpinned", "needs none"): NotFound,
    ("missing", "pinned to the garden", "needs a project"): NotFound,
    ("missing", "pinned to the garden", "needs none"): NotFound,
    ("missing", "confined to the garden", "needs a project"): Forbidden,
    ("missing", "confined to the garden", "needs none"): Forbidden,
    ("foreign", "unpinned", "needs a project"): NotFound,
    ("foreign", "unpinned", "needs none"): NotFound,
    ("foreign", "pinned to the garden", "needs a project"): NotFound,
    ("foreign", "pinned to the garden", "needs none"): NotFound,
    ("foreign", "confined to the garden", "needs a project"): Forbidden,
    ("foreign", "confined to the garden", "needs none"): Forbidden,
    ("impossible", "unpinned", "needs a project"): NotFound,
    ("impossible", "unpinned", "needs none"): NotFound,
    ("impossible", "pinned to the garden", "needs a project"): NotFound,
    ("impossible", "pinned to the garden", "needs none"): NotFound,
    ("impossible", "confined to the garden", "needs a project"): Forbidden,
    ("impossible", "confined to the garden", "needs none"): Forbidden,
    ("garden", "unpinned", "needs a project"): GARDEN,
    ("garden", "unpinned", "needs none"): GARDEN,
    ("garden", "pinned to the garden", "needs a project"): GARDEN,
    ("garden", "pinned to the garden", "needs none"): GARDEN,
    ("garden", "confined to the garden", "needs a project"): GARDEN,
    ("garden", "confined to the garden", "needs none"): GARDEN,
    ("kitchen", "unpinned", "needs a project"): KITCHEN,
    ("kitchen", "unpinned", "needs none"): KITCHEN,
    ("kitchen", "pinned to the garden", "needs a project"): KITCHEN,
    ("kitchen", "pinned to the garden", "needs none"): KITCHEN,
    ("kitchen", "confined to the garden", "needs a project"): Forbidden,
    ("kitchen", "confined to the garden", "needs none"): Forbidden,
}

# Of the right form, and of numbers that no project can have.
IMPOSSIBLE = ["proj_0000000000000000", "proj_8000000000000000", "proj_deadbeefdeadbeef", "proj_ffffffffffffffff"]
MALFORMED = [
    "",
    " ",
    "none",
    "proj_",
    "proj_b",
    "000000000000000b",
    "proj_00000000000000b",
    "proj_0000000000000000b",
    "PROJ_000000000000000b",
    "proj_000000000000000B",
    "proj_0x0000000000000b",
    "proj_000000000000000g",
    "proj_+00000000000000b",
    "proj_000000000000000\uff11",
    " proj_000000000000000b",
    "proj_000000000000000b ",
    "proj_000000000000000b\n",
    "proj_000000000000000b\x00",
    "proj_000000000000000b, proj_000000000000000b",
    "proj_proj_000000000000000b",
    "ten_000000000000000b",
    "x" * 100_000,
]


def resolve(
    header: str | None, pinned: ProjectId | None, confined: bool, required: bool, asked: list[ProjectId] | None = None
) -> ProjectId:
    def owns(project: ProjectId) -> bool:
        if asked is not None:
            asked.append(project)
        return project in OURS

    return resolve_project(
        header, pinned=pinned, confined=confined, required=required, default=lambda: DEFAULT, owns=owns
    )


def text_of(error: type[CloisterError], header: str | None, pinned: ProjectId | None, confined: bool) -> str:
    with pytest.raises(error) as caught:
        resolve(header, pinned, confined, required=True)
    return str(caught.value)


def test_every_combination_has_an_outcome() -> None:
    """ORG-3."""
    assert set(OUTCOMES) == set(product(HEADERS, KEYS, ROUTES))


@pytest.mark.parametrize(("header", "key", "route"), OUTCOMES)
def test_org_3_the_project_of_a_request(header: str, key: str, route: str) -> None:
    """ORG-3, ORG-4: the header wins over the key, the key over the default, and a confined key over the header."""
    outcome = OUTCOMES[header, key, route]
    pinned, confined = KEYS[key]
    if isinstance(outcome, int):
        assert resolve(HEADERS[header], pinned, confined, ROUTES[route]) == outcome
        return
    with pytest.raises(outcome) as caught:
        resolve(HEADERS[header], pinned, confined, ROUTES[route])
    assert type(caught.value) is outcome


@pytest.mark.parametrize("header", MALFORMED, ids=lambda header: repr(header)[:30])
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("key", KEYS)
def test_org_3_a_malformed_header_is_refused_before_anyone_is_asked(key: str, route: str, header: str) -> None:
    """ORG-3: its form is checked first, whoever calls and wherever; 11 is the garden's own number."""
    asked: list[ProjectId] = []
    with pytest.raises(InvalidProjectId):
        resolve(header, *KEYS[key], ROUTES[route], asked)
    assert asked == []


@pytest.mark.parametrize("key", ["unpinned", "pinned to the garden"])
def test_org_3_a_foreign_project_and_a_missing_one_read_alike(key: str) -> None:
    """ORG-3, ISO-4."""
    missing, foreign = (text_of(NotFound, HEADERS[header], *KEYS[key]) for header in ("missing", "foreign"))
    assert missing.replace(format_project_id(MISSING), "…") == foreign.replace(format_project_id(FOREIGN), "…")


def test_org_4_a_confined_key_learns_nothing_of_other_projects() -> None:
    """ORG-4: missing, foreign, impossible or the tenant's own: one answer, without the id, and the database is not even asked."""
    asked: list[ProjectId] = []
    texts: set[str] = set()
    for header in (*(HEADERS[name] for name in ("missing", "foreign", "kitchen")), *IMPOSSIBLE):
        with pytest.raises(Forbidden) as caught:
            resolve(header, GARDEN, confined=True, required=True, asked=asked)
        texts.add(str(caught.value))
    assert len(texts) == 1
    assert asked == []


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("confined", [False, True])
def test_org_3_a_key_pinned_to_a_project_that_was_deleted_since_finds_nothing(confined: bool, route: str) -> None:
    """ORG-3, ORG-5: it does not fall back to the default project."""
    with pytest.raises(NotFound, match=format_project_id(DELETED)):
        resolve(None, DELETED, confined, ROUTES[route])
    with pytest.raises(NotFound, match=format_project_id(DELETED)):
        resolve(format_project_id(DELETED), DELETED, confined, ROUTES[route])


def test_org_3_a_header_still_helps_a_key_whose_project_was_deleted() -> None:
    """ORG-3 (4): pinned, the header wins; confined, there is nothing left for it."""
    assert resolve(format_project_id(KITCHEN), DELETED, confined=False, required=True) == KITCHEN
    with pytest.raises(Forbidden):
        resolve(format_project_id(KITCHEN), DELETED, confined=True, required=True)


def test_org_3_the_default_is_looked_up_only_where_it_is_meant() -> None:
    def no_default() -> NoReturn:
        raise AssertionError("nobody asked for the default")

    for header, pinned in ((format_project_id(GARDEN), None), (None, GARDEN)):
        found = resolve_project(
            header, pinned=pinned, confined=False, required=False, default=no_default, owns=OURS.__contains__
        )
        assert found == GARDEN
