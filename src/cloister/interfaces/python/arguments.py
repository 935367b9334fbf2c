"""What callers give the library, checked before anything is asked: the same here and elsewhere, with the same words."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

from cloister.domain.conversation import Draft, Role
from cloister.domain.errors import InvalidRequest, TooLarge
from cloister.domain.identifiers import NO_PROJECT, ProjectId, parse_project_id
from cloister.domain.text import checked_limit
from cloister.domain.timestamps import parse_iso

LARGEST_PAGE = 200
# Compared by identity: no project id that a caller could write is this one.
NOT_GIVEN: Final = cast(str, object())
Given = TypeVar("Given")
Made = TypeVar("Made")


def page_size(limit: int) -> int:
    return checked_limit(limit, "limit", LARGEST_PAGE, lowest=1)


def project_of(project_id: str | None) -> ProjectId | None:
    """None, or `none`, asks for no project."""
    return None if project_id in (None, NO_PROJECT) else parse_project_id(project_id)


def tags_of(tags: Sequence[str]) -> tuple[str, ...]:
    if isinstance(tags, str):
        raise InvalidRequest("tags", "must be a list of tags, not one text.")
    return tuple(tags)


def draft_of(
    *,
    role: Role,
    content: str,
    author: str | None = None,
    metadata: Mapping[str, object] | None = None,
    created_at: str | None = None,
) -> Draft:
    return Draft(
        role=role,
        content=content,
        author=author,
        metadata=metadata or {},
        created_at=None if created_at is None else parse_iso(created_at, "created_at"),
    )


def drafts_of(messages: Sequence[Mapping[str, Any]]) -> list[Draft]:
    """Each with the fields of one message; what is wrong, missing or unknown is named with its place."""
    return of_each(messages, lambda fields: draft_of(**_known_fields(fields)))


def of_each(messages: Iterable[Given], made_of: Callable[[Given], Made]) -> list[Made]:
    """What is made of each of several messages; an error says of which."""
    made: list[Made] = []
    try:
        for message in messages:
            made.append(made_of(message))
    except (InvalidRequest, TooLarge) as error:
        raise error.at(f"messages[{len(made)}]") from None
    return made


def _known_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    if missing := {"role", "content"} - set(fields):
        raise InvalidRequest(min(missing), "is missing.")
    if unknown := set(fields) - {"role", "content", "author", "metadata", "created_at"}:
        raise InvalidRequest(min(unknown), "is not a field of a message.")
    return dict(fields)
