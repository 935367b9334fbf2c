"""The door of mem0 as an application sees it: through the unmodified `mem0ai` client."""

import os
import ssl
import tempfile
import warnings
from typing import Any

import httpx

# The package makes a folder when it is imported, and sends events to its makers unless it is told not to.
os.environ["MEM0_TELEMETRY"] = "false"
os.environ["MEM0_DIR"] = tempfile.mkdtemp(prefix="mem0-")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import mem0  # pyright: ignore[reportMissingTypeStubs]
    from mem0 import exceptions  # pyright: ignore[reportMissingTypeStubs]

# Loading the certificates of the whole world for each client takes longer than most tests.
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
ClientError: type[Exception] = exceptions.MemoryError


class Connections:
    """The connections that all synchronous clients share, since these are never closed."""

    def __init__(self) -> None:
        self._transport = httpx.HTTPTransport(verify=_NO_TLS)

    def client(self, address: str, key: str, **headers: str) -> Any:
        """`MemoryClient` at a server; `headers` are those of all its requests, such as X-Project-ID."""
        made: Any = mem0.MemoryClient
        return made(
            api_key=key, host=f"{address}/mem0", client=httpx.Client(headers=headers, transport=self._transport)
        )

    def close(self) -> None:
        self._transport.close()


def async_client(address: str, key: str, **headers: str) -> Any:
    made: Any = mem0.AsyncMemoryClient
    return made(api_key=key, host=f"{address}/mem0", client=httpx.AsyncClient(headers=headers, verify=_NO_TLS))


def status_of(error: BaseException) -> int:
    """The HTTP status of an error of the client."""
    return getattr(error, "debug_info")["status_code"]  # noqa: B009


def memories(answer: Any) -> list[str]:
    """The texts of a page or of a search."""
    return [each["memory"] for each in answer["results"]]
