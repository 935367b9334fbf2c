"""Images in the chat: they go to the model with the message they came with, and only their name is stored."""

from collections.abc import Generator
from typing import Any

import pytest

from cloister.bootstrap import wire
from cloister.models.openai.chat import OpenAiChatModel
from cloister.models.openai.endpoint import Endpoint
from support.clients.chat_client import asking, messages, say, told, words
from support.databases.engines import EMBEDDER, Engine, exact_index
from support.samples.images import KINDS, PNG, data_url, png
from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import Server, Tenant, serving

LOOK = "What is this?"


@pytest.fixture(scope="module")
def seeing(engine: Engine, the_model: FakeEndpoint) -> Generator[Server]:
    """A server whose operator says that the model takes images."""
    chat_model = OpenAiChatModel(Endpoint(url=the_model.url, model="fake", tries=1))
    services = wire(
        engine.database(),
        index=exact_index(),
        embedder=EMBEDDER,
        chat_model=chat_model,
        image_models=frozenset({"fake"}),
    )
    with serving(services) as running:
        yield running


@pytest.fixture
def house(seeing: Server, model: FakeEndpoint) -> Tenant:
    model.answers(words("A boat."))
    return seeing.new_tenant()


def picture(url: object = PNG, media_type: object = "image/png", name: object = "boat.png") -> dict[str, Any]:
    return {"type": "file", "mediaType": media_type, "url": url, "filename": name}


def looking(session: str, *parts: dict[str, Any], text: str = LOOK) -> dict[str, Any]:
    body = asking(session, text)
    body["messages"][0]["parts"] += parts
    return body


def test_an_image_goes_to_the_model_and_its_name_stays(house: Tenant, model: FakeEndpoint) -> None:
    """The next turn has the name alone, and so has everything that is stored."""
    jpeg = data_url(KINDS["image/jpeg"](4, 4), "image/jpeg")
    parts = (picture(), picture(jpeg, "image/jpeg", "deck.jpg"))
    reply = told(house.admin.post("/v1/chat/stream", looking("asks", *parts)).text)
    said = f"{LOOK}\n[image: boat.png]\n[image: deck.jpg]"
    assert model.asked[-1].body["messages"][-1] == {
        "role": "user",
        "content": [
            {"type": "text", "text": said},
            {"type": "image_url", "image_url": {"url": PNG}},
            {"type": "image_url", "image_url": {"url": jpeg}},
        ],
    }
    assert [each["content"] for each in messages(house, "asks")] == [said, "A boat."]
    model.answers(words("Red."))
    say(house.admin, "asks", "Which colour?")
    assert model.asked[-1].body["messages"][1] == {"role": "user", "content": said}
    assert "base64" not in str(model.asked[-1].body)
    assert reply.done
    assert "base64" not in house.admin.get("/v1/sessions/asks/messages").text


def test_prf_1_a_receipt_says_that_an_image_was_sent_and_never_what_is_in_it(house: Tenant) -> None:
    reply = told(house.admin.post("/v1/chat/stream", looking("asks", picture())).text)
    path = f"/v1/receipts/{reply.metadata['receipt_id']}"
    receipt = house.admin.get(path)
    assert receipt.json()["sent"]["images"] == [{"name": "boat.png", "media_type": "image/png", "size": len(png())}]
    prompt = house.admin.get(f"{path}/prompt").json()
    assert (prompt["is_exact"], prompt["missing"]) == (False, ["1 image not stored"])
    assert prompt["messages"][-1]["content"] == f"{LOOK}\n[image: boat.png]"
    assert "base64" not in receipt.text


def test_an_image_alone_is_a_message(house: Tenant) -> None:
    assert house.admin.post("/v1/chat/stream", looking("asks", picture(name=None), text="")).status_code == 200
    assert messages(house, "asks")[0]["content"] == "[image]"


