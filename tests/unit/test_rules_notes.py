"""Observations without a model: a sentence for a stretch of conversation."""

from cloister.domain.extraction import Statement
from cloister.domain.identifiers import MessageId
from cloister.models.rules.extractor import Rules


def conversation(*turns: tuple[str, str]) -> list[Statement]:
    return [
        Statement(id=MessageId(number), role=role, content=content, author=None, created_at=number)
        for number, (role, content) in enumerate(turns, 1)
    ]


TRIP = conversation(
    ("user", "Hi!"),
    ("assistant", "Hello, how can I help you today?"),
    ("user", "The ferry from Split to Vis leaves on 12 June with our bicycles and the tent."),
    ("assistant", "That sounds lovely, you will enjoy it."),
    ("user", "Thanks a lot!"),
    ("assistant", "You're welcome!"),
)


def test_a_note_is_the_sentence_that_carries_most_with_its_speaker_and_source() -> None:
    assert Rules().notes(TRIP) == [
        ("User: The ferry from Split to Vis leaves on 12 June with our bicycles and the tent", (3,))
    ]


def test_there_is_at_most_one_note_for_six_messages() -> None:
    assert len(Rules().notes(TRIP * 5)) == 5
    assert len(Rules().notes(TRIP * 5 + TRIP[:2])) == 5


def test_a_few_words_are_not_worth_a_note() -> None:
    assert Rules().notes([]) == []
    assert Rules().notes(TRIP[2:4]) == []
    assert Rules().notes(conversation(*[("user", "ok"), ("assistant", "fine")] * 6)) == []


def test_questions_quotations_and_code_are_not_noted() -> None:
    turns = [
        ("user", "Which ferry leaves Split for Vis on 12 June with bicycles and tents?"),
        ("user", "> The ferry from Split to Vis leaves on 12 June with bicycles"),
        ("user", "```\nferry = Split.to(Vis, bicycles, tents, june)\n```"),
    ]
    assert Rules().notes(conversation(*turns)) == []


def test_mem_10_recalled_text_is_not_noted() -> None:
    recalled = "<recalled-memory>The ferry from Split to Vis leaves on 12 June with bicycles.</recalled-memory>"
    assert Rules().notes(conversation(*[("user", recalled)] * 6)) == []


def test_a_note_is_one_short_line_by_its_author() -> None:
    long = " ".join(f"word{n}" for n in range(400))
    spoken = [
        Statement(id=MessageId(n), role="user", content=f"{long}\nsecond line", author="Ana", created_at=n)
        for n in range(6)
    ]
    ((note, sources),) = Rules().notes(spoken)
    assert note.startswith("Ana: word0 ")
    assert len(note) < 220
    assert "\n" not in note
    assert len(sources) == 1
