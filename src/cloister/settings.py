"""Settings, and the only reader of the environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast, get_args
from urllib.parse import urlsplit

from cloister.domain.errors import InvalidRequest
from cloister.domain.lease import LEASE_SECONDS
from cloister.domain.usage import Limits

IndexKind = Literal["exact", "qdrant"]
EmbedderKind = Literal["table", "openai", "onnx"]
SpanExporter = Literal["otlp", "console", "none"]
CONTEXT_TOKENS = 16_000
_LONGEST_TEXT = 500


_POSTGRES = ("postgresql://", "postgres://")
DESCRIPTORS = "CLOISTER_INHERITED"
"""The variable by which a server names file descriptors to the processes that it starts. It is no setting."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """All settings. `data` is a directory, or the URL of a PostgreSQL database."""

    data: str
    tenant: str | None = None
    pool_cache_megabytes: int = 256
    index: IndexKind = "exact"
    qdrant_url: str | None = None
    qdrant_key: str | None = None
    postgres_connections: int = 16
    postgres_seconds: int = 2
    postgres_direct: str | None = field(default=None, repr=False)
    limits: Limits = Limits()  # noqa: RUF009 - it is frozen
    host: str = "127.0.0.1"
    port: int = 8420
    processes: int = 1
    peer_host: str | None = None
    operator_key: str | None = None
    requests_per_second: int = 2_000
    requests_at_once: int = 1_024
    requests_waiting: int = 512
    connections_per_peer: int = 1_024
    allowed_hosts: tuple[str, ...] = ()
    mcp_issuer: str | None = None
    model_url: str | None = None
    model_key: str | None = field(default=None, repr=False)
    model_name: str | None = None
    caller_model_keys: bool = False
    image_models: frozenset[str] = frozenset()
    embedder: "EmbedderSettings" = field(default_factory=lambda: EmbedderSettings())
    worker: bool = True
    worker_threads: int = 1
    lease_seconds: int = LEASE_SECONDS
    context_tokens: int = CONTEXT_TOKENS
    tracing: "TracingSettings" = field(default_factory=lambda: TracingSettings())

    @property
    def postgres(self) -> bool:
        return self.data.startswith(_POSTGRES)


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbedderSettings:
    """The additional embedder: `table` for none, `openai` with a `url` and a `model`, or `onnx` with a `path`."""

    kind: EmbedderKind = "table"
    url: str = ""
    key: str | None = field(default=None, repr=False)
    model: str = ""
    path: str = ""
    prefix: str = ""
    query_prefix: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class TracingSettings:
    """Whether spans are made (`on`), whether they contain questions and recalled text (`content`), and what sends them."""

    on: bool = False
    content: bool = False
    exporter: SpanExporter = "otlp"


@dataclass(frozen=True, kw_only=True, slots=True)
class Remote:
    """The address of a Cloister server, an API key for it, and whether the trace context of callers is sent there."""

    address: str
    key: str = field(repr=False)
    tracing: bool = False


# Every variable and its meaning: help texts and the reference are generated from this.
VARIABLES: Mapping[str, str] = {
    "CLOISTER_DATA": "data directory, postgresql:// URL, or http:// address of a server"
    " (default: cloister in the user's data directory)",
    "CLOISTER_KEY": "API key, when the data is an http:// address",
    "CLOISTER_TENANT": "tenant of the data directory or database, by its id or name (default: the local one)",
    "CLOISTER_POOL_CACHE_MB": "memory for the pools in use and for frequent words, in megabytes (default: 256)",
    "CLOISTER_POSTGRES_CONNECTIONS": "connections to PostgreSQL that one process opens at most for reads, and as many for writes"
    " (default: 16)",
    "CLOISTER_POSTGRES_TIMEOUT": "seconds after which a PostgreSQL that does not answer counts as away (default: 2)",
    "CLOISTER_POSTGRES_DIRECT": "postgresql:// URL of the server itself, when the data is the URL of a pooler such as pgbouncer:"
    " there events of other processes arrive at once (default: changes are polled for)",
    "CLOISTER_INDEX": "recall index: exact (default) or qdrant (experimental)",
    "CLOISTER_QDRANT_URL": "Qdrant server, when the index is qdrant",
    "CLOISTER_QDRANT_KEY": "API key of that server",
    "CLOISTER_HOST": "address that `serve` listens on (default: 127.0.0.1)",
    "CLOISTER_PORT": "port that `serve` listens on (default: 8420)",
    "CLOISTER_PROCESSES": "processes that `serve` starts (default: 1)",
    "CLOISTER_PEER_HOST": "name or address by which other servers of the same database reach this machine"
    " (default: the address it listens on, or the machine's name)",
    "CLOISTER_OPERATOR_KEY": "key of the operator, who makes tenants; long and random (default: nobody may)",
    "CLOISTER_RATE_LIMIT": "requests a second that one API key may make; 0 for no limit (default: 2000)",
    "CLOISTER_MAX_CONCURRENT": "requests and streams of one API key under way at once; 0 for no limit (default: 1024)",
    "CLOISTER_MAX_WAITING": "requests of one kind that wait in one process; more are refused as `overloaded`; 0 for no limit"
    " (default: 512)",
    "CLOISTER_MAX_CONNECTIONS": "open connections of one peer address, such as a proxy's; 0 for no limit (default: 1024)",
    "CLOISTER_ALLOWED_HOSTS": "names that `serve` is reached by, separated by commas, or * for any"
    " (default: loopback names and the address it listens on)",
    "CLOISTER_MCP_ISSUER": "authorization server whose access tokens are API keys of this server, for MCP clients with OAuth"
    " (default: none, MCP clients send a key)",
    "CLOISTER_MAX_MESSAGES": "messages that a tenant may keep; 0 for no limit (default)",
    "CLOISTER_MAX_SESSIONS": "sessions that a tenant may keep; 0 for no limit (default)",
    "CLOISTER_MAX_PROJECTS": "projects that a tenant may have; 0 for no limit (default)",
    "CLOISTER_MAX_FILES": "files of memory tools that a tenant may have; 0 for as many as messages (default)",
    "CLOISTER_MAX_ENTRIES": "entries of key-value stores that a tenant may have; 0 for as many as messages (default)",
    "CLOISTER_MODEL_URL": "OpenAI-compatible endpoint of a model, usually ending in /v1 (default: none, rules are used)",
    "CLOISTER_MODEL_KEY": "API key of that endpoint (default: none)",
    "CLOISTER_MODEL_NAME": "model to ask there where neither request nor project names another (default: the only one it has)",
    "CLOISTER_MODEL_IMAGES": "models that take images in messages, by name and separated by commas, or * for all (default: none)",
    "CLOISTER_CALLER_MODEL_KEYS": "whether a request may replace that key by its own, in X-Model-Key: on, or off (default)",
    "CLOISTER_EMBEDDER": "embedder used besides the built-in table: table (default, no other), openai or onnx",
    "CLOISTER_EMBEDDER_URL": "OpenAI-compatible endpoint of the embedder, when it is openai, usually ending in /v1",
    "CLOISTER_EMBEDDER_KEY": "API key of that endpoint (default: none)",
    "CLOISTER_EMBEDDER_MODEL": "model to ask there; its vectors are stored under this name",
    "CLOISTER_EMBEDDER_PATH": "directory with model.onnx and tokenizer.json, when the embedder is onnx",
    "CLOISTER_EMBEDDER_PREFIX": "text put before each message that is embedded, for models that need it (default: none)",
    "CLOISTER_EMBEDDER_QUERY_PREFIX": "text put before each question that is embedded (default: none)",
    "CLOISTER_WORKER": "whether `serve` works off both queues too: on (default), or off where `cloister worker` does",
    "CLOISTER_WORKER_THREADS": "sessions that one process extracts at once (default: 4 with a model, 1 without)",
    "CLOISTER_WORKER_LEASE": "seconds after which a session that a process held when it died is free again (default: 60)",
    "CLOISTER_CONTEXT_TOKENS": "tokens of conversation and memory that a chat model is given (default: 16000)",
    "CLOISTER_TRACING": "whether OpenTelemetry spans are made: on, or off (default); the OTEL_* variables say where they are sent",
    "CLOISTER_TRACING_CONTENT": "whether spans contain questions and recalled text: on, or off (default)",
}


def read_settings(
    data: str | os.PathLike[str] | None = None,
    environment: Mapping[str, str] | None = None,
    *,
    tenant: str | None = None,
) -> Settings:
    """The settings of the environment; `data` and `tenant` take precedence if given."""
    env = os.environ if environment is None else environment
    index = env.get("CLOISTER_INDEX", "exact")
    if index not in get_args(IndexKind):
        raise InvalidRequest("CLOISTER_INDEX", f"must be exact or qdrant, not {index!r}.")
    model_url = _endpoint_url(env, "CLOISTER_MODEL_URL")
    return Settings(
        data=_checked_data(str(data if data is not None else env.get("CLOISTER_DATA") or _default_directory(env))),
        tenant=(env.get("CLOISTER_TENANT") or None) if tenant is None else tenant,
        pool_cache_megabytes=_whole_number(env, "CLOISTER_POOL_CACHE_MB", 256, lowest=1, unit=" of megabytes"),
        index=cast(IndexKind, index),
        qdrant_url=env.get("CLOISTER_QDRANT_URL"),
        qdrant_key=env.get("CLOISTER_QDRANT_KEY"),
        postgres_connections=_whole_number(env, "CLOISTER_POSTGRES_CONNECTIONS", 16, lowest=1, highest=1_000),
        postgres_seconds=_whole_number(env, "CLOISTER_POSTGRES_TIMEOUT", 2, lowest=1, highest=600, unit=" of seconds"),
        postgres_direct=_direct_url(env),
        limits=Limits(
            messages=_whole_number(env, "CLOISTER_MAX_MESSAGES", 0) or None,
            sessions=_whole_number(env, "CLOISTER_MAX_SESSIONS", 0) or None,
            projects=_whole_number(env, "CLOISTER_MAX_PROJECTS", 0) or None,
            files=_whole_number(env, "CLOISTER_MAX_FILES", 0) or None,
            entries=_whole_number(env, "CLOISTER_MAX_ENTRIES", 0) or None,
        ),
        host=env.get("CLOISTER_HOST") or "127.0.0.1",
        port=_whole_number(env, "CLOISTER_PORT", 8_420, highest=65_535),
        processes=_whole_number(env, "CLOISTER_PROCESSES", 1, lowest=1, highest=64),
        peer_host=_peer_host(env),
        operator_key=env.get("CLOISTER_OPERATOR_KEY") or None,
        requests_per_second=_whole_number(env, "CLOISTER_RATE_LIMIT", 2_000),
        requests_at_once=_whole_number(env, "CLOISTER_MAX_CONCURRENT", 1_024),
        requests_waiting=_whole_number(env, "CLOISTER_MAX_WAITING", 512),
        connections_per_peer=_whole_number(env, "CLOISTER_MAX_CONNECTIONS", 1_024),
        allowed_hosts=_hosts(env),
        mcp_issuer=_endpoint_url(env, "CLOISTER_MCP_ISSUER"),
        model_url=model_url,
        model_key=_endpoint_key(env, "CLOISTER_MODEL_KEY"),
        model_name=(env.get("CLOISTER_MODEL_NAME") or "").strip() or None,
        caller_model_keys=_on(env, "CLOISTER_CALLER_MODEL_KEYS", "off"),
        image_models=frozenset(
            name.strip() for name in (env.get("CLOISTER_MODEL_IMAGES") or "").split(",") if name.strip()
        ),
        embedder=_embedder(env),
        worker=_on(env, "CLOISTER_WORKER"),
        worker_threads=_whole_number(env, "CLOISTER_WORKER_THREADS", 4 if model_url else 1, lowest=1, highest=256),
        lease_seconds=_whole_number(
            env, "CLOISTER_WORKER_LEASE", LEASE_SECONDS, lowest=1, highest=86_400, unit=" of seconds"
        ),
        context_tokens=_whole_number(
            env, "CLOISTER_CONTEXT_TOKENS", CONTEXT_TOKENS, highest=10_000_000, unit=" of tokens"
        ),
        tracing=_tracing(env),
    )


def environment_of(settings: Settings) -> dict[str, str]:
    """The environment for processes that a server starts: that of this process, with what options of the command line changed."""
    return {
        **os.environ,
        "CLOISTER_DATA": str(settings.data),
        "CLOISTER_HOST": settings.host,
        "CLOISTER_PORT": str(settings.port),
        "CLOISTER_WORKER": "on" if settings.worker else "off",
        "CLOISTER_PROCESSES": "1",
    }


def inherited_descriptors() -> tuple[int, ...] | None:
    """The file descriptors that a server has given to this process, which it started; none if none has."""
    given = os.environ.pop(DESCRIPTORS, None)
    return None if given is None else tuple(map(int, given.split(",")))


def read_remote(
    data: str | os.PathLike[str] | None = None,
    key: str | None = None,
    environment: Mapping[str, str] | None = None,
    *,
    tenant: str | None = None,
) -> Remote | None:
    """The server that `data`, or else the environment, names; None if that is no http:// address."""
    env = os.environ if environment is None else environment
    location = str(data if data is not None else env.get("CLOISTER_DATA", ""))
    if not location.lower().startswith(("http://", "https://")):
        if key is not None:
            raise InvalidRequest("key", "is for the http:// address of a server; a directory or a database needs none.")
        return None
    address = _checked_address(location)
    if tenant is not None or env.get("CLOISTER_TENANT"):
        raise InvalidRequest(
            "tenant", "is for a directory or a database: at a server the key says which tenant it is of."
        )
    given = (env.get("CLOISTER_KEY") or "" if key is None else key).strip()
    if not (given and given.isascii() and given.isprintable()):
        raise InvalidRequest("key", f"must be an API key that {address} knows: give one, or set CLOISTER_KEY.")
    return Remote(address=address, key=given, tracing=_tracing(env).on)


