"""Instructions that are items of a session reach the model with its following responses, and nobody else (DOOR-2)."""

from typing import Any

import openai
import pytest

from support.clients.openai_client import Front, assistant, said_in, system, user
from support.servers.fake_endpoint import completion, refusal

RHYME: Any = {"type": "message", "role": "developer", "content": "Answer in rhymes, code 6060."}
BRIEF: Any = {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "Be brief."}]}
HELLO: Any = {"type": "message", "role": "user", "content": "Hello."}


def session_of(client: openai.OpenAI, **asked: Any) -> tuple[str, Any]:
    responses: Any = client.responses
    raw = responses.with_raw_response.create(model="m", **asked)
    return raw.headers["x-session-id"], raw.parse()


@pytest.mark.parametrize("store", [None, False])
def test_the_instructions_of_a_conversation_are_sent_with_its_responses(front: Front, store: bool | None) -> None:
    client = front.client(front.tenant().key)
    trip = client.conversations.create(items=[RHYME, HELLO, {"role": "assistant", "content": "Hi."}, BRIEF])
    client.responses.create(model="m", input="When?", conversation=trip.id, instructions="In German.", store=store)
    head = system("In German.\n\nAnswer in rhymes, code 6060.\n\nBe brief.")
    assert front.shown == [head, user("Hello."), assistant("Hi."), user("When?")]


def test_a_conversation_that_has_instructions_alone_has_them(front: Front) -> None:
    client = front.client(front.tenant().key)
    trip = client.conversations.create(items=[RHYME])
    client.responses.create(model="m", input="When?", conversation=trip.id)
    assert front.shown == [system(RHYME["content"]), user("When?")]


@pytest.mark.parametrize("named", [False, True])
def test_those_of_the_first_request_are_there_in_the_next_ones_and_the_field_instructions_is_not(
    front: Front, named: bool
) -> None:
    client = front.client(front.tenant().key)
    headers: Any = {"X-Session-ID": "here"} if named else None
    asked: Any = {"input": [RHYME, HELLO], "instructions": "In German.", "extra_headers": headers}
    session, first = session_of(client, **asked)
    _, second = session_of(client, input="When?", previous_response_id=first.id)
    assert front.shown == [system(RHYME["content"]), user("Hello."), assistant("Understood."), user("When?")]
    session_of(client, input=[BRIEF, user("Where?")], previous_response_id=second.id)
    assert front.shown[0] == system("Answer in rhymes, code 6060.\n\nBe brief.")
    session_of(client, input="Why?", conversation=session)
    assert front.shown[0] == system("Answer in rhymes, code 6060.\n\nBe brief.")


def test_those_of_a_later_request_are_not_those_of_another_branch(front: Front) -> None:
    client = front.client(front.tenant().key)
    session, first = session_of(client, input="Hello.")
    _, second = session_of(client, input=[RHYME, user("When?")], previous_response_id=first.id)
    for store in (None, False):
        session_of(client, input="Where?", previous_response_id=first.id, store=store)
        assert "6060" not in str(front.shown)
    session_of(client, input="Why?", previous_response_id=second.id)
    assert front.shown[0] == system(RHYME["content"])
    assert session


def test_a_history_that_is_sent_again_adds_its_instructions_once(front: Front) -> None:
    tenant = front.tenant()
    client = front.client(tenant.key, "here")
    history: list[Any] = [RHYME, HELLO]
    for question in ("When?", "Where?"):
        reply = client.responses.create(model="m", input=history)
        assert front.shown[0] == system(RHYME["content"])
        history += [{"role": "assistant", "content": reply.output_text}, {"role": "user", "content": question}]
    client.responses.create(model="m", input=[*history[:-1], BRIEF, history[-1]])
    items: Any = list(client.conversations.items.list("here", order="asc"))
    assert [(item.role, item.content[0].text) for item in items if item.role in ("system", "developer")] == [
        ("developer", RHYME["content"]),
        ("system", "Be brief."),
    ]


