"""A bounded queue that serves tenants in turn, so that nobody waits behind another tenant's flood (decision 088)."""

from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Entry(NamedTuple, Generic[T]):
    """What waits, and for whom. A `required` entry is part of something that was accepted already, and is never refused."""

    tenant: Hashable
    job: T
    required: bool = False


class FairQueue(Generic[T]):
    """The entries of one tenant leave in the order of their arrival, those of several tenants in turn. Over the limit the newest
    entry of the tenant that has most waiting is refused, so that a tenant with few is refused last. Not thread-safe."""

    def __init__(self, most: int = 0) -> None:
        """`most` entries wait at most; 0 for no limit."""
        self._most = most
        self._entries: OrderedDict[Hashable, deque[Entry[T]]] = OrderedDict()
        self._count = 0
        self.refused = 0
        """How many entries were refused so far."""

    def __len__(self) -> int:
        return self._count

    def put(self, entry: Entry[T]) -> Entry[T] | None:
        """Add an entry; returns the one that is refused for it, which may be itself."""
        refused = self._refused_for(entry) if self._most and self._count >= self._most else None
        if refused is not None:
            self.refused += 1
        if refused is not entry:
            self._entries.setdefault(entry.tenant, deque()).append(entry)
            self._count += 1
        return refused

    def take(self, may_run: Callable[[Hashable], bool] = lambda _: True) -> Entry[T] | None:
        """The oldest entry of the tenant whose turn it is, of those that may run; none if no entry may."""
        for tenant in self._entries:
            if may_run(tenant):
                break
        else:
            return None
        entries = self._entries[tenant]
        entry = entries.popleft()
        self._count -= 1
        if entries:
            self._entries.move_to_end(tenant)
        else:
            del self._entries[tenant]
        return entry

    def has_flood_besides(self, tenant: Hashable) -> bool:
        """Whether others have several entries each, and the tenant has none."""
        return tenant not in self._entries and self._count >= 4 * max(1, len(self._entries))

    def _refused_for(self, entry: Entry[T]) -> Entry[T] | None:
        """The entry that is refused; none if all are required."""
        tenant, entries = max(self._entries.items(), key=lambda each: len(each[1]))
        if len(entries) > len(self._entries.get(entry.tenant, ())) + 1 and tenant != entry.tenant:
            for position in range(len(entries) - 1, -1, -1):
                if not entries[position].required:
                    found = entries[position]
                    del entries[position]
                    self._count -= 1
                    if not entries:
                        del self._entries[tenant]
                    return found
        return None if entry.required else entry
