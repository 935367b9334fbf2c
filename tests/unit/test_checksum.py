"""The checksum of a message, which is made at once, is that of its parts, with which older rows were stored."""

import pytest

from cloister.domain.maintenance.checksum import message_checksum, text_checksum


@pytest.mark.parametrize("author", [None, "", "None", "Ann", "日本\x00"])
@pytest.mark.parametrize("content", ["", "{}", "I am {here}", "\ud800 broken", "a\x00b"])
@pytest.mark.parametrize("categories", [None, "[]"])
def test_a_message_has_the_checksum_of_its_parts(author: str | None, content: str, categories: str | None) -> None:
    found = message_checksum(2**62, "user", author, "{}", content, categories)
    assert found == text_checksum(2**62, "user", author, "{}", content, categories)
