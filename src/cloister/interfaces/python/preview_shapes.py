"""The shapes of dry runs: counts of what a change would do."""

from dataclasses import dataclass

from cloister.services.conversations.move import MovePreview as DomainMovePreview
from cloister.services.tenancy.visibility import VisibilityPreview as DomainVisibilityPreview


@dataclass(frozen=True, kw_only=True, slots=True)
class VisibilityPreview:
    """How many sessions, of how many users, would begin to recall each other."""

    sessions: int
    users: int


@dataclass(frozen=True, kw_only=True, slots=True)
class MovePreview:
    """What would move with a session. `replies_given_recalled_text` counts its replies that were given recalled text of the pool
    that it would leave: their own words move along, what they quote of that text does not."""

    messages: int
    memories: int
    observations: int
    replies_given_recalled_text: int


def visibility_preview_shape(preview: DomainVisibilityPreview) -> VisibilityPreview:
    return VisibilityPreview(sessions=preview.sessions, users=preview.users)


def move_preview_shape(preview: DomainMovePreview) -> MovePreview:
    return MovePreview(
        messages=preview.messages,
        memories=preview.memories,
        observations=preview.observations,
        replies_given_recalled_text=preview.replies_given_recalled_text,
    )
