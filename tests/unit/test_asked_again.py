"""Messages that only ask the question again, and replies that do not know its answer, take no place from the answer (CTX-7)."""

import pytest

from cloister.domain.recall.wording.order import asks_for_order
from cloister.domain.recall.wording.questions import asks, sentences
from cloister.index import terms
from cloister.services.recall.repetition.asked_again import AskedWords, asks_about, does_not_know, repeats

GATE = "What is the gate code?"


def is_repeated(text: str, question: str) -> bool:
    return repeats(text, frozenset(terms.term_list(text)), AskedWords(question))


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Will loves sushi", "Who loves sushi?"),
        ("May hates oysters.", "Who hates oysters?"),
        ("Had surgery.", "When did I have surgery?"),
        ("Had the surgery", "When did I have the surgery?"),
        ("Any dog is welcome", "Where is any dog welcome?"),
        ("Can loves the sea.", "Who loves the sea?"),
        ("Is a vegetarian", "Who is a vegetarian?"),
        ("Did the dishes", "Who did the dishes?"),
        ("When I was young", "When was I young?"),
        ("What I love is sushi", "What do I love, sushi?"),
        ("Where is Clara? She is here.", "Where is Clara?"),
        ("The gate code is 4417. What is the gate code?", GATE),
        ("I need the gate code.", "Who needs the gate code? I need to know."),
        ("I forgot the gate code.", "Who forgot the gate code?"),
        ("What is the gate code of the barn?", GATE),
    ],
)
def test_what_says_something_is_no_repetition(text: str, question: str) -> None:
    """A name, a verb or a question word at the beginning does not make a statement a question."""
    assert not is_repeated(text, question)


@pytest.mark.parametrize(
    "text",
    [
        "What's the gate code?",
        "what is the gate code",
        "what was the gate code again",
        "Hi! What is the gate code?",
        "Hello Anna, good morning. What is the gate code?",
        "What is the gate code? Thanks!",
        "I am at the gate. What is the gate code?",
        "I forgot again. What is the gate code? Please tell me.",
        "Do you remember the gate code?",
        "Do you know the gate code?",
        "Can you tell me the gate code?",
        "Could you remind me of the gate code please?",
        "gate code?",
        "Tell me the gate code.",
        "I need the gate code",
        "I'd like to know the gate code",
        "I forgot the gate code.",
        "Any idea what the gate code is?",
    ],
)
def test_a_question_is_asked_again_in_other_words_and_in_several_sentences(text: str) -> None:
    assert is_repeated(text, GATE)
    assert is_repeated(GATE, text)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Wie lautet der Code für das Tor?", "Weißt du, wie der Code für das Tor lautet?"),
        ("Sag mir den Code für das Tor.", "Wie lautet der Code für das Tor?"),
        ("¿Cuál es el código de la puerta?", "¿Sabes cuál es el código de la puerta?"),
        ("Quel est le code du portail ?", "Tu te souviens du code du portail ?"),
        ("Qual è il codice del cancello?", "Ricordi il codice del cancello?"),
        ("Какой код от ворот?", "Напомни код от ворот?"),
        ("大门的密码是多少？", "大门密码是多少"),
        ("門の暗証番号は何ですか。", "門の暗証番号は何ですか？"),
    ],
)
def test_a_question_is_asked_again_in_other_languages(text: str, question: str) -> None:
    assert is_repeated(text, question)


def test_a_question_with_other_words_about_the_same_is_told_from_one_about_its_subject() -> None:
    asked = AskedWords(GATE)
    for text, about in (
        ("Which code opens the gate?", "same"),
        ("Is the gate open on Sundays?", None),
        ("Where is the gate?", "subject"),
        ("The gate code is 4417.", None),
    ):
        assert asks_about(text, frozenset(terms.term_list(text)), asked) == about, text


def test_words_to_find_are_not_asked_in_other_words_by_a_message_with_them() -> None:
    """As it was seen: a search for "ladder" put a reply that only stood near it before "And the ladder?"."""
    text = "And the ladder?"
    found = frozenset(terms.term_list(text))
    assert asks_about(text, found, AskedWords("ladder")) == "subject"
    assert asks_about(text, found, AskedWords("Which ladder?")) == "same"


