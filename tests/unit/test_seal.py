"""A seal (ORG-8): opened with its key for its purpose, and not otherwise; it says nothing of what is in it but the length."""

from hypothesis import given
from hypothesis import strategies as st

from cloister.domain.authenticated_encryption import OVERHEAD_BYTES, decrypt, encrypt

KEYS = st.binary(min_size=1, max_size=80)


@given(KEYS, st.text(max_size=20), st.binary(max_size=9_000))
def test_what_was_sealed_can_be_opened_again(key: bytes, purpose: str, plain: bytes) -> None:
    whole = encrypt(key, purpose, plain)
    assert decrypt(key, purpose, whole) == plain
    assert len(whole) == len(plain) + OVERHEAD_BYTES


@given(KEYS, KEYS, st.binary(min_size=1))
def test_another_key_or_purpose_opens_nothing(key: bytes, other: bytes, plain: bytes) -> None:
    """`hmac` pads a short key with NUL."""
    whole = encrypt(key, "a", plain)
    assert decrypt(key, "b", whole) is None
    if key.rstrip(b"\0") != other.rstrip(b"\0"):
        assert decrypt(other, "a", whole) is None


@given(KEYS, st.binary(min_size=1), st.data())
def test_one_changed_bit_or_a_missing_end_opens_nothing(key: bytes, plain: bytes, data: st.DataObject) -> None:
    whole = bytearray(encrypt(key, "a", plain))
    cut = data.draw(st.integers(0, len(whole) - 1))
    assert decrypt(key, "a", bytes(whole[:cut])) is None
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    assert decrypt(key, "a", bytes(whole)) is None


@given(KEYS, st.binary(min_size=16))
def test_the_same_sealed_twice_reads_differently_and_holds_no_word_of_it(key: bytes, plain: bytes) -> None:
    first, second = encrypt(key, "a", plain), encrypt(key, "a", plain)
    assert first != second
    assert plain not in first
