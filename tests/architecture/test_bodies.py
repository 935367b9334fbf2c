"""Every list in the body of a request has a length at which it is refused, before its elements are looked at (ISO-13)."""

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import pytest
from pydantic import BaseModel

import cloister.interfaces.http
from cloister.interfaces.http.resources.bodies import Body

SEQUENCES = ("list", "set", "frozenset", "tuple", "generator")


def bodies() -> list[type[Body]]:
    for module in pkgutil.walk_packages(cloister.interfaces.http.__path__, "cloister.interfaces.http."):
        importlib.import_module(module.name)
    return sorted(_below(Body), key=lambda kind: f"{kind.__module__}.{kind.__name__}")


def _below(kind: type[Body]) -> set[type[Body]]:
    return {kind}.union(*(_below(inner) for inner in kind.__subclasses__()))


def unbounded(schema: object, path: str = "") -> Iterator[str]:
    """The lists without a length in the schema from which pydantic makes a validator."""
    if isinstance(schema, Mapping):
        given = cast(Mapping[str, Any], schema)
        if given.get("type") in SEQUENCES and "max_length" not in given:
            yield path
        for name, inner in given.items():
            # What follows validation, and what it is described by, validates no element.
            if name not in ("serialization", "metadata"):
                yield from unbounded(inner, f"{path}.{name}" if name not in ("schema", "fields") else path)
    elif isinstance(schema, Sequence) and not isinstance(schema, str):
        for inner in cast(Iterable[object], schema):
            yield from unbounded(inner, path)


@pytest.mark.parametrize("kind", bodies(), ids=lambda kind: kind.__name__)
def test_iso_13_every_list_of_a_body_has_a_length_at_which_it_is_refused(kind: type[BaseModel]) -> None:
    assert list(unbounded(kind.__pydantic_core_schema__)) == []


def test_a_list_without_a_length_is_found() -> None:
    class Careless(BaseModel):
        words: list[str] | None = None

    assert len(list(unbounded(Careless.__pydantic_core_schema__))) == 1
