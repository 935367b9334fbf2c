"""Operations on entries as JSON, and their results: the same in the library, over HTTP and in the adapter for LangGraph."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from cloister.domain.entries.entry import Entry
from cloister.domain.entries.namespace import MatchKind
from cloister.domain.entries.operations import (
    DeleteEntry,
    DeleteExpired,
    ExpectEntry,
    Operation,
    PutEntry,
    delete_entry,
    expect_entry,
    get_entry,
    list_entries,
    list_namespaces,
    put_entry,
    search_entries,
)
from cloister.domain.errors import InvalidRequest
from cloister.domain.timestamps import iso
from cloister.interfaces.python.arguments import of_each
from cloister.services.entries.entries import Result

Fields = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryBatch:
    """Operations as they were given, for a server, and parsed, for the services."""

    given: Sequence[Fields]
    parsed: Sequence[Operation]

    @property
    def writes(self) -> bool:
        """A condition on what is stored is checked in the transaction of the writes."""
        return any(isinstance(each, PutEntry | DeleteEntry | DeleteExpired | ExpectEntry) for each in self.parsed)

    @property
    def reads(self) -> bool:
        return not all(isinstance(each, PutEntry | DeleteEntry | DeleteExpired) for each in self.parsed)


def read_batch(operations: Sequence[Fields]) -> EntryBatch:
    """Parse operations. An error names the position of the operation, and its field."""
    return EntryBatch(given=operations, parsed=of_each(operations, _operation, "operations"))


def result_shape(result: Result) -> Any:
    """A result as JSON: an entry, a list of entries or of namespaces, a number, or None."""
    if isinstance(result, Entry):
        return entry_shape(result)
    if isinstance(result, list):
        return [entry_shape(each) if isinstance(each, Entry) else list(each) for each in result]
    return result


def entry_shape(entry: Entry) -> dict[str, Any]:
    shape: dict[str, Any] = {
        "namespace": list(entry.namespace),
        "key": entry.key,
        "value": entry.value,
        "created_at": iso(entry.created_at),
        "updated_at": iso(entry.updated_at),
    }
    return shape if entry.score is None else {**shape, "score": entry.score}


def _operation(given: Fields) -> Operation:
    if not isinstance(given, Mapping) or given.get("op") not in _KINDS:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidRequest("op", f"must be one of {', '.join(map(str, _KINDS))}.")
    kind = _KINDS[given["op"]]
    fields = {name: value for name, value in given.items() if name != "op"}
    if missing := [name for name in kind.required if name not in fields]:
        raise InvalidRequest(missing[0], "is missing.")
    if unknown := fields.keys() - {*kind.required, *kind.optional}:
        raise InvalidRequest(min(map(str, unknown)), f"is not a field of {given['op']!r}.")
    for name in ("namespace", "namespace_prefix", "vectors", "vector", "match_conditions"):
        if not isinstance(fields.get(name, []), list | tuple | None):
            raise InvalidRequest(name, "must be a list.")
    return kind.read(fields)


def _get(fields: Fields) -> Operation:
    return get_entry(fields["namespace"], fields["key"], refresh=_refresh(fields))


def _put(fields: Fields) -> Operation:
    index = fields.get("index")
    if index is not None and not isinstance(index, bool | list | tuple):
        raise InvalidRequest("index", "must be a list of paths, false, or missing.")
    return put_entry(
        fields["namespace"],
        fields["key"],
        fields["value"],
        ttl=fields.get("ttl"),
        index=cast(Sequence[str] | bool | None, index),
        vectors=_vectors(fields.get("vectors")),
    )


def _expect(fields: Fields) -> Operation:
    return expect_entry(fields["namespace"], fields["key"], fields["value"])


def _search(fields: Fields) -> Operation:
    query = fields.get("query")
    if query is not None and not isinstance(query, str):
        raise InvalidRequest("query", "must be text.")
    filter = fields.get("filter")
    if filter is not None and not isinstance(filter, Mapping):
        raise InvalidRequest("filter", "must be an object with a condition for each key.")
    return search_entries(
        fields["namespace_prefix"],
        filter=cast(Fields | None, filter),
        limit=fields.get("limit", 10),
        offset=fields.get("offset", 0),
        query=query,
        vector=fields.get("vector"),
        refresh=_refresh(fields),
    )


def _list(fields: Fields) -> Operation:
    return list_entries(fields["namespace"], after=fields.get("after"), limit=fields.get("limit", 100))


def _list_namespaces(fields: Fields) -> Operation:
    conditions: list[tuple[MatchKind, Sequence[str]]] = []
    for condition in cast(Sequence[Fields], fields.get("match_conditions") or ()):
        if not isinstance(condition, Mapping) or set(condition) != {"match_type", "path"}:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidRequest("match_conditions", "must have a match_type and a path each.")
        if condition["match_type"] not in ("prefix", "suffix") or not isinstance(condition["path"], list | tuple):
            raise InvalidRequest("match_conditions", "must have the match_type prefix or suffix, and a list of labels.")
        conditions.append((condition["match_type"], cast(Sequence[str], condition["path"])))
    return list_namespaces(
        conditions,
        max_depth=fields.get("max_depth"),
        limit=fields.get("limit", 100),
        offset=fields.get("offset", 0),
    )


def _refresh(fields: Fields) -> bool:
    given = fields.get("refresh_ttl")
    if given is not None and not isinstance(given, bool):
        raise InvalidRequest("refresh_ttl", "must be true or false.")
    return given is not False


def _vectors(given: Sequence[object] | None) -> Sequence[Sequence[float]] | None:
    for vector in given or ():
        if not isinstance(vector, list | tuple):
            raise InvalidRequest("vectors", "must be a list of vectors, each a list of numbers.")
    return cast(Sequence[Sequence[float]] | None, given)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Kind:
    read: Callable[[Fields], Operation]
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


_KINDS: Mapping[object, _Kind] = {
    "get": _Kind(read=_get, required=("namespace", "key"), optional=("refresh_ttl",)),
    "put": _Kind(read=_put, required=("namespace", "key", "value"), optional=("index", "ttl", "vectors")),
    "delete": _Kind(
        read=lambda fields: delete_entry(fields["namespace"], fields["key"]), required=("namespace", "key")
    ),
    "expect": _Kind(read=_expect, required=("namespace", "key", "value")),
    "search": _Kind(
        read=_search,
        required=("namespace_prefix",),
        optional=("filter", "limit", "offset", "query", "vector", "refresh_ttl"),
    ),
    "list": _Kind(read=_list, required=("namespace",), optional=("after", "limit")),
    "list_namespaces": _Kind(read=_list_namespaces, optional=("match_conditions", "max_depth", "limit", "offset")),
    "delete_expired": _Kind(read=lambda _: DeleteExpired()),
}
