"""Encodes events for their subscribers: once for all that have the same reach and read from the same offset."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

from cloister.domain.events import Event
from cloister.domain.identifiers import format_message_id, format_project_id
from cloister.domain.timestamps import iso
from cloister.interfaces.http import sse
from cloister.services.events.bus import Delivery, Subscription

_MOST_KEPT = 1_024
_MOST_BYTES = 8 << 20


class EventFrames:
    """The last chunks that were encoded. A chunk is shared by subscriptions of one tenant with the same reach, user and offset, and
    by no others: what they may see is the same. Used on the event loop only."""

    def __init__(self) -> None:
        self._chunks: OrderedDict[Hashable, tuple[bytes, int]] = OrderedDict()
        self._bytes = 0

    def read(self, subscription: Subscription) -> bytes:
        """The next events of a subscription, as they are sent; empty if it may see none of them."""
        position = subscription.position
        known = self._chunks.get(position)
        if known is not None:
            chunk, offset = known
            subscription.skip_to(offset)
            return chunk
        deliveries = subscription.read()
        chunk = b"".join(map(_frame, deliveries))
        # After a reset the offset is another one each time.
        if all(delivery.event is not None for delivery in deliveries) and subscription.position != position:
            self._chunks[position] = chunk, subscription.offset
            self._bytes += len(chunk)
            while len(self._chunks) > _MOST_KEPT or self._bytes > _MOST_BYTES:
                self._bytes -= len(self._chunks.popitem(last=False)[1][0])
        return chunk


def _frame(delivery: Delivery) -> bytes:
    event = delivery.event
    data = {"type": "reset"} if event is None or event.kind == "reset" else _shape(event)
    return sse.event(data, kind=data["type"], event_id=delivery.id)


def _shape(event: Event) -> dict[str, Any]:
    shape: dict[str, Any] = {
        "type": event.kind,
        "session_id": event.session,
        "project_id": None if event.project is None else format_project_id(event.project),
        "user_id": event.user,
        "created_at": iso(event.at),
    }
    if event.messages:
        shape["message_ids"] = [format_message_id(message) for message in event.message_ids]
    if event.status is not None:
        shape["status"] = event.status
    return shape
