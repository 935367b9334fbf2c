"""A running server whose model is a fake endpoint, and a desk with a signed-in browser in front of it.

Of a module and not of the whole run: while Playwright is there it keeps an event loop running, and no other test may have one.
"""

from collections.abc import Generator
from functools import partial

import pytest
from playwright.sync_api import Browser

from cloister.bootstrap import Services
from cloister.models.openai.chat import OpenAiChatModel
from cloister.models.openai.endpoint import Endpoint
from support.clients.browser import WIDE, Desk, system_chromium
from support.clients.chat_client import words
from support.databases.engines import opened_engine
from support.databases.folders import quick_folder
from support.servers.fake_endpoint import FakeEndpoint, fake_endpoint, refusal
from support.servers.http_server import Server, Tenant, Watch, watched_sign_ins
from support.servers.pairs import PAIR, serving_as_chosen


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    with system_chromium() as running:
        yield running


@pytest.fixture(scope="module")
def the_model() -> Generator[FakeEndpoint]:
    with fake_endpoint() as endpoint:
        endpoint.models = ("fake", "other")
        yield endpoint


@pytest.fixture
def model(the_model: FakeEndpoint) -> FakeEndpoint:
    """Says “Noted.” until a test has it say something else, and has no titles: conversations are called by their first words."""
    the_model.asked.clear()
    the_model.titled.clear()
    the_model.title = refusal(400, "no titles here")
    the_model.answers(words("Noted."))
    return the_model


@pytest.fixture(scope="module")
def watch() -> Watch:
    return Watch()


@pytest.fixture(scope="module", params=["sqlite", "postgres"] if PAIR else ["sqlite"])
def server(request: pytest.FixtureRequest, the_model: FakeEndpoint, watch: Watch) -> Generator[Server]:
    """With a pair of servers on both engines (OPS-4); the console is the same on either."""

    def services() -> Services:
        chat = OpenAiChatModel(Endpoint(url=the_model.url, model="fake", tries=1))
        return watched_sign_ins(engine.services(chat_model=chat), watch)

    postgres = partial(request.getfixturevalue, "postgres_server")
    with (
        quick_folder() as folder,
        opened_engine(request.param, folder / "data", postgres) as engine,
        serving_as_chosen(engine, services, model=the_model) as running,
    ):
        yield running


@pytest.fixture
def tenant(server: Server) -> Tenant:
    return server.new_tenant()


@pytest.fixture
def desk(browser: Browser, tenant: Tenant, model: FakeEndpoint) -> Generator[Desk]:
    """Nothing that it shows comes from elsewhere, and nothing breaks in it unseen."""
    context = browser.new_context(viewport=WIDE, base_url=tenant.address)
    made = Desk(context=context, tenant=tenant)
    yield made
    context.close()
    assert made.strayed == []
    assert made.trouble == []