def _checked_address(address: str) -> str:
    """An address without credentials, query or fragment. A key in it is refused: addresses end up in logs."""
    try:
        parts = urlsplit(address)
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        parts, usable = urlsplit(""), False
    if not usable or not address.isprintable() or any(mark in address for mark in "@?# "):
        raise InvalidRequest("data", "must be the address of a server alone, such as http://127.0.0.1:8420.")
    return f"{parts.scheme}:{address.partition(':')[2].rstrip('/')}"


def _embedder(env: Mapping[str, str]) -> EmbedderSettings:
    kind = (env.get("CLOISTER_EMBEDDER") or "table").strip().lower()
    if kind not in get_args(EmbedderKind):
        raise InvalidRequest("CLOISTER_EMBEDDER", f"must be table, openai or onnx, not {kind!r}.")
    found = EmbedderSettings(
        kind=cast(EmbedderKind, kind),
        url=_endpoint_url(env, "CLOISTER_EMBEDDER_URL") or "",
        key=_endpoint_key(env, "CLOISTER_EMBEDDER_KEY"),
        model=_short_text(env, "CLOISTER_EMBEDDER_MODEL").strip(),
        path=(env.get("CLOISTER_EMBEDDER_PATH") or "").strip(),
        prefix=_short_text(env, "CLOISTER_EMBEDDER_PREFIX"),
        query_prefix=_short_text(env, "CLOISTER_EMBEDDER_QUERY_PREFIX"),
    )
    needed = {"table": (), "openai": ("url", "model"), "onnx": ("path",)}[found.kind]
    for name in needed:
        if not getattr(found, name):
            raise InvalidRequest(f"CLOISTER_EMBEDDER_{name.upper()}", f"must be set when CLOISTER_EMBEDDER is {kind}.")
    return found


