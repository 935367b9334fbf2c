"""`/v1/responses` with the unmodified client: recorded, continued, streamed, with tools, and without recording (DOOR-2)."""

import threading
from typing import Any

import openai
import pytest

from cloister.services.chat.turns import Turns
from cloister.services.chat.unrecorded import UnrecordedChat
from support.clients.openai_client import MODEL, Front, assistant, said_in, system, user
from support.servers.fake_endpoint import Answer, completion, event, refusal, stream

WEATHER: Any = {
    "type": "function",
    "name": "weather",
    "description": "The weather of a town.",
    "parameters": {"type": "object", "properties": {"town": {"type": "string"}}},
    "strict": True,
}
FERRY = "The ferry leaves at ten past."


def tool_call(*, says: str = "") -> Answer:
    """A reply that calls a tool, in three parts, after some words if there are any."""

    def chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
        return event({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})

    def call(**fields: Any) -> bytes:
        return chunk({"tool_calls": [{"index": 0, **fields}]})

    return stream(
        *([chunk({"content": says})] if says else []),
        call(id="call_7", function={"name": "weather", "arguments": ""}),
        call(function={"arguments": '{"town":'}),
        call(function={"arguments": '"Graz"}'}),
        chunk({}, "tool_calls"),
        event({"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 5}}),
        b"data: [DONE]\n\n",
    )


def session_of(front: Front, client: openai.OpenAI, **asked: Any) -> tuple[str, Any]:
    responses: Any = client.responses
    raw = responses.with_raw_response.create(model="m", **asked)
    return raw.headers["x-session-id"], raw.parse()


def streamed_response(client: openai.OpenAI, asked: Any) -> Any:
    responses: Any = client.responses
    with responses.stream(**asked) as following:
        assert "response.function_call_arguments.delta" in [each.type for each in following]
        return following.get_final_response()


def test_a_response_is_recorded_and_found_again(front: Front) -> None:
    tenant = front.tenant()
    client = front.client(tenant.key)
    session, response = session_of(front, client, input=FERRY, instructions="Be brief.", metadata={"app": "x"})
    assert (response.output_text, response.status, response.model) == ("Understood.", "completed", MODEL)
    assert front.shown == [system("Be brief."), user(FERRY)]
    assert said_in(tenant, session) == [("user", FERRY), ("assistant", "Understood.")]
    again = client.responses.retrieve(response.id)
    assert (again.id, again.output_text, again.instructions, again.metadata) == (
        response.id,
        "Understood.",
        "Be brief.",
        {"app": "x"},
    )
    assert again.output[0].id == response.output[0].id


def test_a_response_goes_on_where_the_previous_one_ended(front: Front) -> None:
    tenant = front.tenant()
    client = front.client(tenant.key)
    session, first = session_of(front, client, input=FERRY)
    _, second = session_of(front, client, input="When does it leave?", previous_response_id=first.id)
    assert front.shown == [user(FERRY), assistant("Understood."), user("When does it leave?")]
    assert second.previous_response_id == first.id
    other, _ = session_of(front, client, input="And the train?", previous_response_id=first.id)
    assert other == session
    assert user("When does it leave?") not in front.shown, (
        "a branch does not see the other one's messages as its history"
    )


def test_a_conversation_is_continued_with_what_was_recorded_any_other_way(front: Front) -> None:
    tenant = front.tenant()
    client = front.client(tenant.key)
    tenant.new_session("here")
    tenant.admin.made("/v1/sessions/here/messages", {"role": "user", "content": FERRY})
    response = client.responses.create(model="m", input="When?", conversation="here")
    assert front.shown == [user(FERRY), user("When?")]
    assert response.conversation is not None and response.conversation.id == "here"
    assert said_in(tenant, "here")[1:] == [("user", "When?"), ("assistant", "Understood.")]


def test_a_stream_has_the_events_that_the_client_needs(front: Front) -> None:
    tenant = front.tenant()
    client = front.client(tenant.key, "here")
    with client.responses.stream(model="m", input=FERRY) as following:
        events: list[Any] = list(following)
        final: Any = following.get_final_response()
    assert [each.type for each in events] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert [each.sequence_number for each in events] == list(range(10))
    assert final.output_text == "Understood."
    assert client.responses.retrieve(final.id).output_text == "Understood."
    raw: Any = client.responses.create(model="m", input="Again.", stream=True)
    assert [each.type for each in raw][-1] == "response.completed"


@pytest.mark.parametrize("says", ["", "I look."])
@pytest.mark.parametrize("streamed", [False, True])
def test_tools_pass_through_and_their_outputs_go_on(front: Front, streamed: bool, says: str) -> None:
    tenant = front.tenant()
    client = front.client(tenant.key)
    front.model.answers(tool_call(says=says), completion("Sunny."))
    asked: Any = {"model": "m", "input": "The weather in Graz?", "tools": [WEATHER], "tool_choice": "required"}
    responses: Any = client.responses
    response = streamed_response(client, asked) if streamed else responses.create(**asked)
    sent = front.model.asked[-1].body
    assert sent["tools"] == [{"type": "function", "function": {k: v for k, v in WEATHER.items() if k != "type"}}]
    assert sent["tool_choice"] == "required"
    call: Any = response.output[-1]
    assert (call.type, call.call_id, call.name, call.arguments) == (
        "function_call",
        "call_7",
        "weather",
        '{"town":"Graz"}',
    )
    assert response.usage is not None and response.usage.total_tokens == 16
    output: Any = {"type": "function_call_output", "call_id": "call_7", "output": "sunny"}
    final = client.responses.create(model="m", input=[output], previous_response_id=response.id, tools=[WEATHER])
    called = {"id": "call_7", "type": "function", "function": {"name": "weather", "arguments": '{"town":"Graz"}'}}
    assert front.shown == [
        user("The weather in Graz?"),
        {"role": "assistant", "content": says or None, "tool_calls": [called]},
        {"role": "tool", "tool_call_id": "call_7", "content": "sunny"},
    ]
    assert final.output_text == "Sunny."


@pytest.mark.parametrize("streamed", [False, True])
def test_custom_tools_pass_through_and_their_outputs_go_on(front: Front, streamed: bool) -> None:
    """Their input is any text, in a grammar if the application wants one."""
    tenant = front.tenant()
    client: Any = front.client(tenant.key)
    grammar = {"syntax": "lark", "definition": "start: WORD"}
    tool: Any = {"type": "custom", "name": "shout", "format": {"type": "grammar", **grammar}}
    shouted = [{"id": "call_7", "type": "custom", "custom": {"name": "shout", "input": ""}}]
    shouted += [{"custom": {"input": part}} for part in ("Ahoy, ", "Graz")]
    deltas: list[dict[str, Any]] = [{"tool_calls": [{"index": 0, **call}]} for call in shouted]
    chunks = [event({"choices": [{"index": 0, "delta": delta}]}) for delta in deltas]
    front.model.answers(stream(*chunks, b"data: [DONE]\n\n"), completion("Shouted."))
    asked: Any = {
        "model": "m",
        "input": "Shout at Graz.",
        "tools": [tool],
        "tool_choice": {"type": "custom", "name": "shout"},
    }
    if streamed:
        events: list[Any] = list(client.responses.create(**asked, stream=True))
        response = events[-1].response
        typed = [each for each in events if each.type.startswith("response.custom_tool_call_input.")]
        assert [(each.delta if "delta" in each.type else each.input) for each in typed] == [
            *("Ahoy, ", "Graz"),
            "Ahoy, Graz",
        ]
        assert {each.item_id for each in typed} == {response.output[0].id}
    else:
        response = client.responses.create(**asked)
    sent = front.model.asked[-1].body
    assert sent["tools"] == [
        {"type": "custom", "custom": {"name": "shout", "format": {"type": "grammar", "grammar": grammar}}}
    ]
    assert sent["tool_choice"] == {"type": "custom", "custom": {"name": "shout"}}
    stored: Any = client.responses.retrieve(response.id)
    for call in (response.output[0], stored.output[0]):
        assert (call.type, call.call_id, call.name, call.input) == ("custom_tool_call", "call_7", "shout", "Ahoy, Graz")
        assert call.id == response.output[0].id
    output: Any = {"type": "custom_tool_call_output", "call_id": "call_7", "output": "heard"}
    client.responses.create(model="m", input=[output], previous_response_id=response.id, tools=[tool])
    called = {"id": "call_7", "type": "custom", "custom": {"name": "shout", "input": "Ahoy, Graz"}}
    assert front.shown == [
        user("Shout at Graz."),
        {"role": "assistant", "content": None, "tool_calls": [called]},
        {"role": "tool", "tool_call_id": "call_7", "content": "heard"},
    ]


def test_a_request_that_is_sent_again_is_recorded_once(front: Front) -> None:
    """As clients do by themselves when the model's server failed."""
    tenant = front.tenant()
    conversation = front.client(tenant.key).conversations.create()
    client = front.client(tenant.key).with_options(max_retries=2)
    front.model.answers(refusal(500, "down"), completion("Understood."))
    assert client.responses.create(model="m", input=FERRY, conversation=conversation.id).output_text == "Understood."
    said = [words for _, words in said_in(tenant, conversation.id)]
    assert said.count(FERRY) == 1
    assert len(list(client.conversations.items.list(conversation.id))) == 2, "a reply that failed is no item"


def test_without_store_it_is_recalled_and_nothing_is_recorded(front: Front) -> None:
    tenant = front.tenant()
    client = front.client(tenant.key)
    client.responses.create(model="m", input="The safe of the captain opens with 4711.")
    before = tenant.admin.everything("/v1/sessions")
    response = client.responses.create(model="m", input="How does the safe of the captain open?", store=False)
    assert response.output_text == "Understood."
    assert "4711" in front.system
    assert tenant.admin.everything("/v1/sessions") == before
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(response.id)


def test_without_store_a_conversation_is_read_and_not_changed(front: Front) -> None:
    tenant = front.tenant()
    client = front.client(tenant.key)
    conversation = client.conversations.create(items=[{"type": "message", "role": "user", "content": FERRY}])
    with client.responses.stream(model="m", input="When?", conversation=conversation.id, store=False) as following:
        final: Any = following.get_final_response()
    assert final.output_text == "Understood."
    assert front.shown == [user(FERRY), user("When?")]
    assert said_in(tenant, conversation.id) == [("user", FERRY)]


def test_without_store_a_session_that_does_not_exist_is_not_created(front: Front) -> None:
    tenant = front.tenant()
    front.client(tenant.key, "never").responses.create(model="m", input=FERRY, store=False)
    assert tenant.admin.everything("/v1/sessions") == []


def test_a_deleted_response_forgets_what_was_said_unless_it_named_a_conversation(front: Front) -> None:
    """MEM-9: each request by itself, also if one before it named a conversation, which stays."""
    tenant = front.tenant()
    client = front.client(tenant.key)
    session, alone = session_of(front, client, input=FERRY)
    client.responses.delete(alone.id)
    assert tenant.admin.get(f"/v1/sessions/{session}").status_code == 404
    conversation = client.conversations.create()
    named = client.responses.create(model="m", input=FERRY, conversation=conversation.id)
    after = client.responses.create(model="m", input="When?", previous_response_id=named.id)
    for each in (named, after):
        client.responses.delete(each.id)
        with pytest.raises(openai.NotFoundError):
            client.responses.retrieve(each.id)
    assert said_in(tenant, conversation.id) == [("user", FERRY), ("assistant", "Understood.")]
    client.responses.create(model="m", input="When?", conversation=conversation.id)
    assert len(said_in(tenant, conversation.id)) == 4


def test_iso_12_a_response_shows_nothing_of_its_request_once_its_session_has_moved(front: Front) -> None:
    tenant = front.tenant()
    garden = tenant.new_project("Garden")
    client = front.client(tenant.key)
    session, response = session_of(
        front, client, input=FERRY, instructions="Say 6060.", metadata={"app": "6060"}, tools=[WEATHER]
    )
    tenant.admin.patch(f"/v1/sessions/{session}", {"project_id": garden})
    again = client.responses.retrieve(response.id)
    assert (again.instructions, again.metadata, again.tools) == (None, {}, [])
    assert again.output_text == "Understood."


def test_a_deleted_response_takes_the_tool_outputs_of_its_request_with_it(front: Front) -> None:
    """MEM-9."""
    tenant = front.tenant()
    client = front.client(tenant.key)
    front.model.answers(tool_call(), tool_call(), completion("Sunny."))
    session, first = session_of(front, client, input="The weather in Graz?", tools=[WEATHER])
    output: Any = {"type": "function_call_output", "call_id": "call_7", "output": "sunny 6060"}
    for _ in range(2):
        _, again = session_of(front, client, input=[output], previous_response_id=first.id, tools=[WEATHER])
        assert "6060" in str(client.conversations.items.list(session).data)
        client.responses.delete(again.id)
        kinds = [item.type for item in client.conversations.items.list(session, order="asc")]
        assert kinds == ["message", "function_call"]
    client.responses.delete(first.id)
    assert tenant.admin.everything("/v1/sessions") == []


def test_the_options_of_a_response_get_their_names_of_a_chat_completion(front: Front) -> None:
    tenant = front.tenant()
    schema: Any = {"type": "json_schema", "name": "answer", "schema": {"type": "object"}, "strict": True}
    front.client(tenant.key).responses.create(
        model="m",
        input=[{"role": "developer", "content": "In German."}, {"role": "user", "content": FERRY}],
        instructions="Be brief.",
        temperature=0.5,
        max_output_tokens=99,
        reasoning={"effort": "low"},
        text={"format": schema, "verbosity": "low"},
        include=["reasoning.encrypted_content"],
        service_tier="auto",
        max_tool_calls=3,
    )
    body = front.model.asked[-1].body
    assert body["messages"] == [system("Be brief.\n\nIn German."), user(FERRY)]
    assert (body["temperature"], body["max_completion_tokens"], body["reasoning_effort"], body["verbosity"]) == (
        0.5,
        99,
        "low",
        "low",
    )
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": {"type": "object"}, "strict": True},
    }


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"background": True}, "background"),
        ({"tools": [{"type": "web_search"}]}, "tools[0].type"),
        ({"previous_response_id": "resp_0123456789abcdef", "conversation": "c"}, "conversation"),
        ({"prompt": {"id": "pmpt_1"}}, "prompt"),
        ({"unheard_of": 1}, "unheard_of"),
        ({"top_logprobs": 2}, "top_logprobs"),
        (
            {
                "input": [
                    {
                        "type": "function_call_output",
                        "call_id": "c",
                        "output": [{"type": "input_image", "file_id": "f"}],
                    }
                ]
            },
            "input[0].output",
        ),
        ({"include": ["message.output_text.logprobs"]}, "include"),
        ({"project_id": "proj_0123456789abcdef"}, "project_id"),
        ({"session_id": "x"}, "session_id"),
        ({"input": []}, "input"),
        ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "input[0].type"),
        ({"input": [{"role": "user", "content": [{"type": "input_text"}]}]}, "input[0].content[0].text"),
        ({"input": [{"type": "function_call_output", "output": "x"}]}, "input[0].call_id"),
        ({"input": [{"role": "assistant", "content": "I said."}]}, "input"),
        ({"tools": [WEATHER], "tool_choice": {"type": "mcp"}}, "tool_choice"),
        ({"text": {"format": {"type": "grammar"}}}, "text.format"),
    ],
)
def test_what_is_not_supported_is_refused_before_anything_is_recorded(
    front: Front, fields: dict[str, Any], param: str
) -> None:
    tenant = front.tenant()
    answer = tenant.admin.post("/v1/responses", {"input": FERRY, **fields})
    assert answer.status_code == 422, answer.text
    assert answer.json()["error"]["param"] == param
    assert not front.model.asked and tenant.admin.everything("/v1/sessions") == []


