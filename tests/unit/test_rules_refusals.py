"""What the rules refuse to remember, kind by kind. Nothing here may become a memory."""

import pytest

from cloister.domain.memory import quoted
from cloister.models.rules.memories import facts

REFUSED: dict[str, list[str]] = {
    "questions": [
        "Do I live in Rome?",
        "I live in Rome?",
        "I live in Rome, right?",
        "I have a cat, don't I?",
        "what is my name",
        "do you think I should quit my job",
        "Have I told you I am a nurse",
        "any idea if my sister lives in Oslo",
    ],
    "hypotheticals": [
        "If I lived in Rome, I would be a painter.",
        "I might move to Rome.",
        "I could be a nurse.",
        "Maybe I like tea.",
        "I wish I had a dog.",
        "Suppose my name is Bob.",
        "Imagine I have two sons.",
        "Had I moved to Rome, I'd be happy.",
        "Unless I move to Rome, I'll keep the car.",
        "I'd love to live by the sea.",
        "I may move to Rome.",
        "Let's say I am a nurse.",
        "Say I own a bakery.",
        "What if I quit my job.",
    ],
    "quotations": [
        'She said "I live in Rome".',
        "“I am a nurse,” he said.",
        "'I live in Rome' is the first line.",
        "> I live in Rome",
        '"I live in Rome.\nI work as a nurse."\nStrange letter.',
        "He shouted “I live in Rome and never closed the quotation",
    ],
    "reported speech": [
        "My friend says I'm a genius.",
        "He told me I am allergic to nuts.",
        "I live in Rome, she said.",
        "I am vegan, said nobody ever.",
        "According to my mother I am a nurse.",
        "My brother thinks I have two dogs.",
        "I told him I was a doctor.",
    ],
    "others' voices": [
        "Alice: I live in Wonderland.",
        "The email says: I have two sons and I work at IBM.",
        "Proofread this:\n\nI live in Rome and I work as a nurse.",
        "I live in Rome and I work as a nurse.\nTranslate this into German.",
        "Dear Sir,\nI am a nurse and I live in Rome.",
        "Write a bio that starts with I live in Paris.",
        "Here is what my friend sent:\nI live in Rome.",
    ],
    "role play": [
        "Pretend I am a pirate.",
        "You are a therapist. I am a nurse and I live in Rome.",
        "Let's role-play. My name is Bob and I live on Mars.",
        "In this game I am a nurse.",
        "For this exercise my name is Bob.",
        "Act as if I were your boss.",
        "Write me a story. I am a nurse who lives in a castle. I live in Rome.",
    ],
    "code": [
        "```\nI live in Rome\n```",
        "```python\n# I am a nurse, and the fence is never closed",
        "`I have two cats` is printed",
        'print("My name is Max")',
        "    I live in Rome",
        "# I live in Rome",
        '{"bio": "I am a vegan"}',
        "WHERE bio = 'I live in Lisbon';",
        "my_name is I am a nurse",
    ],
    "requests": [
        "I want you to move to the next point.",
        "I need help with my essay.",
        "I have a question about my sister.",
        "I'd like a list of cities.",
        "I want to know how tall it is.",
        "I want to learn more about taxes.",
        "Help me say I am allergic to nuts in Thai.",
        "I'm looking for a recipe.",
    ],
    "the moment": [
        "I'm tired today.",
        "I'm hungry.",
        "I feel great.",
        "I'm going to the shop now.",
        "I'm on the train right now.",
        "I have a meeting in ten minutes.",
        "I'll be right back.",
        "My phone is at 5%.",
        "My car is in the shop.",
        "My boss is angry.",
    ],
    "ignorance": [
        "I don't know.",
        "I don't know whether I'm allergic to cats.",
        "I have no idea.",
        "I'm not sure I live in the right place.",
        "I don't think I like fish.",
        "I forgot what my job is.",
        "I think I'm allergic to nuts.",
    ],
    "things out of sight": [
        "I love it!",
        "I like your answer.",
        "I love these.",
        "I hate it when this happens.",
        "I sold it.",
        "I decided to go with option B.",
        "I prefer the second one.",
        "I love the way you put it.",
    ],
    "work on a computer": [
        "I moved the file to /tmp.",
        "I moved to the next step.",
        "I switched to the main branch.",
        "I joined the tables on id.",
        "I started the server.",
        "I'm planning to switch to the new API.",
        "I run the shop script.",
        "I collect logs.",
        "I got a job error in the queue.",
    ],
    "figures of speech": [
        "I'm the Queen of England.",
        "I'm married to my job.",
        "I'm allergic to nonsense.",
        "I live for this.",
        "I wasn't born yesterday.",
        "I'm all ears.",
        "I drive a hard bargain.",
        "I turned 90 degrees left.",
        "Call me crazy.",
        "My name is mud.",
    ],
    "secrets": [
        "My password is hunter2.",
        "My name is Ann and my pin is 1234.",
        "My credit card number is 4111 1111 1111 1111.",
    ],
    "other languages": [
        "Ich wohne in Berlin und bin Lehrer.",
        "Je m'appelle Luc et j'habite à Lyon.",
        "Mi chiamo Paolo e I miei amici sono simpatici.",
        "I gatti sono animali domestici.",
        "Mám psa a my máme dům.",
        "私は東京に住んでいます。",
        "Я живу в Москве.",
    ],
    "what is not about the sender": [
        "Paris is the capital of France.",
        "He has a dog.",
        "They live in Lisbon.",
        "You are a nurse.",
        "We sell tea.",
        "Samantha and I have two dogs.",
        "My point is simple.",
        "As an AI, I am a language model.",
    ],
}