def _tracing(env: Mapping[str, str]) -> TracingSettings:
    """The standard variables are read only while tracing is on; the packages of OpenTelemetry read the others."""
    if not _on(env, "CLOISTER_TRACING", "off"):
        if _on(env, "CLOISTER_TRACING_CONTENT", "off"):
            raise InvalidRequest("CLOISTER_TRACING_CONTENT", "has no effect unless CLOISTER_TRACING is on.")
        return TracingSettings()
    exporter = (env.get("OTEL_TRACES_EXPORTER") or "otlp").strip().lower()
    if exporter not in get_args(SpanExporter):
        raise InvalidRequest("OTEL_TRACES_EXPORTER", f"must be otlp, console or none, not {exporter!r}.")
    for name in ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        if (protocol := (env.get(name) or "http/protobuf").strip()) != "http/protobuf":
            raise InvalidRequest(name, f"must be http/protobuf, not {protocol!r}.")
    return TracingSettings(
        on=True, content=_on(env, "CLOISTER_TRACING_CONTENT", "off"), exporter=cast(SpanExporter, exporter)
    )


def _short_text(env: Mapping[str, str], name: str) -> str:
    given = env.get(name) or ""
    if len(given) > _LONGEST_TEXT or not given.isprintable():
        raise InvalidRequest(name, f"must be one line of at most {_LONGEST_TEXT} characters.")
    return given


