"""What a project may set for itself, and what it gets where it sets nothing."""

from collections.abc import Mapping

from cloister.domain.context import Source, parse_sources
from cloister.domain.errors import InvalidRequest

_KNOWN = ("context_sources",)


def checked_settings(given: Mapping[str, object]) -> dict[str, object]:
    """The settings, each one known and valid; the error names the one that is not."""
    for name in given:
        if name not in _KNOWN:
            raise InvalidRequest(f"settings.{name}", f"is not a setting; there are {', '.join(_KNOWN)}.")
    checked = dict(given)
    if "context_sources" in given:
        parse_sources(given["context_sources"], "settings.context_sources")
    return checked


def context_sources(settings: Mapping[str, object]) -> tuple[Source, ...] | None:
    given = settings.get("context_sources")
    return None if given is None else parse_sources(given, "settings.context_sources")
