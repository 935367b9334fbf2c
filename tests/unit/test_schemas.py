"""The forms that the OpenAPI document shows allow exactly what the services take."""

import re
import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.domain.errors import CloisterError
from cloister.domain.identifiers import format_project_id, parse_message_id, parse_project_id
from cloister.domain.keys import key_text, new_secret
from cloister.domain.text import checked_content, checked_name, checked_tags
from cloister.interfaces.http.openapi import schemas

# Text from the wire is valid Unicode: it holds no half of a surrogate pair.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


def allows(schema: schemas.Schema, text: str) -> bool:
    fits = schema["minLength"] <= len(text) <= schema["maxLength"]
    return fits and re.search(schema["not"]["pattern"], text) is None


def takes(check: Callable[[str], object], text: str) -> bool:
    try:
        check(text)
    except CloisterError:
        return False
    return True


def test_every_single_character_is_allowed_where_it_is_taken() -> None:
    """All of those among which spaces and controls are found, and a few of the rest."""
    for number in (*range(0x3100), *range(0x3100, 0xD800, 97), *range(0xE000, sys.maxunicode, 997)):
        for text in (chr(number), f"a{chr(number)}b"):
            assert allows(schemas.NAME, text) == takes(lambda given: checked_name(given, "name"), text), repr(text)
            assert allows(schemas.CONTENT, text) == takes(checked_content, text), repr(text)


@given(TEXT)
def test_a_name_a_tag_and_a_content_are_allowed_where_they_are_taken(text: str) -> None:
    assert allows(schemas.NAME, text) == takes(lambda given: checked_name(given, "name"), text)
    assert allows(schemas.TAG, text) == takes(lambda given: checked_tags([given]), text)
    assert allows(schemas.CONTENT, text) == takes(checked_content, text)


@pytest.mark.parametrize(("schema", "longest"), [(schemas.NAME, 255), (schemas.CONTENT, 65_536)])
def test_a_text_is_allowed_up_to_its_length(schema: schemas.Schema, longest: int) -> None:
    assert allows(schema, "x" * longest)
    assert not allows(schema, "x" * (longest + 1))


@pytest.mark.parametrize("tag", ["session:a", "user:", "project:x y"])
def test_a_tag_that_the_runtime_stamps_is_not_allowed(tag: str) -> None:
    """CTX-3."""
    assert not allows(schemas.TAG, tag)
    assert allows(schemas.NAME, tag)


@given(st.integers(1, (1 << 63) - 1))
def test_ids_have_the_form_that_is_shown(number: int) -> None:
    project = format_project_id(number)  # pyright: ignore[reportArgumentType]
    assert re.fullmatch(schemas.PROJECT_ID["pattern"], project)
    assert re.fullmatch(schemas.PROJECT_OR_NONE["pattern"], project)
    assert parse_project_id(project) == number
    assert re.fullmatch(schemas.MESSAGE_ID["pattern"], f"msg_{number:016x}")
    assert parse_message_id(f"msg_{number:016x}") == number
    key = key_text(number, number, new_secret())  # pyright: ignore[reportArgumentType]
    assert re.fullmatch(schemas.API_KEY["pattern"], key)
