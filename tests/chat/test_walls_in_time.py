"""ISO-12: walls hold in time. Sessions move, are divided, emptied and deleted, and keys are revoked, while a turn runs."""

from collections.abc import Generator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from support.clients.chat_client import Gate, Reader, asking, messages, said, say, shown, streaming, words
from support.servers.fake_endpoint import Answer, FakeEndpoint, refusal
from support.servers.http_server import Server, Tenant
from support.waiting import eventually

SECRET = "The vault's code in the garden is 7-4-1-9."
OTHER = "The vault's code in the kitchen is 2-2-2."
QUESTION = "What is the vault's code?"
STREAM, FOLLOW = "/v1/chat/stream", "/v1/chat/tab/stream"


class House:
    """Two projects with a secret each, and a turn that runs in the garden."""

    def __init__(self, tenant: Tenant, model: FakeEndpoint) -> None:
        self.tenant, self.model = tenant, model
        self.garden, self.kitchen = tenant.new_project("Garden"), tenant.new_project("Kitchen")
        for name, project, text in (("in the garden", self.garden, SECRET), ("in the kitchen", self.kitchen, OTHER)):
            tenant.new_session(name, project_id=project)
            tenant.say(name, text)
        self.gate = Gate()
        model.answers(words("It is", " what it", " is.", gate=self.gate))

    def confined(self, project: str, *permissions: str) -> str:
        return self.tenant.new_key(*permissions, project_id=project, confined=True)

    def ask(self, stack: ExitStack, key: str | None = None) -> Reader:
        """Asked in the garden, and recalled there; the model has not said a word."""
        body = asking("tab", QUESTION, project_id=self.garden)
        reader = stack.enter_context(streaming(self.tenant, "POST", STREAM, body, key=key))
        context = reader.until("data-context")["data"]
        assert [item["content"] for item in context["relevant_history"]] == [SECRET]
        return reader

    def follow(self, stack: ExitStack, key: str | None = None) -> Reader:
        return stack.enter_context(streaming(self.tenant, "GET", FOLLOW, key=key))

    def move(self, project: str | None = None) -> None:
        answer = self.tenant.admin.patch("/v1/sessions/tab", {"project_id": project or self.kitchen})
        assert answer.status_code == 200, answer.text


@pytest.fixture
def house(tenant: Tenant, model: FakeEndpoint) -> Generator[House]:
    made = House(tenant, model)
    yield made
    made.gate.open()


def test_iso_12_whoever_could_not_have_asked_does_not_follow_a_turn_that_came_with_its_session(house: House) -> None:
    """ISO-12: the kitchen's key reaches the session now, and neither the garden's words nor the reply that knows them."""
    cook = house.tenant.caller(house.confined(house.kitchen))
    with ExitStack() as stack:
        reader = house.ask(stack)
        house.move()
        assert cook.get("/v1/sessions/tab").status_code == 200
        assert cook.get(FOLLOW).status_code == 204
        assert cook.post("/v1/chat/tab/stop").json() == {"stopped": False}
        house.gate.open()
        assert reader.rest().text == "It is what it is."


def test_iso_12_the_second_recall_of_a_turn_is_never_of_another_pool(house: House) -> None:
    """ISO-12: the model asks for a shorter prompt after the session has moved to the kitchen."""
    house.model.answers(too_long(house.gate), words("Unreachable."))
    with ExitStack() as stack:
        reader = house.ask(stack)
        house.move()
        house.gate.open()
        told = reader.rest()
    assert "was moved" in told.error and told.metadata["status"] == "failed"
    assert len(house.model.asked) == 1 and OTHER not in shown(house.model.asked[0].body)
    assert OTHER not in repr(told.events)
    assert [entry[:2] for entry in said(house.tenant, "tab")] == [("user", "completed"), ("assistant", "failed")]


def test_iso_12_the_second_recall_comes_from_the_pool_of_the_first(house: House) -> None:
    house.model.answers(too_long(house.gate), words("7-4-1-9."))
    with ExitStack() as stack:
        reader = house.ask(stack)
        house.gate.open()
        assert reader.rest().text == "7-4-1-9."
    assert len(house.model.asked) == 2


@pytest.mark.parametrize("confined", [True, False])
def test_iso_12_a_stream_ends_when_its_session_leaves_the_reach_of_its_key(house: House, confined: bool) -> None:
    """The asker's own stream and a follower's; a key that reaches both places reads on. The reply was given words of the garden:
    it is not stored in the kitchen, and the question can be asked again there."""
    key = house.confined(house.garden) if confined else None
    with ExitStack() as stack:
        asker, follower = house.ask(stack, key), house.follow(stack, key)
        house.gate.let(1)
        for reader in (asker, follower):
            reader.until("text-delta")
        house.move()
        house.gate.open()
        for reader in (asker, follower):
            told = reader.rest()
            assert told.done
            if confined:
                assert "has changed" in told.error and told.text == "It is"
                assert told.metadata["message_id"] is None
            else:
                assert told.text == "It is what it is." and "was moved" in told.error
    house.model.answers(words("Nothing is known of it."))
    eventually(lambda: house.tenant.admin.post("/v1/chat/stream", asking("tab", QUESTION)).status_code == 200)
    replies = [content for role, _, content in said(house.tenant, "tab") if role == "assistant"]
    assert "It is what it is." not in replies and replies