@pytest.mark.parametrize(
    "text",
    [
        "I don't know.",
        "I'm not sure.",
        "I don't have that information. Could you tell me the gate code?",
        "Sorry, I don't know. You haven't told me the code yet.",
        "I'm sorry, but I don't have access to that.",
        "You haven't told me.",
        "Sorry, I have no record of a gate code.",
        "I can't find it. Would you like to tell me?",
        "As an AI language model, I don't have access to your gate code.",
        "I don't have any information about the gate code in our conversation. If you share it, I can remember it for next time.",
        "Unfortunately I can't help with that.",
        "The gate code hasn't been mentioned in our conversations.",
        "There is no mention of a gate code.",
        "Hi! I'm afraid I don't know the gate code. Let me know if I can help with anything else!",
    ],
)
def test_a_reply_in_several_sentences_that_does_not_know_says_nothing(text: str) -> None:
    assert does_not_know(text, AskedWords(GATE))


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Das weiß ich leider nicht.", "Wie lautet der Code für das Tor?"),
        ("Leider habe ich keine Informationen über den Code für das Tor.", "Wie lautet der Code für das Tor?"),
        ("Tut mir leid, ich kenne den Code nicht. Kannst du ihn mir sagen?", "Wie lautet der Code für das Tor?"),
        ("No lo sé.", "¿Cuál es el código de la puerta?"),
        ("Lo siento, no tengo información sobre el código.", "¿Cuál es el código de la puerta?"),
        ("Je ne sais pas.", "Quel est le code du portail ?"),
        ("Désolé, je n'ai pas cette information.", "Quel est le code du portail ?"),
        ("Non lo so.", "Qual è il codice del cancello?"),
        ("Mi dispiace, non ho informazioni.", "Qual è il codice del cancello?"),
        ("Não sei.", "Qual é o código do portão?"),
        ("Infelizmente não tenho essa informação.", "Qual é o código do portão?"),
        ("Dat weet ik helaas niet.", "Wat is de code van de poort?"),
        ("К сожалению, я не знаю.", "Какой код от ворот?"),
        ("抱歉，我不知道大门的密码。", "大门的密码是多少？"),
        ("对不起，我没有相关的信息。您能告诉我吗？", "大门的密码是多少？"),
        ("申し訳ありません、わかりません。", "門の暗証番号は何ですか？"),
        ("すみません、門の暗証番号についての情報はありません。", "門の暗証番号は何ですか？"),
    ],
)
def test_a_reply_in_another_language_that_does_not_know_says_nothing(text: str, question: str) -> None:
    assert does_not_know(text, AskedWords(question))


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Clara isn't allergic to nuts.", "Is Clara allergic to nuts?"),
        ("Clara is not available.", "Is Clara available?"),
        ("I don't know, but Clara is allergic to nuts.", "Is Clara allergic to nuts?"),
        ("I don't eat fish.", "Do you eat fish?"),
        ("No, the gate has no code.", "Does the gate have a code?"),
        ("I don't know the gate code. Ask Peter.", GATE),
        ("Clara kann nicht kommen.", "Kann Clara kommen?"),
        ("克拉拉没有狗。", "克拉拉有狗吗？"),
        ("クララは来ません。", "クララは来ますか？"),
    ],
)
def test_a_reply_that_denies_or_knows_something_is_kept(text: str, question: str) -> None:
    assert not does_not_know(text, AskedWords(question))


def test_sentences_end_with_a_mark_and_a_space() -> None:
    assert sentences('It is 4.5 km. "Really?" Yes!') == ["It is 4.5 km.", '"Really?', "Yes!"]
    assert sentences("好的。你好吗？我很好") == ["好的。", "你好吗？", "我很好"]
    assert sentences("a" * 401) == sentences("  ") == ()
    assert not asks('"')


@pytest.mark.parametrize(
    ("question", "ordered"),
    [
        ("What did I do first on my trip?", True),
        ("Which did I attend first, the workshop or the webinar?", True),
        ("In which order did we visit the cities?", True),
        ("List the events in chronological order", True),
        ("What happened next?", True),
        ("What was the first thing I bought?", True),
        ("Was habe ich zuerst gemacht?", True),
        ("我先后去了哪里？", True),
        ("What is my first name?", False),
        ("What do I need in order to travel?", False),
        ("Where did I live last year?", False),
        ("What is the gate code?", False),
        ("Who orders the pizza?", False),
    ],
)
def test_ctx_9_a_question_of_order_is_told_by_its_words(question: str, ordered: bool) -> None:
    assert asks_for_order(question) is ordered
