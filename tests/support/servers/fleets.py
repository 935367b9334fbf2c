"""Several processes of `cloister serve` on one database behind a proxy, of which some are killed or replaced."""

from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import Server, ServerProcess, new_client
from support.servers.round_robin import round_robin


@dataclass(kw_only=True, slots=True)
class Fleet:
    """`server` is the proxy, which sends each request to the next process."""

    data: str
    environment: Mapping[str, str]
    processes: list[ServerProcess] = field(default_factory=list[ServerProcess])
    addresses: list[str] = field(default_factory=list[str])

    def start(self) -> ServerProcess:
        process = ServerProcess(self.data, self.environment)
        self.processes.append(process)
        process.wait_until_ready()
        return process

    def kill(self, at: int) -> None:
        """SIGKILL, and a new process at its place; meanwhile the proxy finds nobody at the old address."""
        self.processes.pop(at).kill()
        process = self.start()
        self.processes.insert(at, self.processes.pop())
        self.addresses[at] = process.address

    def replace(self, at: int) -> int:
        """A rolling restart of one: the new one answers before the old one is asked to end. Returns its exit code."""
        old = self.processes.pop(at)
        process = self.start()
        self.processes.insert(at, self.processes.pop())
        self.addresses[at] = process.address
        return old.stop()


@contextmanager
def fleet(data: str, model: FakeEndpoint, count: int = 2, **environment: str) -> Generator[tuple[Fleet, Server]]:
    chosen = {"CLOISTER_MODEL_URL": model.url, "CLOISTER_MODEL_NAME": "fake", "CLOISTER_WORKER": "off", **environment}
    made = Fleet(data=data, environment=chosen)
    with ExitStack() as closing:
        closing.callback(lambda: [process.kill() for process in made.processes])
        made.addresses.extend(made.start().address for _ in range(count))
        address = closing.enter_context(round_robin(made.addresses))
        http = closing.enter_context(new_client(address))
        yield made, Server(address=address, http=http)
