"""What callers say of a session: its fields when they create it, a change of them, and the conditions of a list."""

from dataclasses import dataclass

from cloister.domain.conversation import NO_CHOICES, Session, SessionChoices
from cloister.domain.identifiers import ProjectId
from cloister.domain.project_settings import check_system_prompt
from cloister.domain.text import Metadata, checked_metadata, checked_name, checked_tags


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionFields:
    """The fields that a caller may set when creating a session."""

    external_id: str | None = None
    project: ProjectId | None = None
    user_id: str | None = None
    title: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Metadata | None = None
    choices: SessionChoices = NO_CHOICES


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionFilter:
    """Which sessions a list has; None is no condition. With `external_id` it has one at most."""

    user_id: str | None = None
    pinned: bool | None = None
    archived: bool | None = None
    external_id: str | None = None

    @property
    def identity(self) -> tuple[str | bool | None, ...]:
        """What tells the cursors of two lists apart; the user alone where nothing else is asked for."""
        others = (self.pinned, self.archived, self.external_id)
        return (self.user_id,) if others == (None, None, None) else (self.user_id, *others)

    def admits(self, session: Session) -> bool:
        return (
            self.user_id in (None, session.user_id)
            and self.pinned in (None, session.pinned)
            and self.archived in (None, session.archived)
        )


ALL_SESSIONS = SessionFilter()


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionChange:
    """The fields to change; None leaves a field as it is. `untitle` removes the title; `resets` names what becomes the project's
    again: `system_prompt`, `model`, or both."""

    title: str | None = None
    untitle: bool = False
    tags: tuple[str, ...] | None = None
    metadata: Metadata | None = None
    pinned: bool | None = None
    archived: bool | None = None
    system_prompt: str | None = None
    model: str | None = None
    resets: frozenset[str] = frozenset()

    def check(self) -> None:
        """Raise `InvalidRequest` for a field that is invalid."""
        if self.title is not None:
            checked_name(self.title, "title")
        if self.metadata is not None:
            checked_metadata(self.metadata)
        if self.tags is not None:
            checked_tags(self.tags)
        if self.system_prompt is not None:
            check_system_prompt(self.system_prompt, "system_prompt")

    def choices(self, stored: SessionChoices) -> SessionChoices:
        """The choices after this change."""
        given = {name: getattr(self, name) for name in SessionChoices._fields}
        kept = {name: value for name, value in given.items() if value is not None}
        return stored._replace(**kept, **dict.fromkeys(self.resets - kept.keys()))


NO_CHANGE = SessionChange()


def checked_fields(fields: SessionFields) -> SessionFields:
    """The fields as they are stored; raises `InvalidRequest` for one that is invalid."""
    for field, value in (("external_id", fields.external_id), ("user_id", fields.user_id), ("title", fields.title)):
        if value is not None:
            checked_name(value, field)
    checked_metadata(fields.metadata or {})
    if fields.choices.system_prompt is not None:
        check_system_prompt(fields.choices.system_prompt, "system_prompt")
    return SessionFields(
        external_id=fields.external_id,
        project=fields.project,
        user_id=fields.user_id,
        title=fields.title,
        tags=checked_tags(fields.tags),
        metadata=fields.metadata,
        choices=fields.choices,
    )
