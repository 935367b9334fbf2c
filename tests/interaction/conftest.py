"""`memory`: a new Cloister, through every way in."""

from collections.abc import Generator
from pathlib import Path
from typing import cast

import pytest

from cloister import Cloister
from command_line import CommandLine
from over_commands import OverCommands
from ways_in import ALL, opened


@pytest.fixture(params=ALL)
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Cloister]:
    if request.param == "commands-directory":
        yield cast(Cloister, OverCommands(CommandLine(data=str(tmp_path / "data"))))
        return
    engine = "postgres" if "postgres" in request.param else "sqlite"
    with opened(request.param, request.getfixturevalue(f"{engine}_database")) as memory:
        yield memory
