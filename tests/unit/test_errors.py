"""Errors: what they are and what they say, where they are told of a part."""

import pytest

from cloister.domain.conversation import Draft
from cloister.domain.errors import CloisterError, IdempotencyMismatch, InvalidProjectId, InvalidRequest, TooLarge


@pytest.mark.parametrize(
    "error",
    [
        InvalidRequest("title", "is missing."),
        InvalidProjectId("sea"),
        IdempotencyMismatch("k"),
        TooLarge("title", 2, 1),
    ],
    ids=lambda error: error.code,
)
def test_what_is_wrong_with_a_part_is_the_same_error_at_its_place(error: InvalidRequest | TooLarge) -> None:
    said, field = str(error), error.field
    placed = error.at("messages[1]")
    assert (type(placed), placed.code, placed.problem) == (type(error), error.code, error.problem)
    assert (placed.field, str(placed)) == (f"messages[1].{field}", f"messages[1].{said}")
    assert (error.field, str(error)) == (field, said)


@pytest.mark.parametrize("metadata", [{1: "one"}, {"never": float("nan")}, {"long": "x" * 100_000}])
def test_making_a_draft_checks_its_metadata(metadata: dict[str, object]) -> None:
    with pytest.raises(CloisterError, match=r"^metadata: "):
        Draft(role="user", content="Hello.", metadata=metadata)
