"""Settings, and the only reader of the environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from cloister.domain.errors import InvalidRequest

IndexKind = Literal["exact", "qdrant"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """What can be set. `data` is a directory, or the URL of a PostgreSQL database."""

    data: str
    pool_cache_megabytes: int = 256
    index: IndexKind = "exact"
    qdrant_url: str | None = None
    qdrant_key: str | None = None

    @property
    def postgres(self) -> bool:
        return self.data.startswith(("postgresql://", "postgres://"))


# Every variable, the field it sets, and what it means: help texts and the reference are made from this.
VARIABLES: Mapping[str, str] = {
    "CLOISTER_DATA": "data directory, or postgresql:// URL (default: cloister in the user's data directory)",
    "CLOISTER_POOL_CACHE_MB": "memory for the pools in use, in megabytes (default: 256)",
    "CLOISTER_INDEX": "recall index: exact (default) or qdrant",
    "CLOISTER_QDRANT_URL": "Qdrant server, when the index is qdrant",
    "CLOISTER_QDRANT_KEY": "API key of that server",
}


def read_settings(data: str | os.PathLike[str] | None = None, environment: Mapping[str, str] | None = None) -> Settings:
    """The environment's settings, with `data` replaced where it is given."""
    env = os.environ if environment is None else environment
    index = env.get("CLOISTER_INDEX", "exact")
    if index not in get_args(IndexKind):
        raise InvalidRequest("CLOISTER_INDEX", f"must be exact or qdrant, not {index!r}.")
    cache = env.get("CLOISTER_POOL_CACHE_MB", "256")
    if not cache.isdecimal() or int(cache) < 1:
        raise InvalidRequest("CLOISTER_POOL_CACHE_MB", f"must be a whole number of megabytes, not {cache!r}.")
    return Settings(
        data=_checked_data(str(data if data is not None else env.get("CLOISTER_DATA") or _default_directory(env))),
        pool_cache_megabytes=int(cache),
        index=cast(IndexKind, index),
        qdrant_url=env.get("CLOISTER_QDRANT_URL"),
        qdrant_key=env.get("CLOISTER_QDRANT_KEY"),
    )


def _checked_data(data: str) -> str:
    """A mistyped URL must not become a directory with a password in its name."""
    scheme, separator, _ = data.partition("://")
    if not data.strip():
        raise InvalidRequest("data", "must name a directory or a postgresql:// URL; it is empty.")
    if separator and scheme not in ("postgresql", "postgres"):
        raise InvalidRequest("data", f"{scheme}:// is not known here: give a directory or a postgresql:// URL.")
    return data


def _default_directory(env: Mapping[str, str]) -> Path:
    base = env.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "cloister"
