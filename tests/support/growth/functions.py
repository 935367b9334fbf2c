"""The functions that read texts from outside: each is given one text, in every position where it can stand."""

import json
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from io import BytesIO

from cloister.domain.archive.conversations import SpokenRecord
from cloister.domain.archive.matching import StoredWords, compare, other_external_id, words_digest
from cloister.domain.conversation import Message
from cloister.domain.entries.operations import put_entry, search_entries
from cloister.domain.errors import InvalidRequest, TooLarge
from cloister.domain.extraction import ManualMemory, Statement
from cloister.domain.files.commands import FileCommand, run_command
from cloister.domain.files.tree import FileError, FileTree
from cloister.domain.identifiers import MemoryId, MessageId, SessionId
from cloister.domain.memory import Memory, StoredMemory, normalised, quoted, same_as
from cloister.domain.prompts.forgotten_text import ForgottenTexts, without_forgotten
from cloister.domain.prompts.outside_text import harmless
from cloister.domain.prompts.outside_values import arguments_without_control_words
from cloister.domain.prompts.recalled_text import own_words
from cloister.domain.prompts.speaker import without_user
from cloister.domain.prompts.title import title_of, title_prompt
from cloister.domain.recall.excerpt import best_passage
from cloister.domain.recall.filter_language import parse_filter, parse_filter_text
from cloister.domain.recall.other_languages import asks_assistant
from cloister.domain.recall.other_languages import named_dates as dates_in_other_languages
from cloister.domain.recall.passage import Passage
from cloister.domain.recall.question import asked_part, parse_question
from cloister.domain.recall.small_talk import is_small_talk
from cloister.domain.recall.small_talk.english import ENGLISH
from cloister.domain.recall.small_talk.grammar import Grammar
from cloister.domain.sessions import titles
from cloister.index import terms
from cloister.interfaces.formats.chat_log import ChatLog
from cloister.interfaces.formats.chatgpt import read_chatgpt
from cloister.interfaces.formats.claude import read_claude
from cloister.interfaces.formats.conversation import Skipped
from cloister.interfaces.formats.json_values import json_values
from cloister.interfaces.formats.mem0 import read_mem0
from cloister.interfaces.formats.times import moment
from cloister.interfaces.http.mem0.errors import NotSupported
from cloister.interfaces.http.mem0.filters import parse_filters
from cloister.interfaces.http.mem0.memories import Record
from cloister.models.openai.answers import Asked, Reply, UnusableAnswer, read_memories
from cloister.models.openai.error_message import error_message
from cloister.models.rules.changes.canonical import canonical
from cloister.models.rules.changes.manual import read_manual
from cloister.models.rules.extractor import Rules
from cloister.models.static.embedder import StaticEmbedder
from cloister.services.conversations import item_format
from cloister.services.entries.embedding import EntryEmbedding
from cloister.services.memories.languages import language_code
from cloister.services.recall.embeddings.embed import TextEmbedder
from cloister.services.recall.repetition import AskedWords, Said
from cloister.services.recall.repetition.asked_again import asks_about, does_not_know, repeats

Use = Callable[[str], object]
RULES = Rules()
EMBEDDER = StaticEmbedder()
ENTRIES = EntryEmbedding(EMBEDDER)
SMALL_TALK = Grammar(ENGLISH, "TALK", "AND")


def said(text: str, times: int = 1) -> list[Statement]:
    return [
        Statement(id=MessageId(at + 1), role="user", content=text, author=None, created_at=0) for at in range(times)
    ]


def read_answer(text: str) -> None:
    try:
        read_memories(Reply(text=text), Asked([MessageId(1)], all_by_users=True))
    except UnusableAnswer:
        return


# Every length a key can have, of a beginning that is in many hostile texts.
FORGOTTEN = ForgottenTexts(f"{unit * 24}"[:length] + "!" for unit in ("a", "1", "ab") for length in range(4, 24))


def message(content: str) -> Message:
    return Message(MessageId(1), SessionId(1), "user", content, None, "completed", MessageId(1), False, 1, {}, 0)


