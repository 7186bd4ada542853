"""What node and workers say to each other arrives as it was meant, however the bytes are cut."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from gossamer.fetch.cookies import Cookie
from gossamer.index.anchor_pack import pack_anchors
from gossamer.index.entry import MAX_TEXT_CHARS
from gossamer.index.prepared import prepare
from gossamer.records import (
    Capture,
    Edge,
    Found,
    Lease,
    Link,
    LinkKind,
    Outcome,
    Page,
    Purpose,
    Reason,
    Report,
    Stored,
)
from gossamer.workers import wire
from gossamer.workers.process import ProcessedPage
from support.rows import each_row

URL = "http://a.example/"

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


captures = st.builds(Capture, texts, keys, counts, stored, counts, texts, counts, seconds)


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
        parts=tuple(draw(st.lists(captures, max_size=2))),
    )


def a_report(**named: Any) -> Report:
    lease = Lease(1, URL, bytes(16), "a.example", "")
    return structs.replace(Report(lease, Outcome.FETCHED, 0, 0.0, Stored("", 0, 0, 0, "")), **named)


cookies = st.lists(
    st.builds(Cookie, texts, st.booleans(), texts, st.booleans(), counts, texts, texts), max_size=2
)
MESSAGES: dict[type, st.SearchStrategy[Any]] = {
    wire.Hello: st.builds(
        wire.Hello,
        settings=st.dictionaries(texts, texts | counts | st.booleans() | st.lists(texts)),
        salt=keys,
        info=st.dictionaries(texts, texts),
        run=texts,
        home=texts,
        name=texts,
        cookies=cookies,
    ),
    wire.Leases: st.builds(wire.Leases, st.lists(leases, max_size=2)),
    wire.Reread: st.builds(wire.Reread, leases, texts, counts),
    wire.EndSlow: st.builds(wire.EndSlow, counts),
    wire.Close: st.builds(wire.Close),
    wire.Reported: st.builds(
        wire.Reported, st.builds(ProcessedPage, reports(), edges=st.just([]), anchors=keys)
    ),
    wire.PartWritten: st.builds(wire.PartWritten, texts, counts, st.dictionaries(texts, counts)),
    wire.Alive: st.builds(wire.Alive),
    wire.Fault: st.builds(wire.Fault, texts, st.booleans(), st.booleans()),
    wire.Closed: st.builds(wire.Closed),
    wire.Cookies: st.builds(wire.Cookies, cookies),
}


def to_node(*messages: bytes) -> list[Any]:
    """The messages as the node gets them."""
    return list(wire.Frames(wire.read_by_node).feed(b"".join(messages)))


def sent(processed: ProcessedPage, *, is_indexed: bool = True) -> ProcessedPage:
    """A page as the node gets it."""
    message = wire.Reported(wire.for_node(processed, is_indexed=is_indexed))
    [arrived] = to_node(wire.frame(message))
    assert type(arrived) is wire.Reported
    return arrived.processed


@given(leases)
def test_a_lease_arrives_whole(lease: Lease) -> None:
    [arrived] = wire.Frames(wire.read_by_worker).feed(wire.frame(wire.Leases([lease])))

    assert arrived == wire.Leases([lease])


@given(st.lists(reports(), max_size=3))
def test_reports_arrive_whole(given_: list[Report]) -> None:
    arrived = [sent(ProcessedPage(report), is_indexed=False).report for report in given_]

    assert arrived == given_
    assert all(type(report.outcome) is Outcome for report in arrived)
    assert all(report.reason is None or type(report.reason) is Reason for report in arrived)


@pytest.mark.parametrize("kind", [*get_args(wire.ToWorker), *get_args(wire.ToNode)])
@settings(max_examples=20)
@given(st.data())
def test_every_message_arrives_whole(kind: type, data: st.DataObject) -> None:
    message = data.draw(MESSAGES[kind])
    is_to_node = kind in get_args(wire.ToNode)
    read: Any = wire.read_by_node if is_to_node else wire.read_by_worker

    assert list(wire.Frames(read).feed(wire.frame(message))) == [message]


@given(st.lists(texts, max_size=5), st.lists(st.integers(1, 40), min_size=1))
def test_frames_are_found_however_the_stream_is_cut(words: list[str], cuts: list[int]) -> None:
    messages = [wire.Fault(what, is_full=False, is_read_only=True) for what in words]
    stream = b"".join(map(wire.frame, messages))
    frames, arrived, at, turn = wire.Frames(wire.read_by_node), [], 0, 0
    while at < len(stream):
        step = cuts[turn % len(cuts)]
        arrived += list(frames.feed(stream[at : at + step]))
        at, turn = at + step, turn + 1

    assert arrived == messages


def test_a_frame_of_absurd_size_is_refused_before_it_is_held() -> None:
    with pytest.raises(ValueError, match="a frame of"):
        to_node(wire.HEADER.pack(wire.MAX_FRAME_BYTES + 1))


def test_a_message_for_the_other_side_is_refused() -> None:
    with pytest.raises(ValueError, match="1"):
        to_node(wire.frame(wire.Leases([])))


def test_of_a_long_text_as_much_travels_as_the_index_takes() -> None:
    long = ProcessedPage(a_report(), Page(base=URL, text="x" * (MAX_TEXT_CHARS + 9)))

    arrived = sent(long)

    assert arrived.ready is not None
    assert len(arrived.ready.words) == MAX_TEXT_CHARS


@given(texts, st.lists(texts, max_size=3))
def test_a_text_travels_as_the_index_wants_it_and_can_be_read(
    text: str, headings: list[str]
) -> None:
    page = Page(base=URL, text=text, headings=tuple(headings))
    processed = ProcessedPage(a_report(), page, (), pack_anchors([(bytes(16), "words")]))

    arrived = sent(processed)

    assert arrived.ready == prepare(text)
    assert arrived.page is not None
    assert (arrived.page.headings, arrived.page.text) == (page.headings, "")
    assert arrived.anchors == processed.anchors
    whole = wire.with_text(arrived)
    assert whole.page is not None
    assert (whole.page.text, whole.page.headings, whole.ready) == (text, page.headings, None)


def test_links_stay_with_the_worker() -> None:
    edge = Edge(URL, bytes(16), "", "", "main", "a")
    processed = ProcessedPage(
        a_report(), Page(base=URL, links=(Link("x", LinkKind.ANCHOR),)), [edge]
    )

    arrived = sent(processed)

    assert (arrived.edges, arrived.page and arrived.page.links) == ([], ())


def test_without_an_index_no_text_travels() -> None:
    processed = ProcessedPage(a_report(), Page(base=URL, text="some"))

    assert wire.for_node(processed, is_indexed=False) == ProcessedPage(a_report())


@each_row("count", [0, 1, 15, 16, 300])
def test_reports_that_were_packed_one_by_one_arrive_together(count: int) -> None:
    messages = [wire.Reported(ProcessedPage(a_report(at_us=n), edges=[])) for n in range(count)]
    stream = b"".join(map(wire.frame, messages))

    assert to_node(stream) == messages
    assert wire.reports_in(stream) == count


def test_what_is_not_all_reports_or_not_whole_is_not_counted() -> None:
    report = wire.frame(wire.Reported(ProcessedPage(a_report())))
    alive = wire.frame(wire.Alive())

    for stream in (report[:-1], report[1:], report + alive, alive + report, alive, report + b"\0"):
        assert wire.reports_in(stream) == 0


def test_after_a_huge_message_small_ones_are_packed_as_before() -> None:
    def fault(what: str) -> wire.Fault:
        return wire.Fault(what, is_full=False, is_read_only=False)

    assert to_node(wire.frame(fault("x" * 5_000_000))) == [fault("x" * 5_000_000)]
    assert to_node(wire.frame(fault("y"))) == [fault("y")]


def test_half_of_a_surrogate_pair_arrives_as_a_question_mark() -> None:
    """The state cannot hold it: no bytes can be made of it."""
    report = a_report(title="a\ud83d", robots=frozenset({"noindex"}))

    arrived = sent(ProcessedPage(report, Page(base=URL, headings=("b\ud83d",))))

    assert arrived.report == structs.replace(report, title="a?")
    assert arrived.page is not None
    assert arrived.page.headings == ("b?",)


def test_who_fails_over_a_message_hears_the_next() -> None:
    frames = wire.Frames(wire.read_by_node)
    stream = b"".join(wire.frame(wire.PartWritten("x", n, {})) for n in range(3))

    with pytest.raises(ZeroDivisionError):
        _ = [1 // part.rows for part in frames.feed(stream[:-2])]  # type: ignore[union-attr]

    assert [part.rows for part in frames.feed(stream[-2:])] == [1, 2]  # type: ignore[union-attr]
