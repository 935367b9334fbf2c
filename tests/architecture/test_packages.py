"""The console's packages: what is installed is what is asked for."""

import json
from pathlib import Path

import pytest

CONSOLE = Path(__file__).parents[2] / "console"


@pytest.mark.parametrize("kind", ["dependencies", "devDependencies", "engines"])
def test_the_lock_is_of_the_packages_that_are_asked_for(kind: str) -> None:
    """`npm install` of another lock would bring what nobody has looked at, and say nothing."""
    asked = json.loads((CONSOLE / "package.json").read_text("utf-8"))
    locked = json.loads((CONSOLE / "package-lock.json").read_text("utf-8"))["packages"][""]
    assert locked[kind] == asked[kind]
