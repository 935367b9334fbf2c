"""`{PROFILE}` in a project's system prompt: the facts of the session's user, from the session's pool, as quoted data (MEM-16)."""

from support.clients.chat_client import Gate, asking, messages, say, shown, streaming, words
from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import Tenant

FACT, OTHER = "The user keeps eleven parrots.", "The user collects thimbles."


def add(tenant: Tenant, session: str, content: str) -> str:
    """A memory of the session; gives its id."""
    added = tenant.admin.made("/v1/memories", {"session_id": session, "contents": [content]})
    return added["appended"][0]["id"]


def system_of(model: FakeEndpoint) -> str:
    return model.asked[-1].body["messages"][0]["content"]


def profiled(tenant: Tenant, template: str = "Know: {PROFILE} Recalled: {MEMORY.CONTEXT}") -> str:
    garden = tenant.new_project("Garden")
    tenant.admin.patch(f"/org/projects/{garden}", {"settings": {"system_prompt": template}})
    return garden


def test_mem_16_a_prompt_knows_the_user_whatever_was_asked(tenant: Tenant, model: FakeEndpoint) -> None:
    """In one block of quoted data; nothing of another user, project or pool; each fact once in the prompt."""
    garden, kitchen = profiled(tenant), tenant.new_project("Kitchen")
    for name, project, user, content in (
        ("ada's", garden, "ada", FACT),
        ("bob's", garden, "bob", "The user fears spiders."),
        ("next door", kitchen, "ada", "The user is in the kitchen."),
        ("outside", None, "ada", "The user is outside."),
    ):
        tenant.new_session(name, project_id=project, user_id=user)
        add(tenant, name, content)
    model.answers(words("Hello."))
    say(tenant.admin, "new", "Who keeps parrots?", project_id=garden, user_id="ada")
    system = system_of(model)
    assert system.count(FACT) == 1 and system.index(FACT) < system.index("Recalled:")
    for foreign in ("spiders", "kitchen", "outside"):
        assert foreign not in shown(model.asked[-1].body)
    assert system.count("<recalled-memory>") == system.count("</recalled-memory>") >= 1


def test_mem_16_a_session_without_a_user_knows_itself_alone(tenant: Tenant, model: FakeEndpoint) -> None:
    garden = profiled(tenant, "{PROFILE}")
    for name, content in (("first", FACT), ("second", OTHER)):
        tenant.new_session(name, project_id=garden)
        add(tenant, name, content)
    model.answers(words("Hello."))
    say(tenant.admin, "second", "Hello!")
    assert OTHER in system_of(model) and FACT not in system_of(model)


def test_mem_16_a_fact_that_is_forgotten_is_gone_from_the_next_prompt(tenant: Tenant, model: FakeEndpoint) -> None:
    garden = profiled(tenant, "{PROFILE}")
    tenant.new_session("ada's", project_id=garden, user_id="ada")
    memory = add(tenant, "ada's", FACT)
    model.answers(words("Hello."), words("Hello again."))
    say(tenant.admin, "new", "Hello!", project_id=garden, user_id="ada")
    assert FACT in system_of(model)
    assert tenant.admin.request("DELETE", f"/v1/memories/{memory}").status_code == 200
    say(tenant.admin, "new", "Hello!", project_id=garden, user_id="ada")
    assert FACT not in shown(model.asked[-1].body)


def test_mem_16_a_reply_does_not_quote_a_fact_that_was_forgotten_while_it_was_made(
    tenant: Tenant, model: FakeEndpoint
) -> None:
    """MEM-9, ISO-12: only the profile had shown it to the model."""
    garden = profiled(tenant, "{PROFILE}")
    tenant.new_session("ada's", project_id=garden, user_id="ada")
    memory = add(tenant, "ada's", FACT)
    gate = Gate()
    model.answers(words(f"I know: <recalled-memory>\n- {FACT}\n</recalled-memory>", gate=gate))
    with streaming(
        tenant, "POST", "/v1/chat/stream", asking("new", "Hello!", project_id=garden, user_id="ada")
    ) as reader:
        reader.until("data-context")
        tenant.admin.request("DELETE", f"/v1/memories/{memory}")
        gate.open()
        reader.rest()
    assert "parrots" not in repr(messages(tenant, "new"))


def test_mem_16_a_prompt_without_the_placeholder_is_given_no_profile(tenant: Tenant, model: FakeEndpoint) -> None:
    garden = profiled(tenant, "Speak like a sailor.")
    tenant.new_session("ada's", project_id=garden, user_id="ada")
    add(tenant, "ada's", FACT)
    model.answers(words("Aye."))
    say(tenant.admin, "new", "Hello!", project_id=garden, user_id="ada")
    assert system_of(model) == "Speak like a sailor."