def _endpoint_url(env: Mapping[str, str], name: str) -> str | None:
    given = (env.get(name) or "").strip()
    if not given:
        return None
    try:
        if given.lower().startswith(("http://", "https://")):
            return _checked_address(given)
    except InvalidRequest:
        pass  # refused below, with the name of this setting
    raise InvalidRequest(name, "must be an http:// or https:// address alone, such as http://127.0.0.1:11434/v1.")


def _endpoint_key(env: Mapping[str, str], name: str) -> str | None:
    given = (env.get(name) or "").strip()
    if not (given.isascii() and given.isprintable()):
        raise InvalidRequest(name, "must be one line of ASCII characters.")
    return given or None


def _hosts(env: Mapping[str, str]) -> tuple[str, ...]:
    """Host names only: one with a port or a scheme would never match."""
    names = tuple(name.strip() for name in (env.get("CLOISTER_ALLOWED_HOSTS") or "").split(",") if name.strip())
    for name in names:
        is_address = name.startswith("[") or name.count(":") > 1
        is_pattern = "*" in name and name != "*"
        if not name.isascii() or "/" in name or " " in name or is_pattern or (":" in name and not is_address):
            raise InvalidRequest("CLOISTER_ALLOWED_HOSTS", f"must be names such as memory.example.org, not {name!r}.")
    return names


