"""The extractor that asks a model behind any OpenAI-compatible endpoint (MEM-5): OpenAI, vLLM, Ollama, llama.cpp, LM Studio.

Statements are quoted in batches that fit the model's context. Answers are JSON, are checked, and name their source statements.
The task stands after the quotations, so that servers with a prefix cache read the same statements only once. Nothing is logged, and
no error contains what was said.
"""

import json
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Generic, TypeVar

from cloister.domain.errors import ModelAnswerInvalid, ModelUnavailable
from cloister.domain.extraction import (
    CATEGORIES,
    NO_GUIDANCE,
    ExtractedEntity,
    ExtractedMemory,
    Guidance,
    KnownMemory,
    Statement,
)
from cloister.domain.memory import normalised
from cloister.domain.prompts.outside_text import harmless
from cloister.models.openai import answers
from cloister.models.openai.answers import Note, OtherItems, Reply, Schema, UnusableAnswer, without_lengths
from cloister.models.openai.endpoint import Endpoint, TooLongForTheModel
from cloister.models.openai.merging import merged_entities, merged_memories, merged_notes, most_alike_first
from cloister.models.openai.quotations import (
    KnownLine,
    Quotation,
    first_fitting,
    known_tokens,
    parts,
    quotation,
    shown,
    tokens,
)

if TYPE_CHECKING:
    from cloister.models.openai.client import BlockingModelClient, BuildBody

_LONGEST_ANSWER = 1_024
_SMALLEST_PART = 64
_KNOWN_DIVISOR = 4
_CORRECTION = "\n\nYour last answer could not be used: {problem} Answer again, as JSON in the shape that was asked for."

_OTHER = "other"

_Item = TypeVar("_Item")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Task(Generic[_Item]):
    prompt: str
    schema: Schema
    read: Callable[[Reply, answers.Asked], list[_Item]]
    known: Sequence[KnownLine] = ()
    of_user: Sequence[KnownLine] = ()
    categories: Sequence[str] = ()
    may_be_missing: bool = True


