"""The Python reference is what the library says: every public method with its signature and docstring, every shape, every error."""

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

import cloister
from cloister import Cloister

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


@pytest.fixture(scope="module")
def generate() -> dict[str, Any]:
    return runpy.run_path(str(REFERENCE / "generate.py"))


def test_the_python_reference_is_what_the_docstrings_say(generate: dict[str, Any]) -> None:
    stored = (REFERENCE / "python.md").read_text("utf-8")
    assert stored == generate["render_python"](), "run: python docs/reference/generate.py"


def test_the_python_reference_has_every_public_method(generate: dict[str, Any]) -> None:
    public = {name for name in dir(Cloister) if not name.startswith("_") and callable(getattr(Cloister, name))}
    assert {name for name, _ in generate["public_methods"](Cloister)} == public


def test_the_python_reference_has_every_name_that_the_package_exports(generate: dict[str, Any]) -> None:
    described = set(re.findall(r"^(?:#+|\|) `(\w+)`", generate["render_python"](), re.MULTILINE))
    # The class that an address opens: the same methods, never named by callers.
    assert {*cloister.__all__} - described == {"RemoteCloister"}