def says_the_same(text: str) -> bool:
    """Compares two messages in all ways that recall compares them."""
    told = [said_by(f"{words} {text}") for words in ("one", "two")]
    found, asked = frozenset(terms.term_list(text)), AskedWords(asked_part(text))
    return bool(
        told[0].key == told[1].key
        or told[0].is_nearly(told[1])
        or repeats(text, found, asked)
        or asks_about(text, found, asked)
        or does_not_know(text, asked)
    )


def said_by(content: str) -> Said:
    return Said(message(content), None)


def read_filter(text: str) -> None:
    """As JSON text, and as every value of a filter."""
    with suppress(InvalidRequest):
        parse_filter_text(text)
    for wanted in ({text: 1}, {"category": text}, {"created_after": text}, {"metadata": {text: [text]}}):
        with suppress(InvalidRequest):
            parse_filter(wanted)


def embed_for_caller(text: str) -> None:
    with suppress(InvalidRequest):
        TextEmbedder(EMBEDDER).embed([text])


def read_export(text: str) -> None:
    """As a file, and as every text in an export of another assistant."""
    content = text.encode(errors="replace")
    with suppress(InvalidRequest):
        deque(json_values(BytesIO(content)), maxlen=0)
    with suppress(InvalidRequest):
        deque(json_values(BytesIO(b'{"a": 1}\n' + content)), maxlen=0)
    with suppress(Skipped):
        moment(text)
    said = {
        "uuid": text,
        "sender": "human",
        "text": text,
        "created_at": text,
        "content": [{"type": "text", "text": text}],
    }
    spoken = {"id": text, "author": {"role": "user"}, "content": {"content_type": "text", "parts": [text]}}
    for read, value in (
        (read_claude, {"uuid": text, "name": text, "created_at": text, "chat_messages": [said]}),
        (read_chatgpt, {"id": text, "title": text, "current_node": "a", "mapping": {"a": {"message": spoken}}}),
        (read_mem0, {"id": text, "memory": text, "user_id": text, "created_at": text}),
        (read_log, {"id": text, "session_id": text, "role": "user", "content": text, "time": text, "name": text}),
        (read_log, {"id": text, "title": text, "messages": [{"id": text, "role": "user", "content": text}] * 2}),
    ):
        with suppress(Skipped):
            read(value)


def read_log(value: Mapping[str, object]) -> None:
    log = ChatLog("log", 0)
    for _ in range(2):
        log.read(value)


def name_conversation(text: str) -> None:
    """As what was said, and as the answer of a model; titles are names, which are short."""
    title_prompt(text, text)
    title_of(text)
    title_of(f"<think>{text}")
    for title in (text[:200], f"{text[:199]}…"):
        titles.repeats(title, text)


def edit_file(text: str) -> None:
    """Finds a part that occurs often, or nearly often, and the line of each."""
    tree = FileTree({("file",): len(text)}, lambda _: text)
    middle = len(text) // 2
    for name, given in (
        ("view", {"path": "/memories/file"}),
        ("view", {"path": f"/memories/{text}"}),
        ("create", {"path": "/memories/new", "file_text": text}),
        ("str_replace", {"path": "/memories/file", "old_str": text[:middle], "new_str": text}),
        ("str_replace", {"path": "/memories/file", "old_str": f"{text[:middle]}\x01", "new_str": text}),
        ("insert", {"path": "/memories/file", "insert_text": text}),
    ):
        with suppress(FileError, InvalidRequest):
            run_command(tree, FileCommand(name=name, texts=given))


def match_import(text: str) -> None:
    """As one message, and each line of characters of it as an id in the source."""
    ids = [text, *(text[at : at + 64] for at in range(0, len(text), 64))]
    stored = StoredWords()
    for each in ids[::2]:
        stored.add(f"position {each}", words_digest("user", each))
    spoken = [
        SpokenRecord(source_id=f"position {each}", role="user", author=None, content=each, created_at=0) for each in ids
    ]
    compare(spoken, stored, is_last=False)
    other_external_id(text, None, text, spoken, 1)


