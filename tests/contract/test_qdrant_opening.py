"""Opening the Qdrant index: what is refused, and how it says so."""

import importlib
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from threading import Event, Thread

import pytest

from cloister.domain.errors import InvalidRequest, StorageUnavailable
from cloister.index.qdrant import index as qdrant_index
from cloister.index.qdrant.index import collection_name, open_qdrant
from cloister.models.static.embedder import StaticEmbedder
from support.setups.qdrant import EMBEDDER, Reader


def test_generations_never_share_a_collection() -> None:
    other = StaticEmbedder()
    other.name = "another/1"
    assert collection_name(other) != collection_name(EMBEDDER)


def test_a_server_out_of_reach_is_a_clear_error() -> None:
    with pytest.raises(StorageUnavailable, match="Qdrant"):
        open_qdrant("http://127.0.0.1:1", None, EMBEDDER)


def test_no_server_named_is_a_clear_error() -> None:
    with pytest.raises(InvalidRequest, match="CLOISTER_QDRANT_URL"):
        open_qdrant(None, None, EMBEDDER)


def test_a_question_to_a_silent_server_is_given_up_before_a_change_is(monkeypatch: pytest.MonkeyPatch) -> None:
    released = Event()

    class SilentServer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._say({"title": "qdrant", "version": "1.19.0", "result": {"exists": True}, "status": "ok", "time": 0})

        def do_PUT(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self._say({"result": {"operation_id": 1, "status": "completed"}, "status": "ok", "time": 0})

        def do_POST(self) -> None:
            released.wait(30)

        def _say(self, answer: dict[str, object]) -> None:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    monkeypatch.setattr(qdrant_index, "_ASKING_SECONDS", 1)
    with ThreadingHTTPServer(("127.0.0.1", 0), SilentServer) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        index = open_qdrant(f"http://127.0.0.1:{server.server_port}", None, EMBEDDER)
        began = time.monotonic()
        with pytest.raises(StorageUnavailable, match="Qdrant"):
            index.within(Reader(1, [1])).evidence("Which code opens the vault?", 0)
        assert time.monotonic() - began < 10
        released.set()
        index.close()
        server.shutdown()


def test_a_server_without_scoped_word_statistics_is_refused() -> None:
    class OldServer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"title":"qdrant","version":"1.17.1"}')

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    with HTTPServer(("127.0.0.1", 0), OldServer) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(StorageUnavailable, match=r"1\.17\.1.*1\.19"):
            open_qdrant(f"http://127.0.0.1:{server.server_port}", None, EMBEDDER)
        server.shutdown()


def test_a_missing_client_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "qdrant_client", None)
    monkeypatch.delitem(sys.modules, "cloister.index.qdrant.index")
    with pytest.raises(StorageUnavailable, match=r"pip install cloister\[qdrant\]"):
        importlib.import_module("cloister.index.qdrant.index")
