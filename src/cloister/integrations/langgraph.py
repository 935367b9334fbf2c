"""`CloisterStore`: the store of LangGraph on Cloister. What one store keeps is in one project, and of one user if one is named;
namespaces are data inside that, and reach nothing outside it."""

import asyncio
import threading
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from cloister.domain.entries.paths import MOST_TEXTS
from cloister.domain.errors import InvalidRequest, TooLarge
from cloister.integrations.threaded_library import threaded_library
from cloister.interfaces.python.arguments import NOT_GIVEN
from cloister.interfaces.python.library import Cloister

try:
    from langgraph.store.base import (
        BaseStore,
        Embeddings,
        GetOp,
        IndexConfig,
        Item,
        ListNamespacesOp,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        ensure_embeddings,
        get_text_at_path,
    )
    from langgraph.store.base import validate_op_namespace as check_namespace
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "CloisterStore needs LangGraph's stores: pip install 'cloister[langgraph]'", name=missing.name
    ) from missing

_WHOLE = "$"
_Fields = dict[str, Any]


class StoreRefused(ValueError):
    """A batch that was refused, and of which nothing was done: a value, key, filter or limit that cannot be. Its `__cause__` is
    Cloister's own error, an `InvalidRequest` or `TooLarge`. It is a `ValueError`, as LangGraph's own stores raise it."""


