"""`/v1/conversations` and their items with the unmodified client: stored losslessly, inside the walls (DOOR-2)."""

from typing import Any

import openai
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cloister import Cloister
from support.clients.openai_client import Front, said_in, user
from support.databases.engines import Engine
from support.servers.fake_endpoint import completion, event, stream

SAID: Any = {"type": "message", "role": "user", "content": "The ferry leaves at ten past."}
CALL: Any = {"type": "function_call", "call_id": "call_7", "name": "weather", "arguments": '{"town":"Graz"}'}
OUTPUT: Any = {"type": "function_call_output", "call_id": "call_7", "output": [{"type": "input_text", "text": "sunny"}]}
REASONING: Any = {
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "Hm."}],
    "encrypted_content": "gAAAA\u0000",
}
REPLY: Any = {
    "type": "message",
    "role": "assistant",
    "status": "completed",
    "content": [
        {"type": "output_text", "text": "Sunny", "annotations": [{"type": "url_citation", "url": "https://x.example"}]},
        {"type": "output_text", "text": "in Graz.", "annotations": list[Any]()},
    ],
}
PICTURE: Any = {
    "type": "message",
    "role": "user",
    "content": [
        {"type": "input_text", "text": "What is this?"},
        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low"},
        {"type": "input_text", "text": ""},
        {"type": "input_text", "text": "A boat?"},
    ],
}
ALL: list[Any] = [
    SAID,
    REASONING,
    CALL,
    OUTPUT,
    REPLY,
    PICTURE,
    {"type": "message", "role": "developer", "content": "Be kind."},
]


def listed(client: openai.OpenAI, conversation: str, **asked: Any) -> list[Any]:
    return [item.to_dict() for item in client.conversations.items.list(conversation, **asked)]


def test_a_conversation_is_a_session_and_its_messages_are_recalled(front: Front) -> None:
    tenant = front.tenant()
    client = front.client(tenant.key)
    made = client.conversations.create(items=[SAID], metadata={"topic": "ferries", "user_id": "ada"})
    session = tenant.admin.get(f"/v1/sessions/{made.id}").json()
    assert (session["user_id"], session["metadata"]) == ("ada", {"topic": "ferries", "user_id": "ada"})
    assert session["project_id"] == tenant.default_project_id
    assert client.conversations.retrieve(made.id).metadata == {"topic": "ferries", "user_id": "ada"}
    assert client.conversations.update(made.id, metadata={"topic": "boats"}).metadata == {"topic": "boats"}
    client.responses.create(model="m", input="When does the ferry leave?", user="ada")
    assert "ten past" in front.system
    assert client.conversations.delete(made.id).deleted
    with pytest.raises(openai.NotFoundError):
        client.conversations.retrieve(made.id)


def test_items_come_back_as_they_went_in_and_in_their_order(front: Front) -> None:
    tenant = front.tenant()
    client = front.client(tenant.key)
    conversation = client.conversations.create()
    added = client.conversations.items.create(conversation.id, items=ALL)
    found = listed(client, conversation.id, order="asc", limit=2)
    assert [item["id"] for item in found] == [item.id for item in added.data]
    assert [item["id"] for item in listed(client, conversation.id, limit=3)] == [item["id"] for item in found][::-1]
    for item, stored in zip(ALL, found, strict=True):
        content = item.get("content")
        if isinstance(content, str):
            assert stored["content"][0]["text"] == content
        else:
            assert {name: stored[name] for name in item} == item
        assert client.conversations.items.retrieve(stored["id"], conversation_id=conversation.id).id == stored["id"]
    raw = tenant.admin.get(f"/v1/sessions/{conversation.id}/items").json()["data"]
    assert [entry["item"] for entry in raw] == ALL
    assert [role for role, _ in said_in(tenant, conversation.id)] == ["user", "assistant", "user"]


JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3),
    max_leaves=8,
)
TEXT: Any = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=40)


