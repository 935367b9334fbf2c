"""The usage of a tenant and its quotas (ORG-7)."""

from dataclasses import dataclass

from cloister.domain.errors import QuotaExceeded


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """The quotas of a tenant; None is no limit."""

    messages: int | None = None
    sessions: int | None = None
    projects: int | None = None

    def over(self, defaults: "Limits") -> "Limits":
        """These limits, with the defaults for those that are None."""
        return Limits(
            messages=defaults.messages if self.messages is None else self.messages,
            sessions=defaults.sessions if self.sessions is None else self.sessions,
            projects=defaults.projects if self.projects is None else self.projects,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """What a tenant stores now, and its limits."""

    messages: int
    sessions: int
    projects: int
    api_keys: int
    limits: Limits


def refuse_over(kind: str, stored: int, more: int, limit: int | None) -> None:
    """Raise `QuotaExceeded` if storing `more` would exceed the limit: a request is stored whole or not at all."""
    if limit is not None and stored + more > limit:
        raise QuotaExceeded(kind, stored, limit)