def _peer_host(env: Mapping[str, str]) -> str | None:
    """A name or an address: the port is that of each process."""
    given = (env.get("CLOISTER_PEER_HOST") or "").strip()
    if given.count(":") == 1 or not all(letter.isascii() and (letter.isalnum() or letter in ".-:") for letter in given):
        raise InvalidRequest(
            "CLOISTER_PEER_HOST", f"must be a name or an address alone, such as 10.0.0.5, not {given!r}."
        )
    return given or None


def _on(env: Mapping[str, str], name: str, default: str = "on") -> bool:
    given = (env.get(name) or default).strip().lower()
    if given not in ("on", "off"):
        raise InvalidRequest(name, f"must be on or off, not {given!r}.")
    return given == "on"


def _whole_number(
    env: Mapping[str, str], name: str, default: int, *, lowest: int = 0, highest: int = 1 << 53, unit: str = ""
) -> int:
    given = env.get(name) or str(default)
    if not (given.isascii() and given.isdecimal() and len(given) < 20) or not lowest <= int(given) <= highest:
        raise InvalidRequest(name, f"must be a whole number{unit}, not {given!r}.")
    return int(given)


def _direct_url(env: Mapping[str, str]) -> str | None:
    url = env.get("CLOISTER_POSTGRES_DIRECT") or None
    if url is not None and not url.startswith(_POSTGRES):
        raise InvalidRequest("CLOISTER_POSTGRES_DIRECT", "must be the postgresql:// URL of the server itself.")
    return url


def _checked_data(data: str) -> str:
    """Refuse a mistyped URL, which would become a directory with a password in its name."""
    scheme, separator, _ = data.partition("://")
    if not data.strip():
        raise InvalidRequest("data", "must name a directory or a postgresql:// URL; it is empty.")
    if scheme.lower() in ("http", "https") and separator:
        raise InvalidRequest(
            "data", "must be where the data is: a directory or a postgresql:// URL, not a server's address."
        )
    if separator and scheme not in ("postgresql", "postgres"):
        raise InvalidRequest(
            "data", f"{scheme}:// is not known here: give a directory, a postgresql:// URL or an http:// address."
        )
    return data


def _default_directory(env: Mapping[str, str]) -> Path:
    base = env.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "cloister"