def merged(fields: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    return {**more, **fields}


def of(*names: str, size: int) -> Any:
    """Some of these fields, with anything in them."""
    return st.dictionaries(st.sampled_from(names), JSON, max_size=size)


PART: Any = st.one_of(
    st.builds(merged, st.fixed_dictionaries({"type": st.just("input_text"), "text": TEXT}), of("x", size=1)),
    st.fixed_dictionaries({"type": st.just("input_image"), "image_url": TEXT}),
)
ROLE: Any = st.sampled_from(["user", "assistant", "system"])
MESSAGE: Any = st.builds(
    merged,
    st.fixed_dictionaries({"role": ROLE, "content": TEXT | st.lists(PART, max_size=4)}),
    of("id", "status", "phase", size=2),
)
KIND: Any = st.sampled_from(["function_call", "function_call_output", "reasoning", "compaction"])
OTHER: Any = st.builds(merged, st.fixed_dictionaries({"type": KIND}), of("id", "call_id", "output", "summary", size=4))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(items=st.lists(MESSAGE | OTHER, min_size=1, max_size=8))
def test_any_item_is_stored_losslessly(engine: Engine, items: list[Any]) -> None:
    """Whatever a client puts into it, and in whatever order."""
    memory = Cloister(services=engine.services())
    session = memory.create_session().external_id
    memory.add_items(session, items)
    assert [entry.item for entry in memory.items(session, limit=100)] == items
    newest = memory.items(session, limit=3, newest_first=True)
    while newest.next_cursor is not None:
        page = memory.items(session, limit=3, cursor=newest.next_cursor, newest_first=True)
        newest = type(newest)([*newest, *page], page.next_cursor)
    assert [entry.item for entry in newest] == items[::-1]


def test_an_item_is_deleted_and_a_message_with_what_follows_it(front: Front) -> None:
    """MEM-9."""
    tenant = front.tenant()
    client = front.client(tenant.key)
    conversation = client.conversations.create(items=[SAID, CALL, OUTPUT, REPLY])
    said, call, output, reply = [item["id"] for item in listed(client, conversation.id, order="asc")]
    client.conversations.items.delete(output, conversation_id=conversation.id)
    assert [item["id"] for item in listed(client, conversation.id, order="asc")] == [said, call, reply]
    client.conversations.items.delete(said, conversation_id=conversation.id)
    assert [item["id"] for item in listed(client, conversation.id)] == [reply]
    with pytest.raises(openai.NotFoundError):
        client.conversations.items.delete(call, conversation_id=conversation.id)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"items": []}, "items"),
        ({"items": ["x"]}, "items[0].item"),
        ({"items": [{"role": "user"}, {}]}, "items[1].type"),
        ({"items": [{"role": "user", "content": 7}]}, "items[0].content"),
        ({"items": [{"role": 7, "content": "x"}]}, "items[0].role"),
        ({"items": [{"type": "item_reference", "id": "msg_0000000000000001"}]}, "items[0].type"),
        ({"items": [{**SAID, "status": "bogus"}]}, "items[0].status"),
        ({"items": [SAID], "project_id": "proj_0123456789abcdef"}, "project_id"),
        ({"items": [{"type": "x", "data": "x" * 262_144}]}, "items[0].item"),
        ({"items": [{"type": "x", "a": [[[[[[0]]]]]]}, {"type": "x y"}]}, "items[1].type"),
    ],
)
def test_items_that_are_none_are_refused_and_nothing_is_stored(front: Front, body: Any, param: str) -> None:
    tenant = front.tenant()
    conversation = front.client(tenant.key).conversations.create()
    answer = tenant.admin.post(f"/v1/conversations/{conversation.id}/items", body)
    assert answer.status_code in (413, 422), answer.text
    assert answer.json()["error"]["param"] == param
    assert listed(front.client(tenant.key), conversation.id) == []


def test_a_new_conversation_has_the_id_and_the_project_that_its_request_names(front: Front) -> None:
    tenant = front.tenant()
    garden = tenant.new_project("Garden")
    by_metadata = {"metadata": {"session_id": "roses", "project_id": garden, "user_id": "ann"}}
    made = tenant.admin.made("/v1/conversations", by_metadata)
    found = tenant.admin.get("/v1/sessions/roses").json()
    assert (made["id"], found["project_id"], found["user_id"]) == ("roses", garden, "ann")
    assert front.client(tenant.key, "tulips").conversations.create().id == "tulips"
    again = tenant.admin.post("/v1/conversations", by_metadata)
    assert again.status_code == 409 and again.json()["error"]["code"] == "conflict"


def test_the_metadata_of_a_conversation_is_replaced_only_by_metadata(front: Front) -> None:
    """OpenAI's interface requires the field; null removes it."""
    tenant = front.tenant()
    client = front.client(tenant.key)
    made = client.conversations.create(metadata={"topic": "ferries"})
    answer = tenant.admin.post(f"/v1/conversations/{made.id}", {})
    assert (answer.status_code, answer.json()["error"]["param"]) == (422, "metadata")
    assert client.conversations.retrieve(made.id).metadata == {"topic": "ferries"}
    assert client.conversations.update(made.id, metadata=None).metadata == {}


def call_with(arguments: str) -> Any:
    call = {"index": 0, "id": "call_9", "function": {"name": "save", "arguments": arguments}}
    return stream(
        event({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}),
        b"data: [DONE]\n\n",
    )


def test_tool_calls_stay_in_the_pool_in_which_they_were_made(front: Front) -> None:
    """ISO-12: a model may have put recalled text into them; a session that moves does not carry it along."""
    tenant = front.tenant()
    sea, land = tenant.new_project("Sea"), tenant.new_project("Land")
    client = front.client(tenant.key, project=sea)
    client.responses.create(model="m", input="The safe of the captain opens with 4711.")
    conversation = client.conversations.create()
    front.model.answers(call_with('{"code": "4711"}'), completion("Saved."))
    response = client.responses.create(model="m", input="Save the code of the safe!", conversation=conversation.id)
    assert "4711" in str(listed(client, conversation.id))
    assert tenant.admin.patch(f"/v1/sessions/{conversation.id}", {"project_id": land}).status_code == 200
    free = front.client(tenant.key)
    assert "4711" not in str(listed(free, conversation.id))
    assert free.responses.retrieve(response.id).output == []
    with pytest.raises(openai.NotFoundError):
        free.conversations.items.retrieve(str(response.output[0].id), conversation_id=conversation.id)
    free.responses.create(model="m", input="What did you save?", conversation=conversation.id)
    assert "4711" not in str(front.shown)
    assert tenant.admin.patch(f"/v1/sessions/{conversation.id}", {"project_id": sea}).status_code == 200
    assert "4711" in str(listed(free, conversation.id)), "they are shown again where they belong"


