"""Pinned and archived sessions, and their own system prompts, through every way in."""

import pytest

from cloister import Cloister, InvalidRequest, NotFound
from support.clients.entry_points import EMBEDDED, REMOTE, every_way, only

PROMPT = "Speak like a sailor."


@every_way
def test_a_session_is_pinned_archived_and_given_a_prompt(memory: Cloister) -> None:
    for name in ("a", "b"):
        memory.create_session(name)
    assert memory.update_session("a", pinned=True).pinned
    changed = memory.update_session("b", archived=True, system_prompt=PROMPT)
    assert (changed.archived, changed.system_prompt, len(changed.warnings)) == (True, PROMPT, 1)
    assert [session.external_id for session in memory.sessions(pinned=True)] == ["a"]
    assert [session.external_id for session in memory.sessions(archived=False)] == ["a"]
    reset = memory.update_session("b", archived=False, system_prompt=None)
    assert (reset.archived, reset.system_prompt, reset.warnings) == (False, None, ())
    assert [session.external_id for session in memory.sessions()] == ["b", "a"]


@every_way
def test_a_conversation_is_read_from_its_end_and_around_a_message(memory: Cloister) -> None:
    memory.create_session("talk")
    ids = [memory.record("talk", "user", f"Note {number}.").id for number in range(5)]
    assert [message.id for message in memory.messages("talk", before="end", limit=2)] == ids[3:]
    assert [message.id for message in memory.messages("talk", before=ids[3], limit=2)] == ids[1:3]
    assert [message.id for message in memory.messages("talk", around=ids[2], limit=3)] == ids[1:4]
    with pytest.raises(NotFound):
        memory.messages("talk", around="msg_0000000000200001")
    with pytest.raises(InvalidRequest):
        memory.messages("talk", around=ids[0], before="end")


@only([*EMBEDDED, *REMOTE])
def test_cursors_of_messages_go_in_both_directions(memory: Cloister) -> None:
    memory.create_session("talk")
    ids = [memory.record("talk", "user", f"Note {number}.").id for number in range(5)]
    found = memory.messages("talk", before="end", limit=2)
    assert found.next_cursor is None
    found = memory.messages("talk", cursor=found.previous_cursor, limit=2)
    assert [message.id for message in found] == ids[1:3]
    assert [message.id for message in memory.messages("talk", cursor=found.next_cursor, limit=9)] == ids[3:]
