"""The text of an API key: a prefix for secret scanners, the ids of the tenant and of the key, a secret, and a checksum.

With the tenant's id in its text, a key is looked up in that tenant only. The id grants nothing: a forged one finds no key there.
"""

import hashlib
import hmac
import secrets
from typing import NamedTuple
from zlib import crc32

from cloister.domain.identifiers import KeyId, TenantId

PREFIX = "clo_"
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_VALUES = {character: value for value, character in enumerate(_ALPHABET)}
_ID_LENGTH = 11
_SECRET_LENGTH = 33
_CHECKSUM_LENGTH = 6
SECRET_SPACE = len(_ALPHABET) ** _SECRET_LENGTH
"""33 characters of 62 are 196 bits."""
LENGTH = len(PREFIX) + 2 * _ID_LENGTH + _SECRET_LENGTH + _CHECKSUM_LENGTH


class ParsedKey(NamedTuple):
    """The parts of a key's text."""

    tenant: TenantId
    key: KeyId
    secret: str


def new_secret() -> str:
    return _encoded(secrets.randbelow(SECRET_SPACE), _SECRET_LENGTH)


def derived_number(root: str, purpose: str, *, below: int) -> int:
    """A number below a bound that is the same for the same root and purpose, so that a repeated request finds what the first one
    made. For ids only, which are not secret; secrets are always random."""
    digest = hmac.digest(root.encode(), purpose.encode(), "sha512")
    return int.from_bytes(digest, "big") % below


def key_text(tenant: TenantId, key: KeyId, secret: str) -> str:
    body = f"{PREFIX}{_encoded(tenant, _ID_LENGTH)}{_encoded(key, _ID_LENGTH)}{secret}"
    return body + _checksum(body)


def parse_key(given: str) -> ParsedKey | None:
    """The parts of a key; None for a malformed text, so that a typing error costs no query."""
    if len(given) != LENGTH or not given.startswith(PREFIX) or not given.isascii():
        return None
    body, checksum = given[:-_CHECKSUM_LENGTH], given[-_CHECKSUM_LENGTH:]
    if not given[len(PREFIX) :].isalnum() or checksum != _checksum(body):
        return None
    tenant_end = len(PREFIX) + _ID_LENGTH
    tenant, key = _decoded(body[len(PREFIX) : tenant_end]), _decoded(body[tenant_end : tenant_end + _ID_LENGTH])
    if not (0 < tenant < 1 << 63 and 0 < key < 1 << 63):
        return None
    return ParsedKey(TenantId(tenant), KeyId(key), body[tenant_end + _ID_LENGTH :])


def secret_hash(secret: str) -> bytes:
    """The SHA-256 of a secret. A slow hash is not needed: a secret of 196 random bits cannot be guessed."""
    return hashlib.sha256(secret.encode()).digest()


def same_secret(secret: str, stored: bytes) -> bool:
    return hmac.compare_digest(secret_hash(secret), stored)


def _checksum(body: str) -> str:
    return _encoded(crc32(body.encode()), _CHECKSUM_LENGTH)


def _encoded(number: int, length: int) -> str:
    digits: list[str] = []
    for _ in range(length):
        number, digit = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))


def _decoded(text: str) -> int:
    number = 0
    for character in text:
        number = number * len(_ALPHABET) + _VALUES[character]
    return number
