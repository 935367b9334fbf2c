"""The settings of a project, their checks and their defaults."""

from collections.abc import Callable, Mapping
from typing import Literal, cast, get_args

from cloister.domain.context import DEFAULT_HISTORY_TOKENS, HIGHEST_BUDGET, Source, parse_sources
from cloister.domain.errors import InvalidRequest
from cloister.domain.recall.relevance import DEFAULT_MIN_RELEVANCE, checked_min_relevance
from cloister.domain.text import checked_limit, checked_text

ObservationScope = Literal["session", "user"]
MOST_PENDING_MESSAGES = 1_000
DEFAULT_PENDING_MESSAGES = 4
MAX_SYSTEM_PROMPT = 20_000
MOST_RETENTION_DAYS = 36_500
NO_SETTINGS: Mapping[str, object] = {}
"""The settings outside a project: all defaults."""


def checked_settings(given: Mapping[str, object]) -> dict[str, object]:
    """The settings, checked; the error names the first that is unknown or invalid."""
    for name, value in given.items():
        if name not in _CHECKS:
            raise InvalidRequest(f"settings.{name}", f"is not a setting; there are {', '.join(_CHECKS)}.")
        _CHECKS[name](value, f"settings.{name}")
    return dict(given)


def context_sources(settings: Mapping[str, object]) -> tuple[Source, ...] | None:
    given = settings.get("context_sources")
    return None if given is None else parse_sources(given, "settings.context_sources")


def pending_message_count(settings: Mapping[str, object]) -> int:
    """How many messages without extraction make a session due for it (MEM-3)."""
    given = settings.get("pending_message_count")
    return given if isinstance(given, int) else DEFAULT_PENDING_MESSAGES


def observation_scope(settings: Mapping[str, object]) -> ObservationScope:
    """Whether a session sees its own observations only, or those of all sessions of its user (TAB-7)."""
    return "user" if settings.get("observation_scope") == "user" else "session"


def min_relevance(settings: Mapping[str, object]) -> float:
    """The relevance below which nothing is recalled (CTX-6)."""
    given = settings.get("min_relevance")
    return DEFAULT_MIN_RELEVANCE if given is None else checked_min_relevance(given)


def history_tokens(settings: Mapping[str, object]) -> int:
    """How many tokens of related history a context has at most, where the request sets neither a budget nor limits (CTX-8)."""
    given = settings.get("history_tokens")
    return given if isinstance(given, int) else DEFAULT_HISTORY_TOKENS


def system_prompt(settings: Mapping[str, object]) -> str | None:
    """The template of the project's system prompt; None for the default."""
    given = settings.get("system_prompt")
    return given if isinstance(given, str) else None


def retention_days(settings: Mapping[str, object]) -> int | None:
    """After how many days what was said is forgotten (MEM-18); None keeps it."""
    return checked_retention_days(settings.get("retention_days"), "settings.retention_days")


def checked_retention_days(given: object, field: str) -> int | None:
    """A number of days; 0 and None both keep everything, and are returned as None."""
    if given is None:
        return None
    checked_limit(cast(int, given), field, MOST_RETENTION_DAYS)
    return cast(int, given) or None


def stricter(*days: int | None) -> int | None:
    """The smallest of several numbers of days; None if all of them keep everything."""
    return min((each for each in days if each is not None), default=None)


def _check_observation_scope(given: object, field: str) -> None:
    if given not in get_args(ObservationScope):
        raise InvalidRequest(field, f"must be one of {', '.join(get_args(ObservationScope))}.")


def _check_pending_message_count(given: object, field: str) -> None:
    checked_limit(cast(int, given), field, MOST_PENDING_MESSAGES, lowest=1)


def _check_history_tokens(given: object, field: str) -> None:
    checked_limit(cast(int, given), field, HIGHEST_BUDGET)


def _check_system_prompt(given: object, field: str) -> None:
    """None means the default prompt. An empty text is refused, because it could be taken for that."""
    if given is not None:
        checked_text(cast(str, given), field, MAX_SYSTEM_PROMPT)


_CHECKS: Mapping[str, Callable[[object, str], object]] = {
    "observation_scope": _check_observation_scope,
    "context_sources": parse_sources,
    "pending_message_count": _check_pending_message_count,
    "system_prompt": _check_system_prompt,
    "min_relevance": checked_min_relevance,
    "history_tokens": _check_history_tokens,
    "retention_days": checked_retention_days,
}
