"""The request bodies of mem0's clients. An option that is not among the fields is answered with those that are supported."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from cloister.interfaces.http.mem0.errors import NotSupported
from cloister.interfaces.http.resources.bodies import MOST_SENT, MOST_WORDS, Body, Whole

ENTITY_IDS = ("user_id", "agent_id", "app_id", "run_id")
MOST_IN_BATCH = 100
_LONGEST_NAME_SHOWN = 64
Words = Annotated[list[str], Field(max_length=MOST_WORDS)]


class Mem0Body(Body):
    """A body whose unknown fields are answered with 501. One that is null counts as left out."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    def refuse_unsupported(self) -> None:
        for name, value in (self.model_extra or {}).items():
            if value is not None:
                raise NotSupported(f"The option {name[:_LONGEST_NAME_SHOWN]!r}", type(self).model_fields)


class AddRequest(Mem0Body):
    messages: Annotated[list[dict[str, Any]], Field(max_length=MOST_SENT)] | str
    user_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None
    filters: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    infer: bool | None = None
    timestamp: Whole | None = None


class SearchRequest(Mem0Body):
    query: str
    filters: dict[str, Any] | None = None
    top_k: Whole | None = None
    threshold: float | None = None
    fields: Words | None = None
    categories: Words | None = None
    reference_date: str | Whole | None = None
    latest_only: bool | None = None
    keyword_search: bool | None = None
    rerank: bool | None = None
    show_expired: bool | None = None
    output_format: str | None = None


class ListRequest(Mem0Body):
    filters: dict[str, Any] | None = None
    categories: Words | None = None
    start_date: str | None = None
    end_date: str | None = None
    latest_only: bool | None = None
    show_expired: bool | None = None


class UpdateRequest(Mem0Body):
    text: str | None = None
    metadata: dict[str, Any] | None = None
    expiration_date: str | None = None


class BatchUpdate(Mem0Body):
    memories: list[dict[str, Any]] = Field(max_length=MOST_IN_BATCH)


class BatchDelete(Mem0Body):
    memories: list[dict[str, Any]] = Field(max_length=MOST_IN_BATCH)


def refuse_value(name: str, given: bool | None, only: bool) -> None:
    """Refuse the value of an option that has one value here."""
    if given is not None and given is not only:
        raise NotSupported(f"{name}: {str(given).lower()}", f"{name}: {str(only).lower()}")
