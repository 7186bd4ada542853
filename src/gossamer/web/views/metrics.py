"""Metrics of the server in the Prometheus text format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from gossamer.frontier.counts import FOUND_BY_VISITS
from gossamer.web.route import ServerCounters

_OF_CRAWLS: Final = (
    ("fetched", "gossamer_pages_fetched", "Pages fetched over the life of a collection."),
    ("failed", "gossamer_urls_failed", "URLs whose requests failed."),
    ("refused", "gossamer_urls_refused", "URLs that a rule refused."),
    ("queued", "gossamer_urls_queued", "URLs in the queue."),
    ("known", "gossamer_urls_known", "URLs known."),
    ("bytes", "gossamer_bytes_fetched", "Bytes of bodies fetched."),
    ("links", "gossamer_links", "Links found."),
    ("indexed", "gossamer_pages_indexed", "Pages in the search index."),
    ("hot", "gossamer_pages_hot", "Fetched pages whose importance reaches the threshold."),
    ("evicted", "gossamer_pages_evicted", "Pages that left for better ones, each time."),
    ("under_way", "gossamer_requests_under_way", "Requests in flight."),
    ("pages_per_s", "gossamer_pages_per_second", "Pages per second over the last ten seconds."),
)

# Of crawls that visit pages again; no line for a figure that is not known.
_OF_FRESHNESS: Final = (
    ("measured", "gossamer_freshness_measured", "Share of time in which copies were up to date."),
    ("predicted", "gossamer_freshness_predicted", "Share of copies that should be up to date."),
    ("age_s", "gossamer_age_seconds_measured", "Mean age of copies, as measured."),
    ("predicted_age_s", "gossamer_age_seconds_predicted", "Mean age of copies, as predicted."),
    ("visits_per_s", "gossamer_visits_per_second", "Visits of known pages per second."),
    ("due_hour", "gossamer_pages_due_within_hour", "Pages that are due within an hour."),
)


def metrics_text(tally: ServerCounters, crawls: Sequence[dict[str, Any]]) -> str:
    """Return all metrics."""
    return "".join(f"{line}\n" for line in _lines(tally, crawls))


def _lines(tally: ServerCounters, crawls: Sequence[dict[str, Any]]) -> Iterator[str]:
    for key, name, meaning in _OF_CRAWLS:
        yield from _head(name, "gauge", meaning)
        for crawl in crawls:
            yield f'{name}{{crawl="{_label(crawl["crawl"])}"}} {crawl[key]}'
    yield from _visit_lines(crawls)
    yield from _head("gossamer_crawl_running", "gauge", "Whether a crawl is running.")
    for crawl in crawls:
        is_on = int(crawl["state"] in ("starting", "running", "paused", "stopping"))
        yield f'gossamer_crawl_running{{crawl="{_label(crawl["crawl"])}"}} {is_on}'
    yield from _head("gossamer_http_answers_total", "counter", "Responses of this server.")
    for (route, status), count in sorted(tally.answers.items()):
        yield f'gossamer_http_answers_total{{route="{_label(route)}",status="{status}"}} {count}'
    yield from _head("gossamer_http_seconds_total", "counter", "Time spent on responses.")
    for route, seconds in sorted(tally.seconds.items()):
        yield f'gossamer_http_seconds_total{{route="{_label(route)}"}} {seconds:.6f}'
    yield from _head("gossamer_http_watchers", "gauge", "Open live views.")
    yield f"gossamer_http_watchers {len(tally.watchers)}"


def _visit_lines(crawls: Sequence[dict[str, Any]]) -> Iterator[str]:
    waiting = "gossamer_pages_waiting_for_visit"
    yield from _head(waiting, "gauge", "Fetched pages that wait for another visit.")
    for crawl in crawls:
        count = crawl["visited"].get("revisits", 0)
        yield f'{waiting}{{crawl="{_label(crawl["crawl"])}"}} {count}'
    yield from _head("gossamer_visits_total", "counter", "Visits of known pages, by result.")
    for crawl in crawls:
        for found in FOUND_BY_VISITS[1:]:
            label = f'crawl="{_label(crawl["crawl"])}",found="{found}"'
            yield f"gossamer_visits_total{{{label}}} {crawl['visited'].get(found, 0)}"
    for key, name, meaning in _OF_FRESHNESS:
        yield from _head(name, "gauge", meaning)
        for crawl in crawls:
            value = (crawl.get("freshness") or {}).get(key)
            if value is not None:
                yield f'{name}{{crawl="{_label(crawl["crawl"])}"}} {value}'


def _head(name: str, kind: str, help: str) -> tuple[str, str]:
    return f"# HELP {name} {help}", f"# TYPE {name} {kind}"


def _label(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
