"""Clients that send their history again with every turn: each message is stored once, and nothing is added to a prompt twice."""

from typing import Any

import openai
import pytest

from support.clients.openai_client import Front, assistant, said_in, statuses_in, system, user, words
from support.servers.fake_endpoint import completion, refusal
from support.servers.http_server import Tenant

TURNS = [
    ("My boat is called Albatross.", "A fine name."),
    ("It lies in Piran.", "A fine harbour."),
    ("yes", "Is there more?"),
    ("yes", "Tell me."),
]


def converse(front: Front, client: openai.OpenAI, history: list[Any], question: str, reply: str) -> None:
    """As the usual application does: all that was said goes out again, and the reply is kept at its end."""
    front.model.answers(completion(reply))
    history.append(user(question))
    answered = client.chat.completions.create(model="m", messages=history)
    history.append({"role": "assistant", "content": words(answered)})


def stored(*turns: tuple[str, str]) -> list[tuple[str, str]]:
    return [entry for question, reply in turns for entry in (("user", question), ("assistant", reply))]


@pytest.fixture
def tenant(front: Front) -> Tenant:
    return front.tenant()


def test_a_client_that_sends_its_whole_history_stores_each_message_once(front: Front, tenant: Tenant) -> None:
    client = front.client(tenant.key, "boat")
    history: list[Any] = [system("Be brief.")]
    for turn in TURNS:
        converse(front, client, history, *turn)
    assert said_in(tenant, "boat") == stored(*TURNS)


def test_and_the_model_is_shown_each_of_them_once(front: Front, tenant: Tenant) -> None:
    client = front.client(tenant.key, "boat")
    history: list[Any] = [system("Be brief.")]
    for turn in TURNS:
        converse(front, client, history, *turn)
        assert front.shown == history[:-1]


def test_a_client_that_sends_only_what_is_new_is_shown_the_rest_as_memory(front: Front, tenant: Tenant) -> None:
    client = front.client(tenant.key, "boat")
    for question, reply in TURNS:
        front.model.answers(completion(reply))
        client.chat.completions.create(model="m", messages=[user(question)])
    assert said_in(tenant, "boat") == stored(*TURNS)
    assert len(front.shown) == 2 and front.shown[-1] == user("yes")
    assert "My boat is called Albatross." in front.system and "A fine harbour." in front.system


def test_a_client_that_sends_the_end_of_its_history_is_shown_the_beginning_as_memory(
    front: Front, tenant: Tenant
) -> None:
    client = front.client(tenant.key, "boat")
    history: list[Any] = []
    for turn in TURNS[:2]:
        converse(front, client, history, *turn)
    client.chat.completions.create(model="m", messages=[*history[2:], user("And now?")])
    assert said_in(tenant, "boat") == [*stored(*TURNS[:2]), ("user", "And now?"), ("assistant", "A fine harbour.")]
    opening, *rest = front.shown
    assert rest == [*history[2:], user("And now?")]
    assert "My boat is called Albatross." in opening["content"] and "It lies in Piran." not in opening["content"]


def test_a_client_that_edits_what_was_said_does_not_change_what_was_said(front: Front, tenant: Tenant) -> None:
    """What comes after the last message that both know is new; the past stays, and is not stored a second time."""
    client = front.client(tenant.key, "boat")
    history: list[Any] = []
    for turn in TURNS[:2]:
        converse(front, client, history, *turn)
    front.model.answers(completion("Noted."))
    edited = [user("My boat is called Cormorant."), *history[1:], user("What is it called?")]
    client.chat.completions.create(model="m", messages=edited)
    assert said_in(tenant, "boat") == stored(*TURNS[:2], ("What is it called?", "Noted."))
    assert front.shown[1:] == edited


def test_a_client_that_goes_back_and_asks_otherwise_adds_what_it_asks(front: Front, tenant: Tenant) -> None:
    client = front.client(tenant.key, "boat")
    history: list[Any] = []
    for turn in TURNS[:2]:
        converse(front, client, history, *turn)
    front.model.answers(completion("Noted."))
    client.chat.completions.create(model="m", messages=[*history[:2], user("It lies in Koper.")])
    assert said_in(tenant, "boat") == stored(*TURNS[:2], ("It lies in Koper.", "Noted."))