def test_iso_12_what_was_deleted_since_is_not_shown_to_who_follows_later(house: House) -> None:
    (message,) = messages(house.tenant, "in the garden")
    with ExitStack() as stack:
        reader = house.ask(stack)
        assert house.tenant.admin.delete(f"/v1/messages/{message['id']}").status_code == 200
        follower = house.follow(stack)
        house.gate.open()
        told = follower.rest()
        assert told.text == reader.rest().text == "It is what it is."
    assert told.context["relevant_history"] == [] and SECRET not in repr(told.events)


def test_iso_12_memories_and_entities_that_went_are_not_shown_to_who_follows_later(house: House) -> None:
    """Those that are still there are; what they say is read again."""
    tenant = house.tenant
    tenant.admin.patch(f"/org/projects/{house.garden}", {"settings": {"min_relevance": 0}})
    tenant.new_session("notes", project_id=house.garden)
    tenant.say("notes", "My brother Xandor1 works at Zentrix, where the vault is.")
    tenant.say("in the garden", "My brother Xandor2 works at Zentrix, where the vault is.")
    for session in ("notes", "in the garden"):
        tenant.admin.made(f"/v1/sessions/{session}/extract", None)
    with ExitStack() as stack:
        body = asking("tab", "Where do my brothers work, and the vault?", project_id=house.garden)
        reader = stack.enter_context(streaming(tenant, "POST", STREAM, body))
        before = repr(reader.until("data-context"))
        assert "Xandor1" in before and "Xandor2" in before
        tenant.admin.delete("/v1/sessions/notes")
        follower = house.follow(stack)
        house.gate.open()
        told = follower.rest()
    kept = told.context
    assert "Xandor1" not in repr(told.events)
    assert [m["content"] for m in kept["memories"]] and "Xandor2" in repr(kept["entities"])


@pytest.mark.parametrize("what", ["cleared", "deleted", "question"])
def test_iso_12_a_turn_whose_session_is_forgotten_ends_for_all(house: House, what: str) -> None:
    """Soon, and not only when the model has said it all; nothing is kept."""
    tenant = house.tenant
    with ExitStack() as stack:
        readers = [house.ask(stack), house.follow(stack)]
        house.gate.let(1)
        for reader in readers:
            reader.until("text-delta")
        if what == "question":
            tenant.admin.delete(f"/v1/messages/{messages(tenant, 'tab')[0]['id']}")
        elif what == "cleared":
            assert tenant.admin.post("/v1/sessions/tab/clear").status_code == 200
        else:
            assert tenant.admin.delete("/v1/sessions/tab").status_code == 200
        for reader in readers:
            assert reader.rest().error
        assert tenant.admin.get(FOLLOW).status_code == (404 if what == "deleted" else 204)
        house.gate.open()
    if what != "deleted":
        assert messages(tenant, "tab") == []


def revoke(house: House, key_id: str) -> None:
    assert house.tenant.admin.delete(f"/org/api-keys/{key_id}").status_code == 204


@pytest.mark.parametrize("entry", ["ask", "follow"])
def test_iso_12_a_revoked_key_receives_no_more(house: House, entry: str) -> None:
    """Within two seconds, though the turn goes on, and another reader sees its end."""
    fields = {"name": "reader", "permissions": ["read", "write"], "project_id": house.garden, "confined": True}
    made = house.tenant.admin.made("/org/api-keys", fields)
    with ExitStack() as stack:
        asker = house.ask(stack, made["key"] if entry == "ask" else None)
        other = house.follow(stack, made["key"] if entry == "follow" else None)
        revoked, still = (asker, other) if entry == "ask" else (other, asker)
        house.gate.let(1)
        revoked.until("text-delta")
        revoke(house, made["key_id"])
        told = revoked.rest()
        assert "has changed" in told.error and told.text == "It is"
        house.gate.open()
        assert still.rest().text == "It is what it is."
    wait_for_reply(house)
    assert said(house.tenant, "tab")[1][1] == "completed"


@pytest.mark.parametrize("change", ["move", "clear", "delete", "revoke"])
def test_iso_12_what_another_process_changes_ends_a_stream_too(house: House, elsewhere: Server, change: str) -> None:
    """By the check that comes every so often: the model does not say a word meanwhile."""
    fields = {"name": "reader", "permissions": ["read"], "project_id": house.garden, "confined": True}
    made = house.tenant.admin.made("/org/api-keys", fields)
    other = house.tenant.at(elsewhere).admin
    with ExitStack() as stack:
        house.ask(stack)
        follower = house.follow(stack, made["key"])
        house.gate.let(1)
        follower.until("text-delta")
        answer = {
            "move": lambda: other.patch("/v1/sessions/tab", {"project_id": house.kitchen}),
            "clear": lambda: other.post("/v1/sessions/tab/clear"),
            "delete": lambda: other.delete("/v1/sessions/tab"),
            "revoke": lambda: other.delete(f"/org/api-keys/{made['key_id']}"),
        }[change]()
        assert answer.status_code in (200, 204)
        told = follower.rest()
        assert told.error and told.text == "It is"


