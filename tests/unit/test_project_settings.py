"""Project settings: each is known and valid, or refused by its name."""

import pytest

from cloister.domain.errors import InvalidRequest, TooLarge
from cloister.domain.project_settings import checked_settings, context_sources

SETTINGS: tuple[str, ...] = (
    "observation_scope",
    "context_sources",
    "pending_message_count",
    "system_prompt",
    "min_relevance",
    "history_tokens",
    "retention_days",
    "extraction_instructions",
    "wanted_categories",
    "unwanted_categories",
    "minimum_importance",
    "extraction_languages",
    "model",
)
SOURCES = [{"role": "user", "method": "recent", "limit": 3}]
VALID: list[dict[str, object]] = [
    {},
    {"observation_scope": "session"},
    {"observation_scope": "user"},
    {"context_sources": SOURCES},
    {"context_sources": []},
    {"pending_message_count": 1},
    {"pending_message_count": 1_000},
    {"system_prompt": "Answer in verse.\nAlways."},
    {"system_prompt": "x" * 20_000},
    {"system_prompt": None},
    {**dict.fromkeys(SETTINGS)},
]
WRONG: list[tuple[str, object]] = [
    ("observation_scope", "tenant"),
    ("observation_scope", ["session"]),
    ("context_sources", "recent"),
    ("pending_message_count", 0),
    ("pending_message_count", 1_001),
    ("pending_message_count", True),
    ("pending_message_count", 4.0),
    ("system_prompt", ""),
    ("system_prompt", " \n"),
    ("system_prompt", "a\x00b"),
    ("system_prompt", "a\ud800b"),
    ("system_prompt", 7),
]


@pytest.mark.parametrize("given", VALID, ids=repr)
def test_valid_settings_are_kept_as_they_came(given: dict[str, object]) -> None:
    assert checked_settings(given) == given


def test_all_settings_can_be_given_at_once() -> None:
    given = {
        "observation_scope": "user",
        "pending_message_count": 8,
        "system_prompt": "Hi.",
        "context_sources": SOURCES,
    }
    assert checked_settings(given) == given


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_a_wrong_setting_is_refused_by_its_name(name: str, value: object) -> None:
    with pytest.raises(InvalidRequest) as refused:
        checked_settings({name: value})
    assert refused.value.field == f"settings.{name}"


def test_a_prompt_that_is_too_long_is_refused_by_its_name() -> None:
    with pytest.raises(TooLarge, match=r"settings\.system_prompt: 20,001 characters"):
        checked_settings({"system_prompt": "x" * 20_001})


def test_a_setting_nobody_knows_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(
        InvalidRequest, match="observation_scope, context_sources, pending_message_count, system_prompt"
    ):
        checked_settings({"isolated": False})


def test_sources_are_none_where_the_project_sets_none() -> None:
    assert context_sources({}) is None
    assert context_sources({"context_sources": []}) == ()