@pytest.mark.parametrize("key", ["conversation", "previous_response_id"])
def test_a_request_that_is_sent_again_after_a_failure_adds_its_instructions_once(front: Front, key: str) -> None:
    client = front.client(front.tenant().key)
    session, first = session_of(client, input="Hello.")
    named: Any = {key: session if key == "conversation" else first.id}
    front.model.answers(refusal(500, "down"), completion("Understood."))
    for _ in range(2):
        try:
            client.responses.create(model="m", input=[RHYME, user("When?")], **named)
        except openai.InternalServerError:
            assert str(front.shown).count("6060") == 1
    assert str(front.shown).count("6060") == 1
    client.responses.create(model="m", input="Where?", conversation=session)
    assert str(front.shown).count("6060") == 1


def test_instructions_of_a_long_conversation_are_not_lost_with_its_first_messages(front: Front) -> None:
    client = front.client(front.tenant().key)
    trip = client.conversations.create(items=[RHYME])
    for start in range(0, 450, 150):
        items: Any = [{"role": "user", "content": f"Number {number}."} for number in range(start, start + 150)]
        client.conversations.items.create(trip.id, items=items)
    client.responses.create(model="m", input="When?", conversation=trip.id)
    assert front.system.startswith(RHYME["content"])


def test_iso_12_instructions_stay_in_the_pool_in_which_they_were_given(front: Front) -> None:
    """Nothing of them is recalled, in the session or in another, and a session that moves leaves them behind."""
    tenant = front.tenant()
    sea, land = tenant.new_project("Sea"), tenant.new_project("Land")
    client = front.client(tenant.key)
    trip = client.conversations.create(items=[RHYME, HELLO], metadata={"project_id": sea})
    front.client(tenant.key, project=sea).responses.create(model="m", input="Which code is for rhymes?")
    assert "6060" not in str(front.shown)
    assert said_in(tenant, trip.id) == [("user", "Hello.")]
    assert "6060" not in str(tenant.admin.post("/v1/context", {"session_id": trip.id, "query": "rhymes code"}).json())
    assert tenant.admin.patch(f"/v1/sessions/{trip.id}", {"project_id": land}).status_code == 200
    client.responses.create(model="m", input="When?", conversation=trip.id)
    assert "6060" not in str(front.shown)
    assert tenant.admin.patch(f"/v1/sessions/{trip.id}", {"project_id": sea}).status_code == 200
    client.responses.create(model="m", input="Where?", conversation=trip.id)
    assert front.system.startswith(RHYME["content"])


def test_mem_9_what_was_deleted_or_cleared_instructs_nobody(front: Front) -> None:
    tenant = front.tenant()
    client = front.client(tenant.key)
    session, first = session_of(client, input="Hello.")
    _, second = session_of(client, input=[RHYME, user("When?")], previous_response_id=first.id)
    client.responses.delete(second.id)
    client.responses.create(model="m", input="Where?", conversation=session)
    assert "6060" not in str(front.shown)
    trip = client.conversations.create(items=[RHYME, HELLO])
    tenant.admin.post(f"/v1/sessions/{trip.id}/clear")
    client.responses.create(model="m", input="Where?", conversation=trip.id)
    assert "6060" not in str(front.shown)


def test_instructions_that_come_with_every_request_are_sent_once_and_where_they_came_last(front: Front) -> None:
    client = front.client(front.tenant().key)
    session, last = session_of(client, input=[RHYME, BRIEF, user("Hello.")])
    for question in ("When?", "Where?"):
        _, last = session_of(client, input=[RHYME, user(question)], previous_response_id=last.id)
        assert front.shown[0] == system("Be brief.\n\nAnswer in rhymes, code 6060.")
    assert session


def test_after_a_session_was_cleared_only_instructions_since_the_last_reply_are_new(front: Front) -> None:
    tenant = front.tenant()
    client = front.client(tenant.key, "here")
    client.responses.create(model="m", input=[RHYME, user("Hello.")])
    tenant.admin.post("/v1/sessions/here/clear")
    history: Any = [RHYME, user("Hello."), assistant("Understood."), BRIEF, user("When?")]
    client.responses.create(model="m", input=history)
    items: Any = list(client.conversations.items.list("here", order="asc"))
    assert [item.role for item in items] == ["system", "user", "assistant"]
    tenant.admin.post("/v1/sessions/here/clear")
    client.responses.create(model="m", input=[RHYME, user("Where?")])
    client.responses.create(model="m", input="Why?", conversation="here")
    assert front.shown[0] == system(RHYME["content"])
