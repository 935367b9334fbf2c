"""What is new in a history that a client sends again: each message is stored once, and the past stays as it was said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.domain.conversation import Draft, Message, Role, Status
from cloister.domain.history import compare
from cloister.domain.identifiers import SessionId, message_id

LETTERS: dict[str, Role] = {"u": "user", "a": "assistant"}


def drafts(*words: str) -> list[Draft]:
    """`u1` is what the user said, `a1` what the assistant did."""
    return [Draft(role=LETTERS[word[0]], content=word) for word in words]


def stored(*words: str) -> list[Message]:
    """As drafts; `a1~` was cut, and `a1!` failed."""
    found: list[Message] = []
    for sequence, word in enumerate(words, 1):
        status: Status = "partial" if word.endswith("~") else "failed" if word.endswith("!") else "completed"
        identity = message_id(SessionId(1), sequence)
        found.append(
            Message(
                id=identity,
                session=SessionId(1),
                role=LETTERS[word[0]],
                content=word.rstrip("~!"),
                author=None,
                status=status,
                episode=identity,
                is_memory_checked=False,
                tokens=1,
                metadata={},
                created_at=sequence,
            )
        )
    return found


@pytest.mark.parametrize(
    ("existing", "sent", "new"),
    [
        ("", "u1", "u1"),
        ("", "u1 a1 u2", "u1 a1 u2"),
        ("u1 a1", "u1 a1 u2", "u2"),
        ("u1 a1 u2 a2", "u1 a1 u2 a2 u3", "u3"),
        ("u1 a1 u2 a2", "u2 a2 u3", "u3"),
        ("u1 a1 u2 a2", "u3", "u3"),
        ("u1 a1 u2 a2", "u1", "u1"),
        ("u1 a1 u2 a2", "u1 a1 u2", "u2"),
        ("u1 a1 u2 a2", "u1 a1 u2x", "u2x"),
        ("u1 a1 u2 a2", "u1x a1 u2 a2 u3", "u3"),
        ("u1 a1 u2 a2", "u1 a1x u2 a2x u3", "u3"),
        ("u1 a1~", "u1 a1x u2", "u2"),
        ("u1 a1!", "u1 u2", "u2"),
        ("u1 a1", "u1 a1 u2 a2 u3", "u2 a2 u3"),
        ("u1 a1", "u1 a1 u2 u3", "u2 u3"),
    ],
    ids=lambda given: given or "nothing",
)
def test_only_what_comes_after_the_last_known_message_is_new(existing: str, sent: str, new: str) -> None:
    found = compare(drafts(*sent.split()), stored(*existing.split()), continues=False)
    assert [draft.content for draft in found.new] == new.split()
    assert found.answering is None


@pytest.mark.parametrize("existing", ["u1 a1 u2", "u1 a1 u2 a2~", "u1 a1 u2 a2!"])
@pytest.mark.parametrize("sent", ["u1 a1 u2", "u2"])
def test_what_waits_for_its_reply_is_not_said_again(existing: str, sent: str) -> None:
    """A client that tries again, after a failure or a cut."""
    found = compare(drafts(*sent.split()), stored(*existing.split()), continues=False)
    assert found.new == ()
    assert found.answering is not None and found.answering.content == "u2"


@pytest.mark.parametrize(
    ("existing", "sent", "new", "answering"),
    [
        ("u1", "u1", "", "u1"),
        ("u1 a1", "u1 a1", "", "u1"),
        ("u1 a1 u2", "u1 a1 u2", "", "u2"),
        ("", "u1", "u1", None),
        ("", "u1 a1", "u1 a1", None),
        ("a0", "u1 a0", "u1", None),
    ],
)
def test_a_reply_to_tools_answers_what_was_asked(existing: str, sent: str, new: str, answering: str | None) -> None:
    found = compare(drafts(*sent.split()), stored(*existing.split()), continues=True)
    assert [draft.content for draft in found.new] == new.split()
    assert (found.answering and found.answering.content) == answering


def test_spaces_make_no_difference() -> None:
    sent = [Draft(role="user", content=" u1\n"), Draft(role="user", content="u2")]
    assert compare(sent, stored("u1", "a1"), continues=False).new == (sent[1],)


@given(st.lists(st.sampled_from(["yes", "no", "why?", "go on"]), min_size=1, max_size=8))
def test_a_client_that_sends_everything_every_time_stores_everything_once(said: list[str]) -> None:
    """Also where the same is said again and again."""
    history: list[str] = []
    kept: list[str] = []
    for turn, words in enumerate(said):
        sent = [
            Draft(role="assistant" if place % 2 else "user", content=text)
            for place, text in enumerate([*history, words])
        ]
        messages = [
            message._replace(content=text, role="assistant" if place % 2 else "user")
            for place, (message, text) in enumerate(zip(stored(*["u"] * len(kept)), kept, strict=True))
        ]
        reply = f"reply {turn}"
        kept += [*(draft.content for draft in compare(sent, messages, continues=False).new), reply]
        history += [words, reply]
    assert kept == history
