"""What node and workers say to each other arrives as it was meant, however the bytes are cut."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.index.anchor_pack import pack_anchors
from gossamer.index.entry import MAX_TEXT_CHARS
from gossamer.index.prepared import prepare
from gossamer.records import Found, Lease, Outcome, Page, Purpose, Reason, Report, Stored
from gossamer.workers import wire
from gossamer.workers.process import ProcessedPage

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
keys = st.binary(min_size=16, max_size=16)
counts = st.integers(0, 2**40)
seconds = st.floats(0, 1e6, allow_nan=False)

leases = st.builds(
    Lease,
    number=counts,
    url=texts,
    key=keys,
    host=texts,
    address=texts,
    purpose=st.sampled_from(Purpose),
    depth=st.integers(0, 2**16),
    tries=counts,
    redirects=counts,
    via=texts,
    is_trusted=st.booleans(),
    max_body_bytes=counts,
)
stored = st.builds(Stored, texts, counts, counts, counts, texts)


def found_on(lease: Lease) -> st.SearchStrategy[Found]:
    """What a page can name: links one deeper, or a redirect at its own depth."""
    links = st.builds(
        Found,
        texts,
        keys,
        depth=st.just(lease.depth + 1),
        via=st.just(lease.key),
        redirects=st.just(0),
        is_nofollow=st.booleans(),
    )
    redirect = st.builds(
        Found,
        texts,
        keys,
        depth=st.just(lease.depth),
        via=st.just(lease.key),
        redirects=st.just(lease.redirects + 1),
        is_nofollow=st.just(False),
    )
    return st.one_of(links, redirect)


@st.composite
def reports(draw: st.DrawFn) -> Report:
    lease = draw(leases)
    return Report(
        lease=lease,
        outcome=draw(st.sampled_from(Outcome)),
        at_us=draw(counts),
        took_s=draw(seconds),
        stored=draw(stored),
        reason=draw(st.none() | st.sampled_from(Reason)),
        detail=draw(texts),
        status=draw(st.integers(0, 999)),
        type=draw(texts),
        size_bytes=draw(counts),
        digest=draw(texts),
        modified_at=draw(texts),
        retry_after_s=draw(seconds),
        title=draw(texts),
        language=draw(texts),
        robots=draw(st.frozensets(texts, max_size=3)),
        redirect=draw(texts),
        is_cut=draw(st.booleans()),
        found=tuple(draw(st.lists(found_on(lease), max_size=3))),
        out_links=draw(counts),
        body=draw(st.binary(max_size=50)),
    )


def sent(*messages: bytes) -> list[tuple[Any, ...]]:
    """The messages as the other side gets them."""
    return list(wire.Frames().feed(b"".join(messages)))


@given(leases)
def test_a_lease_arrives_whole(lease: Lease) -> None:
    [[kind, items]] = sent(wire.frame(wire.LEASES, [wire.lease_items(lease)]))

    assert kind == wire.LEASES
    assert [wire.lease_of(item) for item in items] == [lease]


@given(st.lists(reports(), max_size=3))
def test_reports_arrive_whole_beside_the_leases_that_the_node_kept(given_: list[Report]) -> None:
    [[kind, items]] = sent(wire.frame(wire.REPORTS, [wire.report_items(r) for r in given_]))

    assert kind == wire.REPORTS
    assert [item[0] for item in items] == [report.lease.number for report in given_]
    arrived = [
        wire.report_of(item, report.lease) for item, report in zip(items, given_, strict=True)
    ]
    assert arrived == given_
    assert all(type(report.outcome) is Outcome for report in arrived)
    assert all(report.reason is None or type(report.reason) is Reason for report in arrived)


def test_every_field_of_a_record_travels() -> None:
    """A field added to a record is not forgotten here: the round trips above would not see it."""
    values = {f.name: f"a {f.name}" for f in fields(Lease)} | {"purpose": "robots"}
    lease = Lease(**values)  # type: ignore[arg-type]

    assert wire.lease_of(wire.lease_items(lease)) == lease

    values = {f.name: f"a {f.name}" for f in fields(Report)} | {"outcome": "failed"}
    by_hand = {"lease": lease, "stored": Stored("", 1, 2, 3), "reason": Reason.DNS}
    several = {"found": (), "robots": frozenset({"x"}), "sitemaps": ("y",)}
    report = Report(**values | by_hand | several)  # type: ignore[arg-type]

    assert wire.report_of(wire.report_items(report), lease) == report


@given(st.lists(st.binary(max_size=300), max_size=5), st.lists(st.integers(1, 40), min_size=1))
def test_frames_are_found_however_the_stream_is_cut(bodies: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(wire.frame(wire.ALIVE, body) for body in bodies)
    frames, arrived, at, turn = wire.Frames(), [], 0, 0
    while at < len(stream):
        step = cuts[turn % len(cuts)]
        arrived += list(frames.feed(stream[at : at + step]))
        at, turn = at + step, turn + 1

    assert arrived == [(wire.ALIVE, body) for body in bodies]


def test_a_frame_of_absurd_size_is_refused_before_it_is_held() -> None:
    with pytest.raises(ValueError, match="a frame of"):
        list(wire.Frames().feed(wire.HEADER.pack(wire.MAX_FRAME_BYTES + 1)))


def test_of_a_long_text_as_much_travels_as_the_index_takes() -> None:
    lease = Lease(1, "http://a.example/", bytes(16), "a.example", "")
    report = Report(lease, Outcome.FETCHED, 0, 0.0, Stored("", 0, 0, 0, ""))
    long = ProcessedPage(report, Page(base=lease.url, text="x" * (MAX_TEXT_CHARS + 9)))

    arrived = wire.harvest_of(wire.harvest_items(long, is_indexed=True), lease)

    assert arrived.ready is not None
    assert len(arrived.ready.words) == MAX_TEXT_CHARS


@given(texts, st.lists(texts, max_size=3))
def test_a_text_travels_as_the_index_wants_it_and_can_be_read(
    text: str, headings: list[str]
) -> None:
    lease = Lease(1, "http://a.example/", bytes(16), "a.example", "")
    report = Report(lease, Outcome.FETCHED, 0, 0.0, Stored("", 0, 0, 0, ""))
    page = Page(base=lease.url, text=text, headings=tuple(headings))
    processed = ProcessedPage(report, page, (), pack_anchors([(bytes(16), "words")]))

    [[_, [items]]] = sent(
        wire.frame(wire.REPORTS, [wire.harvest_items(processed, is_indexed=True)])
    )
    arrived = wire.harvest_of(items, lease)

    assert arrived.ready == prepare(text)
    assert arrived.page == replace(page, text="")
    assert wire.with_text(arrived) == processed


def test_without_an_index_no_text_travels() -> None:
    lease = Lease(1, "http://a.example/", bytes(16), "a.example", "")
    report = Report(lease, Outcome.FETCHED, 0, 0.0, Stored("", 0, 0, 0, ""))
    processed = ProcessedPage(report, Page(base=lease.url, text="some"))

    assert wire.harvest_of(wire.harvest_items(processed, is_indexed=False), lease) == ProcessedPage(
        report
    )


@pytest.mark.parametrize("count", [0, 1, 15, 16, 300])
def test_harvests_that_were_packed_one_by_one_arrive_together(count: int) -> None:
    lease = Lease(1, "http://a.example/", bytes(16), "a.example", "")
    report = Report(lease, Outcome.FETCHED, 0, 0.0, Stored("", 0, 0, 0, ""), title="a\ud83d")
    harvests = [ProcessedPage(replace(report, at_us=n)) for n in range(count)]
    parts = [wire.packed_harvest(one, is_indexed=False) for one in harvests]

    [[kind, items]] = sent(wire.reports_frame(parts))

    assert kind == wire.REPORTS
    assert [wire.harvest_of(item, lease) for item in items] == harvests


def test_after_a_huge_message_small_ones_are_packed_as_before() -> None:
    huge = sent(wire.frame(wire.ALIVE, "x" * 5_000_000))

    assert [len(text) for _, text in huge] == [5_000_000]
    assert sent(wire.frame(wire.ALIVE, "y")) == [(wire.ALIVE, "y")]


def test_half_of_a_surrogate_pair_travels() -> None:
    (message,) = wire.Frames().feed(wire.frame(wire.ALIVE, "a\ud83d", "plain"))

    assert message == (wire.ALIVE, "a\ud83d", "plain")


def test_who_fails_over_a_message_hears_the_next() -> None:
    frames = wire.Frames()
    stream = b"".join(wire.frame(n, "x") for n in range(3))

    with pytest.raises(ZeroDivisionError):
        _ = [1 // kind for kind, _ in frames.feed(stream[:-2])]

    assert [kind for kind, _ in frames.feed(stream[-2:])] == [1, 2]