def test_what_a_tool_answered_is_text_for_the_model_and_anything_else_is_named(front: Front) -> None:
    call: Any = {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}
    picture = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
    output: Any = {
        "type": "function_call_output",
        "call_id": "c",
        "output": [{"type": "input_text", "text": "A red boat."}, picture],
    }
    front.client(front.tenant().key).responses.create(model="m", input=[user(FERRY), call, output])
    assert front.shown[-1] == {"role": "tool", "tool_call_id": "c", "content": "A red boat.\n[image]"}


def test_a_client_may_ask_for_more_of_items_and_gets_what_there_is(front: Front) -> None:
    tenant = front.tenant()
    client: Any = front.client(tenant.key)
    conversation = client.conversations.create()
    more = {"include": ["reasoning.encrypted_content", "web_search_call.results"]}
    response = client.responses.create(model="m", input=FERRY, conversation=conversation.id, **more)
    assert client.responses.retrieve(response.id, **more).output_text == "Understood."
    items = client.conversations.items.list(conversation.id, **more).data
    assert client.conversations.items.retrieve(items[0].id, conversation_id=conversation.id, **more) == items[0]
    added = client.conversations.items.create(conversation.id, items=[{"role": "user", "content": "Hi."}], **more)
    assert len(added.data) == 1
    assert tenant.admin.get(f"/v1/responses/{response.id}?include=x&includes=x").status_code == 422


