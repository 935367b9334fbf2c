"""Conversations as an application has them, through the ways in that `support.clients.entry_points` lists."""

from collections.abc import Callable

import pytest

import cloister
from cloister import Cloister, Conflict, InvalidRequest, NotFound, TooLarge
from support.clients.entry_points import EMBEDDED, HTTP, REMOTE, every_way, only


def contents(items: tuple[cloister.ContextItem, ...]) -> list[str]:
    return [item.content for item in items]


@every_way
def test_what_was_said_in_another_session_is_not_in_the_current_conversation(memory: Cloister) -> None:
    """CTX-4"""
    memory.create_session("one")
    memory.create_session("two")
    memory.record("one", "user", "Hello session 1")
    memory.record("two", "user", "Hello session 2")
    memory.record("one", "user", "What did I say?")
    context = memory.context("one", min_relevance=0)
    assert contents(context.current_conversation) == ["Hello session 1", "What did I say?"]
    assert {item.source for item in context.current_conversation} == {"session"}
    assert contents(context.relevant_history) == ["Hello session 2"]
    assert {item.source for item in context.relevant_history} == {"semantic"}


def test_current_conversation_and_relevant_history_never_overlap_and_chat_history_holds_both(memory: Cloister) -> None:
    """CTX-1"""
    memory.create_session("long")
    for number in range(30):
        memory.record_episode("long", f"Note {number} about the lighthouse.", f"Reply {number} about the lighthouse.")
    context = memory.context("long", "lighthouse")
    current, related = (
        {item.id for item in context.current_conversation},
        {item.id for item in context.relevant_history},
    )
    assert len(current) == 40
    assert len(related) == 20
    assert not current & related
    assert {item.id for item in context.chat_history} == current | related
    assert len(context.chat_history) == 60


def test_ctx_8_what_was_said_before_a_long_message_is_found(memory: Cloister) -> None:
    """CTX-5, CTX-8: a recent message that does not fit does not hide those before it, and is not recalled for itself."""
    memory.create_session("now")
    key = "The quartz drawer key is under the fern."
    long = f"{'We talked about the weather for a while. ' * 360}Where is the quartz drawer key?"
    for said in (key, "The gate squeaks.", long):
        memory.record("now", "user", said)
    found = memory.context("now", "Where is the quartz drawer key?", budget_tokens=1_500)
    assert key in contents(found.relevant_history)
    assert found.tokens <= 1_500
    assert len(found.chat_history) + found.omitted["current_conversation"] == 3
    asked = memory.context("now", budget_tokens=1_500)
    assert key in contents(asked.relevant_history)
    assert long[:40] not in str(asked.chat_history)


