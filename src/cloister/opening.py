"""Open the parts that the settings name: database, index, embedder, models and tracer. What is not named is not imported.
Also restores the database that they name from a backup, and says whether there is one."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cloister.domain.errors import InvalidRequest
from cloister.domain.maintenance.backup import BackupReport, StepProgress, no_progress
from cloister.domain.maintenance.distribution import DistributionReport
from cloister.domain.tracing.interface import NO_TRACING, Tracer
from cloister.index.exact.index import ExactIndex
from cloister.index.interface import Index
from cloister.models.interface import AdditionalEmbedder, ChatModel, Embedder, Extractor
from cloister.models.recall_only import RecallOnly
from cloister.models.rules.extractor import Rules
from cloister.settings import EmbedderSettings, Settings, TracingSettings
from cloister.storage.interface import Database
from cloister.storage.sqlite.database import DATABASE_FILE, open_sqlite
from cloister.storage.sqlite.restore import restore_directory

if TYPE_CHECKING:
    from cloister.models.openai.endpoint import Endpoint

LOCAL_NAME = "local"
# What frequent words take at most, in all caches of words together (decision 130).
_WORD_BYTES = 64_000_000


def open_database(settings: Settings) -> Database:
    if settings.postgres:
        from cloister.storage.postgres.database import open_postgres

        return open_postgres(
            settings.data,
            connections=settings.postgres_connections,
            seconds=settings.postgres_seconds,
            direct=settings.postgres_direct,
        )
    return open_sqlite(Path(settings.data).expanduser())


class DatabaseLocation:
    """Where the settings say that a database is. Nothing is opened or created."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def has_database(self) -> bool:
        """Whether there is a database of a Cloister, of any version."""
        if not self._settings.postgres:
            return (self._directory / DATABASE_FILE).is_file()
        from cloister.storage.postgres.database import has_schema

        return has_schema(self._settings.data)

    def __str__(self) -> str:
        """The directory, or the URL without login and password."""
        if not self._settings.postgres:
            return str(self._directory)
        from cloister.storage.postgres.database import public_url

        return public_url(self._settings.data)

    def is_same(self, other: "DatabaseLocation") -> bool:
        """Whether both are one directory, or one database of PostgreSQL in the same words but for login and password."""
        if self._settings.postgres or other._settings.postgres:
            return self._settings.postgres == other._settings.postgres and str(self) == str(other)
        return self._directory.resolve() == other._directory.resolve()

    @property
    def _directory(self) -> Path:
        return Path(self._settings.data).expanduser()


def restore_backup(
    settings: Settings, file: Path, *, replace: bool = False, progress: StepProgress = no_progress
) -> BackupReport:
    """Make the database that the settings name from a backup: all of it, or nothing. An existing one is kept, unless `replace`."""
    if not settings.postgres:
        return restore_directory(
            file, Path(settings.data).expanduser() / DATABASE_FILE, replace=replace, progress=progress
        )
    from cloister.storage.postgres.backup import restore_database

    open_database(settings).close()
    return restore_database(settings.postgres_direct or settings.data, file, replace=replace, progress=progress)


def distribute_database(
    settings: Settings, *, dry_run: bool = False, progress: StepProgress = no_progress
) -> DistributionReport:
    """Distribute the tables of a PostgreSQL database over the servers of a Citus cluster, by tenant: all of them, or none."""
    if not settings.postgres:
        raise InvalidRequest("--data", "must be a postgresql:// URL: a directory is on one machine.")
    from cloister.storage.postgres.distribution import distribute_tables

    open_database(settings).close()
    return distribute_tables(settings.postgres_direct or settings.data, dry_run=dry_run, progress=progress)


def open_index(settings: Settings, embedder: Embedder) -> Index:
    limit = settings.pool_cache_megabytes * 1_000_000
    byte_limit = max(limit - _WORD_BYTES, limit * 3 // 4)
    if settings.index == "qdrant":
        from cloister.index.qdrant.index import open_qdrant

        return open_qdrant(settings.qdrant_url, settings.qdrant_key, embedder, byte_limit)
    return ExactIndex(embedder.embed_query, embedder.dimension, byte_limit)


def open_additional_embedder(settings: EmbedderSettings, tracer: Tracer = NO_TRACING) -> AdditionalEmbedder | None:
    """None for the table alone. Whether an endpoint can be reached is found out at the first request, not here."""
    if settings.kind == "openai":
        from cloister.models.openai.embeddings import OpenAiEmbedder
        from cloister.models.openai.endpoint import Endpoint, SettingNames

        names = SettingNames(url="CLOISTER_EMBEDDER_URL", key="CLOISTER_EMBEDDER_KEY", model="CLOISTER_EMBEDDER_MODEL")
        return OpenAiEmbedder(
            Endpoint(url=settings.url, model=settings.model, key=settings.key, settings=names, tracer=tracer),
            prefix=settings.prefix,
            query_prefix=settings.query_prefix,
        )
    if settings.kind == "onnx":
        from cloister.models.onnx.directory import read_directory
        from cloister.models.onnx.embedder import OnnxEmbedder, require_onnxruntime

        require_onnxruntime()
        directory = read_directory(Path(settings.path).expanduser())
        return OnnxEmbedder(directory, prefix=settings.prefix, query_prefix=settings.query_prefix)
    return None


def open_tracer(settings: TracingSettings) -> Tracer:
    """Without tracing, nothing of OpenTelemetry is imported."""
    if not settings.on:
        return NO_TRACING
    from cloister.telemetry.provider import open_tracer as _open_telemetry

    return _open_telemetry(content=settings.content, exporter=settings.exporter)


def open_trace_headers(*, on: bool) -> Callable[[], Mapping[str, str]]:
    """A function that returns the W3C trace context of the span around its caller, for requests to a Cloister server: none without
    tracing, which imports nothing."""
    if not on:
        return dict[str, str]
    from cloister.telemetry.provider import open_trace_headers as _open_headers

    return _open_headers()


def open_chat_model(settings: Settings, tracer: Tracer) -> ChatModel:
    """Without a model, replies quote what was recalled."""
    if settings.model_url is None:
        return RecallOnly()
    from cloister.models.openai.chat import OpenAiChatModel

    return OpenAiChatModel(_endpoint(settings, settings.model_url, tracer))


def open_extractor(settings: Settings, tracer: Tracer) -> Extractor:
    """Without a model, rules. Whether a model can be reached is found out at its first request, not here."""
    if settings.model_url is None:
        return Rules()
    from cloister.models.openai.extractor import OpenAiExtractor

    return OpenAiExtractor(_endpoint(settings, settings.model_url, tracer))


def _endpoint(settings: Settings, url: str, tracer: Tracer) -> "Endpoint":
    from cloister.models.openai.endpoint import Endpoint

    return Endpoint(url=url, model=settings.model_name, key=settings.model_key, tracer=tracer)