@pytest.mark.parametrize("store", [True, False])
@pytest.mark.parametrize("named", ["conversation", "previous_response_id"])
def test_a_conversation_that_is_deleted_before_its_turn_is_not_found_and_not_created(
    front: Front, monkeypatch: pytest.MonkeyPatch, store: bool, named: str
) -> None:
    """It was there when the request came."""
    tenant = front.tenant()
    conversation = front.client(tenant.key).conversations.create()
    first = front.client(tenant.key).responses.create(model="m", input=FERRY, conversation=conversation.id)
    kind, name = (Turns, "begin") if store else (UnrecordedChat, "ask")
    began: Any = getattr(kind, name)

    def begin(*given: Any, **fields: Any) -> Any:
        tenant.admin.delete(f"/v1/sessions/{conversation.id}")
        return began(*given, **fields)

    monkeypatch.setattr(kind, name, begin)
    ids = {"conversation": conversation.id, "previous_response_id": first.id}
    answer = tenant.admin.post("/v1/responses", {"input": "When?", "store": store, named: ids[named]})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
    assert tenant.admin.everything("/v1/sessions") == []


def test_a_failure_of_the_model_is_an_error_and_after_the_first_word_an_event(front: Front) -> None:
    tenant = front.tenant()
    client = front.client(tenant.key)
    front.model.answers(refusal(500, "down"))
    with pytest.raises(openai.InternalServerError) as refused:
        client.responses.create(model="m", input=FERRY, stream=True)
    assert refused.value.code == "model_unavailable"
    begun = threading.Event()
    pauses = iter([lambda: None, lambda: begun.wait(30)])
    half = event({"choices": [{"index": 0, "delta": {"content": "Half"}}]})
    front.model.answers(
        Answer(headers={"content-type": "text/event-stream"}, pieces=(half, b": end\n\n"), pause=lambda: next(pauses)())
    )
    following: Any = client.responses.create(model="m", input=FERRY, stream=True)
    begun.set()
    last = list(following)[-1]
    assert (last.type, last.response.status, last.response.error.code) == (
        "response.failed",
        "failed",
        "model_unavailable",
    )
    front.model.answers(completion("Cut", finish_reason="length"))
    cut = client.responses.create(model="m", input=FERRY)
    assert cut.status == "incomplete" and cut.incomplete_details is not None
    assert cut.incomplete_details.reason == "max_output_tokens"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/files"),
        ("GET", "/v1/assistants/asst_1"),
        ("GET", "/v1/chat/completions/chatcmpl-1"),
        ("GET", "/v1/batches"),
        ("GET", "/v1/responses/resp_1/input_items"),
        ("POST", "/v1/responses/resp_1/cancel"),
    ],
)
def test_an_unknown_route_answers_in_openais_format_and_says_what_is_supported(
    front: Front, method: str, path: str
) -> None:
    caller = front.tenant().admin
    answer = caller.get(path) if method == "GET" else caller.post(path, {"model": "m", "input": "Hello."})
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/json")
    error = answer.json()["error"]
    assert (error["code"], error["type"]) == ("not_found", "invalid_request_error")
    assert "conversations with items" in error["message"]
    assert "error" not in front.tenant().admin.get("/v1/sessions/a/b/c").json(), (
        "Cloister's own routes keep their format"
    )


