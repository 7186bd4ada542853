"""A page that names too many hosts brings the first of them."""

from __future__ import annotations

from gossamer.records import Fetched, Lease, Stored
from gossamer.settings import Settings, with_values
from gossamer.urls.keys import Keys
from gossamer.workers import wire
from gossamer.workers.build_worker import build_processor
from gossamer.workers.process import ProcessedPage

KEYS = Keys(b"salt" * 4)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n"


def harvested(body: str, *, depth: int = 1, **values: object) -> ProcessedPage:
    settings = with_values(
        Settings(), {key.replace("__", "."): value for key, value in values.items()}
    )
    url = "http://a.example/"
    lease = Lease(1, url, KEYS.of(url), "a.example", "127.0.0.1", depth=depth)
    answer = Fetched(url, 200, HEAD, body.encode(), b"", "127.0.0.1", "http/1.1", 1, 0.1)
    return build_processor(settings, KEYS).processed(lease, answer, Stored("a", 0, 0, 1))


FARM = "".join(f"<a href=http://h{number}.farm.example/>x</a>" for number in range(5_000))


def test_links_to_more_hosts_than_a_page_may_name_are_dropped_and_counted() -> None:
    report = harvested(FARM).report

    assert len(report.found) == 1000
    assert report.found[0].url == "http://h0.farm.example/"
    assert report.dropped == 4000
    assert report.out_links == 5000


def test_many_links_to_few_hosts_are_all_told() -> None:
    body = "".join(f"<a href=/{number}>x</a>" for number in range(5_000))

    report = harvested(body, frontier__hosts_per_page=10).report

    assert (len(report.found), report.dropped) == (5000, 0)


def test_all_links_of_a_seed_count() -> None:
    report = harvested(FARM, depth=0).report

    assert (len(report.found), report.dropped) == (5000, 0)


def test_what_was_dropped_travels_from_a_worker_to_the_node() -> None:
    processed = harvested(FARM)

    message = wire.Reported(wire.for_node(processed, is_indexed=False))
    [heard] = wire.Frames(wire.read_by_node).feed(wire.frame(message))

    assert type(heard) is wire.Reported
    assert heard.processed.report.dropped == 4000
