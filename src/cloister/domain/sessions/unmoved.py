"""The token of a context, which says where its session recalled from (ISO-12).

Who lets a model of their own answer with a context gives the token back with the reply: it is refused if the session was moved or
created anew, or its project shared or divided meanwhile. The token is two keyed hashes, so nothing can be read from it: the first
is of the session's pool, the second shows that the first was made for a session of this name. It stays the same while the session
recalls from the same pool, whatever is said in it.
"""

import hmac
import json

from cloister.domain.conversation import Session
from cloister.domain.errors import InvalidRequest
from cloister.domain.patterns import anchored

UNMOVED_PATTERN = "[0-9a-f]{64}"
_TOKEN = anchored(UNMOVED_PATTERN)
# Of each of the two hashes.
_DIGITS = 32


def token_of(secret: bytes, session: Session, *, shared: bool) -> str:
    """`secret` is the tenant's; `shared` says whether the session's pool has messages of several users."""
    recalls_from = _hash(secret, "recalls from", session.id, session.pool, shared)
    return recalls_from + _hash(secret, "made for", session.external_id, recalls_from)


def checked_token(given: str) -> str:
    if not isinstance(given, str) or not _TOKEN.fullmatch(given):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _invalid()
    return given


def is_unmoved(secret: bytes | None, token: str, session: Session, *, shared: bool) -> bool:
    """Whether the session recalls from where it did when the token was made. `InvalidRequest` if the token was not made for a
    session of this name and tenant."""
    recalls_from, made_for = token[:_DIGITS], token[_DIGITS:]
    if secret is None or not hmac.compare_digest(
        made_for, _hash(secret, "made for", session.external_id, recalls_from)
    ):
        raise _invalid()
    return hmac.compare_digest(token, token_of(secret, session, shared=shared))


def _hash(secret: bytes, *parts: str | int) -> str:
    return hmac.digest(secret, json.dumps(["unmoved", *parts]).encode(), "sha256").hex()[:_DIGITS]


def _invalid() -> InvalidRequest:
    return InvalidRequest("if_unmoved_since", "must be the `unmoved_token` of a context of this session.")
