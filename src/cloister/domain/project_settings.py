"""The settings of a project, their checks and their defaults."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, cast, get_args

from cloister.domain.context import DEFAULT_HISTORY_TOKENS, HIGHEST_BUDGET, Source, parse_sources
from cloister.domain.errors import InvalidRequest
from cloister.domain.extraction import Guidance
from cloister.domain.prompts.prompt import placeholders
from cloister.domain.recall.relevance import DEFAULT_MIN_RELEVANCE, FILLING_FLOORS, Floors, checked_min_relevance
from cloister.domain.text import checked_categories, checked_limit, checked_name, checked_text

ObservationScope = Literal["session", "user"]
MOST_PENDING_MESSAGES = 1_000
DEFAULT_PENDING_MESSAGES = 4
MAX_SYSTEM_PROMPT = 20_000
MOST_RETENTION_DAYS = 36_500
MAX_INSTRUCTIONS = 2_000
MOST_RECEIPT_DAYS = 3_650
DEFAULT_RECEIPT_DAYS = 30
"""How long receipts of contexts and searches are stored, where a project does not say."""
LANGUAGES = ("en", "de", "es", "fr", "it", "pt", "nl", "ru", "el", "zh", "ja", "ko", "ar", "he", "hi", "th")
"""The languages that can be told apart, by their codes."""
NO_SETTINGS: Mapping[str, object] = {}
"""The settings outside a project: all defaults."""


def checked_settings(given: Mapping[str, object]) -> dict[str, object]:
    """The settings, checked; the error names the first that is unknown or invalid. None resets a setting."""
    for name, value in given.items():
        if name not in _CHECKS:
            raise InvalidRequest(f"settings.{name}", f"is not a setting; there are {', '.join(_CHECKS)}.")
        if value is not None:
            _CHECKS[name](value, f"settings.{name}")
    return dict(given)


def merged_settings(current: Mapping[str, object], changed: Mapping[str, object]) -> dict[str, object]:
    """The settings after a change, without those that are reset; refused if they contradict each other."""
    merged = {name: value for name, value in {**current, **changed}.items() if value is not None}
    wanted = {name.casefold() for name in _texts(merged.get("wanted_categories"))}
    for name in _texts(merged.get("unwanted_categories")):
        if name.casefold() in wanted:
            raise InvalidRequest(
                "settings.unwanted_categories",
                f"has {name!r}, which wanted_categories has too: take it out of one of them.",
            )
    return merged


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
    return floors(settings).best


def floors(settings: Mapping[str, object], *, fills_budget: bool = False) -> Floors:
    """The floors of relevance of a project. Unless it sets one, they are lower while a budget is to be filled (CTX-8)."""
    given = settings.get("min_relevance")
    if given is not None:
        return Floors(checked_min_relevance(given))
    return FILLING_FLOORS if fills_budget else Floors(DEFAULT_MIN_RELEVANCE)


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


def warnings_of(settings: Mapping[str, object]) -> tuple[str, ...]:
    """What is probably not meant in the settings of a project."""
    return prompt_warnings(system_prompt(settings))


def prompt_warnings(template: str | None) -> tuple[str, ...]:
    """What is probably not meant in the system prompt of a project or a session."""
    if template is None or placeholders(template):
        return ()
    return (
        "system_prompt has no placeholder, such as {MEMORY.CONTEXT} or {RELEVANT.HISTORY}: replies are given nothing that is "
        "remembered.",
    )


def stores_receipts(settings: Mapping[str, object]) -> bool:
    """Whether the receipts of contexts and searches are stored (PRF-1); those of replies always are."""
    return settings.get("store_receipts") is True


def receipt_days(kind: str, settings: Mapping[str, object]) -> int | None:
    """After how many days a receipt expires; None keeps it. Without the setting, that of a reply is kept as long as the reply."""
    given = settings.get("receipt_days")
    if isinstance(given, int):
        return given
    return None if kind == "reply" else DEFAULT_RECEIPT_DAYS


def checked_receipt_days(given: object, field: str) -> int | None:
    """A number of days; None leaves it to the projects."""
    if given is not None:
        _check_receipt_days(given, field)
    return cast(int | None, given)


def stricter(*days: int | None) -> int | None:
    """The smallest of several numbers of days; None if all of them keep everything."""
    return min((each for each in days if each is not None), default=None)


def extraction_guidance(settings: Mapping[str, object]) -> Guidance:
    """What the project wants to be extracted (MEM-15)."""
    return Guidance(
        instructions=cast(str, settings.get("extraction_instructions") or ""),
        wanted=_texts(settings.get("wanted_categories")),
        unwanted=_texts(settings.get("unwanted_categories")),
        minimum_importance=float(cast(float, settings.get("minimum_importance") or 0.0)),
        languages=_texts(settings.get("extraction_languages")),
    )


def _texts(given: object) -> tuple[str, ...]:
    return tuple(cast(Sequence[str], given)) if given else ()


def _check_instructions(given: object, field: str) -> None:
    """An empty text is refused, because it could be taken for none."""
    checked_text(cast(str, given), field, MAX_INSTRUCTIONS)


def _check_categories(given: object, field: str) -> None:
    checked_categories(_checked_list(given, field), field)


def _check_minimum_importance(given: object, field: str) -> None:
    if not isinstance(given, int | float) or isinstance(given, bool) or not 0 <= given <= 1:
        raise InvalidRequest(field, "must be a number from 0 to 1.")


def _check_languages(given: object, field: str) -> None:
    for language in _checked_list(given, field):
        if language not in LANGUAGES:
            raise InvalidRequest(field, f"may have the languages {', '.join(LANGUAGES)}, not {language!r}.")


def _checked_list(given: object, field: str) -> list[str]:
    """A list of texts, of JSON or of Python."""
    items = list(cast(Sequence[object], given)) if isinstance(given, list | tuple) else None
    if items is None or not all(isinstance(item, str) for item in items):
        raise InvalidRequest(field, "must be a list of texts.")
    return cast(list[str], items)


def chat_model(settings: Mapping[str, object]) -> str | None:
    """The model that answers in this project, if the server's endpoint lists it; None for the server's default."""
    given = settings.get("model")
    return given if isinstance(given, str) else None


def _check_observation_scope(given: object, field: str) -> None:
    if given not in get_args(ObservationScope):
        raise InvalidRequest(field, f"must be one of {', '.join(get_args(ObservationScope))}.")


def _check_pending_message_count(given: object, field: str) -> None:
    checked_limit(cast(int, given), field, MOST_PENDING_MESSAGES, lowest=1)


def _check_history_tokens(given: object, field: str) -> None:
    checked_limit(cast(int, given), field, HIGHEST_BUDGET)


def check_system_prompt(given: object, field: str) -> None:
    """An empty text is refused, because it could be taken for the default prompt."""
    checked_text(cast(str, given), field, MAX_SYSTEM_PROMPT)


def _check_store_receipts(given: object, field: str) -> None:
    if not isinstance(given, bool):
        raise InvalidRequest(field, "must be true or false.")


def _check_receipt_days(given: object, field: str) -> None:
    checked_limit(cast(int, given), field, MOST_RECEIPT_DAYS, lowest=1)


def _check_model(given: object, field: str) -> None:
    checked_name(cast(str, given), field)


_CHECKS: Mapping[str, Callable[[object, str], object]] = {
    "observation_scope": _check_observation_scope,
    "context_sources": parse_sources,
    "pending_message_count": _check_pending_message_count,
    "system_prompt": check_system_prompt,
    "min_relevance": checked_min_relevance,
    "history_tokens": _check_history_tokens,
    "retention_days": checked_retention_days,
    "extraction_instructions": _check_instructions,
    "wanted_categories": _check_categories,
    "unwanted_categories": _check_categories,
    "minimum_importance": _check_minimum_importance,
    "extraction_languages": _check_languages,
    "model": _check_model,
    "store_receipts": _check_store_receipts,
    "receipt_days": _check_receipt_days,
}
