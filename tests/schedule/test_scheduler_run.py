"""Long crawls under a virtual clock: no rule is ever broken, and every URL comes to its end."""

from __future__ import annotations

import asyncio
import random

import pytest

from gossamer.politeness.pace import delay_after
from gossamer.records import Found, Lease, Outcome, Purpose, Reason, Report
from gossamer.urls.canonical import host_of
from schedule.scheduler_bench import KEYS, PUBLIC, Bench, SeenRequest
from schedule.virtual_run import Reply, VirtualRun, grouped, shortest_margin_s

HOSTS = [f"h{number}.example" for number in range(50)]
# Ten addresses for fifty hosts; every seventh host has two.
NAMES: dict[str, tuple[str, ...]] = {
    host: (
        (f"{PUBLIC}{number % 10}", f"8.8.4.{number}")
        if number % 7 == 0
        else (f"{PUBLIC}{number % 10}",)
    )
    for number, host in enumerate(HOSTS)
}
CRAWL_DELAYS = {"h3.example": 7, "h4.example": 2.5}
EPSILON_S = 1e-5  # wall time is kept in microseconds


class WildWeb:
    """Fifty hosts that are slow, busy, silent or gone by chance, the same chance each time."""

    def __init__(self, seed: int, pages: int) -> None:
        self.random = random.Random(seed)
        self.pages = pages
        self.bench: Bench

    def __call__(self, bench: Bench, lease: Lease) -> Reply:
        self.bench = bench
        took_s = self.random.choice([0.01, 0.05, 0.2, 1.0, 6.0])
        if lease.host in ("h10.example", "h17.example"):
            return Reply(15.0, lambda each: self.failed(each, Reason.CONNECT))
        if lease.purpose is Purpose.ROBOTS:
            return Reply(took_s, self.robots)
        chance = self.random.random()
        if chance < 0.02:
            return Reply(took_s, lambda each: self.failed(each, self.random.choice(FAULTS)))
        if chance < 0.04 or lease.host == "h12.example":
            wait_s = self.random.choice([0.0, 5.0, 300.0])
            return Reply(took_s, lambda each: self.busy(each, wait_s))
        return Reply(took_s, self.page)

    def robots(self, lease: Lease) -> Report:
        report = self.bench.report
        if lease.host == "h20.example" and lease.url.startswith("http:"):
            to = "https://h21.example/robots.txt"
            return report(lease, Outcome.FETCHED, status=301, redirect=to)
        if lease.host == "h22.example":
            return report(lease, Outcome.FETCHED, status=500)
        if lease.host == "h23.example" and self.random.random() < 0.5:
            return self.failed(lease, Reason.TIMEOUT)
        delay = CRAWL_DELAYS.get(lease.host)
        body = f"User-agent: *\nDisallow: /private\nCrawl-delay: {delay or 0}".encode()
        return report(lease, Outcome.FETCHED, status=200, body=body)

    def page(self, lease: Lease) -> Report:
        found = []
        for _ in range(self.random.randrange(8)):
            host = self.random.choice(HOSTS)
            folder = "/private" if self.random.random() < 0.1 else ""
            path = f"{folder}/{self.random.randrange(self.pages)}"
            scheme = "https" if host == "h30.example" and self.random.random() < 0.5 else "http"
            url = f"{scheme}://{host}{path}"
            found.append(Found(url, KEYS.of(url), lease.depth + 1, lease.key))
        redirect = found[0].url if found and self.random.random() < 0.05 else ""
        return self.bench.report(
            lease,
            Outcome.FETCHED,
            status=301 if redirect else 200,
            redirect=redirect,
            found=tuple(found[:1] if redirect else found),
        )

    def busy(self, lease: Lease, wait_s: float) -> Report:
        return self.bench.report(
            lease, Outcome.FAILED, reason=Reason.BUSY, status=503, retry_after_s=wait_s
        )

    def failed(self, lease: Lease, reason: Reason) -> Report:
        return self.bench.report(lease, Outcome.FAILED, reason=reason)


FAULTS = [
    Reason.RESET,
    Reason.TIMEOUT,
    Reason.TLS,
    Reason.CONNECT,
    Reason.PROTOCOL,
    Reason.ENCODING,
]


def crawled(seed: int, pages: int, **values: object) -> Bench:
    named = {**NAMES, "h40.example": (), "h41.example": ("10.0.0.1",)}
    settings = {key.replace("__", "."): value for key, value in values.items()}
    bench = Bench(values={"frontier.host_buffer": 4, **settings}, typed=HOSTS[:3], names=named)
    bench.admit(*(f"http://{host}/0" for host in HOSTS))
    asyncio.run(VirtualRun(bench, WildWeb(seed, pages)).until())
    return bench


