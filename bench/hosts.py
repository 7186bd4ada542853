"""Does a page cost more when there are more hosts?

    python -m bench.hosts            2,000 against 20,000 hosts, and 200,000 without a network
    python -m bench.hosts --quick    200 against 2,000, and 20,000 without a network

Two ways. **Crawled**: a generated web of so many `hNNNNN.localhost` names and the same number of
pages in all, which takes a tenth of a second for each answer, so that both are crawled at about the
same rate: what a node does once a second would else be shared by fewer pages. What counts is the
CPU of the node alone for a page of the second half, when each host was met: what a host costs once
(its name, its robots.txt, its rows) is told with the cost of an answer of the whole crawl, pages
and robots.txt, of which more hosts have more. **Alone**: scheduler and frontier on a
real store with a crew that answers at once, so that nothing but scheduling is measured: every
host's robots.txt is known by then, each page brings one new link to another host, once per
thousand pages all is committed, and once per five thousand the progress is asked for.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.crawl import machine
from bench.crawlers import HERE, OUT
from bench.figures import Figure, table
from bench.generated import Plan, generated, url_of
from bench.processes import Crawled, LineCount, Look, crawl, own_environment

from gossamer.base.garbage import search_seldom
from gossamer.collection.directory import CollectionPaths
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.resolve import ResolvedHost
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.rocks import RocksStore
from gossamer.frontier.store import Store
from gossamer.records import Found, Lease, Outcome, Purpose, Report, Stored
from gossamer.schedule.rules import CrawlRules
from gossamer.schedule.scheduler import Scheduler
from gossamer.settings import Settings, with_values
from gossamer.urls.keys import Keys

FEW, MANY, ALONE = 2_000, 20_000, 200_000
PAGES: Final = 40_000
MEASURED: Final = 60_000  # pages, alone
ROUNDS: Final = 3
AT_ONCE: Final = 64
_ANSWER_S: Final = 0.1
_COMMIT_EVERY: Final = 1_000  # pages: about a second
_TELL_EVERY: Final = 5_000  # a crawl without a terminal says how it goes every five seconds
_KEYS: Final = Keys(b"hosts of a bench")
_FLAGS: Final = (
    "--scope", "any", "--delay", "0", "--allow-private", "127.0.0.0/8", "--connections", "64",
    "--workers", "1",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Alone:
    """Scheduling so many hosts, without a network."""

    hosts: int
    is_polite: bool
    us_per_page: float
    peak_mb: float


@dataclass(frozen=True, slots=True)
class Round:
    """One crawl of a generated web."""

    hosts: int
    pages: int
    crawled: Crawled
    steady_us: float  # CPU of the node for a page of the second half, in microseconds

    @property
    def answers(self) -> int:
        return self.pages + self.hosts  # each host is asked for its robots.txt once

    @property
    def node_us(self) -> float:
        """CPU of the node for one answer, in microseconds."""
        return 1e6 * self.crawled.node_cpu_s / self.answers


def main() -> int:
    options = _options()
    if options.alone:
        return tell_alone(options.alone, options.measured, is_polite=options.polite)
    alone_sizes = tuple(size // options.scale for size in (FEW, MANY, ALONE))
    sizes, pages = alone_sizes[:2], PAGES // options.scale
    rounds: list[Round] = []
    alone: list[Alone] = []
    for number in range(options.rounds):
        for size in _turned(sizes, number):
            rounds.append(crawl_hosts(size, pages))
            _tell_round(rounds[-1])
        for size in _turned(alone_sizes, number):
            for is_polite in (False, True):
                alone.append(_alone(size, options.measured, is_polite=is_polite))
                _tell_alone(alone[-1])
    figures = [*round_figures(rounds), *alone_figures(alone)]
    for figure in figures:
        print(figure.as_json(), flush=True)
    text = f"{machine()}; {options.rounds} rounds\n\n{table(figures)}\n"
    OUT.mkdir(exist_ok=True)
    (OUT / "hosts.md").write_text(text, encoding="utf-8")
    print(f"\n{text}", file=sys.stderr)
    return 0


# -- crawled


def crawl_hosts(hosts: int, pages: int) -> Round:
    """Crawl a generated web of so many hosts and pages from its first page."""
    plan = Plan(hosts, pages, answer_s=_ANSWER_S)
    moments: list[tuple[int, float]] = []  # pages that have come, CPU of the node
    with generated(plan) as port, tempfile.TemporaryDirectory(prefix="bench-hosts-") as home:
        log = OUT / f"hosts-{hosts}.log"
        collection = Path(home) / "c"
        counted = LineCount(CollectionPaths(collection).log)

        def see(look: Look) -> None:
            moments.append((counted.now(), look.node.cpu_s))

        crawled = crawl([url_of(0, plan, port), "-c", str(collection), *_FLAGS], log, see, 0.5)
    if crawled.summary["fetched"] != pages:
        sys.exit(f"{crawled.summary['fetched']} of {pages} pages on {hosts} hosts; see {log}")
    steady_us = _steady_us(moments, pages) or 1e6 * crawled.node_cpu_s / pages
    return Round(hosts, pages, crawled, steady_us)


def _steady_us(moments: Sequence[tuple[int, float]], pages: int) -> float:
    """From the first look after half of the pages to the last before the final ones; 0 for a crawl
    that was too short to look twice."""
    steady = [moment for moment in moments if pages / 2 <= moment[0] <= pages * 0.98]
    if not steady:
        return 0.0
    (first, began_s), (last, ended_s) = steady[0], steady[-1]
    return 1e6 * (ended_s - began_s) / max(1, last - first)


# -- alone


class SteppedClock:
    """A clock that stands still until it is told to go on; wall time starts at a fixed day."""

    def __init__(self) -> None:
        self.at_s = 1000.0

    def now_s(self) -> float:
        return self.at_s

    def wall_us(self) -> int:
        return 1_700_000_000_000_000 + round(self.at_s * 1e6)

    async def sleep_until(self, when_s: float) -> None:
        self.at_s = max(self.at_s, when_s)


class Schedule:
    """Scheduler and frontier with a crew that answers when it has 64 leases."""

    def __init__(self, store: Store, hosts: int, *, is_polite: bool) -> None:
        delay_s = 1.0 if is_polite else 0.0
        values = {"politeness.host_delay_s": delay_s, "fetch.allow_private": ("10.0.0.0/8",)}
        settings = with_values(Settings(), values)
        self._store = store
        self._hosts = hosts
        self._clock = SteppedClock()
        self.frontier = Frontier(store, settings.frontier, lambda _: None)
        rules = CrawlRules(keys=_KEYS, guard=AddressGuard(settings.fetch.allow_private))
        self._scheduler = Scheduler(self.frontier, settings, self._clock, rules, lambda _: None)
        self._out: deque[Lease] = deque()
        self._found = 0
        self._ended = 0

    def admit(self, pages: int) -> None:
        """So many new URLs, each on the next host."""
        for start in range(0, pages, 10_000):
            self.frontier.admit(self._next(min(10_000, pages - start)), self._clock.wall_us())
            self._commit()

    def run(self, pages: int) -> None:
        """Lease and report so many pages; robots.txt beside them."""
        until = self._ended + pages
        while self._ended < until:
            lease = self._scheduler.next_lease()
            if lease is not None:
                self._out.append(lease)
                if len(self._out) < AT_ONCE:
                    continue
            for host in self._scheduler.take_unresolved():
                self._scheduler.resolved(host, _resolved(host.name))
            if self._out:
                self._end(self._out.popleft())
            elif (when_s := self._scheduler.next_time_s()) is not None:
                self._clock.at_s = max(self._clock.at_s, when_s)

    def _end(self, lease: Lease) -> None:
        is_page = lease.purpose is Purpose.PAGE
        report = Report(
            lease=lease,
            outcome=Outcome.FETCHED,
            at_us=self._clock.wall_us(),
            took_s=0.01,
            stored=Stored("a.warc.gz", 0, 0, 1),
            status=200,
            size_bytes=100,
            found=tuple(self._next(1)) if is_page else (),
            body=b"" if is_page else b"User-agent: *\nDisallow: /private/\n",
        )
        retry_us = self._scheduler.ended(report)
        if is_page:
            self.frontier.report(report, retry_us)
            self.frontier.admit(report.found, report.at_us)
            self._ended += 1
            if self._ended % _COMMIT_EVERY == 0:
                self._commit()
            if self._ended % _TELL_EVERY == 0:
                _ = self._scheduler.hosts_waiting, self._scheduler.troubles()

    def _commit(self) -> None:
        """What a node does about once a second."""
        self.frontier.wake_due(self._clock.wall_us())
        self._scheduler.forget_idle()
        changes = self.frontier.begin_commit()
        self._store.write(changes)
        self.frontier.end_commit(changes)

    def _next(self, count: int) -> Iterator[Found]:
        for number in range(self._found, self._found + count):
            host, path = number * 7919 % self._hosts, number // self._hosts
            url = f"http://h{host:06d}.test/p{path}"
            yield Found(url, _KEYS.of(url), 3)
        self._found += count


def _resolved(name: str) -> ResolvedHost:
    """An address of its own for each host."""
    number = int(name[1:7])
    address = f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"
    return ResolvedHost((address,), float("inf"))


def tell_alone(hosts: int, measured: int, *, is_polite: bool) -> int:
    """Run `Schedule` in this process and print what it cost."""
    with tempfile.TemporaryDirectory(prefix="bench-alone-") as home:
        store = RocksStore.open(Path(home), Settings().frontier.memory_mb)
        schedule = Schedule(store, hosts, is_polite=is_polite)
        schedule.admit(max(2 * hosts, hosts + measured // 2))
        schedule.run(hosts)  # once round: names and robots.txt are known
        search_seldom()  # as a crawl does
        began_s = time.process_time()
        schedule.run(measured)
        took_s = time.process_time() - began_s
        store.close()
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"us_per_page": 1e6 * took_s / measured, "peak_mb": peak_mb}))
    return 0


def _alone(hosts: int, measured: int, *, is_polite: bool) -> Alone:
    given = ["--alone", str(hosts), "--measured", str(measured)]
    told = subprocess.run(
        [sys.executable, "-m", "bench.hosts", *given, *(["--polite"] if is_polite else [])],
        cwd=HERE.parent,
        env=own_environment(OUT),
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    return Alone(hosts, is_polite, **json.loads(told))


# -- telling


def round_figures(rounds: Sequence[Round]) -> list[Figure]:
    """The gate, then what each number of hosts did."""
    few, many = _by_hosts(rounds, min), _by_hosts(rounds, max)
    against = f"{many[0].hosts:,} hosts against {few[0].hosts:,}"
    pairs = list(zip(many, few, strict=True))
    figures = [
        Figure(
            f"pages per CPU-second of the node once all hosts were met, {against}",
            tuple(two.steady_us / one.steady_us for one, two in pairs), 0.9, 0.95,
        ),
        Figure(
            f"answers per CPU-second of the node, {against}",
            tuple(two.node_us / one.node_us for one, two in pairs),
        ),
        Figure(
            f"answers/s wall, {against}",
            tuple(one.answers / one.crawled.wall_s / (two.answers / two.crawled.wall_s)
                  for one, two in pairs),
        ),
    ]  # fmt: skip
    for own in (few, many):
        name = f"{own[0].hosts:,} hosts"
        figures += [
            Figure(
                f"CPU of the node in us per page once all were met, {name}",
                tuple(r.steady_us for r in own),
            ),
            Figure(f"CPU of the node per answer in us, {name}", tuple(r.node_us for r in own)),
            Figure(
                f"CPU of all per answer in us, {name}",
                tuple(1e6 * r.crawled.cpu_s / r.answers for r in own),
            ),
            Figure(f"pages/s, {name}", tuple(r.pages / r.crawled.wall_s for r in own)),
            Figure(f"memory of the node in MB, {name}", tuple(r.crawled.peak_mb for r in own)),
        ]
    return figures


def _by_hosts(rounds: Sequence[Round], choose: Callable[..., int]) -> list[Round]:
    wanted = choose(one.hosts for one in rounds)
    return [one for one in rounds if one.hosts == wanted]


def alone_figures(alone: Sequence[Alone]) -> list[Figure]:
    figures: list[Figure] = []
    for is_polite in (False, True):
        how = "a rest of 1 s" if is_polite else "no rest"
        own = [one for one in alone if one.is_polite == is_polite]
        sizes = sorted({one.hosts for one in own})
        costs = {n: [one.us_per_page for one in own if one.hosts == n] for n in sizes}
        for size in sizes[1:]:
            ratios = tuple(
                few / many for few, many in zip(costs[sizes[0]], costs[size], strict=True)
            )
            name = f"scheduling alone, {how}, {size:,} hosts against {sizes[0]:,}"
            figures.append(Figure(name, ratios, 0.9, 0.95))
        for size in sizes:
            peaks = tuple(one.peak_mb for one in own if one.hosts == size)
            name = f"alone, {how}, {size:,} hosts"
            figures.append(Figure(f"us per page, {name}", tuple(costs[size])))
            figures.append(Figure(f"memory in MB, {name}", peaks))
    return figures


def _turned(sizes: Sequence[int], number: int) -> list[int]:
    turn = number % len(sizes)
    return [*sizes[turn:], *sizes[:turn]]


def _tell_round(one: Round) -> None:
    crawled = one.crawled
    print(
        f"{one.hosts:>7} hosts: {one.pages / crawled.wall_s:6.0f} pages/s, node "
        f"{one.node_us:5.0f} us per answer, {one.steady_us:5.0f} us per page later, "
        f"all {1e6 * crawled.cpu_s / one.answers:5.0f} us, "
        f"{crawled.peak_mb:4.0f} MB",
        file=sys.stderr,
        flush=True,
    )


def _tell_alone(one: Alone) -> None:
    how = "polite " if one.is_polite else "hurried"
    print(
        f"{one.hosts:>7} hosts alone, {how}: {one.us_per_page:6.1f} us per page, "
        f"{one.peak_mb:4.0f} MB",
        file=sys.stderr,
        flush=True,
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one round, a tenth of the hosts")
    parser.add_argument("--rounds", type=int, help=f"default {ROUNDS}")
    parser.add_argument("--scale", type=int, help="divide hosts and pages by this; default 1")
    parser.add_argument("--measured", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--alone", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--polite", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.rounds = options.rounds or (1 if options.quick else ROUNDS)
    options.scale = options.scale or (10 if options.quick else 1)
    options.measured = options.measured or MEASURED // options.scale
    return options


if __name__ == "__main__":
    sys.exit(main())
