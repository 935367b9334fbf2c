"""A seal: bytes that only the holder of a key can read or make.

Encrypt-then-MAC from the standard library: the keystream is SHAKE-256 of an encryption key and a random nonce, the mark is
HMAC-SHA-256 of nonce and ciphertext under a second key; both keys come from the given one and its purpose. It is for a few bytes
that live a short time, and says nothing about when they were sealed: whoever can replay an old seal is told nothing by it.
"""

import hmac
import secrets
from hashlib import shake_256

_NONCE_BYTES = 16
_MARK_BYTES = 32
OVERHEAD_BYTES = _NONCE_BYTES + _MARK_BYTES


def sealed(key: bytes, purpose: str, plain: bytes) -> bytes:
    """What is sealed for one purpose cannot be opened for another."""
    nonce = secrets.token_bytes(_NONCE_BYTES)
    body = nonce + _exclusive_or(plain, _stream(key, purpose, nonce, len(plain)))
    return body + _mark(key, purpose, body)


def opened(key: bytes, purpose: str, given: bytes) -> bytes | None:
    """None for what was not sealed with this key for this purpose."""
    if len(given) < OVERHEAD_BYTES:
        return None
    body, mark = given[:-_MARK_BYTES], given[-_MARK_BYTES:]
    if not hmac.compare_digest(mark, _mark(key, purpose, body)):
        return None
    nonce, hidden = body[:_NONCE_BYTES], body[_NONCE_BYTES:]
    return _exclusive_or(hidden, _stream(key, purpose, nonce, len(hidden)))


def _stream(key: bytes, purpose: str, nonce: bytes, length: int) -> bytes:
    return shake_256(hmac.digest(key, f"encrypt {purpose}".encode(), "sha256") + nonce).digest(length)


def _mark(key: bytes, purpose: str, body: bytes) -> bytes:
    return hmac.digest(hmac.digest(key, f"authenticate {purpose}".encode(), "sha256"), body, "sha256")


def _exclusive_or(left: bytes, right: bytes) -> bytes:
    return (int.from_bytes(left, "big") ^ int.from_bytes(right, "big")).to_bytes(len(left), "big")
