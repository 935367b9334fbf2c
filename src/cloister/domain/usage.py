"""The usage of a tenant and its quotas (ORG-7)."""

from dataclasses import dataclass

from cloister.domain.errors import QuotaExceeded


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """The quotas of a tenant; None is no limit. Without limits of their own, there may be as many files and as many entries as
    messages."""

    messages: int | None = None
    sessions: int | None = None
    projects: int | None = None
    files: int | None = None
    entries: int | None = None

    def over(self, defaults: "Limits") -> "Limits":
        """The limits that apply: these, with the defaults for those that are None."""
        messages = _first(self.messages, defaults.messages)
        return Limits(
            messages=messages,
            sessions=_first(self.sessions, defaults.sessions),
            projects=_first(self.projects, defaults.projects),
            files=_first(self.files, defaults.files, messages),
            entries=_first(self.entries, defaults.entries, messages),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """What a tenant stores now, and its limits."""

    messages: int
    sessions: int
    projects: int
    api_keys: int
    files: int
    entries: int
    limits: Limits


def _first(*limits: int | None) -> int | None:
    return next((limit for limit in limits if limit is not None), None)


def refuse_over(kind: str, stored: int, more: int, limit: int | None) -> None:
    """Raise `QuotaExceeded` if storing `more` would exceed the limit: a request is stored whole or not at all."""
    if limit is not None and stored + more > limit:
        raise QuotaExceeded(kind, stored, limit)
