"""Opening the Qdrant index: what is refused, and how it says so."""

import importlib
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from cloister.domain.errors import InvalidRequest, StorageUnavailable
from cloister.index.qdrant.index import collection_name, open_qdrant
from cloister.models.static.embedder import StaticEmbedder
from support.setups.qdrant import EMBEDDER


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
