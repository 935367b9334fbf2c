"""Authenticated encryption: bytes that can only be read or made with a key.

Encrypt-then-MAC from the standard library: the keystream is SHAKE-256 of an encryption key and a random nonce, the tag is
HMAC-SHA-256 of nonce and ciphertext under a second key; both keys are derived from the given key and a purpose. It is meant for a
few bytes that live a short time. It does not detect replay: callers that need that add a time or a counter.
"""

import hmac
import secrets
from hashlib import shake_256

_NONCE_BYTES = 16
_TAG_BYTES = 32
OVERHEAD_BYTES = _NONCE_BYTES + _TAG_BYTES


def encrypt(key: bytes, purpose: str, plain: bytes) -> bytes:
    """The ciphertext with its nonce and tag. It cannot be decrypted for another purpose."""
    nonce = secrets.token_bytes(_NONCE_BYTES)
    body = nonce + _exclusive_or(plain, _keystream(key, purpose, nonce, len(plain)))
    return body + _tag(key, purpose, body)


def decrypt(key: bytes, purpose: str, given: bytes) -> bytes | None:
    """The plain bytes; None for bytes that were not encrypted with this key for this purpose."""
    if len(given) < OVERHEAD_BYTES:
        return None
    body, tag = given[:-_TAG_BYTES], given[-_TAG_BYTES:]
    if not hmac.compare_digest(tag, _tag(key, purpose, body)):
        return None
    nonce, ciphertext = body[:_NONCE_BYTES], body[_NONCE_BYTES:]
    return _exclusive_or(ciphertext, _keystream(key, purpose, nonce, len(ciphertext)))


def _keystream(key: bytes, purpose: str, nonce: bytes, length: int) -> bytes:
    return shake_256(hmac.digest(key, f"encrypt {purpose}".encode(), "sha256") + nonce).digest(length)


def _tag(key: bytes, purpose: str, body: bytes) -> bytes:
    return hmac.digest(hmac.digest(key, f"authenticate {purpose}".encode(), "sha256"), body, "sha256")


def _exclusive_or(left: bytes, right: bytes) -> bytes:
    return (int.from_bytes(left, "big") ^ int.from_bytes(right, "big")).to_bytes(len(left), "big")
