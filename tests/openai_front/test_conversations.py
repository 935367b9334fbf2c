"""The unmodified `openai` client, with another base URL, holds conversations that remember; and the walls stand there too."""

import asyncio
from typing import Any

import openai
import pytest

from support.clients.openai_client import MODEL, Front, assistant, said_in, system, user, words
from support.servers.fake_endpoint import Asked, completion, event, stream

BOAT = "My boat is called Albatross and lies in the harbour of Piran."
ASK = "What is my boat called?"


def test_an_earlier_session_of_the_project_is_remembered_and_another_project_is_not(front: Front) -> None:
    """ISO-3, ISO-4, CTX-1: one base URL was changed, nothing else."""
    tenant = front.tenant()
    sea, land = tenant.new_project("Sea"), tenant.new_project("Land")
    front.client(tenant.key, "first", sea).chat.completions.create(model="gpt-4o", messages=[user(BOAT)])

    front.model.answers(completion("Albatross."))
    reply = front.client(tenant.key, "second", sea).chat.completions.create(model="gpt-4o", messages=[user(ASK)])
    assert words(reply) == "Albatross."
    assert reply.model == MODEL
    assert BOAT in front.system

    front.client(tenant.key, "third", land).chat.completions.create(model="gpt-4o", messages=[user(ASK)])
    assert front.shown == [user(ASK)]
    assert "Albatross" not in str(front.model.asked[-1].body)


def test_what_is_remembered_is_one_marked_part_of_the_system_message(front: Front) -> None:
    tenant = front.tenant()
    front.client(tenant.key, "first").chat.completions.create(model="m", messages=[user(BOAT)])
    front.client(tenant.key, "second").chat.completions.create(
        model="m", messages=[system("You are a harbour master."), user(ASK)]
    )
    opening, question = front.shown
    assert question == user(ASK)
    assert opening["role"] == "system"
    assert opening["content"].startswith("You are a harbour master.\n\nWhat follows was remembered")
    assert opening["content"].endswith("</recalled-memory>")
    assert opening["content"].count(BOAT) == 1


@pytest.mark.parametrize("role", ["system", "developer"])
def test_a_system_prompt_in_parts_gets_one_part_more(front: Front, role: str) -> None:
    tenant = front.tenant()
    front.client(tenant.key, "first").chat.completions.create(model="m", messages=[user(BOAT)])
    own = {"type": "text", "text": "Be brief."}
    messages: Any = [{"role": role, "content": [own]}, user(ASK)]
    front.client(tenant.key, "second").chat.completions.create(model="m", messages=messages)
    opening = front.shown[0]
    assert opening["role"] == role and opening["content"][0] == own
    assert BOAT in opening["content"][1]["text"] and len(opening["content"]) == 2


def test_where_nothing_is_remembered_the_messages_are_the_clients_own(front: Front) -> None:
    tenant = front.tenant()
    messages = [system("Be brief."), user("One."), assistant("Two."), user("Three.")]
    front.client(tenant.key).chat.completions.create(model="m", messages=messages)
    assert front.shown == messages


def test_a_reply_can_be_streamed(front: Front) -> None:
    tenant = front.tenant()
    front.model.answers(completion("Albatross, as ever."))
    chunks = list(
        front.client(tenant.key, "here").chat.completions.create(
            model="m", messages=[user(ASK)], stream=True, stream_options={"include_usage": True}
        )
    )
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == "Albatross, as ever."
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[0].choices[0].delta.role == "assistant"
    assert {chunk.id for chunk in chunks} == {chunks[0].id} and chunks[0].model == MODEL
    assert said_in(tenant, "here") == [("user", ASK), ("assistant", "Albatross, as ever.")]


