"""How quick are answers while a crawl goes on and people watch it, and what does that cost it?

    python -m bench.serve_load [--clients N] [--watchers N] [--pause S] [--pages N] [--rounds N]

Crawls a generated web twice a round, as fast as it goes: once with the server idle beside it, once
with 50 people who search the very collection and look at what they found for two seconds, and 5
live views. Prints one JSON object a line: the median and the 99th percentile of the searches in
milliseconds, and how much longer the same pages took. Both crawls of a round share the machine's
noise; the clients' own CPU counts against us.

Left out: how long one search takes by itself (`bench/search_speed.py`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Final
from urllib.parse import quote_plus

from bench.figures import Figure
from bench.generated import Plan, generated, url_of
from bench.processes import crawl
from bench.served import served

HOSTS: Final = 200
QUICK: Final = ("--scope", "any", "--delay", "0", "--allow-private", "127.0.0.0/8")
WORDS: Final = (
    "crawler thread", "old host", "mark evening", '"same question"', "question twice", "follows",
    "nobody ask", "walks OR leaves", "evening -nowhere", "thre*",
)  # fmt: skip
_MOST_MS: Final = 200.0
_MOST_SLOWER: Final = 1.15


@dataclass
class Load:
    """What the clients have seen."""

    took_ms: list[float] = field(default_factory=list)
    faults: int = 0
    events: int = 0


async def _search_on(port: int, pause_s: float, seed: int, load: Load) -> None:
    """One person: a search, a look at the results, and so on."""
    rng = random.Random(seed)
    await asyncio.sleep(rng.uniform(0, pause_s))
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while True:
        words = quote_plus(rng.choice(WORDS))
        began_s = time.perf_counter()
        writer.write(
            f"GET /api/search?q={words} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
        )
        head = await reader.readuntil(b"\r\n\r\n")
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        await reader.readexactly(int(length))
        if head.startswith(b"HTTP/1.1 200"):
            load.took_ms.append((time.perf_counter() - began_s) * 1000)
        elif b" 404 " not in head[:16] and b" 409 " not in head[:16]:  # no index, not yet
            load.faults += 1
        await asyncio.sleep(rng.uniform(0.5, 1.5) * pause_s)


async def _watch_on(port: int, load: Load) -> None:
    """One live view."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24)
    writer.write(f"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    while line := await reader.readline():
        load.events += line.startswith(b"event:")


@contextmanager
def loaded(port: int, asked: argparse.Namespace) -> Iterator[Load]:
    """Clients of a server, in a thread with a loop of its own, while the block lasts."""
    load = Load()
    loop = asyncio.new_event_loop()

    async def all_of_them() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(asked.clients):
                group.create_task(_search_on(port, asked.pause, number, load))
            for _ in range(asked.watchers):
                group.create_task(_watch_on(port, load))

    task = loop.create_task(all_of_them())

    def run() -> None:
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(task)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield load
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()
        loop.close()


@dataclass(frozen=True)
class Round:
    """Two crawls of the same pages, and what the clients of the second saw."""

    alone_s: float
    watched_s: float
    load: Load


def one_round(asked: argparse.Namespace, folder: Path, number: int) -> Round:
    """The crawl alone, then watched; every second round the other way round."""
    took_s = {}
    seen = Load()
    for is_watched in (False, True) if number % 2 == 0 else (True, False):
        collection = folder / f"{number}-{is_watched}"
        with generated(Plan(HOSTS)) as web, served(collection) as port:
            seed = url_of(0, Plan(HOSTS), web)
            words = ["-c", str(collection), *QUICK, "--max-pages", str(asked.pages), seed]
            log = folder / "log" / f"{number}-{is_watched}.txt"
            if is_watched:
                with loaded(port, asked) as seen:
                    crawled = crawl(words, log)
            else:
                crawled = crawl(words, log)
        took_s[is_watched] = float(crawled.summary["wall_s"])
    return Round(took_s[False], took_s[True], seen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--watchers", type=int, default=5)
    parser.add_argument("--pause", type=float, default=2.0, help="seconds between two searches")
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-load-") as folder:
        rounds = [one_round(asked, Path(folder), number) for number in range(asked.rounds)]
    cuts = [quantiles(one.load.took_ms, n=100) for one in rounds]
    who = f"{asked.clients} clients and {asked.watchers} live views during a crawl"
    middle, last = tuple(cut[49] for cut in cuts), tuple(cut[98] for cut in cuts)
    slower = tuple(one.watched_s / one.alone_s for one in rounds)
    for figure in (
        Figure(f"median of a search in ms, {who}", middle, is_least=False),
        Figure(f"p99 of a search in ms, {who}", last, _MOST_MS, 100, is_least=False),
        Figure(f"wall time of the crawl, {who}, against it alone", slower, _MOST_SLOWER, 1.05,
               is_least=False),
    ):  # fmt: skip
        print(figure.as_json())
    print(json.dumps({
        "searches": [len(one.load.took_ms) for one in rounds],
        "faults": [one.load.faults for one in rounds],
        "events": [one.load.events for one in rounds],
        "crawl_s": [[round(one.alone_s, 1), round(one.watched_s, 1)] for one in rounds],
    }))  # fmt: skip


if __name__ == "__main__":
    main()
