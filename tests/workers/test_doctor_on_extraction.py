"""`cloister doctor` says whether extraction keeps up, why sessions fail, and what to do; and nothing of what was said (MEM-6)."""

from typing import Any

from cloister.domain.scope import Reach
from support.clients.command_line import CommandLine
from support.servers.fake_endpoint import FakeEndpoint, refusal
from support.servers.worker_processes import FACT, Place, converse


def checks(place: Place) -> dict[str, Any]:
    report = CommandLine(data=place.address).json("doctor")
    assert FACT not in repr(report)
    return {check["name"]: check for check in report["checks"]}


def settle(place: Place) -> None:
    services = place.engine.services()
    converse(services, Reach(tenant=services.projects.create_tenant("One")[0]), "bees")


def test_a_session_that_has_just_become_due_is_no_reason_to_worry(place: Place) -> None:
    settle(place)
    found = checks(place)
    assert (found["extraction"]["state"], found["extraction"]["finding"]) == ("ok", "1 session waiting for extraction")
    assert "failing" not in found


def test_sessions_that_nobody_extracts_are_warned_about(place: Place) -> None:
    settle(place)
    place.make_due()
    found = checks(place)["extraction"]
    assert found["state"] == "warn"
    assert "cloister worker" in found["advice"]
    CommandLine(data=place.address).run("worker", "--once")
    assert checks(place)["extraction"]["finding"] == "0 sessions waiting for extraction"


def test_the_reason_of_failures_is_named_with_what_to_do(place: Place, endpoint: FakeEndpoint) -> None:
    """Not what the model's server said: that may quote somebody."""
    settle(place)
    endpoint.answers(refusal(401, f"you may not read {FACT}"))
    model = {"CLOISTER_MODEL_URL": endpoint.url, "CLOISTER_MODEL_NAME": "plain"}
    told = CommandLine(data=place.address).run("worker", "--once", code=1, **model)
    assert told.stdout == "Nothing was extracted. 1 session failed, and will be tried again.\n"
    assert "extraction  failed  session=" in told.stderr
    assert FACT not in told.stdout + told.stderr
    found = checks(place)["failing"]
    assert found["state"] == "warn"
    assert "asks for a key: set CLOISTER_MODEL_KEY" in found["finding"]
    assert "tried again" in found["advice"]