def test_the_tokens_are_those_that_the_model_counted(front: Front) -> None:
    counted = event({"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 2, "total_tokens": 13}})
    spoken = event({"choices": [{"index": 0, "delta": {"content": "Yes."}, "finish_reason": "stop"}]})
    front.model.answers(stream(spoken, counted, b"data: [DONE]\n\n"))
    client = front.client(front.tenant().key)
    whole = client.chat.completions.create(model="m", messages=[user(ASK)])
    assert whole.usage is not None
    assert (whole.usage.prompt_tokens, whole.usage.completion_tokens, whole.usage.total_tokens) == (11, 2, 13)
    chunks = list(
        client.chat.completions.create(
            model="m", messages=[user(ASK)], stream=True, stream_options={"include_usage": True}
        )
    )
    assert chunks[-1].usage is not None and chunks[-1].usage.total_tokens == 13 and chunks[-1].choices == []
    unasked = list(client.chat.completions.create(model="m", messages=[user(ASK)], stream=True))
    assert all(chunk.usage is None and chunk.choices for chunk in unasked)


def test_the_asynchronous_client_holds_several_conversations_at_once(front: Front) -> None:
    """Each reply reaches its own session alone."""
    tenant = front.tenant()

    def echo(asked: Asked) -> Any:
        return completion(f"You said: {asked.body['messages'][-1]['content']}")

    front.model.follows(echo)

    async def one(client: openai.AsyncOpenAI, number: int) -> str:
        heard: list[str] = []
        spoken = await client.chat.completions.create(
            model="m", messages=[user(f"number {number}")], stream=True, extra_headers={"X-Session-ID": f"s{number}"}
        )
        async for chunk in spoken:
            heard.append(chunk.choices[0].delta.content or "")
        return "".join(heard)

    async def all_of_them() -> list[str]:
        async with openai.AsyncOpenAI(
            base_url=f"{front.server.address}/v1", api_key=tenant.key, max_retries=0
        ) as client:
            return await asyncio.gather(*(one(client, number) for number in range(12)))

    assert asyncio.run(all_of_them()) == [f"You said: number {number}" for number in range(12)]
    for number in range(12):
        assert said_in(tenant, f"s{number}") == [
            ("user", f"number {number}"),
            ("assistant", f"You said: number {number}"),
        ]


def test_without_a_session_there_is_a_new_one_and_the_answer_says_which(front: Front) -> None:
    tenant = front.tenant()
    client = front.client(tenant.key)
    names: list[str] = []
    for _ in range(2):
        raw = client.chat.completions.with_raw_response.create(model="m", messages=[user(ASK)])
        names.append(raw.headers["x-session-id"])
        assert said_in(tenant, names[-1]) == [("user", ASK), ("assistant", "Understood.")]
    assert len(set(names)) == 2
    with client.chat.completions.with_streaming_response.create(
        model="m", messages=[user(ASK)], stream=True
    ) as streamed:
        assert streamed.headers["x-session-id"] not in names
        assert streamed.headers["content-type"].startswith("text/event-stream")
        streamed.read()


def test_the_session_can_be_named_in_the_metadata_and_the_header_must_name_the_same(front: Front) -> None:
    """ISO-4: a request that names two sessions is neither's."""
    tenant = front.tenant()
    named: Any = {"model": "m", "metadata": {"session_id": "roses"}}
    client, both = front.client(tenant.key), {"X-Session-ID": "roses"}
    client.chat.completions.create(messages=[user("One.")], **named)
    client.chat.completions.create(messages=[user("Two.")], extra_headers=both, **named)
    assert [content for _, content in said_in(tenant, "roses")] == ["One.", "Understood.", "Two.", "Understood."]
    other = {"X-Session-ID": "tulips"}
    for path, body in (
        ("/v1/chat/completions", {"messages": [user("Three.")]}),
        ("/v1/responses", {"input": "Three."}),
        ("/v1/responses", {"input": "Three.", "store": False}),
        ("/v1/conversations", {}),
    ):
        answer = tenant.admin.post(path, {**body, "metadata": named["metadata"]}, headers=other)
        error = answer.json()["error"]
        assert (answer.status_code, error["param"]) == (422, "metadata.session_id")
        assert "another session" in error["message"]
    assert [session["external_id"] for session in tenant.admin.everything("/v1/sessions")] == ["roses"]
    assert len(said_in(tenant, "roses")) == 4


def test_a_session_is_in_its_project_from_its_first_message(front: Front) -> None:
    """ISO-7, ORG-3: the header's project, else the key's, else the default one."""
    tenant = front.tenant()
    sea = tenant.new_project("Sea")
    pinned = tenant.new_key(project_id=sea)
    front.client(tenant.key, "of the header", sea).chat.completions.create(model="m", messages=[user(ASK)])
    front.client(pinned, "of the key").chat.completions.create(model="m", messages=[user(ASK)])
    front.client(tenant.key, "of nobody").chat.completions.create(model="m", messages=[user(ASK)])
    projects = {found["external_id"]: found["project_id"] for found in tenant.admin.everything("/v1/sessions")}
    assert projects == {"of the header": sea, "of the key": sea, "of nobody": tenant.default_project_id}


def test_the_user_of_a_request_is_the_sessions_user(front: Front) -> None:
    """ISO-10: in a project with private members one user's words are never shown to another."""
    tenant = front.tenant()
    private = tenant.admin.made("/org/projects", {"name": "Diary", "member_visibility": "private"})["project_id"]
    client = front.client(tenant.key, project=private)
    client.chat.completions.create(model="m", messages=[user(BOAT)], user="ada")
    client.chat.completions.create(model="m", messages=[user(ASK)], user="bob")
    assert "Albatross" not in str(front.shown)
    client.chat.completions.create(model="m", messages=[user(ASK)], user="ada")
    assert BOAT in front.system


def test_a_projects_own_prompt_says_which_memory_it_wants(front: Front) -> None:
    """MEM-7: a placeholder that is not there injects nothing; the client's own prompt stays before it."""
    tenant = front.tenant()
    client = front.client(tenant.key, "first")
    client.chat.completions.create(model="m", messages=[user(BOAT)])
    settings = {"system_prompt": "You are Ada's assistant."}
    assert tenant.admin.patch(f"/org/projects/{tenant.default_project_id}", {"settings": settings}).status_code == 200
    front.client(tenant.key, "second").chat.completions.create(model="m", messages=[system("Be brief."), user(ASK)])
    assert front.shown == [system("Be brief.\n\nYou are Ada's assistant."), user(ASK)]


def test_memories_and_entities_are_remembered_too(front: Front) -> None:
    tenant = front.tenant()
    front.client(tenant.key, "first").chat.completions.create(
        model="m", messages=[user("My sister Anna plays the cello.")]
    )
    assert tenant.admin.post("/v1/sessions/first/extract").status_code == 200
    front.client(tenant.key, "second").chat.completions.create(model="m", messages=[user("What does Anna play?")])
    assert "The user's sister Anna plays the cello." in front.system
    assert "Anna (person)" in front.system


def test_no_tag_of_the_runtime_is_ever_shown_to_the_model(front: Front) -> None:
    """CTX-3."""
    tenant = front.tenant()
    for number in range(3):
        front.client(tenant.key, f"session-{number}").chat.completions.create(
            model="m", messages=[user(f"{BOAT} {number}")], user="ada-of-the-sea"
        )
    shown = str(front.model.asked[-1].body)
    assert BOAT in shown
    for hidden in ("session-1", "session:", "ada-of-the-sea", "project:", tenant.default_project_id, "msg_"):
        assert hidden not in shown


@pytest.mark.parametrize("field", ["user", "safety_identifier", "metadata"])
def test_the_user_of_a_session_is_taken_from_whichever_field_names_one(front: Front, field: str) -> None:
    """ISO-10, ISO-11: ben, who named no project either, is not shown what ana said."""
    tenant = front.tenant()

    def ask(session: str, name: str, words: str) -> None:
        named: Any = {"metadata": {"user_id": name}} if field == "metadata" else {field: name}
        front.client(tenant.key, session).chat.completions.create(model="m", messages=[user(words)], **named)

    ask("first", "ana", BOAT)
    assert tenant.admin.get("/v1/sessions/first").json()["user_id"] == "ana"
    ask("second", "ben", ASK)
    assert "Albatross" not in str(front.model.asked[-1].body)
    ask("third", "ana", ASK)
    assert BOAT in front.system


@pytest.mark.parametrize(
    ("named", "field"),
    [
        ({"user": "ana", "safety_identifier": "ben"}, "safety_identifier"),
        ({"user": "ana", "metadata": {"user_id": "ben"}}, "metadata.user_id"),
        ({"safety_identifier": "ana", "metadata": {"user_id": "ben"}}, "metadata.user_id"),
    ],
)
def test_fields_that_name_different_users_are_refused(front: Front, named: Any, field: str) -> None:
    tenant = front.tenant()
    with pytest.raises(openai.UnprocessableEntityError) as refused:
        front.client(tenant.key, "first").chat.completions.create(model="m", messages=[user(BOAT)], **named)
    assert refused.value.param == field
    assert tenant.admin.get("/v1/sessions/first").status_code == 404


def test_a_completion_that_is_not_stored_recalls_and_records_nothing(front: Front) -> None:
    tenant = front.tenant()
    front.client(tenant.key, "monday").chat.completions.create(model="m", messages=[user("Our boat is Albatross.")])
    for session in ("monday", "tuesday", None):
        client = front.client(tenant.key, session)
        reply = client.chat.completions.create(model="m", messages=[user("What is our boat?")], store=False)
        assert words(reply) == "Understood." and "Albatross" in front.system
    assert len(said_in(tenant, "monday")) == 2
    assert len(tenant.admin.everything("/v1/sessions")) == 1


def test_the_metadata_may_name_the_project(front: Front) -> None:
    """ISO-4: as the header does. An existing session of another project is refused, and so are two projects in one request."""
    tenant = front.tenant()
    garden, kitchen = tenant.new_project("Garden"), tenant.new_project("Kitchen")
    create: Any = front.client(tenant.key, "roses").chat.completions.create
    asked: Any = {"model": "m", "messages": [user("Hello there.")]}
    create(**asked, metadata={"project_id": garden})
    assert tenant.admin.get("/v1/sessions/roses").json()["project_id"] == garden
    with pytest.raises(openai.ConflictError):
        create(**asked, metadata={"project_id": kitchen})
    with pytest.raises(openai.UnprocessableEntityError):
        create(**asked, metadata={"project_id": kitchen}, extra_headers={"X-Project-ID": garden})
    response = front.client(tenant.key).responses.with_raw_response.create(
        model="m", input="Hello there.", metadata={"project_id": kitchen}
    )
    made = tenant.admin.get(f"/v1/sessions/{response.headers['x-session-id']}").json()
    assert made["project_id"] == kitchen


def test_null_in_the_metadata_is_no_project_as_in_every_other_interface(front: Front) -> None:
    """ISO-11."""
    tenant = front.tenant()
    garden = tenant.new_project("Garden")
    client, none = front.client(tenant.key), {"project_id": None}
    metadata: Any = {"metadata": none}
    client.chat.completions.create(
        model="m", messages=[user(BOAT)], extra_headers={"X-Session-ID": "first"}, extra_body=metadata
    )
    client.responses.create(model="m", input=ASK, extra_headers={"X-Session-ID": "second"}, extra_body=metadata)
    assert BOAT in front.system
    client.conversations.create(extra_headers={"X-Session-ID": "third"}, extra_body=metadata)
    assert {each["project_id"] for each in tenant.admin.everything("/v1/sessions")} == {None}
    client.chat.completions.create(model="m", messages=[user(ASK)])
    assert "Albatross" not in str(front.shown), "the default project is another one"
    body = {"messages": [user(ASK)], **metadata}
    answer = tenant.admin.post("/v1/chat/completions", body, headers={"X-Project-ID": "none"})
    assert answer.status_code == 200 and BOAT in front.system
    answer = tenant.admin.post("/v1/chat/completions", body, headers={"X-Project-ID": garden})
    assert (answer.status_code, answer.json()["error"]["param"]) == (422, "metadata.project_id")
    confined = front.server.caller(tenant.new_key(project_id=garden, confined=True))
    assert confined.post("/v1/chat/completions", body).status_code == 403
