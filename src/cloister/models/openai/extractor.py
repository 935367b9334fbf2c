"""The memory assistant as a model behind any OpenAI-compatible endpoint (MEM-5): OpenAI, vLLM, Ollama, llama.cpp, LM Studio.

What was said is quoted, in parts that fit; answers come as JSON and are checked; each names the statements it came from. What is
wanted stands behind the quotations: servers that remember how a question began read the same statements only once. Nothing is
logged, and no error holds what was said.
"""

import json
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Generic, TypeVar

from cloister.domain.errors import ModelAnswerInvalid, ModelUnavailable
from cloister.domain.extraction import ExtractedEntity, ExtractedMemory, Statement
from cloister.domain.identifiers import MessageId
from cloister.domain.memory import normalised
from cloister.domain.prompts.outside_text import harmless
from cloister.models.openai import answers as json_answers
from cloister.models.openai.answers import Note, OtherItems, Reply, Schema, UnusableAnswer
from cloister.models.openai.endpoint import Endpoint, TooLongForTheModel
from cloister.models.openai.merging import merged_entities, merged_memories, merged_notes, most_alike_first
from cloister.models.openai.quotations import Quotation, quotation, shown
from cloister.models.openai.splitting import first_fitting, parts, tokens

if TYPE_CHECKING:
    from cloister.models.openai.client import ChatEndpoint

_LONGEST_ANSWER = 1_024
_SMALLEST_PART = 64
_SHARE_OF_THE_KNOWN = 4
_CORRECTION = "\n\nYour last answer could not be used: {problem} Answer again, as JSON in the shape that was asked for."

_Item = TypeVar("_Item")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Task(Generic[_Item]):
    wanted: str
    schema: Schema
    read: Callable[[Reply, Sequence[MessageId]], list[_Item]]
    known: Sequence[str] = ()
    of_user: Sequence[str] = ()
    may_be_missing: bool = True


class OpenAiExtractor:
    """`context` is how many tokens the model can read and write at once. Safe to use from several threads."""

    def __init__(self, endpoint: Endpoint, *, context: int = 4_096) -> None:
        self.name = endpoint.model or "openai-compatible"
        self._endpoint = endpoint
        self._context = context
        self._answer = min(_LONGEST_ANSWER, context // 4)
        self._lock = threading.Lock()
        self._opened: ChatEndpoint | None = None

    def memories(
        self, said: Sequence[Statement], known: Sequence[str], of_user: Sequence[str] = ()
    ) -> list[ExtractedMemory]:
        task = _Task(
            wanted=_prompt("memories"),
            schema=json_answers.MEMORIES,
            read=json_answers.read_memories,
            known=_lines(known),
            of_user=_lines(line for line in of_user if line not in known),
            may_be_missing=False,
        )
        return merged_memories(self._found(task, said), known)

    def entities(self, said: Sequence[Statement]) -> list[ExtractedEntity]:
        task = _Task(wanted=_prompt("entities"), schema=json_answers.ENTITIES, read=json_answers.read_entities)
        return merged_entities(self._found(task, said))

    def notes(self, said: Sequence[Statement]) -> list[Note]:
        task = _Task(wanted=_prompt("notes"), schema=json_answers.NOTES, read=json_answers.read_notes)
        return merged_notes(self._found(task, said))

    def close(self) -> None:
        with self._lock:
            if self._opened is not None:
                self._opened.close()
            self._opened = None

    def _found(self, task: _Task[_Item], said: Sequence[Statement]) -> list[_Item]:
        spent = sum(map(tokens, (_prompt("rules"), task.wanted, json.dumps(task.schema), _CORRECTION)))
        budget = self._context - self._answer - spent
        return self._in_parts(task, [quotation(statement) for statement in said], max(budget, _SMALLEST_PART))

    def _in_parts(self, task: _Task[_Item], quotations: Sequence[Quotation], budget: int) -> list[_Item]:
        """Estimates can be wrong: what is too long after all is asked again in smaller parts."""
        for_known = budget // _SHARE_OF_THE_KNOWN if task.known or task.of_user else 0
        found: list[_Item] = []
        for part in parts(quotations, budget - for_known):
            try:
                found += self._answered(task, part, for_known)
            except TooLongForTheModel:
                if budget // 2 < _SMALLEST_PART:
                    raise ModelUnavailable(
                        f"The model ({self.name}) can read too little at once: give it a context of 4,096 tokens or more."
                    ) from None
                found += self._in_parts(task, part, budget // 2)
        return found

    def _answered(self, task: _Task[_Item], part: Sequence[Quotation], for_known: int) -> list[_Item]:
        """An answer that cannot be used is asked for once more, with what is wrong with it. One of other items is then taken to
        mean that there is none of these, but not of memories: what was said would count as read, and never be asked about again."""
        said = "\n".join(quoted.text for quoted in part)
        known = first_fitting(most_alike_first(task.known, said), for_known)
        left = for_known - sum(tokens(line) + 1 for line in known)
        of_user = first_fitting(most_alike_first(task.of_user, said), left)
        question = f"{shown(part, known, of_user)}\n\n{task.wanted}"
        ids = [quoted.id for quoted in part]
        problem = UnusableAnswer()
        correction = ""
        for _ in range(2):
            reply = self._chat().ask(_prompt("rules"), question + correction, task.schema, self._answer)
            try:
                return task.read(reply, ids)
            except UnusableAnswer as error:
                problem = error
                correction = _CORRECTION.format(problem=problem)
        if task.may_be_missing and isinstance(problem, OtherItems):
            return []
        raise ModelAnswerInvalid(
            f"The model ({self.name}) answered twice, and neither answer could be used: {problem}"
            " Choose a more capable one with CLOISTER_MODEL_NAME."
        )

    def _chat(self) -> "ChatEndpoint":
        """Opened at the first question: importing the client takes a tenth of a second, which no start should wait for."""
        from cloister.models.openai.client import ChatEndpoint

        with self._lock:
            if self._opened is None:
                self._opened = ChatEndpoint(self._endpoint)
            return self._opened


def _lines(statements: Iterable[str]) -> list[str]:
    return [harmless(normalised(statement)) for statement in statements]


@cache
def _prompt(name: str) -> str:
    return files("cloister.models.openai").joinpath("prompts", f"{name}.txt").read_text("utf-8").strip()