def assert_politeness(bench: Bench) -> None:
    """Every host and every address had its delay after every request."""
    politeness = bench.settings.politeness

    def host_delay_s(one: SeenRequest) -> float:
        # What robots.txt says is known, and holds, once its own answer has been read.
        delay_s = 0.0 if one.lease.purpose is Purpose.ROBOTS else CRAWL_DELAYS.get(one.lease.host)
        took_s = one.ended_s - one.began_s
        rest_s = delay_after(politeness, took_s=took_s, crawl_delay_s=delay_s, is_open=True)
        return max(rest_s, one.retry_after_s)

    for host, group in grouped(bench.requests, lambda lease: lease.host).items():
        assert shortest_margin_s(group, host_delay_s) >= -EPSILON_S, host
    for address, group in grouped(bench.requests, lambda lease: lease.address).items():
        assert shortest_margin_s(group, lambda _: politeness.address_delay_s) >= -EPSILON_S, address


@pytest.mark.parametrize("seed", range(3))
def test_no_delay_is_ever_cut_short_and_every_url_gets_an_outcome(seed: int) -> None:
    bench = crawled(seed, pages=60)

    assert_politeness(bench)
    counts = bench.frontier.counts
    assert counts.queued == 0
    assert counts.known > 2000
    assert counts.known == counts.fetched + counts.redirects + counts.failed + counts.refused
    pages = [one.lease for one in bench.requests if one.lease.purpose is Purpose.PAGE]
    assert len({(lease.key, lease.tries) for lease in pages}) == len(pages)
    assert bench.scheduler.under_way == 0
    assert bench.stop.pages_promised == 0


def test_what_became_of_each_kind_of_host() -> None:
    bench = crawled(7, pages=40)

    def reasons(host: str) -> set[str]:
        rows = [row for row in bench.frontier.rows(10_000) if host_of(row.url) == host]
        assert rows, host
        return {row.reason for row in rows}

    assert reasons("h10.example") == {"connect"}
    assert reasons("h40.example") == {"dns"}
    assert reasons("h41.example") == {"private"}
    assert reasons("h22.example") == {"robots"}
    assert "busy" in reasons("h12.example")
    assert "robots" in reasons("h20.example")
    assert "" in reasons("h20.example")


def test_a_limit_of_pages_is_met_to_the_page() -> None:
    bench = crawled(1, pages=60, limits__max_pages=333)

    assert bench.frontier.counts.fetched == 333
    assert bench.scheduler.under_way == 0


def test_a_limit_of_pages_per_host_is_met_to_the_page() -> None:
    bench = crawled(2, pages=60, frontier__pages_per_host=7)

    hosts = {row.url: row for row in bench.frontier.rows(100_000) if row.outcome == "fetched"}
    pages = [host_of(row.url) for row in hosts.values() if not row.redirect]
    assert max(pages.count(host) for host in HOSTS) == 7
    assert bench.frontier.counts.by_reason["budget"] > 0


def test_hosts_behind_one_address_all_get_their_turn() -> None:
    bench = Bench(names=dict.fromkeys(HOSTS, (PUBLIC + "8",)), values={"fetch.dns_keep_s": 20})
    bench.admit(*(f"http://{host}/{number}" for number in range(20) for host in HOSTS))
    took_s = 0.1

    def web(bench: Bench, lease: Lease) -> Reply:
        return Reply(took_s, lambda each: bench.report(each, Outcome.FETCHED, status=200))

    asyncio.run(VirtualRun(bench, web).until())

    assert_politeness(bench)
    assert bench.frontier.counts.fetched == 1000
    pages = [one.lease.host for one in bench.requests]
    for round_ in range(0, len(pages), 50):
        assert len(set(pages[round_ : round_ + 50])) >= 45, "nobody is asked twice before others"
    # The address is the bottleneck, and it is never idle for long.
    assert bench.clock.now_s() < 1050 * (took_s + 0.5) * 1.1


def test_a_crawl_that_is_killed_and_goes_on_breaks_no_rule_either() -> None:
    web = WildWeb(5, pages=30)
    bench = Bench(values={"frontier.host_buffer": 4}, typed=HOSTS[:3], names=NAMES)
    bench.admit(*(f"http://{host}/0" for host in HOSTS))

    for _ in range(6):
        asyncio.run(VirtualRun(bench, web).until(bench.clock.now_s() + 40))
        bench.is_unclean = True
        bench.open()
    asyncio.run(VirtualRun(bench, web).until())

    assert_politeness(bench)
    counts = bench.frontier.counts
    assert counts.known == counts.fetched + counts.redirects + counts.failed + counts.refused
