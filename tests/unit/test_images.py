"""What is taken as an image in a message: contents that are what they say, and no address."""

import base64
import time
from collections.abc import Callable

import pytest

from cloister.domain.errors import InvalidRequest
from cloister.domain.prompts.images import LARGEST_SIDE, Image, checked_image, checked_image_name, placeholder
from support.samples.images import KINDS, data_url, jpeg, png


@pytest.mark.parametrize("media_type", KINDS)
def test_an_image_is_known_by_its_contents(media_type: str) -> None:
    contents = KINDS[media_type](640, 480)
    image = checked_image(data_url(contents, media_type), "url", "boat")
    assert image == Image("boat", media_type, len(contents), data_url(contents, media_type))
    for other in set(KINDS) - {media_type}:
        with pytest.raises(InvalidRequest, match="its contents are something else"):
            checked_image(data_url(contents, other), "url")


@pytest.mark.parametrize("media_type", KINDS)
def test_a_huge_image_is_refused_by_its_head(media_type: str) -> None:
    make: Callable[[int, int], bytes] = KINDS[media_type]
    assert checked_image(data_url(make(LARGEST_SIDE, 1), media_type), "url")
    for sides in ((LARGEST_SIDE + 1, 1), (1, LARGEST_SIDE + 1)):
        with pytest.raises(InvalidRequest, match="pixels"):
            checked_image(data_url(make(*sides), media_type), "url")


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("https://example.org/boat.png", "Addresses are not fetched"),
        ("http://169.254.169.254/latest/meta-data", "Addresses are not fetched"),
        ("file:///etc/passwd", "Addresses are not fetched"),
        ("//example.org/boat.png", "Addresses are not fetched"),
        ("blob:https://example.org/1", "Addresses are not fetched"),
        ("", "Addresses are not fetched"),
        (None, "Addresses are not fetched"),
        (["data:"], "Addresses are not fetched"),
        ("data:image/svg+xml;base64,PHN2Zy8+", "SVG"),
        ("data:image/svg+xml,<svg/>", "SVG"),
        ("data:text/html;base64,PGI+", "must be a PNG"),
        ("data:image/png,abc", "must be a PNG"),
        ("data:image/png;charset=x;base64,AAAA", "must be a PNG"),
        ("data:image/png;base64,%%%%", "base64"),
        ("data:image/png;base64,AA", "base64"),
        ("data:image/png;base64,é", "base64"),
        ("data:image/png;base64,", "something else"),
        ("data:image/png;base64,PHN2Zy8+", "something else"),
        (data_url(png()[:20]), "not a complete"),
        (data_url(png(0, 5)), "not a complete"),
        (data_url(jpeg()[:8], "image/jpeg"), "not a complete"),
        (data_url(b"\xff\xd8\xff" + b"\0" * 90, "image/jpeg"), "not a complete"),
        (data_url(b"RIFF" + b"\0" * 90, "image/webp"), "not a complete"),
    ],
)
def test_anything_else_is_refused(url: object, why: str) -> None:
    with pytest.raises(InvalidRequest, match=why):
        checked_image(url, "url")


def test_a_hostile_image_costs_no_more_than_its_length() -> None:
    """A megabyte of segments, fill bytes and bare markers."""
    for piece in (b"\xff\xe0\x00\x02", b"\xff", b"\xff\xd0", b"\xff\xe0\x00\x00"):
        url = data_url(b"\xff\xd8\xff\xe0\x00\x02" + piece * (700_000 // len(piece)), "image/jpeg")

        taken: list[float] = []
        for _ in range(3):
            began = time.process_time()
            with pytest.raises(InvalidRequest):
                checked_image(url, "url")
            taken.append(time.process_time() - began)
        assert min(taken) < 0.5


def test_the_name_of_an_image_stays_one_line_in_brackets() -> None:
    for given, shown in (
        ("boat.png", "[image: boat.png]"),
        ("a]\n[b\u202e\0", "[image: a b]"),
        ("[]", "[image]"),
        (None, "[image]"),
    ):
        assert placeholder(Image(checked_image_name(given, "filename"), "image/png", 1, "")) == shown
    for wrong in ("x" * 201, 7):
        with pytest.raises(InvalidRequest):
            checked_image_name(wrong, "filename")


def test_base64_is_decoded_strictly() -> None:
    broken = base64.b64encode(png()).decode()
    with pytest.raises(InvalidRequest, match="base64"):
        checked_image(f"data:image/png;base64,{broken[:10]}\n{broken[10:]}", "url")