def test_compacting_is_refused_in_openais_format(front: Front) -> None:
    """`/v1/responses/{id}` has this path, but not this method."""
    answer = front.tenant().admin.post("/v1/responses/compact", {"model": "m", "input": "Hello."})
    assert (answer.status_code, answer.headers["content-type"]) == (405, "application/json")
    assert answer.json()["error"]["code"] == "method_not_allowed"
    assert not front.model.asked


def test_an_archive_has_the_conversation_with_its_calls_and_responses(front: Front) -> None:
    """ORG-11, DOOR-2: after the session was deleted, an import brings back what the client was answered, under the same ids."""
    tenant = front.tenant()
    client = front.client(tenant.key)
    front.model.answers(tool_call(says="I look."), completion("Sunny."))
    session, asked = session_of(front, client, input="What is the weather in Graz?", tools=[WEATHER])
    output: Any = {"type": "function_call_output", "call_id": "call_7", "output": "Sunny."}
    _, answered = session_of(front, client, input=[output], previous_response_id=asked.id)
    responses: Any = client.responses

    def all_shown() -> list[Any]:
        items = [item.to_dict() for item in client.conversations.items.list(session)]
        return [*items, *(responses.retrieve(each.id).to_dict() for each in (asked, answered))]

    shown = all_shown()
    archive = tenant.admin.request("GET", "/v1/export").content
    client.conversations.delete(session)
    with pytest.raises(openai.NotFoundError):
        responses.retrieve(answered.id)
    lines = {"Content-Type": "application/x-ndjson"}
    assert tenant.admin.request("POST", "/v1/import", content=archive, headers=lines).status_code == 200
    assert all_shown() == shown
    assert tenant.admin.request("GET", "/v1/export").content == archive


