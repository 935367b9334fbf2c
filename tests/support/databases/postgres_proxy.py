"""A proxy between Cloister and PostgreSQL that cuts connections while they commit."""

import contextlib
import socket
import threading
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingUnixStreamServer
from tempfile import TemporaryDirectory
from typing import Literal

from psycopg.conninfo import conninfo_to_dict, make_conninfo

_BEGIN = b"BEGIN ISOLATION"
_READ_ONLY = b"READ ONLY"
# Not in transactions of the background, which belong to no tenant.
_TENANT = b"cloister.tenant"
_COMMIT = b"COMMIT\x00"
_SOCKET = ".s.PGSQL.5432"


@dataclass(kw_only=True)
class CommitProxy:
    """`url` leads through the proxy. The next `cuts` commits of transactions that write, or that read, are passed on and their
    confirmation is thrown away, or they are never passed on; then the connection is cut."""

    url: str = ""
    cuts: int = 0
    of: Literal["writes", "reads"] = "writes"
    when: Literal["before", "after"] = "after"


@contextlib.contextmanager
def commit_proxy(url: str) -> Generator[CommitProxy]:
    proxy = CommitProxy()
    target = conninfo_to_dict(url)
    behind_path = str(Path(str(target["host"])) / f".s.PGSQL.{target.get('port', 5432)}")

    class Handler(BaseRequestHandler):
        def handle(self) -> None:
            with socket.socket(socket.AF_UNIX) as behind, contextlib.suppress(OSError):
                behind.connect(behind_path)
                is_cut = threading.Event()
                back = threading.Thread(target=_answers, args=(behind, self.request, is_cut), daemon=True)
                back.start()
                _requests(self.request, behind, proxy, is_cut)
                for each in (behind, self.request):
                    with contextlib.suppress(OSError):
                        each.shutdown(socket.SHUT_RDWR)
                back.join()

    with TemporaryDirectory() as directory:
        server = ThreadingUnixStreamServer(str(Path(directory) / _SOCKET), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        proxy.url = make_conninfo(url, host=directory, port="5432")
        try:
            yield proxy
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


def _requests(client: socket.socket, behind: socket.socket, proxy: CommitProxy, is_cut: threading.Event) -> None:
    reads = of_tenant = False
    while part := client.recv(65_536):
        if _BEGIN in part:
            reads, of_tenant = _READ_ONLY in part, False
        of_tenant = of_tenant or _TENANT in part
        if proxy.cuts and _COMMIT in part and of_tenant and reads == (proxy.of == "reads"):
            proxy.cuts -= 1
            if proxy.when == "before":
                return
            # The answer reaches nobody. PostgreSQL hangs up when it has committed: only then the client is cut off, so that whoever
            # looks next finds the commit.
            is_cut.set()
            behind.sendall(part)
            behind.shutdown(socket.SHUT_WR)
            while behind.recv(65_536):
                pass
            return
        behind.sendall(part)


def _answers(behind: socket.socket, client: socket.socket, is_cut: threading.Event) -> None:
    with contextlib.suppress(OSError):
        while part := behind.recv(65_536):
            if not is_cut.is_set():
                client.sendall(part)
    if not is_cut.is_set():
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)