@pytest.mark.parametrize(
    ("part", "field", "why"),
    [
        (picture("https://example.org/boat.png"), "url", "Addresses are not fetched"),
        (picture("file:///etc/passwd"), "url", "Addresses are not fetched"),
        (picture(None), "url", "Addresses are not fetched"),
        (picture(data_url(b"<svg/>", "image/svg+xml"), "image/svg+xml"), "url", "SVG"),
        (picture(data_url(b"<svg/>")), "url", "something else"),
        (picture(data_url(png(90_000, 90_000))), "url", "pixels"),
        (picture(PNG, "image/jpeg"), "mediaType", "is not that of the url"),
        (picture(name="x" * 300), "filename", "characters"),
        (picture("data:application/pdf;base64,JVBERi0=", "application/pdf"), "", "only text and images"),
        ({"type": "file", "url": PNG}, "", "only text and images"),
    ],
)
def test_what_is_no_image_is_refused_and_nothing_is_stored(
    house: Tenant, model: FakeEndpoint, part: dict[str, Any], field: str, why: str
) -> None:
    answer = house.admin.post("/v1/chat/stream", looking("asks", part))
    assert answer.status_code == 422
    problem = answer.json()
    assert why in problem["detail"], problem
    assert f"messages[0].parts[1]{'.' + field if field else ''}" in str(problem)
    assert not model.asked and house.admin.get("/v1/sessions/asks").status_code == 404


def test_at_most_four_images_are_taken(house: Tenant) -> None:
    for many in (5, 1_000):
        answer = house.admin.post("/v1/chat/stream", looking("asks", *[picture()] * many))
        assert (answer.status_code, "at most 4" in answer.text) == (422, True)


def test_a_model_that_takes_no_images_is_not_sent_any(
    house: Tenant, tenant: Tenant, model: FakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither on a server whose operator names none, nor if the conversation names another one; nothing is recorded."""
    house.new_session("other")
    assert house.admin.patch("/v1/sessions/other", {"model": "fake"}).status_code == 200
    assert house.admin.post("/v1/chat/stream", looking("other", picture())).status_code == 200
    names = {each["id"]: each["takes_images"] for each in house.admin.get("/v1/models").json()["data"]}
    assert names["fake"] is True
    asked = len(model.asked)
    refused = tenant.admin.post("/v1/chat/stream", looking("asks", picture()))
    assert (refused.status_code, "CLOISTER_MODEL_IMAGES" in refused.text) == (422, True)
    assert tenant.admin.get("/v1/sessions/asks").status_code == 404
    assert len(model.asked) == asked
    assert not any(each["takes_images"] for each in tenant.admin.get("/v1/models").json()["data"])


def test_images_of_openai_clients_come_with_their_contents_or_not_at_all(house: Tenant, model: FakeEndpoint) -> None:
    """The model's server would fetch an address, which the caller may not reach."""

    def body(url: object) -> dict[str, Any]:
        parts = [{"type": "text", "text": LOOK}, {"type": "image_url", "image_url": {"url": url}}]
        return {"model": "fake", "messages": [{"role": "user", "content": parts}]}

    for url in ("http://169.254.169.254/", "file:///etc/passwd", data_url(b"GIF8", "image/png"), None):
        assert house.admin.post("/v1/chat/completions", body(url)).status_code == 422
    assert not model.asked
    answer = house.admin.request("POST", "/v1/chat/completions", json=body(PNG), headers={"X-Session-ID": "mine"})
    assert answer.status_code == 200
    receipt = messages(house, "mine")[-1]["id"].replace("msg_", "rcpt_")
    shown = house.admin.get(f"/v1/receipts/{receipt}").json()["sent"]
    assert shown["images"] == [{"name": None, "media_type": "image/png", "size": len(png())}]
    parts = [{"type": "image_url", "image_url": {"url": PNG}}] * 65
    many = {"model": "fake", "messages": [{"role": "user", "content": parts}]}
    answer = house.admin.post("/v1/chat/completions", many)
    assert (answer.status_code, "at most 64" in answer.text) == (422, True), answer.text