def test_iso_12_an_archive_shows_nothing_of_the_request_of_a_response_made_in_another_project(front: Front) -> None:
    """ORG-11: as reading the response does not, after its session has moved; nor after the archive was imported again."""
    tenant = front.tenant()
    front.model.answers(completion("Sunny."))
    request: Any = {"instructions": "Say 9921-A.", "metadata": {"z": "9921-B"}, "tools": [WEATHER]}
    session, asked = session_of(front, front.client(tenant.key), input="What is the weather?", **request)
    marks = (b"9921-A", b"9921-B", b'"weather"')
    assert all(mark in tenant.admin.request("GET", "/v1/export").content for mark in marks)
    project = tenant.admin.post("/org/projects", {"name": "Garden"}).json()["project_id"]
    assert tenant.admin.patch(f"/v1/sessions/{session}", {"project_id": project}).status_code == 200
    for query in ("", f"?scope=project&id={project}"):
        archive = tenant.admin.request("GET", f"/v1/export{query}").content
        assert asked.id.encode() in archive
        assert not any(mark in archive for mark in marks)
    tenant.admin.delete(f"/v1/sessions/{session}")
    lines = {"Content-Type": "application/x-ndjson"}
    assert tenant.admin.request("POST", "/v1/import", content=archive, headers=lines).status_code == 200
    assert tenant.admin.request("GET", f"/v1/export?scope=project&id={project}").content == archive
