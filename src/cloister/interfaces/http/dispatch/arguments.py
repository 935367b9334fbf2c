"""Reads the arguments of a handler from a request. Which argument comes from where is FastAPI's reading of the signature, the same
that makes the OpenAPI document; only the reading itself is done here, after the caller was admitted (decision 040).
"""

import inspect
import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from pydantic_core import PydanticUndefined

from cloister.interfaces.http.dispatch.callers import read_no_body
from cloister.interfaces.http.dispatch.paths import as_given
from cloister.interfaces.http.resources.bodies import Body, Nothing
from cloister.interfaces.json_elements import refuse_many_elements
from cloister.interfaces.repeated_fields import repeated_field
from cloister.interfaces.wrong_fields import wrong_fields

Read = Callable[[Request, bytes], Any]
"""Reads one argument from a request and its body."""
# Headers whose values are joined, as HTTP says of lists.
_LISTS = ("anthropic-beta",)
# Bytes. While a large body is parsed, all other threads wait: as long as it takes for one, and not for several in turn.
_LARGE_BODY = 65_536
_parsing = threading.Lock()
_Validate = Callable[..., tuple[Any, list[dict[str, Any]]]]


def argument_readers(endpoint: Callable[..., Any], known: Dependant) -> dict[str, Read]:
    """A reader for each argument of a handler, in the order of its signature: the first that fails is the one that is reported."""
    readers: dict[str, Read] = {}
    if known.request_param_name is not None:
        readers[known.request_param_name] = lambda request, _: request
    for dependency in known.dependencies:
        assert dependency.name is not None and dependency.call is not None
        readers[dependency.name] = refuse_fields if dependency.call is read_no_body else _dependency(dependency.call)
    for field in known.path_params:
        readers[field.name] = _path(field.name)
    for field in known.query_params:
        readers[field.name] = _query(field.alias, field.default, field.validate)
    for field in known.header_params:
        readers[field.name] = _header(field.alias, field.default, field.validate)
    for field in known.body_params:
        readers[field.name] = _body(field.field_info.annotation)
    return {name: readers[name] for name in inspect.signature(endpoint).parameters}


def reads_body(known: Dependant) -> bool:
    return bool(known.body_params) or any(dependency.call is read_no_body for dependency in known.dependencies)


def _dependency(call: Callable[[Request], Any]) -> Read:
    return lambda request, _: call(request)


def _path(name: str) -> Read:
    return lambda request, _: as_given(request.path_params[name])


def _query(name: str, default: Any, validate: _Validate) -> Read:
    def read(request: Request, _: bytes) -> Any:
        # Most requests have no query, and parsing one makes a multi-dictionary.
        if not request.scope["query_string"]:
            return _given_default("query", name, default)
        return _read_text("query", name, request.query_params, default, validate)

    return read


def _header(name: str, default: Any, validate: _Validate) -> Read:
    def read(request: Request, _: bytes) -> Any:
        # Of two values one would be ignored, as of two parameters or fields.
        if name in request.headers and name not in _LISTS and len(request.headers.getlist(name)) > 1:
            raise RequestValidationError([{"type": "repeated", "loc": ("header", name), "msg": "Must come once"}])
        return _read_text("header", name, request.headers, default, validate)

    return read


def _read_text(source: str, name: str, given: Mapping[str, str], default: Any, validate: _Validate) -> Any:
    text = given.get(name)
    if text is None:
        return _given_default(source, name, default)
    value, errors = validate(text, loc=(source, name))
    if errors:
        raise RequestValidationError(errors)
    return value


def _given_default(source: str, name: str, default: Any) -> Any:
    """The default of a parameter that was not given; a parameter without one is required."""
    if default is PydanticUndefined:
        raise RequestValidationError([{"type": "missing", "loc": (source, name), "msg": "is missing"}])
    return default


def _body(kind: Any) -> Read:
    assert isinstance(kind, type) and issubclass(kind, Body)
    return lambda request, body: read_body(kind, request, body)


def refuse_fields(request: Request, body: bytes) -> Body:
    return read_body(Nothing, request, body) if body.strip() else Nothing()


def read_body(kind: type[Body], request: Request, body: bytes) -> Body:
    """Only a body that is declared as JSON is read as JSON, so that no form of another site can pass for a request of ours. A field
    that an object gives twice is refused, as an unknown one is: one of its values would be ignored."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        wrong = {"type": "media_type", "loc": ("body",), "msg": "Must be JSON, sent as application/json"}
        raise RequestValidationError([wrong])
    refuse_many_elements(body)
    with _parsing if len(body) > _LARGE_BODY else nullcontext():
        return _parsed(kind, body)


def _parsed(kind: type[Body], body: bytes) -> Body:
    try:
        read = kind.model_validate_json(body)
    except ValidationError as error:
        found = wrong_fields(kind, body, error)
        entries = [{"type": wrong.type, "loc": ("body", *wrong.path), "msg": wrong.message} for wrong in found]
        raise RequestValidationError(entries) from None
    if (repeated := repeated_field(body)) is not None:
        message = f"Must be given once, and is given {repeated.times} times"
        raise RequestValidationError([{"type": "repeated", "loc": ("body", *repeated.path), "msg": message}])
    return read