def read_items(text: str) -> None:
    """As a message of many parts, and one of one part; stored, and read again."""
    parts = [{"type": "input_text", "text": text[at : at + 32]} for at in range(0, len(text), 32)]
    for content in (text, parts):
        with suppress(InvalidRequest, TooLarge):
            new = item_format.read_item({"type": "message", "role": "user", "content": content, "name": text[:100]})
            if new.draft is not None:
                frame = item_format.frame_of(new.item, new.draft.content)
                item_format.item_of(message(new.draft.content), frame)
    item_format.parse_item_id(text)


def read_mem0_filter(text: str) -> None:
    """As every value of a filter, and the memory that it is compared with."""
    texts = (text, text[:1_000])
    memory = Memory(
        id=MemoryId(1),
        session=SessionId(1),
        content=text,
        importance=None,
        sources=(),
        created_at=0,
        valid_from=0,
        source="written",
        metadata={text: text, text[:1_000]: [text]},
    )
    record = Record(stored=StoredMemory(memory=memory, session=text, user=text, project=None), changed_at=None)
    for wanted in (
        {text: 1},
        *({"metadata": {each: {"icontains": each}}} for each in texts),
        *({"keywords": {"icontains": each}} for each in texts),
        {"created_at": {"gte": text}},
        {"categories": {"in": [text[at : at + 8] for at in range(0, 8_000, 8)]}},
    ):
        with suppress(InvalidRequest, NotSupported):
            parse_filters(wanted).lets_pass(record)


FUNCTIONS: Mapping[str, Use] = {
    "own_words": own_words,
    "quoted": lambda text: quoted([text]),
    "forgotten text": lambda text: ForgottenTexts([text]),
    "forgotten text in a quotation": lambda text: without_forgotten(quoted([text]), FORGOTTEN),
    "subject of a memory": without_user,
    "normalised": normalised,
    "same_as": same_as,
    "memories of rules": lambda text: RULES.memories(said(text), []),
    "entities of rules": lambda text: RULES.entities(said(text)),
    "notes of rules": lambda text: RULES.notes(said(text, 3)),
    "terms of a message": terms.encode,
    "words of a query": terms.words,
    "terms of a query in a pool of many languages": lambda text: terms.read_query(text, terms.OTHERS),
    "words without marks": terms.without_marks,
    "dates in other languages": dates_in_other_languages,
    "questions for the assistant in other languages": asks_assistant,
    "embedding of a message": lambda text: EMBEDDER.embed([Passage("", text)]),
    "embedding of a query": lambda text: EMBEDDER.embed_query(asked_part(text), lambda words: [1.0] * len(words)),
    "embedding of a query for entries": lambda text: ENTRIES.query(search_entries((), query=text)),
    "embedding of an entry": lambda text: ENTRIES.prepare([put_entry(("a",), "key", {"text": text})]),
    "embedding for a caller": embed_for_caller,
    "language of a message": language_code,
    "question": lambda text: parse_question(text, 0),
    "small talk": is_small_talk,
    "words of small talk": lambda text: SMALL_TALK.matches(text.split(), [True] * len(text.split())),
    "excerpt": lambda text: best_passage(text, terms.term_list(text[:2_000]), terms.term_list, 480),
    "repetition": says_the_same,
    "answer of a model": read_answer,
    "quotation for a model": harmless,
    "arguments for a model": arguments_without_control_words,
    "arguments for a model as JSON": lambda text: arguments_without_control_words(json.dumps([text, {text: 1}])),
    "filter": read_filter,
    "memory that a caller added": lambda text: read_manual(
        [ManualMemory(content=text, is_own=True, said_at=0)], [], "ann", ["Ann"]
    ),
    "statement in the words of rules": canonical,
    "error of a model": lambda text: error_message(
        {"error": {"message": text}}, text.encode(errors="replace"), [text[:9]]
    ),
    "error of a model that repeats the request": lambda text: error_message(
        {"error": text}, json.dumps(text).encode(errors="replace")
    ),
    "export of another assistant": read_export,
    "title": name_conversation,
    "command of a memory tool": edit_file,
    "message of an import": match_import,
    "item": read_items,
    "filter of mem0": read_mem0_filter,
}
