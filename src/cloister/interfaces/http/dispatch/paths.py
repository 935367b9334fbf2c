"""Paths of requests: an encoded slash is part of an id and not a separator, so that an id is always one segment of a path."""

from urllib.parse import unquote

# Stands for an encoded slash while the router splits a path at slashes. No byte is decoded to this surrogate.
_SLASH = "\udc2f"


def as_routed(raw_path: bytes) -> str:
    """The decoded path for the router. Bytes that are not UTF-8 become lone surrogates, which no stored id contains."""
    segments = raw_path.decode("ascii", "surrogateescape").split("/")
    return "/".join(unquote(segment, errors="surrogateescape").replace("/", _SLASH) for segment in segments)


def as_given(parameter: str) -> str:
    """A parameter of a path from `as_routed`, with its slashes."""
    return parameter.replace(_SLASH, "/")
