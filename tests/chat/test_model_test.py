"""`POST /org/model/test`: whether the model answers, said without an error of the request, and without a trace."""

from support.clients.chat_client import words
from support.servers.fake_endpoint import FakeEndpoint, refusal
from support.servers.http_server import Tenant


def test_a_model_that_answers_is_named_with_its_time(tenant: Tenant, model: FakeEndpoint) -> None:
    tenant.new_session("garden")
    tenant.say("garden", "The gate code is 4417.")
    model.answers(words("OK"))
    answer = tenant.admin.post("/org/model/test").json()
    assert (answer["ok"], answer["detail"]) == (True, "The model answers.")
    assert answer["seconds"] >= 0
    assert answer["model"]
    asked = str(model.asked[-1].body)
    assert "Reply with the word OK." in asked
    assert "4417" not in asked


def test_a_model_that_refuses_is_no_error_of_the_request(tenant: Tenant, model: FakeEndpoint) -> None:
    model.answers(refusal(429, "slow down", retry_after="7"))
    answer = tenant.admin.post("/org/model/test")
    assert (answer.status_code, answer.json()["ok"]) == (200, False)
    assert "is rate limited. Try again in 7 s." in answer.json()["detail"]


def test_only_an_admin_may_ask(tenant: Tenant, model: FakeEndpoint) -> None:
    model.asked.clear()
    for permission in ("read", "write"):
        assert tenant.caller(tenant.new_key(permission)).post("/org/model/test").status_code == 403
    assert model.asked == []
