import json

import pytest

from gossamer.errors import SettingsError
from gossamer.fetch.judge import ResponseJudge, mime_of
from gossamer.records import Reason
from support.rows import each_row
from support.shared import suite


@each_row(
    ("header", "mime"),
    [
        ("text/html", "text/html"),
        (" Text/HTML ; charset=utf-8", "text/html"),
        ("application/xhtml+xml;", "application/xhtml+xml"),
        ("text/html;;;a=b", "text/html"),
        ("", ""),
        ("text", ""),
        ("text/", ""),
        ("/html", ""),
        ("text/html html", ""),
        ("text/html, text/plain", ""),
        ("text /html", ""),
        ("téxt/html", ""),
    ],
)
def test_the_mime_type_of_a_header_is_its_essence(header: str, mime: str) -> None:
    assert mime_of(header) == mime


@pytest.mark.parametrize("name", ["mime-types.json", "generated-mime-types.json"])
def test_the_cases_of_the_web_platform_are_read_alike(name: str) -> None:
    rows = json.loads((suite("mime-types-wpt") / name).read_text())
    for row in rows:
        if isinstance(row, dict):
            wanted = (row["output"] or "").partition(";")[0]
            assert mime_of(row["input"]) == wanted, row["input"]


def judged(types: tuple[str, ...], content_type: str, status: int = 200) -> Reason | None:
    verdict = ResponseJudge(types, 1000).forbids(status, content_type, None)
    return verdict[0] if verdict else None


@each_row(
    ("wanted", "taken", "refused"),
    [
        ("html", ("text/html", "application/xhtml+xml", ""), ("text/plain", "application/pdf")),
        (
            "text",
            ("text/html", "text/css", "application/rss+xml", "application/json", "a/ld+json"),
            ("image/svg+xml", "application/pdf", "application/octet-stream"),
        ),
        ("pdf", ("application/pdf", "application/x-pdf"), ("text/html", "")),
        ("image", ("image/png", "image/svg+xml"), ("text/html", "audio/wav")),
        ("audio", ("audio/mpeg", "application/ogg"), ("video/mp4",)),
        ("video", ("video/mp4", "application/ogg"), ("audio/wav",)),
        ("audio/wav", ("audio/wav", "AUDIO/WAV; x=y"), ("audio/mpeg",)),
        ("audio/*", ("audio/wav", "audio/mpeg"), ("video/mp4", "audiox/wav")),
        ("any", ("text/html", "x/y", ""), ()),
        ("*/*", ("text/html", "x/y", ""), ()),
    ],
)
def test_a_name_takes_its_types_and_no_others(
    wanted: str, taken: tuple[str, ...], refused: tuple[str, ...]
) -> None:
    for content_type in taken:
        assert judged((wanted,), content_type) is None, content_type
    for content_type in refused:
        assert judged((wanted,), content_type) is Reason.TYPE, content_type


@each_row("content_type", ["", "nonsense", "unknown/unknown", "*/*"])
def test_a_type_that_tells_nothing_counts_as_html(content_type: str) -> None:
    assert judged(("html",), content_type) is None


@each_row("status", [301, 304, 404, 500])
def test_the_type_of_an_error_page_is_not_judged(status: int) -> None:
    assert judged(("html",), "image/png", status) is None


@pytest.mark.parametrize("status", [200, 404])
def test_a_body_that_is_announced_too_large_is_refused(status: int) -> None:
    judge = ResponseJudge(("html",), 1000)

    assert judge.forbids(status, "text/html", 1000) is None
    assert judge.forbids(status, "text/html", 1001) == (
        Reason.SIZE,
        "the body has 1001 bytes, but the limit is 1000",
    )


def test_the_limit_of_a_lease_comes_before_that_of_the_settings() -> None:
    judge = ResponseJudge(("html",), 1000)

    assert judge.forbids(200, "text/html", 1500, max_body_bytes=2000) is None
    assert judge.forbids(200, "text/html", 500, max_body_bytes=100) is not None


def test_a_refused_type_is_named_with_the_wanted_ones() -> None:
    verdict = ResponseJudge(("html", "pdf"), 1000).forbids(200, "Image/PNG", None)

    assert verdict == (Reason.TYPE, "the type is image/png, but fetch.types allows html, pdf")


@each_row("types", [("htlm",), ("html", "text/"), ("a b/c",), ()])
def test_a_type_that_cannot_be_read_is_an_error_that_lists_the_names(
    types: tuple[str, ...],
) -> None:
    with pytest.raises(SettingsError, match="html, text, pdf, image, audio, video, any") as caught:
        ResponseJudge(types, 1000)

    assert caught.value.key == "fetch.types"


@each_row(
    ("types", "accept"),
    [
        (("html",), "text/html,application/xhtml+xml,*/*;q=0.1"),
        (("html", "pdf"), "text/html,application/xhtml+xml,application/pdf,*/*;q=0.1"),
        (("audio/wav", "image"), "audio/wav,image/*,*/*;q=0.1"),
        (("html", "any"), "*/*"),
    ],
)
def test_the_accept_header_asks_for_what_is_wanted(types: tuple[str, ...], accept: str) -> None:
    assert ResponseJudge(types, 1000).accept == accept


@each_row(
    ("types", "media"),
    [
        (("html", "pdf"), set()),
        (("html", "image"), {"image"}),
        (("audio/wav", "video/*"), {"audio", "video"}),
        (("any",), {"any"}),
    ],
)
def test_links_to_media_are_wanted_with_their_types(
    types: tuple[str, ...], media: set[str]
) -> None:
    assert ResponseJudge(types, 1000).wants_media == media


def test_a_server_that_makes_up_types_does_not_fill_the_memory() -> None:
    judge = ResponseJudge(("html",), 1000)

    for n in range(5000):
        judge.forbids(200, f"x/{n}", None)

    assert len(judge._is_wanted) <= 1000
    assert judge.forbids(200, "text/html", None) is None
