"""What a server answered, as the library's shapes. Fields that this version does not know are left aside: a newer server may send
more."""

from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from cloister.domain.errors import ServerError

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Listed:
    data: list[object]


@dataclass(frozen=True, slots=True)
class Answer:
    """The JSON of an answer that was not a refusal."""

    json: object

    def one(self, kind: type[T]) -> T:
        return _read(kind, self.json)

    def many(self, kind: type[T]) -> list[T]:
        """What is in the `data` of a list."""
        return _read(list[kind], self.one(_Listed).data)


def _read(kind: type[T], json: object) -> T:
    try:
        return _adapter(kind).validate_python(json)
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        raise ServerError(
            f"The server answered what this version does not understand ({place or 'as a whole'}): are the two of one version?"
        ) from error


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
