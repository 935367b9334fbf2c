"""The built TypeScript client, and a server for it whose model is a fake endpoint."""

import threading
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from cloister.models.openai.chat import OpenAiChatModel
from cloister.models.openai.endpoint import Endpoint
from support.clients.chat_client import words
from support.clients.typescript_package import TypeScriptPackage, built_package
from support.databases.engines import sqlite_engine
from support.servers.fake_endpoint import Answer, Asked, FakeEndpoint, fake_endpoint
from support.servers.http_server import Server, serving


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> TypeScriptPackage:
    return built_package(tmp_path_factory.getbasetemp(), worker_id)


@pytest.fixture(scope="session")
def the_model() -> Generator[FakeEndpoint]:
    with fake_endpoint() as endpoint:
        endpoint.follows(_reply)
        yield endpoint


@pytest.fixture(scope="session")
def server(folder: Path, the_model: FakeEndpoint) -> Generator[Server]:
    engine = sqlite_engine(folder / "typescript")
    model = OpenAiChatModel(Endpoint(url=the_model.url, model="fake", tries=1))
    with engine.closing, serving(engine.services(chat_model=model)) as running:
        yield running


def _reply(asked: Asked) -> Answer:
    """Repeats the question; to what begins with SLOWLY the reply takes longer than any test waits."""
    question: str = asked.body["messages"][-1]["content"]
    if question.startswith("SLOWLY"):
        return replace(words(*["la "] * 1_000), pause=lambda: threading.Event().wait(0.05))
    return words("You said: ", question)
