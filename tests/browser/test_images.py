"""Images in the console: drawn again in the browser, sent to a model that takes them, and stored as a name."""

import base64
from collections.abc import Generator

import pytest
from playwright.sync_api import expect

from cloister.bootstrap import wire
from cloister.domain.prompts.images import checked_image
from cloister.models.openai.chat import OpenAiChatModel
from cloister.models.openai.endpoint import Endpoint
from support.clients.browser import Desk
from support.clients.chat_client import messages
from support.databases.engines import EMBEDDER, exact_index, sqlite_engine
from support.databases.folders import quick_folder
from support.samples.images import png
from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import Server, Watch, serving, watched_sign_ins

SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"


@pytest.fixture(scope="module")
def server(the_model: FakeEndpoint, watch: Watch) -> Generator[Server]:
    """Its operator says that the first of its two models takes images."""
    with quick_folder() as folder:
        engine = sqlite_engine(folder / "data")
        services = wire(
            engine.database(),
            index=exact_index(),
            embedder=EMBEDDER,
            chat_model=OpenAiChatModel(Endpoint(url=the_model.url, model="fake", tries=1)),
            image_models=frozenset({"fake"}),
        )
        with engine.closing, serving(watched_sign_ins(services, watch)) as running:
            yield running


def test_an_image_is_made_smaller_and_sent_to_the_model_and_its_name_stays(desk: Desk, model: FakeEndpoint) -> None:
    tab = desk.sign_in()
    field = tab.page.locator("input[type=file]")
    expect(tab.page.get_by_title("Attach an image, a text or a PDF file")).to_be_visible()
    field.set_input_files([{"name": "boat.png", "mimeType": "image/png", "buffer": png(3_000, 2_000, rows=2_000)}])
    expect(tab.page.get_by_role("list", name="Attachments")).to_contain_text("boat.png")
    tab.converse("What is this?", "Noted.")
    asked = next(each.body for each in model.asked if "image_url" in str(each.body))
    text, image = asked["messages"][-1]["content"]
    assert text == {"type": "text", "text": "What is this?\n[image: boat.png]"}
    url = image["image_url"]["url"]
    assert checked_image(url, "url").media_type == "image/jpeg" and len(url) < 240_000
    contents = base64.b64decode(url.partition(",")[2])
    assert b"\x04\x15\x06\x20" in contents  # 1,045 × 1,568 pixels, as the frame of a JPEG says it
    assert messages(desk.tenant, tab.session)[0]["content"] == "What is this?\n[image: boat.png]"
    expect(tab.page.get_by_text("[image: boat.png]").first).to_be_visible()
    tab.page.reload()
    expect(tab.page.get_by_text("[image: boat.png]").first).to_be_visible()


def test_scripts_broken_files_and_a_fifth_image_are_not_attached(desk: Desk) -> None:
    tab = desk.sign_in()
    field = tab.page.locator("input[type=file]")
    expect(tab.page.get_by_title("Attach an image, a text or a PDF file")).to_be_visible()
    for name, kind, content, why in (
        (
            "drawing.svg",
            "image/svg+xml",
            b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
            "is not a PNG",
        ),
        ("broken.png", "image/png", b"\x89PNG", "could not be read as an image"),
    ):
        field.set_input_files([{"name": name, "mimeType": kind, "buffer": content}])
        expect(tab.page.get_by_role("status").filter(has_text=why).first).to_be_visible()
    files = [{"name": f"{number}.png", "mimeType": "image/png", "buffer": png()} for number in range(5)]
    field.set_input_files(files)  # type: ignore[arg-type]
    expect(tab.page.get_by_role("status").filter(has_text="one too many").first).to_be_visible()
    expect(tab.page.get_by_role("list", name="Attachments").get_by_role("listitem")).to_have_count(4)
