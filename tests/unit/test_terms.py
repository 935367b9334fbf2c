"""Text → terms."""

import threading

import pytest

from cloister.index import terms


def decoded(text: str) -> list[int]:
    return [int.from_bytes(terms.encode(text)[at : at + 4], "little") for at in range(0, len(terms.encode(text)), 4)]


def test_forms_of_one_word_share_a_term() -> None:
    assert len(set(decoded("Recommend recommends RECOMMENDED recommending"))) == 1


def test_each_occurrence_is_one_little_endian_number() -> None:
    assert decoded("tea, tea and more tea") == [terms.term("tea")] * 3


def test_stop_words_and_single_characters_leave_nothing() -> None:
    assert terms.encode("I was at the 7 of them, wasn't I?") == b""


def test_the_month_of_may_is_not_a_stop_word() -> None:
    assert decoded("8 May 2023") == [terms.term("may"), terms.term("2023")]


@pytest.mark.parametrize("text", ["", "   ", "🎉🎉 👍🏽", "!?—…", "\x00\ud800"])
def test_text_without_words_has_no_terms(text: str) -> None:
    assert terms.encode(text) == b""


def test_scripts_without_spaces_give_pairs_of_characters_and_ideographs() -> None:
    assert terms.words("東京都に行く") == ["東京", "京都", "都に", "に行", "行く", "東", "京", "都", "行"]
    assert terms.words("ひらがな") == ["ひら", "らが", "がな"]
    assert set(decoded("京都")) < set(decoded("東京都に行く"))
    assert terms.words("สวัสดี") == ["สว", "วั", "ัส", "สด", "ดี"]


def test_a_word_of_one_ideograph_is_found_in_longer_texts() -> None:
    assert terms.term("猫") in decoded("昨天我捡到一只小猫") and terms.words("猫") == ["猫"]
    assert terms.term("犬") in decoded("犬を飼っています")


def test_chinese_function_words_are_no_words_but_part_of_longer_ones() -> None:
    assert terms.words("的") == terms.words("什么") == []
    assert terms.words("目的") == ["目的", "目"]


def test_the_ideographs_of_a_name_are_no_words_of_it() -> None:
    assert terms.name_words("健太") == ["健太"]
    assert terms.name_words("王小明 Ana") == ["王小", "小明", "ana"]


def test_a_script_with_vowel_signs_keeps_its_words_whole() -> None:
    assert terms.words("नमस्ते दुनिया") == ["नमस्ते", "दुनिया"]


def test_scripts_may_be_mixed_in_one_text() -> None:
    assert terms.words("iPhone14を買った café") == ["iphone14", "を買", "買っ", "った", "買", "café"]


def test_composed_and_decomposed_letters_are_the_same() -> None:
    assert terms.encode("Zoë Ｆｕｌｌ") == terms.encode("Zoe\u0308 full")


def test_many_threads_get_the_terms_one_thread_gets() -> None:
    texts = [f"running{number} quickly{number} happily{number % 7} nations" for number in range(300)]
    expected = [terms.term_list(text) for text in texts]
    found: list[list[list[int]]] = []

    def work() -> None:
        found.append([terms.term_list(text.upper()) for text in texts])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8
