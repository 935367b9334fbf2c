"""The prompt: what stands where, what is quoted, and what is left out."""

from dataclasses import replace

from cloister.domain.context import Context, Derived, Item
from cloister.domain.conversation import Message, Role, Status
from cloister.domain.entity import Entity
from cloister.domain.identifiers import EntityId, MemoryId, MessageId, ProjectId, SessionId
from cloister.domain.memory import Memory, StoredMemory, without_recalled
from cloister.domain.prompts.prompt import DEFAULT_TEMPLATE, prompt, system_part

MOMENT = 1_700_000_000_000_000


def message(number: int, content: str, role: Role = "user", status: Status = "completed") -> Message:
    return Message(
        id=MessageId(number),
        session=SessionId(1),
        role=role,
        content=content,
        author=None,
        status=status,
        episode=MessageId(number),
        is_memory_checked=False,
        tokens=1,
        metadata={},
        created_at=MOMENT + number,
    )


def context(*said: Message, history: tuple[Message, ...] = (), memories: tuple[str, ...] = ()) -> Context:
    stored = tuple(
        StoredMemory(
            memory=Memory(
                id=MemoryId(1),
                session=SessionId(2),
                content=content,
                importance=None,
                sources=(),
                created_at=MOMENT,
                valid_from=MOMENT,
                source="written",
            ),
            session="other-session",
            user="ada",
            project=ProjectId(7),
        )
        for content in memories
    )
    return Context(
        session="own-session",
        project=ProjectId(7),
        current_conversation=tuple(Item(message=entry, session="own-session", source="session") for entry in said),
        relevant_history=tuple(Item(message=entry, session="other-session", source="semantic") for entry in history),
        derived=Derived(memories=stored),
        tokens=1,
        omitted={},
    )


def test_each_placeholder_is_filled_once_and_what_it_brings_is_not_read_again() -> None:
    """MEM-7."""
    shown = system_part("{MEMORY.CONTEXT}|{RELEVANT.HISTORY}", context(memories=("{RELEVANT.HISTORY} {ENTITIES}",)))
    assert "- {RELEVANT.HISTORY} {ENTITIES}" in shown
    assert shown.endswith("|")


def test_a_template_without_placeholders_is_given_nothing() -> None:
    """MEM-7."""
    assert system_part("Be brief.", context(memories=("A secret.",), history=(message(9, "Another."),))) == "Be brief."


def test_where_nothing_was_recalled_no_block_is_left_behind() -> None:
    assert "recalled-memory" not in system_part(None, context())


def test_all_that_was_recalled_is_inside_of_marked_blocks() -> None:
    """MEM-10: read back, a prompt has nothing of it as evidence."""
    entity = Entity(
        id=EntityId(1),
        project=ProjectId(7),
        user=None,
        name="Anna",
        type="person",
        notes="plays the cello",
        sources=(),
        created_at=MOMENT,
    )
    whole = context(history=(message(9, "The code\nis 7419."),), memories=("The door is green.",))
    whole = replace(whole, derived=replace(whole.derived, entities=(entity,)))
    shown = system_part(None, whole)
    for words in ("7419", "green", "cello"):
        assert words in shown and words not in without_recalled(shown)
    assert "- 2023-11-14, user: The code is 7419." in shown


def test_ids_tags_and_names_of_sessions_are_not_in_it() -> None:
    """CTX-3."""
    shown = str(
        prompt(None, context(message(1, "Hi."), history=(message(9, "Hello."),), memories=("Yes.",)), message(2, "So?"))
    )
    for mark in ("own-session", "other-session", "proj_", "msg_", "mem_", "ada"):
        assert mark not in shown


def test_the_question_comes_last_whatever_the_context_left_out() -> None:
    question = message(3, "Which?")
    asked = [{"role": "user", "content": "Which?"}]
    assert prompt("", context(question), question)[1:] == asked
    assert prompt("", context(), question)[1:] == asked
    assert prompt("", context(message(4, "Later."), question), question)[-1]["content"] == "Later.\n\nWhich?"


def test_failed_replies_are_left_out_and_neighbours_of_one_role_are_one() -> None:
    said = (
        message(1, "One."),
        message(3, "Two."),
        message(4, "No model.", role="assistant", status="failed"),
        message(5, "A tool says.", role="tool"),
    )
    shown = prompt("Template.", context(*said), message(6, "Three."))
    assert shown == [
        {"role": "system", "content": "Template."},
        {"role": "user", "content": "One.\n\nTwo.\n\nThree."},
    ]


def test_a_reply_that_was_cut_off_is_shown_so_that_the_model_can_go_on() -> None:
    said = (message(1, "One."), message(2, "Hal", role="assistant", status="partial"))
    assert prompt("", context(*said), message(3, "Continue."))[1:] == [
        {"role": "user", "content": "One."},
        {"role": "assistant", "content": "Hal"},
        {"role": "user", "content": "Continue."},
    ]


def test_the_usual_template_holds_every_placeholder() -> None:
    for name in ("{MEMORY.CONTEXT}", "{RELEVANT.HISTORY}", "{ENTITIES}", "{OBSERVATIONS}"):
        assert name in DEFAULT_TEMPLATE
