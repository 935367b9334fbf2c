"""Which language a message is in, for extraction (MEM-15)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.domain.project_settings import LANGUAGES
from cloister.services.memories.languages import OTHER, language_code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("I live in Rome and I have a small dog.", "en"),
        ("Ich wohne in Rom und ich habe einen kleinen Hund.", "de"),
        ("Vivo en Roma y tengo un perro pequeño que se llama Luna.", "es"),
        ("J'habite à Rome et je suis avec mon chien dans une maison.", "fr"),
        ("Я живу в Риме, и у меня есть собака.", "ru"),
        ("Μένω στη Ρώμη.", "el"),
        ("我住在罗马。", "zh"),
        ("私はローマに住んでいます。", "ja"),
        ("저는 로마에 살아요.", "ko"),
        ("أنا أعيش في روما.", "ar"),
        ("אני גר ברומא.", "he"),
        ("मैं रोम में रहता हूँ।", "hi"),
        ("Mieszkam teraz niedaleko Rzymu razem z dwoma psami", OTHER),
        ("Oslo!", None),
        ("42", None),
        ("", None),
    ],
)
def test_mem_15_a_message_has_a_language_or_is_too_short_to_tell(text: str, code: str | None) -> None:
    """MEM-15"""
    assert language_code(text) == code


@given(st.text(max_size=300))
def test_mem_15_any_text_has_a_known_language_or_none(text: str) -> None:
    """MEM-15"""
    assert language_code(text) in (*LANGUAGES, OTHER, None)