@pytest.mark.parametrize(
    "content",
    [pytest.param(content, id=f"{kind}-{n}") for kind, all in REFUSED.items() for n, content in enumerate(all)],
)
def test_it_is_not_remembered(content: str) -> None:
    assert facts(content, None) == []


@pytest.mark.parametrize(
    "content",
    [
        quoted(["I live in Rome", "I am a nurse"]),
        f"{quoted(['I live in Rome'])}\nThanks!",
        "<recalled-memory>\n- I live in Rome, and the mark is never closed",
        "- I live in Rome, and the mark was opened earlier\n</recalled-memory>",
        "< Recalled-Memory >I live in Rome</ recalled-memory >",
        "<context>\nI live in Rome.\n</context>",
        '<memory id="1">I live in Rome.</memory>',
        "<relevant_history>I live in Rome.",
        "[recalled] I live in Rome",
        "Relevant memories:\n- I live in Rome\n- I am a nurse",
    ],
)
def test_mem_10_recalled_text_is_no_evidence(content: str) -> None:
    assert facts(content, None) == []


def test_mem_10_what_is_said_beside_recalled_text_still_counts() -> None:
    content = f"{quoted(['I live in Rome'])}\nI live in Oslo."
    assert [fact.content for fact in facts(content, None)] == ["The user lives in Oslo."]


@pytest.mark.parametrize(
    ("content", "memory"),
    [
        ("I live in Rome, let me know if that matters.", "The user lives in Rome."),
        ("I live in Rome and would love to see Naples.", "The user lives in Rome."),
        ("I'm a nurse, and my friend says I work too much.", "The user is a nurse."),
        ("I told you I live in Rome.", "The user lives in Rome."),
        ("Update: I moved to Rome.", "The user moved to Rome."),
        ("About me:\n- I live in Rome", "The user lives in Rome."),
        ("Please remember that I'm vegan.", "The user is vegan."),
    ],
)
def test_a_doubt_reaches_no_further_than_it_must(content: str, memory: str) -> None:
    assert [fact.content for fact in facts(content, None)] == [memory]
