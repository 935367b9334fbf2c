"""Answers of a server as the library's shapes. Unknown fields are ignored: a newer server may send more."""

from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from cloister.domain.errors import ServerError
from cloister.interfaces.python.pages import Page

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class _List:
    data: list[object]
    next_cursor: str | None = None
    previous_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The JSON body of a successful response."""

    json: object

    def one(self, kind: type[T]) -> T:
        return _read(kind, self.json)

    def many(self, kind: type[T]) -> list[T]:
        """The items of a list, which are its `data`."""
        return self.page(kind)

    def page(self, kind: type[T]) -> Page[T]:
        """The items of a list, with the cursor of its next page."""
        listed = self.one(_List)
        return Page(_read(list[kind], listed.data), listed.next_cursor, listed.previous_cursor)


def _read(kind: type[T], json: object) -> T:
    try:
        return _adapter(kind).validate_python(json)
    except ValidationError as error:
        field = ".".join(map(str, error.errors()[0]["loc"]))
        raise ServerError(
            f"The server's answer is one that this version does not understand ({field or 'as a whole'}): are both of one version?"
        ) from error


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
