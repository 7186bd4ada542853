"""Conditional requests: what is sent for a page that was fetched before."""

from __future__ import annotations

from gossamer.fetch.judge import ResponseJudge
from gossamer.fetch.request import Headers
from gossamer.records import Previous
from gossamer.settings import Fetch
from support.rows import each_row

ETAG, DATE = 'W/"abc"', "Mon, 12 Jan 2026 00:00:00 GMT"


def headers(*, conditional: bool = True) -> Headers:
    return Headers(Fetch(conditional=conditional), "text/html")


def previous(etag: str = "", modified_at: str = "", status: int = 200) -> Previous:
    return Previous(5, "sha1:A", status, etag, modified_at)


def test_validators_are_sent_back_as_they_came() -> None:
    assert headers().conditions(previous(ETAG, DATE)) == (
        f"If-None-Match: {ETAG}",
        f"If-Modified-Since: {DATE}",
    )


@each_row("value", ["", "a\r\nX: y", "\x00", "ü", "x" * 600])
def test_a_value_that_cannot_be_sent_is_left_out(value: str) -> None:
    assert headers().conditions(previous(value, DATE)) == (f"If-Modified-Since: {DATE}",)


def test_there_are_no_conditions_without_a_page_to_compare_with() -> None:
    assert headers().conditions(None) == ()
    assert headers().conditions(previous(ETAG, status=404)) == ()
    assert headers(conditional=False).conditions(previous(ETAG)) == ()


def test_the_archived_request_shows_the_conditions() -> None:
    request = headers().request_for(
        "http://a.example/x", with_secrets=False, conditions=("If-None-Match: a",)
    )

    assert request.endswith(b"\r\nIf-None-Match: a\r\n\r\n")


def test_the_length_in_a_304_is_not_that_of_a_body_that_comes() -> None:
    judge = ResponseJudge(("html",), 100)

    assert judge.forbids(304, "text/html", 5000) is None
    assert judge.forbids(200, "text/html", 5000) is not None
