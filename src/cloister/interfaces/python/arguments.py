"""Arguments of the library, checked and parsed before a backend is called: the same checks and error texts for both backends."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, Final, Literal, TypeVar, cast

from cloister.domain.conversation import Draft, Role
from cloister.domain.errors import InvalidRequest, TooLarge
from cloister.domain.identifiers import NO_PROJECT, ProjectId, parse_project_id
from cloister.domain.recall.filter_language import parse_filter
from cloister.domain.text import checked_categories, checked_limit, checked_name
from cloister.domain.timestamps import parse_iso
from cloister.interfaces.python.pages import GivenFilter, PageRequest

LARGEST_PAGE = 200
# Compared by identity: no project id that a caller could pass is this object.
NOT_GIVEN: Final = cast(str, object())
NO_NUMBER_GIVEN: Final = cast(float, NOT_GIVEN)
NO_DAYS_GIVEN: Final = cast(int, NOT_GIVEN)


class _Unspecified(Enum):
    PROJECT = "no project was named"


UNSPECIFIED: Final = _Unspecified.PROJECT
ProjectChoice = ProjectId | Literal[_Unspecified.PROJECT] | None
"""A project, no project (None), or none named: then a write goes to the default project, and a list is not filtered."""
Id = TypeVar("Id")
Given = TypeVar("Given")
Made = TypeVar("Made")


def page_size(limit: int) -> int:
    return checked_limit(limit, "limit", LARGEST_PAGE, lowest=1)


def page_request(limit: int, cursor: str | None) -> PageRequest[int]:
    return PageRequest(limit=page_size(limit), cursor=cursor)


def page_after(
    limit: int,
    cursor: str | None,
    after: str | None,
    parse: Callable[[str], Id],
    filter: Mapping[str, object] | None = None,
) -> PageRequest[Id]:
    """The page behind a cursor or, without one, behind the item with the id `after`."""
    behind = None if after is None else parse(after)
    return PageRequest(limit=page_size(limit), cursor=cursor, after=behind, filter=given_filter(filter))


def given_filter(filter: Mapping[str, object] | None) -> GivenFilter | None:
    return None if filter is None else GivenFilter(given=filter, parsed=parse_filter(filter))


def project_of(project_id: str | None) -> ProjectId | None:
    """None, or `none`, asks for no project."""
    return None if project_id in (None, NO_PROJECT) else parse_project_id(project_id)


def project_choice(project_id: str | None) -> ProjectChoice:
    return UNSPECIFIED if project_id is NOT_GIVEN else project_of(project_id)


def checked_user(user_id: str | None) -> str | None:
    return None if user_id is None else checked_name(user_id, "user_id")


def checked_flag(given: bool, field: str) -> bool:
    if not isinstance(given, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidRequest(field, "must be true or false.")
    return given


def resets_of(**given: str | None) -> frozenset[str]:
    """The names of the arguments that were given as None, which resets them."""
    return frozenset(name for name, value in given.items() if value is None)


def tags_of(tags: Sequence[str]) -> tuple[str, ...]:
    if isinstance(tags, str):
        raise InvalidRequest("tags", "must be a list of tags, not one text.")
    return tuple(tags)


def draft_of(
    *,
    role: Role,
    content: str,
    author: str | None = None,
    categories: Sequence[str] = (),
    metadata: Mapping[str, object] | None = None,
    created_at: str | None = None,
) -> Draft:
    return Draft(
        role=role,
        content=content,
        author=author,
        categories=checked_categories(categories),
        metadata=metadata or {},
        created_at=None if created_at is None else parse_iso(created_at, "created_at"),
    )


def drafts_of(messages: Sequence[Mapping[str, Any]]) -> list[Draft]:
    """A draft of each mapping with the fields of one message. An error names the position and the field."""
    return of_each(messages, lambda fields: draft_of(**_known_fields(fields)))


def of_each(messages: Iterable[Given], made_of: Callable[[Given], Made], field: str = "messages") -> list[Made]:
    """What `made_of` makes of each message or item; an error names its position in this field."""
    made: list[Made] = []
    try:
        for message in messages:
            made.append(made_of(message))
    except (InvalidRequest, TooLarge) as error:
        raise error.at(f"{field}[{len(made)}]") from None
    return made


def _known_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    if missing := {"role", "content"} - set(fields):
        raise InvalidRequest(min(missing), "is missing.")
    if unknown := set(fields) - {"role", "content", "author", "categories", "metadata", "created_at"}:
        raise InvalidRequest(min(unknown), "is not a field of a message.")
    return dict(fields)
