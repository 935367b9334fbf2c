"""A PostgreSQL that is lost under load, and its standby at another address, which takes its place (OPS-1, OPS-5)."""

import threading
import time

import httpx2

from support.databases.engines import postgres_engine
from support.databases.own_postgres import own_postgres
from support.databases.standby import standby_of
from support.servers.http_server import Tenant, serving
from support.waiting import eventually

# As in `test_postgres_away`: far above the two seconds that are promised.
SOON = 8.0
WRITERS = 4


class Load:
    """Writers that never stop, and what each of them was told."""

    def __init__(self, tenant: Tenant) -> None:
        self._tenant = tenant
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._write, args=(number,)) for number in range(WRITERS)]
        self.acknowledged: list[str] = []
        self.refusals: list[httpx2.Response] = []

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _write(self, writer: int) -> None:
        number = 0
        while not self._stop.is_set():
            number += 1
            words = f"Writer {writer}, number {number}."
            path = f"/v1/sessions/{writer}/messages"
            answer = self._tenant.admin.post(path, {"role": "user", "content": words})
            if answer.status_code == 201:
                self.acknowledged.append(words)
            else:
                self.refusals.append(answer)
                time.sleep(0.01)


def test_ops_5_a_standby_at_another_address_takes_the_place_of_a_lost_server() -> None:
    with own_postgres() as primary, standby_of(primary) as standby:
        engine = postgres_engine(standby.url)
        with engine.closing, serving(engine.services()) as server:
            tenant = server.new_tenant()
            for writer in range(WRITERS):
                tenant.new_session(str(writer))
            with Load(tenant) as load:
                eventually(lambda: len(load.acknowledged) > 20)
                primary.kill()
                eventually(lambda: len(load.refusals) > 20)
                assert server.nobody.get("/readyz").status_code == 503
                before = len(load.acknowledged)
                standby.promote()
                eventually(lambda: len(load.acknowledged) > before + 20, 60)
            assert {answer.json()["code"] for answer in load.refusals} <= {"storage_unavailable", "outcome_unknown"}
            assert all(answer.elapsed.total_seconds() < SOON for answer in load.refusals)
            found = [
                said["content"]
                for writer in range(WRITERS)
                for said in tenant.admin.everything(f"/v1/sessions/{writer}/messages")
            ]
            assert set(load.acknowledged) <= set(found), "nothing that was acknowledged is lost"
            assert len(found) == len(set(found))
            eventually(lambda: server.nobody.get("/readyz").status_code == 200, 30)
