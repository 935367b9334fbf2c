"""Namespaces of entries: labels from the outermost inward, such as `("users", "ann")`. A namespace is data inside one part of the
store; it never decides which part that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cloister.domain.errors import InvalidRequest, TooLarge

Namespace = tuple[str, ...]
MatchKind = Literal["prefix", "suffix"]
MAX_NAMESPACE = 768
"""The longest namespace and the longest key, in bytes of UTF-8: together with the user they are the key of an index."""
_LONGEST_STORED = MAX_NAMESPACE + 32
"""An entry of a deleted project may have got the id of the project as another label. It can be read and deleted, not put."""
HIDDEN = "\x01"
"""Begins the first label of an adapter's own namespaces. Only a caller that names them finds them: an application that lists
or changes all its entries leaves them alone. Only such labels sort before the character after it."""
_FIRST_SHOWN = b"\x02"
WILDCARD = "*"
_END = "."
_AFTER_END = b"/"
# Behind every UTF-8 text.
_LAST = b"\xff"


@dataclass(frozen=True, kw_only=True, slots=True)
class MatchCondition:
    """How the namespaces in a list must begin or end. The label `*` matches any one label."""

    kind: MatchKind
    labels: Namespace

    def matches(self, namespace: Namespace) -> bool:
        if len(namespace) < len(self.labels):
            return False
        same = namespace[: len(self.labels)] if self.kind == "prefix" else namespace[-len(self.labels) :]
        return all(wanted in (WILDCARD, label) for wanted, label in zip(self.labels, same, strict=True))


def checked_namespace(
    labels: Sequence[str], field: str = "namespace", *, may_be_empty: bool = False, is_new: bool = False
) -> Namespace:
    """Check the labels of a namespace: text that is not empty, without full stop and NUL, so that `("a.b",)` cannot be taken for
    `("a", "b")`. `is_new`: something is to be stored there."""
    if isinstance(labels, str) or not isinstance(labels, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidRequest(field, "must be a list of labels.")
    if not labels and not may_be_empty:
        raise InvalidRequest(field, "must have at least one label.")
    for label in labels:
        _check_label(label, field)
    namespace = tuple(labels)
    longest = MAX_NAMESPACE if is_new else _LONGEST_STORED
    if len(encoded(namespace)) > longest:
        raise TooLarge(field, len(encoded(namespace)), MAX_NAMESPACE, "bytes")
    return namespace


def checked_key(key: str, field: str = "key") -> str:
    """Check the key of an entry: text that is not empty, without NUL."""
    if not isinstance(key, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidRequest(field, "must be text.")
    if not key or "\x00" in key:
        raise InvalidRequest(field, "must not be empty, and have no NUL character.")
    size = len(_bytes(key, field))
    if size > MAX_NAMESPACE:
        raise TooLarge(field, size, MAX_NAMESPACE, "bytes")
    return key


def encoded(namespace: Namespace) -> bytes:
    """A namespace as it is stored: each label with a full stop behind it, so that no label begins another."""
    return "".join(f"{label}{_END}" for label in namespace).encode()


def decoded(stored: bytes) -> Namespace:
    return tuple(stored.decode().split(_END)[:-1])


def range_of(prefix: Namespace) -> tuple[bytes, bytes]:
    """The first encoded namespace that begins with these labels, and the first that comes after all of them. No labels: all
    namespaces but those of adapters."""
    first = encoded(prefix)
    return (first, first[:-1] + _AFTER_END) if prefix else (_FIRST_SHOWN, _LAST)


def literal_prefix(conditions: Sequence[MatchCondition]) -> Namespace:
    """The labels that every matching namespace begins with; there may be none."""
    longest: Namespace = ()
    for condition in conditions:
        if condition.kind == "prefix":
            end = condition.labels.index(WILDCARD) if WILDCARD in condition.labels else len(condition.labels)
            longest = max(longest, condition.labels[:end], key=len)
    return longest


def _check_label(label: str, field: str) -> None:
    if not isinstance(label, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidRequest(field, f"has the label {label!r}, which is not text.")
    if not label or _END in label or "\x00" in label:
        raise InvalidRequest(
            field,
            f"has the label {label[:64]!r}: a label must not be empty, and have no full stop and no NUL character.",
        )
    _bytes(label, field)


def _bytes(text: str, field: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InvalidRequest(field, "holds a lone surrogate, which is not valid Unicode.") from None
