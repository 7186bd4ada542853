from hypothesis import given
from hypothesis import strategies as st

from gossamer.frontier.counts import Counts
from gossamer.frontier.rows import (
    MAX_DEPTH,
    CaptureRow,
    HostRow,
    QueueEntry,
    Standing,
    UrlRow,
    depth_of,
    learn,
    queued_row,
    refused,
    standing_of,
    time_key,
    time_of,
    url_in,
)
from gossamer.records import Found, Lease, Outcome, Reason, Report, Stored

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
COUNTS = st.integers(0, 2**50)
BYTES = st.binary(max_size=16)
URL_ROWS = st.builds(
    UrlRow,
    standing=st.sampled_from(Standing),
    depth=st.integers(0, MAX_DEPTH),
    url=TEXTS,
    place=BYTES,
    via=BYTES,
    first_us=COUNTS,
    redirects=COUNTS,
    tries=COUNTS,
    reason=TEXTS,
    detail=TEXTS,
    due_us=COUNTS,
    at_us=COUNTS,
    status=COUNTS,
    type=TEXTS,
    size_bytes=COUNTS,
    digest=TEXTS,
    title=TEXTS,
    language=TEXTS,
    modified_at=TEXTS,
    robots=TEXTS,
    redirect=TEXTS,
    out_links=COUNTS,
    is_cut=st.booleans(),
    took_s=st.floats(0, 1e6),
)


@given(URL_ROWS)
def test_the_row_of_a_url_comes_back(row: UrlRow) -> None:
    packed = row.encode()

    assert UrlRow.decode(packed) == row
    assert (standing_of(packed), depth_of(packed)) == (row.standing, row.depth)


@given(TEXTS, st.integers(0, MAX_DEPTH), BYTES, BYTES, COUNTS)
def test_the_quick_row_of_a_queued_url_is_the_same(
    url: str, depth: int, place: bytes, via: bytes, first_us: int
) -> None:
    row = UrlRow(
        standing=Standing.QUEUED, depth=depth, url=url, place=place, via=via, first_us=first_us
    )

    assert UrlRow.decode(queued_row(url, depth, place, via, first_us)) == row


@given(TEXTS, st.integers(0, MAX_DEPTH), BYTES, COUNTS, st.integers(1, 2**60))
def test_the_quick_row_of_a_refused_url_is_the_same(
    url: str, depth: int, via: bytes, redirects: int, at_us: int
) -> None:
    row = UrlRow(Standing.REFUSED, depth, url, via=via, redirects=redirects, at_us=at_us)
    row.reason, row.detail, row.first_us = "scope", "out of it", at_us

    found = Found(url, b"key", depth, via, redirects)
    packed = refused(found, Standing.REFUSED, "scope", "out of it", at_us)
    assert UrlRow.decode(packed) == row
    assert packed == row.encode()


SETTLED = st.builds(
    Report,
    st.builds(Lease, COUNTS, TEXTS, BYTES, TEXTS, TEXTS, tries=COUNTS),
    st.sampled_from([Outcome.FETCHED, Outcome.FAILED, Outcome.REFUSED]),
    st.integers(1, 2**60),
    st.floats(0, 1e6) | st.just(0.0),
    st.builds(Stored, TEXTS, COUNTS, COUNTS, COUNTS),
    reason=st.none() | st.sampled_from(Reason),
    detail=TEXTS,
    status=COUNTS,
    type=TEXTS,
    size_bytes=COUNTS,
    digest=TEXTS,
    modified_at=TEXTS,
    title=TEXTS,
    language=TEXTS,
    robots=st.frozensets(st.sampled_from(["noindex", "nofollow", "nosnippet"])),
    redirect=TEXTS,
    is_cut=st.booleans(),
    out_links=COUNTS,
)


@given(URL_ROWS, SETTLED)
def test_a_row_learns_all_that_its_report_says(row: UrlRow, report: Report) -> None:
    learn(row, report)

    shared = {"at_us", "took_s", "status", "type", "size_bytes", "digest", "modified_at", "title"}
    shared |= {"language", "redirect", "is_cut", "out_links", "detail"}
    assert {name: getattr(row, name) for name in shared} == {
        name: getattr(report, name) for name in shared
    }
    assert row.outcome is report.outcome
    assert row.reason == (report.reason or "")
    assert row.robots.split() == sorted(report.robots)
    assert row.tries == report.lease.tries


@given(URL_ROWS, st.sampled_from([0, 3, 31, 32, 255, 256, 70_000]))
def test_the_url_of_a_row_is_read_without_the_others(row: UrlRow, chars: int) -> None:
    row.url += "x" * max(0, chars - len(row.url.encode()))

    assert url_in(row.encode()) == row.url


FLAGS = st.booleans()


@given(
    st.builds(
        QueueEntry, BYTES, TEXTS.filter(bool), COUNTS, COUNTS, COUNTS, BYTES, COUNTS, FLAGS, COUNTS,
        COUNTS, FLAGS, FLAGS, TEXTS, TEXTS,
    )
)  # fmt: skip
def test_an_entry_of_a_queue_comes_back_as_what_it_was(entry: QueueEntry) -> None:
    back = QueueEntry.decode(entry.encode())

    assert back == entry
    assert type(back) is QueueEntry


def test_a_depth_past_the_end_is_held_at_it() -> None:
    row = UrlRow(standing=Standing.QUEUED, depth=MAX_DEPTH + 9, url="x")

    assert depth_of(row.encode()) == MAX_DEPTH


@given(st.builds(CaptureRow, TEXTS, COUNTS, COUNTS, COUNTS, TEXTS, TEXTS, COUNTS))
def test_a_capture_comes_back(capture: CaptureRow) -> None:
    assert CaptureRow.decode(capture.encode()) == capture


@given(st.builds(HostRow, TEXTS, *[COUNTS] * 10, TEXTS, st.floats(0, 1e6), COUNTS))
def test_the_row_of_a_host_comes_back(host: HostRow) -> None:
    assert HostRow.decode(host.encode()) == host


def test_a_host_row_of_an_older_release_has_no_fields_after_its_own() -> None:
    assert len(HostRow.__struct_fields__) == 15
    assert HostRow.decode(b"\x92\xa1a\x05") == HostRow("a", known=5)


@given(COUNTS, COUNTS)
def test_times_sort_as_their_keys(one_us: int, other_us: int) -> None:
    assert (time_key(one_us) < time_key(other_us)) == (one_us < other_us)
    assert time_of(time_key(one_us)) == one_us


def test_counts_come_back_and_forget_what_fell_to_nothing() -> None:
    counts = Counts(known=3, fetched=1)
    counts.count_reason("robots")
    counts.count_status(404)
    counts.count_status(404, -1)

    assert Counts.decode(counts.encode()) == counts
    assert (counts.by_reason, counts.by_status) == ({"robots": 1}, {})
    assert Counts.decode(None) == Counts()