class OpenAiExtractor:
    """`context` is the size of the model's context in tokens, prompt and answer together. Thread-safe."""

    languages: tuple[str, ...] = ()

    def __init__(self, endpoint: Endpoint, *, context: int = 4_096) -> None:
        self.name = endpoint.model or "openai-compatible"
        self._endpoint = endpoint
        self._context = context
        self._answer_tokens = min(_LONGEST_ANSWER, context // 4)
        self._lock = threading.Lock()
        self._client: BlockingModelClient | None = None

    def memories(
        self,
        said: Sequence[Statement],
        known: Sequence[KnownMemory],
        of_user: Sequence[KnownMemory] = (),
        guidance: Guidance = NO_GUIDANCE,
    ) -> list[ExtractedMemory]:
        texts = [memory.content for memory in known]
        categories = _categories(guidance)
        task = _Task(
            prompt=_prompt_of_memories(guidance, categories),
            schema=answers.memories_schema(categories),
            read=answers.read_memories,
            known=_lines(known),
            of_user=_lines(memory for memory in of_user if memory.content not in texts),
            categories=categories,
            may_be_missing=False,
        )
        return merged_memories(self._extract(task, said), texts)

    def entities(self, said: Sequence[Statement]) -> list[ExtractedEntity]:
        task = _Task(prompt=_prompt("entities"), schema=answers.ENTITIES, read=answers.read_entities)
        return merged_entities(self._extract(task, said))

    def notes(self, said: Sequence[Statement]) -> list[Note]:
        task = _Task(prompt=_prompt("notes"), schema=answers.NOTES, read=answers.read_notes)
        return merged_notes(self._extract(task, said))

    def close(self) -> None:
        with self._lock:
            if self._client is not None:
                self._client.close()
            self._client = None

    def _extract(self, task: _Task[_Item], said: Sequence[Statement]) -> list[_Item]:
        spent = sum(map(tokens, (_prompt("rules"), task.prompt, json.dumps(task.schema), _CORRECTION)))
        budget = self._context - self._answer_tokens - spent
        return self._extract_parts(task, [quotation(statement) for statement in said], max(budget, _SMALLEST_PART))

    def _extract_parts(self, task: _Task[_Item], quotations: Sequence[Quotation], budget: int) -> list[_Item]:
        """The items of all parts. A part that the server finds too long, because the estimate was wrong, is split again."""
        for_known = budget // _KNOWN_DIVISOR if task.known or task.of_user else 0
        found: list[_Item] = []
        for part in parts(quotations, budget - for_known):
            try:
                found += self._ask(task, part, for_known)
            except TooLongForTheModel:
                if budget // 2 < _SMALLEST_PART:
                    raise ModelUnavailable(
                        f"The model ({self.name}) can read too little at once: give it a context of 4,096 tokens or more."
                    ) from None
                found += self._extract_parts(task, part, budget // 2)
        return found

    def _ask(self, task: _Task[_Item], part: Sequence[Quotation], for_known: int) -> list[_Item]:
        """Ask for the items of one part. After an unusable answer, ask once more and say what is wrong with it.

        If the second answer lists other items, there are none of these; but for memories that is an error, because the messages
        would count as processed, and never be read again.
        """
        said = "\n".join(quoted.text for quoted in part)
        known = first_fitting(most_alike_first(task.known, said), for_known)
        left = for_known - sum(map(known_tokens, known))
        of_user = first_fitting(most_alike_first(task.of_user, said), left)
        question = f"{shown(part, known, of_user)}\n\n{task.prompt}"
        asked = answers.Asked(
            [quoted.id for quoted in part],
            all(quoted.is_by_user for quoted in part),
            [line.id for line in (*known, *of_user)],
            task.categories,
        )
        problem = UnusableAnswer()
        correction = ""
        for _ in range(2):
            body = completion_body(_prompt("rules"), question + correction, task.schema, self._answer_tokens)
            reply = self._open_client().ask(body)
            try:
                return task.read(reply, asked)
            except UnusableAnswer as error:
                problem = error
                correction = _CORRECTION.format(problem=problem)
        if task.may_be_missing and isinstance(problem, OtherItems):
            return []
        raise ModelAnswerInvalid(
            f"The model ({self.name}) answered twice, and neither answer could be used: {problem}"
            " Choose a more capable one with CLOISTER_MODEL_NAME."
        )

    def _open_client(self) -> "BlockingModelClient":
        """The client, made at the first request: importing it takes 0.1 s, which would delay the start of the process."""
        from cloister.models.openai.client import BlockingModelClient

        with self._lock:
            if self._client is None:
                self._client = BlockingModelClient(self._endpoint)
            return self._client


def completion_body(instructions: str, question: str, schema: Schema, limit: int) -> "BuildBody":
    """The body that asks for an answer of at most `limit` tokens, as far as the server supports its optional fields.

    If the server rejects the schema, it is sent without bounds on lengths; if it rejects that too, as text in the question.
    """

    def build(rejected: Sequence[str]) -> dict[str, object]:
        body: dict[str, object] = {}
        asked = question
        if "max_tokens" not in rejected:
            body["max_tokens"] = limit
        if "temperature" not in rejected:
            body["temperature"] = 0
        if rejected.count("response_format") > 1:
            asked = f"{question}\n\nThe answer must keep this JSON schema:\n{json.dumps(schema)}"
        else:
            sent = without_lengths(schema) if "response_format" in rejected else dict(schema)
            form = {"name": "answer", "strict": True, "schema": sent}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        messages = [{"role": "system", "content": instructions}, {"role": "user", "content": asked}]
        return {"messages": messages, **body}

    return build


def _lines(known: Iterable[KnownMemory]) -> list[KnownLine]:
    return [KnownLine(memory.id, harmless(normalised(memory.content))) for memory in known]


def _categories(guidance: Guidance) -> tuple[str, ...]:
    """The categories that the model may choose from: those that the project wants, or else the usual ones; and those that it does
    not want, and `other`, so that the model need not call a memory what it is not."""
    chosen = guidance.wanted or CATEGORIES
    return tuple(dict.fromkeys((*chosen, *guidance.unwanted, _OTHER)))


def _prompt_of_memories(guidance: Guidance, categories: Sequence[str]) -> str:
    """The task, with what the project asks for. It is no part of the quotations, but cannot contain marks of ours either."""
    prompt = _prompt("memories").replace("{CATEGORIES}", harmless(normalised(", ".join(categories))))
    if not guidance.instructions:
        return prompt
    return f"{prompt}\nWhat this project asks you to look for, or to leave out:\n{harmless(guidance.instructions)}"


@cache
def _prompt(name: str) -> str:
    return files("cloister.models.openai").joinpath("prompts", f"{name}.txt").read_text("utf-8").strip()