def test_a_client_that_trims_replies_does_not_store_them_again(front: Front, tenant: Tenant) -> None:
    client = front.client(tenant.key, "boat")
    front.model.answers(completion(" A fine name. \n"))
    client.chat.completions.create(model="m", messages=[user("One.")])
    front.model.answers(completion("Noted."))
    client.chat.completions.create(model="m", messages=[user("One."), assistant("A FINE name!"), user("Two.")])
    assert said_in(tenant, "boat") == stored(("One.", " A fine name. \n"), ("Two.", "Noted."))


def test_a_history_that_is_new_to_a_named_session_is_recorded_with_it(front: Front, tenant: Tenant) -> None:
    client = front.client(tenant.key, "boat")
    messages = [user("One."), assistant("First."), user("Two.")]
    client.chat.completions.create(model="m", messages=messages)
    assert said_in(tenant, "boat") == stored(("One.", "First."), ("Two.", "Understood."))


def test_without_a_session_only_what_is_said_now_is_recorded(front: Front, tenant: Tenant) -> None:
    """A client that names no session and sends everything every time would otherwise fill the pool with copies of itself; and it
    is not shown as memory what it sent itself."""
    client = front.client(tenant.key)
    history: list[Any] = []
    for turn in TURNS[:3]:
        converse(front, client, history, *turn)
        assert front.shown == history[:-1]
    sessions = tenant.admin.everything("/v1/sessions")
    found = sorted(entry for session in sessions for entry in said_in(tenant, session["external_id"]))
    assert found == sorted(stored(*TURNS[:3]))


def test_a_client_that_tries_again_after_a_failure_has_said_it_once(front: Front, tenant: Tenant) -> None:
    client = front.client(tenant.key, "boat").with_options(max_retries=2)
    front.model.answers(refusal(503, "Loading model"), refusal(503, "Loading model"), completion("Here I am."))
    answered = client.chat.completions.create(model="m", messages=[user("Are you there?")])
    assert words(answered) == "Here I am."
    assert [entry for entry in said_in(tenant, "boat") if entry[0] == "user"] == [("user", "Are you there?")]
    assert statuses_in(tenant, "boat")[-1] == ("assistant", "completed")
    assert front.shown == [user("Are you there?")]


def test_saying_the_same_again_is_saying_it_again(front: Front, tenant: Tenant) -> None:
    client = front.client(tenant.key, "boat")
    for _ in range(3):
        client.chat.completions.create(model="m", messages=[user("yes")])
    assert said_in(tenant, "boat") == stored(*[("yes", "Understood.")] * 3)


def test_what_was_cleared_is_not_recorded_again_from_the_clients_history(front: Front, tenant: Tenant) -> None:
    """MEM-9: as a message that was deleted by itself; what is said after that is recorded."""
    client = front.client(tenant.key, "boat")
    history: list[Any] = []
    for turn in TURNS[:2]:
        converse(front, client, history, *turn)
    assert tenant.admin.post("/v1/sessions/boat/clear").status_code == 200
    for turn in TURNS[2:]:
        converse(front, client, history, *turn)
    assert said_in(tenant, "boat") == stored(*TURNS[2:])


def test_what_was_forgotten_comes_back_only_if_the_client_says_it_again(front: Front, tenant: Tenant) -> None:
    """A cleared session is empty."""
    client = front.client(tenant.key, "boat")
    history: list[Any] = []
    converse(front, client, history, *TURNS[0])
    assert tenant.admin.post("/v1/sessions/boat/clear").status_code == 200
    client.chat.completions.create(model="m", messages=[user("And now?")])
    assert "Albatross" not in str(front.shown)


def test_recalled_words_that_the_client_sends_itself_leave_room_for_others(front: Front, tenant: Tenant) -> None:
    """CTX-2: ten of each role, not ten less those that are known already."""
    client = front.client(tenant.key)
    sent = [user(f"The ferry to island {number} leaves at {number} o'clock.") for number in range(12)]
    for message in sent:
        client.chat.completions.create(model="m", messages=[message])
    tenant.new_session("elsewhere")
    tenant.say("elsewhere", "The ferry to the mainland leaves at noon.")
    question = user("When does the ferry leave?")
    client.chat.completions.create(model="m", messages=[*sent, question])
    assert "The ferry to the mainland leaves at noon." in front.system
    assert "island" not in front.system
