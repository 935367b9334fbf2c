"""Settings decide who extracts: a model where one is named, the rules otherwise."""

from contextlib import closing
from pathlib import Path

from cloister.bootstrap import build_services
from cloister.models.openai.extractor import OpenAiExtractor
from cloister.models.rules.extractor import Rules
from cloister.settings import read_settings
from support.databases.engines import EMBEDDER


def test_mem_5_without_a_model_the_rules_extract(tmp_path: Path) -> None:
    with closing(build_services(read_settings(tmp_path, {}), embedder=EMBEDDER)) as services:
        assert isinstance(services.extractor, Rules)


def test_mem_5_a_model_that_is_named_is_asked_and_its_absence_stops_no_start(tmp_path: Path) -> None:
    settings = read_settings(tmp_path, {"CLOISTER_MODEL_URL": "http://127.0.0.1:9/v1", "CLOISTER_MODEL_NAME": "m"})
    with closing(build_services(settings, embedder=EMBEDDER)) as services:
        assert isinstance(services.extractor, OpenAiExtractor)
        assert services.extractor.name == "m"
