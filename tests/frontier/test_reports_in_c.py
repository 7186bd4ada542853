"""Rows and lines that every page brings: those made in C are those made in Python."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.base.native import load
from gossamer.collection import crawl_log as journal
from gossamer.collection.crawl_log import CrawlLog
from gossamer.frontier import rows
from gossamer.frontier.frontier import Refusal
from gossamer.frontier.rows import QueueEntry, Standing, queued_row, refused_row
from gossamer.records import Found, Lease, Outcome, Purpose, Reason, Report, Stored

_c = load("gossamer.frontier._reports")
in_c: Any = _c
pytestmark = pytest.mark.skipif(
    _c is None, reason="gossamer.frontier._reports is not built (`make native`)"
)

AT_US = 1_767_225_600_000_042
KEY, PLACE, VIA = b"k" * 16, b"p" * 12, b"v" * 16
URL = "http://a.example/x?y=1"

ANY = st.text(max_size=40)
PLAIN = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=300)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=300)
NUMBERS = st.integers(0, 2**64) | st.sampled_from([0, 31, 127, 128, 255, 256, 65535, 65536, 2**32])
TIMES = st.integers(0, 2**53) | st.integers(0, 9_000_000_000).map(lambda s: s * 1_000_000)
BYTES = st.binary(max_size=300)
SECONDS = st.sampled_from([0.0, -0.0, 0.03125, 0.00005, 1.0, 1e9])
FOUND = st.builds(Found, TEXTS, BYTES, NUMBERS, BYTES, NUMBERS)


def reports(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Report]:
    lease = st.builds(
        Lease, st.just(1), texts, st.just(KEY), texts, texts, st.sampled_from(Purpose), NUMBERS,
        st.integers(0, 9), via=texts,
    )  # fmt: skip
    return st.builds(
        Report,
        lease,
        st.sampled_from([Outcome.FETCHED, Outcome.FAILED, Outcome.REFUSED]),
        TIMES,
        st.floats(0, 1e12) | st.floats(0, 1) | SECONDS,
        st.builds(Stored, texts, NUMBERS, NUMBERS, NUMBERS),
        reason=st.none() | st.sampled_from(Reason),
        detail=texts,
        status=st.integers(0, 999),
        type=texts,
        size_bytes=NUMBERS,
        digest=texts,
        modified_at=texts,
        title=texts,
        language=texts,
        robots=st.frozensets(st.sampled_from(["noindex", "nofollow"]), max_size=1),
        redirect=texts,
        is_cut=st.booleans(),
        out_links=NUMBERS,
    )


def a_report(**named: Any) -> Report:
    lease = Lease(1, URL, KEY, "a.example", "192.0.2.7", depth=2, via="http://a.example/")
    stored = Stored("a.warc.gz", 5, 7, 99)
    usual: dict[str, Any] = {
        "status": 200,
        "type": "text/html",
        "size_bytes": 40,
        "title": "\u20ac",
    }
    return Report(lease, Outcome.FETCHED, AT_US, 0.0123, stored, **(usual | named))


@given(FOUND, BYTES, NUMBERS)
def test_a_queued_url_has_the_row_and_the_entry_of_python(
    found: Found, place: bytes, first_us: int
) -> None:
    url, key, depth, via, redirects, _ = found
    if max(depth, redirects, first_us) >= 2**64:
        return  # the twin raises
    made = in_c.queued(found, place, first_us)

    entry = QueueEntry(key, url, depth, 0, redirects, via).encode()
    assert made in (None, (queued_row(url, depth, place, via, first_us), entry))


@given(FOUND, st.sampled_from(Standing), st.sampled_from(Reason), TEXTS, NUMBERS)
def test_a_refused_url_has_the_row_of_python(
    found: Found, standing: Standing, reason: Reason, detail: str, at_us: int
) -> None:
    if max(found.depth, found.redirects, at_us) >= 2**64:
        return
    made = in_c.refused(found, standing, reason, detail, at_us)

    assert made in (None, refused_row(found, standing, reason, detail, at_us))


@given(TEXTS | PLAIN, BYTES, BYTES, NUMBERS, reports(TEXTS) | reports(PLAIN))
def test_a_settled_url_has_the_rows_of_python(
    url: str, place: bytes, via: bytes, first_us: int, report: Report
) -> None:
    if max(first_us, report.size_bytes, report.out_links, report.stored.response) >= 2**64:
        return
    row = queued_row(url, 3, place, via, first_us)
    made = in_c.settled(row, report)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "_c", None)
        assert made is None or made == rows.settled(row, report)


@given(st.binary(max_size=40), st.sampled_from([b"", b"\0\0\1\x94", b"\0\0\1\x94\xa1a\xc4\1b"]))
def test_a_row_that_is_no_queued_one_is_left_to_python(tail: bytes, head: bytes) -> None:
    row = head + tail
    try:
        values = rows.queued_values(row)
    except Exception:  # noqa: BLE001  # whatever it is: no row of ours
        values = None

    assert values is not None or in_c.settled(row, a_report()) is None


@given(reports(PLAIN) | reports(ANY))
def test_the_line_of_a_report_is_that_of_python(report: Report) -> None:
    assert in_c.report_line(report) in (None, journal._line_of_report(report))


@given(st.lists(st.builds(Refusal, PLAIN | ANY, st.sampled_from(Reason), PLAIN, NUMBERS, TIMES)))
def test_the_lines_of_refusals_are_those_of_python(refusals: list[Refusal]) -> None:
    assert in_c.refusal_lines(refusals) in (None, journal._lines_of_refusals(refusals))


@pytest.mark.parametrize("day", ["1970-01-01", "2000-02-29", "2026-12-31", "2100-03-01"])
def test_days_at_the_edges_of_years_are_written_as_they_are(day: str) -> None:
    at_us = int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()) * 1_000_000

    (line,) = in_c.refusal_lines([Refusal(URL, Reason.SCOPE, "", 0, at_us)]).splitlines()
    assert json.loads(line)["at"] == f"{day}T00:00:00Z"


def test_what_a_page_nearly_always_brings_is_not_declined() -> None:
    found = Found(URL, KEY, 3, VIA)
    row, _ = in_c.queued(found, PLACE, AT_US)
    place, _, capture = in_c.settled(row, a_report())

    assert (place, bool(capture)) == (PLACE, True)
    assert in_c.refused(found, Standing.REFUSED, Reason.SCOPE, "out", AT_US)
    assert in_c.report_line(a_report())
    assert in_c.refusal_lines([Refusal(URL, Reason.SCOPE, "out", 3, AT_US)])


def test_what_is_declined_is_made_by_python(tmp_path: Path) -> None:
    log = CrawlLog(tmp_path / "log", 0)
    report = a_report(detail='said "no"\n', robots=frozenset({"noindex"}))
    row, _ = rows.queued(Found(URL, KEY, 3, VIA), PLACE, AT_US)

    log.note_report(report)
    log.note_refusals([Refusal("http://\u20ac.example/", Reason.SCOPE, "", 0, AT_US)])
    settled = rows.settled(row, report)

    assert in_c.settled(row, report) is in_c.report_line(report) is None
    assert settled is not None
    assert rows.UrlRow.decode(settled[1]).robots == "noindex"
    lines = [json.loads(line) for line in log.take().decode().splitlines()]
    assert [line.get("detail", line["url"]) for line in lines] == [
        'said "no"\n',
        "http://\u20ac.example/",
    ]
    log.close()


def test_what_is_no_report_is_told() -> None:
    row = queued_row(URL, 1, PLACE, VIA, AT_US)

    for call, given_ in (
        (in_c.settled, (row, 7)),
        (in_c.settled, (row,)),
        (in_c.queued, ((URL,), PLACE, 1)),
        (in_c.refused, (URL, 3, "", "", 1)),
        (in_c.report_line, (7,)),
        (in_c.refusal_lines, ((),)),
    ):
        with pytest.raises((AttributeError, TypeError)):
            call(*given_)
