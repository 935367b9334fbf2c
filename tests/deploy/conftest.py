"""Services on a fresh directory."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cloister.bootstrap import Services, build_services
from cloister.settings import read_settings


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    opened = build_services(read_settings(tmp_path / "data", {}))
    yield opened
    opened.close()
