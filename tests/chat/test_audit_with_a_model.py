"""An audit of a server that has a model (PRF-3)."""

from cloister import Cloister
from support.servers.fake_endpoint import Answer, Asked, FakeEndpoint, completion, refusal
from support.servers.http_server import Server


def test_prf_3_a_model_server_that_knows_no_requests_of_anthropic_is_no_fault_of_a_wall(
    lone_server: Server, model: FakeEndpoint
) -> None:
    """Such as OpenAI's own: the audit says that it did not ask for replies in this form, and passes."""

    def answer(asked: Asked) -> Answer:
        return completion("Noted.") if asked.path.endswith("/chat/completions") else refusal(404, "no such route")

    model.follows(answer)
    tenant = lone_server.new_tenant()
    with Cloister(tenant.address, key=tenant.key) as memory:
        found = memory.audit()
    assert (found.crossings, found.not_seen, found.passed) == (0, (), True)
    assert "Anthropic, messages" in {skipped.door for skipped in found.not_asked}
    assert {"HTTP", "OpenAI"} <= {door.door for door in found.doors}
