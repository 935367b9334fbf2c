"""Paths to the texts of a value that are embedded: `title`, `author.name`, `notes[*].text`, `tags[0]`, `*`, `{title,summary}`, and
`$` for the whole value as JSON. The paths are those of LangGraph's index configuration."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import cast

from cloister.domain.errors import InvalidRequest

WHOLE = "$"
MOST_PATHS = 32
LONGEST_PATH = 255
MOST_TEXTS = 64
"""The most texts of one value that are embedded; those after are not found by a query."""
LONGEST_TEXT = 8_192
"""The characters of one text that are embedded; those after are not found by a query."""
_CLOSING = {"[": "]", "{": "}"}


def checked_paths(paths: Sequence[str]) -> tuple[str, ...]:
    """Check the number and the length of paths. A path that leads nowhere is no error: values need not have all fields."""
    if isinstance(paths, str) or len(paths) > MOST_PATHS:
        raise InvalidRequest("index", f"must be a list of at most {MOST_PATHS} paths.")
    for path in paths:
        if not isinstance(path, str) or not 0 < len(path) <= LONGEST_PATH:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidRequest("index", f"has a path that is not text of 1 to {LONGEST_PATH} characters.")
    return tuple(paths)


def texts_at(value: str, paths: Sequence[str]) -> list[str]:
    """The texts of a value, which is JSON, at these paths: each once, and at most so many and so long as are embedded. Paths that
    lead to the same text again and again end soon: all texts together are at most about twice as long as the value."""
    found: dict[str, None] = {}
    left = 2 * len(value) + LONGEST_PATH
    parsed = json.loads(value)
    for text in islice((text for path in paths for text in _texts(parsed, path)), MOST_TEXTS):
        left -= len(text)
        if text.strip():
            found[text[:LONGEST_TEXT]] = None
        if left <= 0:
            break
    return list(found)


def _texts(value: object, path: str) -> Iterator[str]:
    return _text(value) if path == WHOLE else _walk(value, _steps(path))


def _steps(path: str) -> list[str]:
    """The parts of a path: names, and what is in brackets or braces, each with its opening sign."""
    steps: list[str] = []
    name = ""
    at = 0
    while at < len(path):
        sign = path[at]
        if sign in _CLOSING:
            end = path.find(_CLOSING[sign], at)
            end = len(path) if end < 0 else end
            steps += [name, path[at:end]]
            name, at = "", end + 1
            continue
        if sign == ".":
            steps.append(name)
            name = ""
        else:
            name += sign
        at += 1
    return [step for step in (*steps, name) if step]


def _walk(value: object, steps: Sequence[str]) -> Iterator[str]:
    if not steps:
        yield from _text(value)
        return
    step, rest = steps[0], steps[1:]
    if step.startswith("{"):
        for names in step[1:].split(","):
            yield from _walk(value, [*filter(None, names.strip().split(".")), *rest])
        return
    for inner in _children(value, step):
        yield from _walk(inner, rest)


def _children(value: object, step: str) -> Iterator[object]:
    fields = cast(Mapping[str, object], value) if isinstance(value, Mapping) else dict[str, object]()
    items = cast(Sequence[object], value) if isinstance(value, list | tuple) else ()
    if step.startswith("["):
        if step == "[*":
            yield from items
        elif (number := _index(step[1:])) is not None and -len(items) <= number < len(items):
            yield items[number]
    elif step == "*":
        yield from fields.values()
        yield from items
    elif step in fields:
        yield fields[step]


def _index(text: str) -> int | None:
    digits = text.removeprefix("-")
    return int(text) if digits.isdecimal() and digits.isascii() and len(digits) < 10 else None


def _text(value: object) -> Iterator[str]:
    if isinstance(value, str | int | float):
        yield str(value)
    elif value is not None:
        yield json.dumps(value, ensure_ascii=False, sort_keys=True)