def test_iso_12_a_deleted_project_takes_its_confined_followers_off(house: House) -> None:
    gardener = house.confined(house.garden)
    with ExitStack() as stack:
        reader, follower = house.ask(stack), house.follow(stack, gardener)
        house.gate.let(1)
        follower.until("text-delta")
        assert house.tenant.admin.delete(f"/org/projects/{house.garden}").status_code == 200
        assert "has changed" in follower.rest().error
        house.gate.open()
        assert reader.rest().text == "It is what it is."


@pytest.mark.parametrize("moment", ["while it follows", "before it follows"])
def test_iso_12_a_project_that_is_divided_takes_others_words_from_a_bound_key(
    tenant: Tenant, model: FakeEndpoint, moment: str
) -> None:
    """Ann's turn recalled bob's words while they shared; when they are divided her key is shown none of them any more."""
    project = tenant.new_project("Team", member_visibility="shared")
    tenant.new_session("bob's", project_id=project, user_id="bob")
    tenant.say("bob's", SECRET)
    ann = tenant.new_key("read", "write", user_id="ann")
    gate = Gate()
    model.answers(words("It is", " so.", gate=gate))
    with ExitStack() as stack:
        body = asking("tab", QUESTION, project_id=project, user_id="ann")
        asker = stack.enter_context(streaming(tenant, "POST", STREAM, body, key=ann))
        assert SECRET in repr(asker.until("data-context"))
        gate.let(1)
        asker.until("text-delta")
        assert tenant.admin.patch(f"/org/projects/{project}", {"member_visibility": "private"}).status_code == 200
        if moment == "while it follows":
            assert "has changed" in asker.rest().error
        else:
            assert tenant.caller(ann).get(FOLLOW).status_code == 204
            admin = stack.enter_context(streaming(tenant, "GET", FOLLOW))
            gate.open()
            assert SECRET not in repr(admin.rest().events)
        gate.open()


def test_iso_12_only_who_shared_with_nobody_follows_on_after_a_move(house: House) -> None:
    """A key bound to the user reaches both places: it could have asked the question, and all that was recalled is that user's."""
    tenant = house.tenant
    tenant.new_session("ann's", project_id=house.garden, user_id="ann")
    tenant.say("ann's", "The vault's door is green.")
    ann = tenant.new_key("read", "write", user_id="ann")
    with ExitStack() as stack:
        body = asking("tab", QUESTION, project_id=house.garden)
        reader = stack.enter_context(streaming(tenant, "POST", STREAM, body, key=ann))
        reader.until("data-context")
        house.move()
        house.gate.open()
        assert reader.rest().text == "It is what it is."


def test_iso_12_a_reply_that_quotes_leaves_its_quotation_where_it_was_recalled(house: House) -> None:
    """ISO-5: its own words come along, to readers and to the next prompt; moved back, all of it is there again."""
    block = f"<recalled-memory>\n- {SECRET}\n</recalled-memory>"
    house.model.answers(words(f"I was told: {block} So much for that."), words("Fine."))
    say(house.tenant.admin, "tab", QUESTION, project_id=house.garden)
    assert SECRET in messages(house.tenant, "tab")[1]["content"]
    house.move()
    own = messages(house.tenant, "tab")[1]["content"]
    assert own.split() == ["I", "was", "told:", "So", "much", "for", "that."]
    say(house.tenant.admin, "tab", "And now?")
    prompt = shown(house.model.asked[-1].body)
    assert own in prompt and SECRET not in prompt
    context = house.tenant.admin.made("/v1/context", {"session_id": "tab", "query": QUESTION})
    assert SECRET not in repr(context)
    house.move(house.garden)
    assert SECRET in messages(house.tenant, "tab")[1]["content"]


def test_iso_12_a_client_that_records_what_it_quoted_leaves_it_behind_too(house: House) -> None:
    """A reply that was made elsewhere and recorded by `POST …/messages`, and one that is nothing but a quotation."""
    house.tenant.new_session("tab", project_id=house.garden)
    block = f"<recalled-memory>\n- {SECRET}\n</recalled-memory>"
    for content in (block, f"{block} Own words."):
        house.tenant.admin.made("/v1/sessions/tab/messages", {"role": "assistant", "content": content})
    house.move()
    contents = [entry["content"] for entry in messages(house.tenant, "tab")]
    assert "stayed there" in contents[0] and contents[1] == "Own words."


def too_long(gate: Gate) -> Answer:
    """The model cannot read so much, and says so when it is let."""
    refused = refusal(400, "the request exceeds the available context size", code="context_length_exceeded")
    return replace(refused, pause=gate.wait)


def wait_for_reply(house: House) -> None:
    """Until the turn that nobody may follow has been stored."""
    eventually(lambda: len(messages(house.tenant, "tab")) == 2)