def test_nothing_of_an_item_is_left_when_its_session_is_forgotten(front: Front) -> None:
    """MEM-9, ORG-9: by any of the ways to forget."""
    assert front.server.services is not None
    for forget in ("delete", "clear", "erase"):
        tenant = front.tenant()
        client = front.client(tenant.key)
        front.model.answers(call_with('{"word": "zanzibar"}'))
        conversation = client.conversations.create(items=[SAID, CALL], metadata={"user_id": "ada"})
        response = client.responses.create(model="m", input="Save it!", conversation=conversation.id, user="ada")
        if forget == "delete":
            client.conversations.delete(conversation.id)
        elif forget == "clear":
            assert tenant.admin.post(f"/v1/sessions/{conversation.id}/clear").status_code == 200
            assert listed(client, conversation.id) == []
        else:
            assert tenant.admin.delete("/v1/users/ada").status_code == 200
        with pytest.raises(openai.NotFoundError):
            client.responses.retrieve(response.id)


RIGHTS = ["read", "write"]


def test_odd_items_of_a_conversation_do_not_break_its_responses(front: Front) -> None:
    """ISO-13: an item may have anything in it, and large ones are not all read."""
    tenant = front.tenant()
    client = front.client(tenant.key)
    odd: list[Any] = [
        {"type": "function_call", "call_id": [1]},
        {"type": "function_call_output", "call_id": {"a": 1}, "output": [7, None, {"text": 8}]},
        {"type": "message", "role": "critic", "content": [{"type": "strange"}]},
        {"type": "message", "role": "system", "content": None},
        {"type": "message", "role": "user", "content": "   "},
    ]
    large: list[Any] = [{"type": "compaction", "encrypted_content": "x" * 250_000} for _ in range(3)]
    conversation = client.conversations.create(items=[SAID, *odd])
    for _ in range(4):
        client.conversations.items.create(conversation.id, items=large)
    assert client.responses.create(model="m", input="Hello.", conversation=conversation.id).output_text == "Understood."
    empty = client.conversations.create(items=odd)
    for store in (True, False):
        answer = tenant.admin.post("/v1/responses", {"input": [OUTPUT], "conversation": empty.id, "store": store})
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid_request"), answer.text


CANARY = "The vault word is zanzibar."


def test_nothing_crosses_between_two_clients_side_by_side(front: Front) -> None:
    """ISO-4: every route of this door, with the ids of another tenant, project and user."""
    tenant, stranger = front.tenant(), front.tenant()
    sea, land = tenant.new_project("Sea"), tenant.new_project("Land")
    own = front.client(tenant.new_key(permissions=RIGHTS, project_id=sea, confined=True, user_id="ada"))
    conversation = own.conversations.create(items=[{"type": "message", "role": "user", "content": CANARY}, CALL])
    response = own.responses.create(model="m", input="What is the vault word?", conversation=conversation.id)
    item = listed(own, conversation.id)[-1]["id"]
    others = {
        "tenant": front.client(stranger.key),
        "project": front.client(tenant.new_key(permissions=RIGHTS, project_id=land, confined=True)),
        "user": front.client(tenant.new_key(permissions=RIGHTS, project_id=sea, confined=True, user_id="bob")),
    }
    for who, other in others.items():
        reads: list[Any] = [
            lambda c=other: c.conversations.retrieve(conversation.id),
            lambda c=other: c.conversations.update(conversation.id, metadata={}),
            lambda c=other: c.conversations.delete(conversation.id),
            lambda c=other: listed(c, conversation.id),
            lambda c=other: c.conversations.items.create(conversation.id, items=[SAID]),
            lambda c=other: c.conversations.items.retrieve(item, conversation_id=conversation.id),
            lambda c=other: c.conversations.items.delete(item, conversation_id=conversation.id),
            lambda c=other: c.responses.retrieve(response.id),
            lambda c=other: c.responses.delete(response.id),
            lambda c=other: c.responses.create(model="m", input="The word?", conversation=conversation.id),
            lambda c=other: c.responses.create(model="m", input="The word?", previous_response_id=response.id),
            lambda c=other: c.responses.create(
                model="m", input="The word?", previous_response_id=response.id, store=False
            ),
        ]
        for read in reads:
            with pytest.raises(openai.NotFoundError) as refused:
                read()
            assert "zanzibar" not in str(refused.value.body), who
        for store in (True, False):
            other.responses.create(model="m", input="What is the vault word?", store=store)
            assert "zanzibar" not in str(front.shown), who
    assert own.responses.retrieve(response.id).output_text == "Understood."
    assert front.model.asked and user(CANARY) not in front.shown
