"""API keys as text (ORG-8): what is made reads back, what was mistyped or made up is refused, and nothing can be guessed."""

import math
import string
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cloister.domain.access import ApiKey, Permission, checked_permissions
from cloister.domain.errors import Forbidden, InvalidRequest, NotFound
from cloister.domain.identifiers import KeyId, ProjectId, TenantId, format_key_id, new_key_id, parse_key_id
from cloister.domain.keys import (
    LENGTH,
    PREFIX,
    SECRET_SPACE,
    ParsedKey,
    derived_number,
    key_text,
    new_secret,
    parse_key,
    same_secret,
    secret_hash,
)
from cloister.domain.scope import Reach

ALPHABET = string.digits + string.ascii_letters
IDS = st.integers(1, (1 << 63) - 1)
SECRETS = st.text(ALPHABET, min_size=33, max_size=33)
TEXTS = st.builds(key_text, IDS.map(TenantId), IDS.map(KeyId), SECRETS)
ROOTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(IDS, IDS, SECRETS)
@example((1 << 63) - 1, 1, "0" * 33)
def test_a_key_reads_back_as_what_it_was_made_of(tenant: int, key: int, secret: str) -> None:
    """ORG-8."""
    parsed = parse_key(key_text(TenantId(tenant), KeyId(key), secret))
    assert parsed == ParsedKey(TenantId(tenant), KeyId(key), secret)


@given(TEXTS)
def test_a_key_has_a_prefix_that_scanners_can_know_and_one_length(text: str) -> None:
    """ORG-8: one word of plain letters and digits, so that a double click selects all of it."""
    assert text.startswith("clo_")
    assert len(text) == LENGTH == 65
    assert set(text.removeprefix("clo_")) <= set(ALPHABET)


def test_a_secret_is_drawn_from_more_than_190_bits() -> None:
    """ORG-8."""
    assert math.log2(SECRET_SPACE) >= 190
    drawn = {new_secret() for _ in range(2_000)}
    assert len(drawn) == 2_000
    assert all(set(places) == set(ALPHABET) for places in zip(*drawn, strict=True))


def test_a_secret_is_as_wide_as_its_space(monkeypatch: pytest.MonkeyPatch) -> None:
    """The smallest and the largest number that can be drawn make the first and the last secret."""
    asked: list[int] = []

    def largest(below: int) -> int:
        asked.append(below)
        return below - 1

    monkeypatch.setattr("cloister.domain.keys.secrets.randbelow", largest)
    assert new_secret() == "z" * 33
    assert asked == [SECRET_SPACE]


@given(TEXTS, st.integers(0, LENGTH - 1), st.characters(min_codepoint=33, max_codepoint=126))
def test_a_single_character_that_was_mistyped_is_noticed(text: str, place: int, typed: str) -> None:
    """ORG-8: the checksum finds every change inside one byte, wherever it is."""
    changed = text[:place] + typed + text[place + 1 :]
    assert (parse_key(changed) is None) == (changed != text)


@given(TEXTS)
def test_two_neighbours_that_changed_places_are_noticed(text: str) -> None:
    """ORG-8: all of them, also where the secret meets the checksum."""
    for place in range(LENGTH - 1):
        one, two = text[place], text[place + 1]
        if one != two:
            assert parse_key(text[:place] + two + one + text[place + 2 :]) is None


@given(TEXTS, st.text(min_size=1, max_size=3))
def test_a_key_with_anything_before_or_behind_it_is_none(text: str, more: str) -> None:
    assert parse_key(text + more) is None
    assert parse_key(more + text) is None
    assert parse_key(text[: -len(more)]) is None


@given(
    st.text()
    | st.text(min_size=LENGTH, max_size=LENGTH)
    | st.text(ALPHABET, min_size=61, max_size=61).map(PREFIX.__add__)
)
def test_what_was_not_made_here_is_no_key(given: str) -> None:
    """ORG-8: garbage is refused without an error; one in four thousand million would pass the checksum."""
    assert parse_key(given) is None


