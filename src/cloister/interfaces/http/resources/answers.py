"""Answers as JSON, and the models of lists. FastAPI would validate each answer before it serialises it; these are built here."""

from functools import cache
from typing import Any, cast

from pydantic import BaseModel, TypeAdapter
from starlette.responses import Response

from cloister.interfaces.python import derived_shapes, shapes, tenant_shapes


class ProjectPage(BaseModel):
    data: list[shapes.Project]
    next_cursor: str | None


class TenantPage(BaseModel):
    data: list[tenant_shapes.TenantSummary]
    next_cursor: str | None


class ApiKeyPage(BaseModel):
    data: list[shapes.ApiKey]
    next_cursor: str | None


class SessionPage(BaseModel):
    data: list[shapes.Session]
    next_cursor: str | None


class MessagePage(BaseModel):
    data: list[shapes.Message]
    next_cursor: str | None


class MessageList(BaseModel):
    data: list[shapes.Message]


class MemoryPage(BaseModel):
    data: list[derived_shapes.Memory]
    next_cursor: str | None


class EntityPage(BaseModel):
    data: list[derived_shapes.Entity]
    next_cursor: str | None


class ObservationPage(BaseModel):
    data: list[derived_shapes.Observation]
    next_cursor: str | None


class HitList(BaseModel):
    data: list[shapes.Hit]


@cache
def _serialiser(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def answer(shape: Any, status: int = 200) -> Response:
    """A shape as JSON. The serialiser of each type is built once."""
    kind = cast(type[Any], type(shape))
    return Response(_serialiser(kind).dump_json(shape), status, media_type="application/json")


def nothing() -> Response:
    return Response(status_code=204)