def test_a_budget_is_kept_current_conversation_first_and_what_is_left_out_is_said(memory: Cloister) -> None:
    """CTX-5"""
    memory.create_session("past")
    memory.create_session("now")
    for number in range(20):
        memory.record("past", "user", f"The tide table number {number} hangs in the kitchen.")
        memory.record("now", "user", f"Message {number} of this talk.")
    whole = memory.context("now", "tide table")
    assert {reason: number for reason, number in whole.omitted.items() if number} == {"limit": 10}
    half = memory.context("now", "tide table", budget_tokens=whole.tokens // 2)
    assert half.tokens <= whole.tokens // 2
    assert contents(half.current_conversation)[-1] == "Message 19 of this talk."
    # A budget is filled with more than ten of a role: all forty messages are candidates.
    assert half.omitted["budget"] == 40 - len(half.chat_history)
    assert half.omitted["current_conversation"] + half.omitted["relevant_history"] == half.omitted["budget"]
    nothing = memory.context("now", "tide table", budget_tokens=0)
    assert nothing.chat_history == ()
    with pytest.raises(InvalidRequest, match="budget_tokens"):
        memory.context("now", budget_tokens=-1)


def test_tags_and_trigger_are_stamped_and_cannot_be_forged(memory: Cloister) -> None:
    """CTX-3"""
    project = memory.create_project("P").project_id
    memory.create_session("s", project_id=project, user_id="ann", tags=["mood:calm"])
    question = memory.record("s", "user", "Is the kettle on?")
    reply = memory.record("s", "assistant", "It is.")
    assert question.tags == ("session:s", "user:ann", f"project:{project}", "mood:calm")
    assert question.context.trigger_id is None
    assert reply.context.trigger_id == question.id
    assert reply.context.session_id == "s"
    with pytest.raises(InvalidRequest, match="reserved"):
        memory.create_session("forged", tags=["project:proj_0000000000000001"])


def test_every_exchange_becomes_an_episode_that_can_be_found(memory: Cloister) -> None:
    """ISO-9"""
    memory.create_session("s")
    episode = memory.record_episode("s", "Where is the spare key?", "Under the blue flowerpot.")
    assert len(episode.message_ids) == 2
    by_reply, by_question = memory.search("blue flowerpot"), memory.search("spare key")
    assert by_reply[0].id == by_question[0].id == episode.id
    assert len(by_reply) == 1
    memory.record("s", "user", "And the ladder?")
    assert memory.search("ladder")[0].id != episode.id


def test_nothing_crosses_between_projects_and_the_shared_pool(memory: Cloister) -> None:
    """ISO-3, ISO-4"""
    places = {name: memory.create_project(name).project_id for name in ("Garden", "Kitchen")} | {"shared": None}
    for name, project in places.items():
        memory.create_session(f"told {name}", project_id=project)
        memory.record_episode(f"told {name}", "Where are the peas?", f"The peas are in the {name}.")
        memory.create_session(f"asking {name}", project_id=project)
    for name, project in places.items():
        recalled = memory.context(f"asking {name}", "Where are the peas?").relevant_history
        assert {item.session_id for item in recalled} == {f"told {name}"}
        assert f"The peas are in the {name}." in contents(recalled)
        assert {hit.session_id for hit in memory.search("peas", project_id=project)} == {f"told {name}"}
        assert {hit.session_id for hit in memory.search("peas", session_id=f"asking {name}")} == {f"told {name}"}


def test_a_session_created_for_a_project_belongs_to_it_from_its_first_message(memory: Cloister) -> None:
    """ISO-7"""
    project = memory.create_project("P").project_id
    memory.create_session("shared", project_id=None)
    memory.create_session("s", project_id=project)
    memory.record("s", "user", "The vault opens at nine.")
    assert memory.context("shared", "vault").relevant_history == ()
    assert memory.search("vault", project_id=project)


@every_way
def test_a_moved_session_takes_its_whole_history_along(memory: Cloister) -> None:
    """ISO-5"""
    project = memory.create_project("P").project_id
    memory.create_session("s", project_id=None)
    memory.record("s", "user", "The ferry leaves at six.")
    memory.create_session("outside", project_id=None)
    memory.create_session("inside", project_id=project)
    assert memory.update_session("s", project_id=project).project_id == project
    assert contents(memory.context("inside", "ferry").relevant_history) == ["The ferry leaves at six."]
    assert memory.context("outside", "ferry").relevant_history == ()
    assert memory.update_session("s", project_id=None).project_id is None
    assert memory.context("inside", "ferry").relevant_history == ()
    assert contents(memory.context("outside", "ferry").relevant_history) == ["The ferry leaves at six."]


def test_a_dry_run_of_a_move_says_what_would_move_along_and_changes_nothing(memory: Cloister) -> None:
    """ISO-12: and how many replies had been given text of the place that the session would leave."""
    project = memory.create_project("P").project_id
    memory.create_session("s", project_id=project)
    memory.record("s", "user", "What did I say of the ferry?")
    memory.record("s", "assistant", "<recalled-memory>\n- The ferry leaves at six.\n</recalled-memory> At six.")
    memory.add_memories("s", ["The ferry leaves at six."])
    before = memory.session("s")
    preview = memory.preview_move("s", None)
    assert (preview.messages, preview.memories, preview.observations) == (2, 1, 0)
    assert preview.replies_given_recalled_text == 1
    assert memory.preview_move("s", project).messages == 0
    assert memory.session("s") == before


def test_a_quotation_does_not_move_along(memory: Cloister) -> None:
    """ISO-12: what the reply says in its own words does (ISO-5)."""
    project = memory.create_project("P").project_id
    memory.create_session("s", project_id=project)
    memory.record("s", "assistant", "<recalled-memory>\n- The ferry leaves at six.\n</recalled-memory> At six.")
    assert "ferry" in memory.messages("s")[0].content
    memory.update_session("s", project_id=None)
    assert [message.content for message in memory.messages("s")] == ["At six."]
    assert contents(memory.context("s").current_conversation) == ["At six."]


def test_the_shared_pool_and_private_projects_are_divided_by_user(memory: Cloister) -> None:
    """ISO-10"""
    private = memory.create_project("P", member_visibility="private").project_id
    for user in ("ann", "bob"):
        for place, project in (("shared", None), ("private", private)):
            memory.create_session(f"{user} {place}", project_id=project, user_id=user)
            memory.record(f"{user} {place}", "user", f"The lamp of {user} is {place}.")
            memory.create_session(f"{user} asks {place}", project_id=project, user_id=user)
    for user in ("ann", "bob"):
        for place, project in (("shared", None), ("private", private)):
            own = [f"The lamp of {user} is {place}."]
            assert contents(memory.context(f"{user} asks {place}", "lamp").relevant_history) == own
            assert [hit.content for hit in memory.search("lamp", project_id=project, user_id=user)] == own
    assert memory.search("lamp") == []


@every_way
def test_an_id_may_hold_whatever_a_name_may(memory: Cloister) -> None:
    """ISO-1"""
    names = ["a/b", "..", "50%", "a%2Fb", "what? #1 & so = on", "schön – 你好", "one/messages"]
    for name in names:
        memory.create_session(name)
        memory.record(name, "user", f"Said in {name}")
    for name in names:
        assert [(message.session_id, message.content) for message in memory.messages(name)] == [
            (name, f"Said in {name}")
        ]
    assert {session.external_id for session in memory.sessions()} == set(names)
    for name in names:
        assert memory.delete_session(name).messages == 1
    assert memory.sessions() == []


def test_creating_a_session_twice_is_the_same_session_unless_the_fields_differ(memory: Cloister) -> None:
    first = memory.create_session("s", user_id="ann")
    assert memory.create_session("s", user_id="ann") == first
    with pytest.raises(Conflict, match="user_id"):
        memory.create_session("s", user_id="bob")


def test_deleting_a_project_returns_its_sessions_to_the_shared_pool(memory: Cloister) -> None:
    """ORG-5"""
    project = memory.create_project("Doomed").project_id
    memory.create_session("s", project_id=project)
    memory.record("s", "user", "The cellar is damp.")
    memory.create_session("shared", project_id=None)
    assert memory.context("shared", "cellar").relevant_history == ()
    assert memory.delete_project(project) == cloister.DeletedProject(sessions_moved=1, memories_moved=0)
    assert contents(memory.context("shared", "cellar").relevant_history) == ["The cellar is damp."]
    assert memory.session("s").project_id is None
    with pytest.raises(NotFound):
        memory.project(project)
    default = next(found for found in memory.projects() if found.is_default)
    with pytest.raises(Conflict, match="default"):
        memory.delete_project(default.project_id)


def test_clearing_keeps_the_session_and_deleting_frees_its_name(memory: Cloister) -> None:
    memory.create_session("s")
    memory.record_episode("s", "One?", "Two.")
    assert memory.clear_session("s") == cloister.Forgotten(messages=2, episodes=1, memories=0, observations=0)
    assert memory.session("s").message_count == 0
    assert memory.context("s", "one").chat_history == ()
    memory.record("s", "user", "Three.")
    assert memory.delete_session("s") == cloister.Forgotten(messages=1, episodes=1, memories=0, observations=0)
    with pytest.raises(NotFound):
        memory.session("s")
    assert memory.sessions() == []
    memory.create_session("s")
    assert memory.messages("s") == []


def test_a_message_is_forgotten_alone(memory: Cloister) -> None:
    memory.create_session("s")
    first = memory.record("s", "user", "The pin is 4417.")
    memory.record("s", "user", "The tea is green.", author="Ann")
    memory.forget_message(first.id)
    assert [(message.content, message.author) for message in memory.messages("s")] == [("The tea is green.", "Ann")]
    assert [hit.content for hit in memory.search("pin 4417", min_relevance=0)] == ["The tea is green."]
    assert memory.search("pin 4417") == []
    with pytest.raises(NotFound, match=first.id):
        memory.forget_message(first.id)


@every_way
def test_lists_go_page_by_page_and_keep_to_their_limits(memory: Cloister) -> None:
    memory.create_session("s")
    said = [memory.record("s", "user", f"Number {number}.").id for number in range(5)]
    assert [message.id for message in memory.messages("s", limit=2)] == said[:2]
    assert [message.id for message in memory.messages("s", limit=2, after=said[1])] == said[2:4]
    assert [message.id for message in memory.messages("s", after=said[4])] == []
    memory.create_session("t", user_id="ann")
    assert [session.external_id for session in memory.sessions(limit=1)] == ["t"]
    assert [session.external_id for session in memory.sessions(user_id="ann")] == ["t"]
    assert len(memory.search("number", limit=3)) == 3
    for limit in (0, 201):
        with pytest.raises(InvalidRequest, match="limit"):
            memory.sessions(limit=limit)
        with pytest.raises(InvalidRequest, match="limit"):
            memory.messages("s", limit=limit)
        with pytest.raises(InvalidRequest, match="limit"):
            memory.search("number", limit=limit)
    with pytest.raises(NotFound):
        memory.messages("t", after=said[0])


@every_way
def test_what_is_refused_names_the_thing_and_changes_nothing(memory: Cloister) -> None:
    memory.create_session("s")
    with pytest.raises(NotFound, match=r"There is no session 'nobody' here."):
        memory.record("nobody", "user", "Hello?")
    with pytest.raises(NotFound, match=r"There is no project 'proj_00000000deadbeef' here."):
        memory.create_session("t", project_id="proj_00000000deadbeef")
    with pytest.raises(InvalidRequest, match=r"content: must not be empty."):
        memory.record("s", "user", " ")
    with pytest.raises(TooLarge, match=r"content: 65,537 characters, and the limit is 65,536."):
        memory.record("s", "user", "x" * 65_537)
    with pytest.raises(Conflict, match="default"):
        memory.delete_project(memory.projects()[0].project_id)
    assert [(session.external_id, session.message_count) for session in memory.sessions()] == [("s", 0)]


def test_a_session_is_moved_by_a_method_of_its_own(memory: Cloister) -> None:
    project = memory.create_project("Garden").project_id
    memory.create_session("s")
    assert memory.move_session("s", project).project_id == project
    assert memory.move_session("s", None).project_id is None


@only([*EMBEDDED, *HTTP, *REMOTE])
def test_iso_12_a_reply_that_was_given_a_context_is_recorded_only_where_it_was_recalled(memory: Cloister) -> None:
    """By every method that records; a `Conflict` stores nothing, and neither does a token of another session."""
    garden = memory.create_project("Garden").project_id
    memory.create_session("s")
    memory.create_session("t")
    reply = {"role": "assistant", "content": "It opens with 4711."}

    def ways(token: str | None, key: str) -> list[Callable[[], object]]:
        return [
            lambda: memory.record("s", "assistant", "Yes.", if_unmoved_since=token),
            lambda: memory.record("s", "assistant", "Yes.", if_unmoved_since=token, idempotency_key=key),
            lambda: memory.record_batch("s", [reply], if_unmoved_since=token),
            lambda: memory.record_episode("s", "What opens it?", "4711.", if_unmoved_since=token),
        ]

    before = memory.context("s", "safe").unmoved_token
    for record in ways(before, "before"):
        record()
    assert memory.session("s").message_count == 5
    memory.move_session("s", garden)
    # A repeated request has its first answer again.
    memory.record("s", "assistant", "Yes.", if_unmoved_since=before, idempotency_key="before")
    refused = {before: Conflict, memory.context("t", "safe").unmoved_token: InvalidRequest, "forged": InvalidRequest}
    for token, error in refused.items():
        for record in ways(token, "after"):
            with pytest.raises(error):
                record()
    assert memory.session("s").message_count == 5
    for record in ways(memory.context("s", "safe").unmoved_token, "after"):
        record()
    assert memory.session("s").message_count == 10