DAMAGE: dict[str, Callable[[str], str]] = {
    "Arabic digits": lambda text: text.replace("0", "٠"),
    "a wide digit": lambda text: text[:30] + "０" + text[31:],
    "an accent": lambda text: text[:30] + "é" + text[31:],
    "NUL": lambda text: text[:30] + "\x00" + text[31:],
    "a surrogate": lambda text: text[:30] + "\ud800" + text[31:],
    "a space": lambda text: text[:30] + " " + text[31:],
    "the other case": lambda text: text.swapcase(),
    "upper case": lambda text: text.upper(),
    "nothing": lambda text: "",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_only_looks_like_a_key_is_none(damage: str) -> None:
    text = key_text(TenantId(1), KeyId(2), "a0" * 16 + "b")
    assert parse_key(text) is not None
    assert parse_key(DAMAGE[damage](text)) is None


@pytest.mark.parametrize(("tenant", "key"), [(0, 1), (1, 0), (1 << 63, 1), (1, 1 << 63), (62**11 - 1, 62**11 - 1)])
def test_an_id_that_no_tenant_or_key_can_have_is_refused(tenant: int, key: int) -> None:
    """The database is not asked about numbers that it cannot hold, right checksum or not."""
    assert parse_key(key_text(TenantId(tenant), KeyId(key), "a" * 33)) is None


@given(ROOTS, ROOTS)
def test_a_derived_id_can_be_derived_again(root: str, purpose: str) -> None:
    """ORG-8: a repeated request finds the tenant that the first one made."""
    assert derived_number(root, purpose, below=1 << 63) == derived_number(root, purpose, below=1 << 63)


@given(ROOTS, st.integers(1, 1 << 200))
def test_a_derived_number_is_in_its_range(root: str, below: int) -> None:
    assert 0 <= derived_number(root, "tenant", below=below) < below


@given(SECRETS, SECRETS)
def test_only_the_secret_itself_fits_its_hash(secret: str, other: str) -> None:
    """ORG-8: and the hash does not hold the secret."""
    stored = secret_hash(secret)
    assert same_secret(secret, stored)
    assert same_secret(other, stored) == (secret == other)
    assert secret.encode() not in stored


@given(st.integers(1, (1 << 63) - 1))
def test_the_name_of_a_key_reads_back(number: int) -> None:
    assert parse_key_id(format_key_id(KeyId(number))) == number


@pytest.mark.parametrize(
    "given_name", ["", "key_", "key_1", "proj_00000000000000ff", "key_" + "0" * 16, "key_" + "F" * 16]
)
def test_what_is_no_name_of_a_key_is_not_found(given_name: str) -> None:
    with pytest.raises(NotFound):
        parse_key_id(given_name)


def api_key(*permissions: Permission, expires_at: int | None = None, revoked_at: int | None = None) -> ApiKey:
    return ApiKey(
        id=new_key_id(),
        tenant=TenantId(7),
        name="Gardener",
        project=ProjectId(11),
        confined=False,
        permissions=permissions,
        created_at=0,
        expires_at=expires_at,
        revoked_at=revoked_at,
    )


@pytest.mark.parametrize(
    ("stored", "allowed"),
    [
        (("read",), {"read"}),
        (("write",), {"write"}),
        (("read", "write"), {"read", "write"}),
        (("admin",), {"read", "write", "admin"}),
    ],
)
def test_a_permission_stands_for_itself_and_admin_for_all(stored: tuple[Permission, ...], allowed: set[str]) -> None:
    """ORG-8."""
    for permission in ("read", "write", "admin"):
        if permission in allowed:
            api_key(*stored).require(permission)
        else:
            with pytest.raises(Forbidden, match=permission):
                api_key(*stored).require(permission)


def test_permissions_are_known_ordered_and_not_repeated() -> None:
    """ORG-8."""
    assert checked_permissions(["admin", "read", "read"]) == ("read", "admin")
    for wrong in ([], ["root"], ["read", "Write"], ["read", ""]):
        with pytest.raises(InvalidRequest, match="permissions"):
            checked_permissions(wrong)


def test_a_key_is_valid_until_it_is_revoked_or_its_time_has_come() -> None:
    """ORG-8: from that very moment on it is not."""
    assert api_key("read").is_valid(1 << 62)
    assert api_key("read", expires_at=10).is_valid(9)
    assert not api_key("read", expires_at=10).is_valid(10)
    assert not api_key("read", revoked_at=99).is_valid(0)


def test_only_a_confined_key_is_bound_to_its_project() -> None:
    """ORG-4: a pinned one reaches the whole tenant."""
    pinned = api_key("read")
    confined = replace(pinned, confined=True)
    assert pinned.reach == Reach(tenant=TenantId(7))
    assert confined.reach == Reach(tenant=TenantId(7), confined_to=ProjectId(11))
