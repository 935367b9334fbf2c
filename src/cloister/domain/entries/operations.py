"""Operations on entries, checked when they are made: a batch of them is refused before anything of it is done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cloister.domain.entries.entry import checked_ttl, checked_value, checked_vector
from cloister.domain.entries.namespace import MatchCondition, MatchKind, Namespace, checked_key, checked_namespace
from cloister.domain.entries.paths import MOST_TEXTS, WHOLE, checked_paths
from cloister.domain.entries.value_filter import MOST_CONDITIONS, checked_value_filter
from cloister.domain.errors import InvalidRequest, TooLarge
from cloister.domain.text import MAX_CONTENT, checked_limit

MOST_OPERATIONS = 1_000
MOST_SEARCHES = 100
"""The most searches and lists of one batch, since each may read a whole part of the store."""
MOST_ENTRIES = 1_000
"""The most entries, or namespaces, of one answer."""
HIGHEST_OFFSET = 1_000_000
RESERVED = "langgraph"
"""No namespace of an entry may begin with this label: LangGraph keeps it for itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GetEntry:
    namespace: Namespace
    key: str
    refresh: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class PutEntry:
    """`value` is JSON text. `paths` are the texts to embed, none for an entry that no query finds. `vectors` are the caller's own,
    which are stored instead."""

    namespace: Namespace
    key: str
    value: str
    ttl: int | None
    paths: tuple[str, ...]
    vectors: tuple[tuple[float, ...], ...] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class DeleteEntry:
    namespace: Namespace
    key: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpectEntry:
    """A condition of the batch: the entry has this value, as JSON text, or is missing if that is None. Else nothing is written."""

    namespace: Namespace
    key: str
    value: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchEntries:
    """`query` is embedded here; `vector` is the caller's own, and is compared with vectors that callers stored."""

    prefix: Namespace
    limit: int
    offset: int
    refresh: bool
    query: str | None = None
    vector: tuple[float, ...] | None = None
    filter: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, kw_only=True, slots=True)
class ListEntries:
    """The entries of one namespace in order of their keys, after the one with the key `after`. An entry that is changed between two
    pages is on one of them, which a search does not promise."""

    namespace: Namespace
    after: str | None
    limit: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ListNamespaces:
    conditions: tuple[MatchCondition, ...]
    max_depth: int | None
    limit: int
    offset: int


@dataclass(frozen=True, kw_only=True, slots=True)
class DeleteExpired:
    """Delete the entries of the part that have expired, which are no longer found."""


Read = GetEntry | SearchEntries | ListEntries | ListNamespaces
Write = PutEntry | DeleteEntry | DeleteExpired
Operation = Read | Write | ExpectEntry


def get_entry(namespace: Sequence[str], key: str, *, refresh: bool = True) -> GetEntry:
    return GetEntry(namespace=checked_namespace(namespace), key=checked_key(key), refresh=refresh)


def put_entry(
    namespace: Sequence[str],
    key: str,
    value: Mapping[str, Any],
    *,
    ttl: float | None = None,
    index: Sequence[str] | bool | None = None,
    vectors: Sequence[Sequence[float]] | None = None,
) -> PutEntry:
    """`index` is a list of paths, False for none, and None for the whole value."""
    labels = checked_namespace(namespace, is_new=True)
    if labels[0] == RESERVED:
        raise InvalidRequest("namespace", f"must not begin with {RESERVED!r}.")
    if index is True:
        raise InvalidRequest("index", "must be a list of paths, false, or missing.")
    paths = () if index is False else (WHOLE,) if index is None else checked_paths(index)
    return PutEntry(
        namespace=labels,
        key=checked_key(key),
        value=checked_value(value),
        ttl=checked_ttl(ttl),
        paths=paths,
        vectors=None if vectors is None else _checked_vectors(vectors),
    )


def delete_entry(namespace: Sequence[str], key: str) -> DeleteEntry:
    return DeleteEntry(namespace=checked_namespace(namespace), key=checked_key(key))


def expect_entry(namespace: Sequence[str], key: str, value: Mapping[str, Any] | None) -> ExpectEntry:
    text = None if value is None else checked_value(value)
    return ExpectEntry(namespace=checked_namespace(namespace), key=checked_key(key), value=text)


def search_entries(
    prefix: Sequence[str],
    *,
    filter: Mapping[str, Any] | None = None,
    limit: int = 10,
    offset: int = 0,
    query: str | None = None,
    vector: Sequence[float] | None = None,
    refresh: bool = True,
) -> SearchEntries:
    """A blank query is none: all entries of the namespaces are listed, last changed first."""
    if query is not None and len(query) > MAX_CONTENT:
        raise TooLarge("query", len(query), MAX_CONTENT)
    return SearchEntries(
        prefix=checked_namespace(prefix, "namespace_prefix", may_be_empty=True),
        filter=checked_value_filter(filter or {}),
        limit=checked_limit(limit, "limit", MOST_ENTRIES, lowest=1),
        offset=checked_limit(offset, "offset", HIGHEST_OFFSET),
        query=query if query is not None and query.strip() else None,
        vector=None if vector is None else checked_vector(vector, "vector"),
        refresh=refresh,
    )


def list_entries(namespace: Sequence[str], *, after: str | None = None, limit: int = 100) -> ListEntries:
    """Neither the namespaces below this one nor the lives of entries are touched: a list does not prolong them."""
    return ListEntries(
        namespace=checked_namespace(namespace),
        after=None if after is None else checked_key(after, "after"),
        limit=checked_limit(limit, "limit", MOST_ENTRIES, lowest=1),
    )


def list_namespaces(
    conditions: Sequence[tuple[MatchKind, Sequence[str]]] = (),
    *,
    max_depth: int | None = None,
    limit: int = 100,
    offset: int = 0,
) -> ListNamespaces:
    """All conditions must hold; one without labels is none. Namespaces deeper than `max_depth` are cut there, and listed once."""
    if len(conditions) > MOST_CONDITIONS:
        raise TooLarge("match_conditions", len(conditions), MOST_CONDITIONS, "conditions")
    return ListNamespaces(
        conditions=tuple(
            MatchCondition(kind=kind, labels=checked_namespace(labels, kind)) for kind, labels in conditions if labels
        ),
        max_depth=None if max_depth is None else checked_limit(max_depth, "max_depth", HIGHEST_OFFSET, lowest=1),
        limit=checked_limit(limit, "limit", MOST_ENTRIES, lowest=1),
        offset=checked_limit(offset, "offset", HIGHEST_OFFSET),
    )


def check_batch(operations: Sequence[Operation]) -> None:
    """Check the size of a batch."""
    if len(operations) > MOST_OPERATIONS:
        raise TooLarge("operations", len(operations), MOST_OPERATIONS, "operations")
    searches = sum(1 for operation in operations if isinstance(operation, SearchEntries | ListEntries | ListNamespaces))
    if searches > MOST_SEARCHES:
        raise TooLarge("operations", searches, MOST_SEARCHES, "searches and lists")


def _checked_vectors(vectors: Sequence[Sequence[float]]) -> tuple[tuple[float, ...], ...]:
    if len(vectors) > MOST_TEXTS:
        raise TooLarge("vectors", len(vectors), MOST_TEXTS, "vectors")
    found = tuple(checked_vector(vector, "vectors") for vector in vectors)
    if len({len(vector) for vector in found}) > 1:
        raise InvalidRequest("vectors", "must all have the same length.")
    return found
