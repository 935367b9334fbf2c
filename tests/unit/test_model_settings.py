"""Which model is asked is a matter of three variables, the first of which is enough."""

import pytest

from cloister.domain.errors import InvalidRequest
from cloister.settings import read_settings


def test_without_a_word_there_is_no_model() -> None:
    settings = read_settings("data", {})
    assert (settings.model_url, settings.model_key, settings.model_name) == (None, None, None)


def test_an_address_is_enough() -> None:
    settings = read_settings("data", {"CLOISTER_MODEL_URL": " http://127.0.0.1:11434/v1/ "})
    assert settings.model_url == "http://127.0.0.1:11434/v1"


def test_models_that_take_images_are_named() -> None:
    assert read_settings("data", {}).image_models == frozenset()
    given = {"CLOISTER_MODEL_IMAGES": " llava, qwen3-vl:8b ,"}
    assert read_settings("data", given).image_models == {"llava", "qwen3-vl:8b"}
    assert read_settings("data", {"CLOISTER_MODEL_IMAGES": "*"}).image_models == {"*"}


def test_a_key_and_a_name_go_with_it_and_the_key_is_not_shown() -> None:
    given = {
        "CLOISTER_MODEL_URL": "https://models.example/v1",
        "CLOISTER_MODEL_KEY": "sk-1",
        "CLOISTER_MODEL_NAME": "m",
    }
    settings = read_settings("data", given)
    assert (settings.model_key, settings.model_name) == ("sk-1", "m")
    assert "sk-1" not in repr(settings)


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1:8080", "ftp://models.example/v1", "http://", "http://user:secret@models.example/v1", "http://a b/v1"],
)
def test_an_address_that_cannot_be_one_is_refused_by_its_name(address: str) -> None:
    with pytest.raises(InvalidRequest, match="CLOISTER_MODEL_URL: must be an http") as caught:
        read_settings("data", {"CLOISTER_MODEL_URL": address})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("key", ["sk-ü", "sk-1\nX-Other: header"])
def test_a_key_that_no_header_can_hold_is_refused(key: str) -> None:
    with pytest.raises(InvalidRequest, match="CLOISTER_MODEL_KEY"):
        read_settings("data", {"CLOISTER_MODEL_KEY": key})