class CloisterStore(BaseStore):
    """A store for `graph.compile(store=…)`, on a directory, a database or a server, whichever the `Cloister` was opened with.

    `project_id` and `user_id` are fixed here, and no operation can name others: without `project_id` it is the project of the key,
    else the default project, with None no project. Items are embedded by Cloister, unless `index` has an `embed` of its own. `ttl`
    has LangGraph's settings; expired items are not found, and a server deletes them. Any thread and event loop may use a store.
    """

    supports_ttl = True

    def __init__(
        self,
        cloister: Cloister,
        *,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        self.ttl_config = ttl
        self.index_config = index
        self._cloister = threaded_library(cloister)
        self._scope: _Fields = {"project_id": project_id, "user_id": user_id}
        self._sweeper = _Sweeper(self)
        embed = (index or {}).get("embed")
        self.embeddings: Embeddings | None = None if embed is None else ensure_embeddings(embed)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations: reads first, then all writes in one transaction. The whole batch is refused if one operation is wrong."""
        given = _checked(ops)
        embedded = _Embedded({}, {})
        if self.embeddings is not None:
            texts, queries = self._texts(given), _queries(given)
            embedded = _Embedded(
                dict(zip(texts, self.embeddings.embed_documents(texts) if texts else (), strict=True)),
                {query: self.embeddings.embed_query(query) for query in queries},
            )
        return self._run(given, embedded)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`, on a thread; texts are embedded asynchronously."""
        given = _checked(ops)
        embedded = _Embedded({}, {})
        if self.embeddings is not None:
            texts, queries = self._texts(given), _queries(given)
            embedded = _Embedded(
                dict(zip(texts, await self.embeddings.aembed_documents(texts) if texts else (), strict=True)),
                {query: await self.embeddings.aembed_query(query) for query in queries},
            )
        return await asyncio.to_thread(self._run, given, embedded)

    def sweep_ttl(self) -> int:
        """Delete the expired items of this store now; returns how many."""
        return self._cloister.run_entry_operations([{"op": "delete_expired"}], **self._scope)[0]

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> None:
        """Delete expired items at intervals, on a thread of its own, until `stop_ttl_sweeper`. A server does so by itself."""
        configured = (self.ttl_config or {}).get("sweep_interval_minutes")
        self._sweeper.start(60 * (sweep_interval_minutes or configured or 5))

    def stop_ttl_sweeper(self) -> None:
        self._sweeper.stop()

    def _run(self, ops: Sequence[Op], embedded: "_Embedded") -> list[Result]:
        operations = [self._operation(op, embedded) for op in ops]
        try:
            results = self._cloister.run_entry_operations(operations, **self._scope)
        except (InvalidRequest, TooLarge) as error:
            # LangGraph's own stores raise ValueError for what they cannot store.
            raise StoreRefused(str(error)) from error
        return [_result(op, result) for op, result in zip(ops, results, strict=True)]

    def _operation(self, op: Op, embedded: "_Embedded") -> _Fields:
        match op:
            case GetOp():
                return {"op": "get", "namespace": op.namespace, "key": op.key, "refresh_ttl": op.refresh_ttl}
            case PutOp(value=None):
                return {"op": "delete", "namespace": op.namespace, "key": op.key}
            case PutOp():
                return self._put(op, embedded)
            case SearchOp():
                return self._search(op, embedded)
            case _:
                conditions = [{"match_type": each.match_type, "path": each.path} for each in op.match_conditions or ()]
                return {
                    "op": "list_namespaces",
                    "match_conditions": conditions,
                    "max_depth": op.max_depth,
                    "limit": op.limit,
                    "offset": op.offset,
                }

    def _put(self, op: PutOp, embedded: "_Embedded") -> _Fields:
        put: _Fields = {"op": "put", "namespace": op.namespace, "key": op.key, "value": op.value, "ttl": op.ttl}
        if self.embeddings is None:
            return {**put, "index": self._paths(op)}
        return {**put, "index": False, "vectors": [embedded.texts[text] for text in self._texts([op])[:MOST_TEXTS]]}

    def _search(self, op: SearchOp, embedded: "_Embedded") -> _Fields:
        search: _Fields = {
            "op": "search",
            "namespace_prefix": op.namespace_prefix,
            "filter": op.filter,
            "limit": op.limit,
            "offset": op.offset,
            "refresh_ttl": op.refresh_ttl,
        }
        if op.query and self.embeddings is not None:
            return {**search, "vector": embedded.queries[op.query]}
        return {**search, "query": op.query}

    def _texts(self, ops: Sequence[Op]) -> list[str]:
        """The texts of items that the application's own model embeds, each once."""
        found: dict[str, None] = {}
        for op in ops:
            if isinstance(op, PutOp) and op.value is not None:
                for path in self._paths(op) or ():
                    found.update(dict.fromkeys(get_text_at_path(op.value, path)))
        return list(found)

    def _paths(self, op: PutOp) -> list[str] | Literal[False]:
        """The paths of an item's texts: those of the operation, else those of the store, else the whole value."""
        if op.index is not None:
            return op.index
        fields = (self.index_config or {}).get("fields")
        return [_WHOLE] if fields is None else fields


class _Embedded(NamedTuple):
    """The vectors of the application's own model, for the texts of items and for queries."""

    texts: Mapping[str, list[float]]
    queries: Mapping[str, list[float]]


class _Sweeper:
    """The thread that deletes expired items."""

    def __init__(self, store: CloisterStore) -> None:
        self._store = store
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, seconds: float) -> None:
        if self._thread is not None:
            return
        self._stopping.clear()
        self._thread = threading.Thread(target=self._sweep, args=(seconds,), name="cloister-ttl", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
        self._thread = None

    def _sweep(self, seconds: float) -> None:
        while not self._stopping.wait(seconds):
            self._store.sweep_ttl()


def _queries(ops: Sequence[Op]) -> set[str]:
    return {op.query for op in ops if isinstance(op, SearchOp) and op.query}


def _checked(ops: Iterable[Op]) -> list[Op]:
    """The operations, each with a namespace that LangGraph allows; `BaseStore` checks only those of its own methods."""
    given = list(ops)
    for op in given:
        if not isinstance(op, GetOp | PutOp | SearchOp | ListNamespacesOp):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"Unknown operation: {type(op).__name__}")
        check_namespace(op)
    return given


def _result(op: Op, result: Any) -> Result:
    if isinstance(op, SearchOp):
        return [_item(SearchItem, found) for found in result]
    if isinstance(op, ListNamespacesOp):
        return [tuple(namespace) for namespace in result]
    return None if result is None else _item(Item, result)


def _item(kind: type[Any], found: _Fields) -> Any:
    times = {name: datetime.fromisoformat(found[name]) for name in ("created_at", "updated_at")}
    return kind(**{**found, **times, "namespace": tuple(found["namespace"])})
