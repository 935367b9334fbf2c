"""Paths: an outside id is one segment, whatever it holds. A slash that came encoded is part of an id, and no step in the path."""

from urllib.parse import unquote

# No byte is decoded to this: it can stand for a slash while the router splits the path at slashes.
_SLASH = "\udc2f"


def as_routed(raw_path: bytes) -> str:
    """The path as the router reads it. Bytes that are no UTF-8 become what nothing is stored under."""
    segments = raw_path.decode("ascii", "surrogateescape").split("/")
    return "/".join(unquote(segment, errors="surrogateescape").replace("/", _SLASH) for segment in segments)


def as_given(parameter: str) -> str:
    """A parameter of a routed path, as the caller meant it."""
    return parameter.replace(_SLASH, "/")
