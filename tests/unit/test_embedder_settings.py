"""Which additional embedder is used is a matter of a few variables, and what is missing is named."""

import pytest

from cloister.domain.errors import InvalidRequest
from cloister.settings import EmbedderSettings, read_settings

OPENAI = {
    "CLOISTER_EMBEDDER": "openai",
    "CLOISTER_EMBEDDER_URL": "http://127.0.0.1:11434/v1/",
    "CLOISTER_EMBEDDER_MODEL": "nomic-embed-text",
}


def embedder(**given: str) -> EmbedderSettings:
    return read_settings("data", {f"CLOISTER_{name}": value for name, value in given.items()}).embedder


def test_without_a_word_there_is_the_table_alone() -> None:
    assert read_settings("data", {}).embedder == embedder(EMBEDDER="table") == EmbedderSettings()


def test_an_endpoint_needs_an_address_and_a_model() -> None:
    settings = read_settings("data", {**OPENAI, "CLOISTER_EMBEDDER_KEY": "sk-1"})
    found = settings.embedder
    assert (found.url, found.model, found.key) == ("http://127.0.0.1:11434/v1", "nomic-embed-text", "sk-1")
    assert "sk-1" not in repr(settings)
    for name in ("CLOISTER_EMBEDDER_URL", "CLOISTER_EMBEDDER_MODEL"):
        with pytest.raises(InvalidRequest, match=f"{name}: must be set when CLOISTER_EMBEDDER is openai"):
            read_settings("data", {**OPENAI, name: " "})


def test_onnx_needs_a_directory() -> None:
    assert embedder(EMBEDDER="onnx", EMBEDDER_PATH="models/minilm").path == "models/minilm"
    with pytest.raises(InvalidRequest, match="CLOISTER_EMBEDDER_PATH: must be set"):
        embedder(EMBEDDER="onnx")


def test_prefixes_keep_their_spaces() -> None:
    found = embedder(EMBEDDER_PREFIX="search_document: ", EMBEDDER_QUERY_PREFIX="search_query: ")
    assert (found.prefix, found.query_prefix) == ("search_document: ", "search_query: ")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"EMBEDDER": "fastembed"}, "CLOISTER_EMBEDDER: must be table, openai or onnx, not 'fastembed'"),
        ({"EMBEDDER_URL": "ftp://x"}, "CLOISTER_EMBEDDER_URL: must be an http"),
        ({"EMBEDDER_KEY": "ü"}, "CLOISTER_EMBEDDER_KEY"),
        ({"EMBEDDER_PREFIX": "a\nb"}, "CLOISTER_EMBEDDER_PREFIX"),
        ({"EMBEDDER_MODEL": "m" * 501}, "CLOISTER_EMBEDDER_MODEL"),
    ],
    ids=lambda given: str(given)[:30],
)
def test_what_cannot_be_used_is_refused_by_its_name(given: dict[str, str], named: str) -> None:
    with pytest.raises(InvalidRequest, match=named):
        embedder(**given)
