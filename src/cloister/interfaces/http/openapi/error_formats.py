"""The formats of errors on the routes of other interfaces, for the OpenAPI document."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from cloister.interfaces.http.anthropic.errors import AnthropicError, anthropic_error_body, is_anthropic
from cloister.interfaces.http.openai.errors import OpenAiError, error_body, is_openai
from cloister.interfaces.http.openapi.problem_examples import problem_example

_TEMPLATE = "#/components/schemas/{model}"


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorFormat:
    """The errors of one interface: the schema of their body, and the body for a problem."""

    prefix: str
    model: type[BaseModel]
    body: Callable[[Mapping[str, Any]], dict[str, Any]]

    def content(self, codes: Sequence[str]) -> dict[str, Any]:
        """The content of a response with one of these codes."""
        schema = {
            "$ref": _TEMPLATE.format(model=self.model.__name__),
            "properties": {"error": {"properties": {"code": {"enum": list(codes)}}}},
        }
        examples = {code: {"value": self.body(problem_example(code))} for code in codes}
        return {"application/json": {"schema": schema, "examples": examples}}


_OPENAI = ErrorFormat(prefix="OpenAi", model=OpenAiError, body=error_body)
_ANTHROPIC = ErrorFormat(prefix="Anthropic", model=AnthropicError, body=anthropic_error_body)


def error_format(path: str) -> ErrorFormat | None:
    """The format of errors at a path; None if they are problems."""
    if is_anthropic(path):
        return _ANTHROPIC
    return _OPENAI if is_openai(path) else None


def error_schemas() -> dict[str, Any]:
    """The schemas of all formats, by name."""
    found: dict[str, Any] = {}
    for form in (_OPENAI, _ANTHROPIC):
        schema = form.model.model_json_schema(ref_template=_TEMPLATE)
        found |= schema.pop("$defs")
        found[form.model.__name__] = schema
    return found
