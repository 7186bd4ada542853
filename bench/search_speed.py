"""How quick are the answers over 100,000 pages?

    python -m bench.search_speed [--sites DIR] [--pages N] [--queries N] [--rounds N] [--keep DIR]

Takes the texts of real pages, repeats them with changes until there are enough, and indexes them.
Then asks queries of one to three words of all frequencies, a fifth of them phrases, with snippets
of ten hits, by one client and by eight at once, and prints one JSON object a line: the median and
the 99th percentile in milliseconds, of each of some rounds. First of `gossamer serve`, over HTTP,
which is what has to be quick; then of an engine in this process, with the CPU that a search takes.
At the end how much of the processor other machines took, in each round. With `--keep` the index
stays, and is used again.
"""

from __future__ import annotations

import argparse
import bisect
import itertools
import json
import os
import random
import re
import selectors
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from statistics import quantiles
from typing import Final
from urllib.parse import quote

from bench.figures import Figure
from bench.parse import pages_of
from bench.served import served
from bench.stolen import percent_stolen, taken

from gossamer.collection.directory import CollectionPaths, open_to_write
from gossamer.index.entry import Entry
from gossamer.index.words import words_of
from gossamer.index.writer import IndexWriter
from gossamer.parse.html import Parser
from gossamer.search.engine import Engine
from gossamer.search.results import Request
from gossamer.settings import Parse

SITES: Final = Path(os.environ.get("TEST_SITES", "sites"))
_REAL_PAGES: Final = 5_000
_CHANGED: Final = 0.03  # of the words of a repeated page
_SAMPLE: Final = "queries.json"


def real_entries(folder: Path, count: int) -> list[Entry]:
    """Pages of a folder, parsed."""
    parser = Parser(Parse())
    entries = []
    for number, body in enumerate(pages_of(folder, count)):
        page = parser.parse(f"http://bench.example/{number}", "text/html", body)
        entries.append(
            Entry(
                key=b"",
                url="",
                title=page.title,
                headings=page.headings,
                text=page.text,
                language=page.language,
                type="text/html",
                at_us=1_767_225_600_000_000,
            )
        )
    return entries


def repeated(real: Sequence[Entry], count: int, chance: random.Random) -> Iterator[Entry]:
    """So many pages, each with some of its words exchanged for those of another."""
    for number in range(count):
        page, other = real[number % len(real)], chance.choice(real)
        url = f"http://host{number % 50}.example/{number // 50}/page{number}.html"
        words, others = page.text.split(" "), other.text.split(" ")
        for _ in range(int(len(words) * _CHANGED)):
            words[chance.randrange(len(words))] = chance.choice(others)
        yield replace(
            page,
            key=blake2b(url.encode(), digest_size=16).digest(),
            url=url,
            text=" ".join(words),
            at_us=page.at_us + number * 1_000_000,
        )


def sample_queries(real: Sequence[Entry], count: int, chance: random.Random) -> list[str]:
    """Words of all frequencies: their logarithm is drawn, so that rare and common come alike."""
    counts = Counter(word for page in real for word in set(words_of(page.text)))
    ordered = sorted((pages, word) for word, pages in counts.items() if len(word) > 1)
    pages_of_words = [pages for pages, _ in ordered]
    texts = [words for page in real if len(words := words_of(page.text)) > 10]

    def word() -> str:
        pages = pages_of_words[-1] ** chance.random()
        at = min(bisect.bisect_left(pages_of_words, pages), len(ordered) - 1)
        same = bisect.bisect_right(pages_of_words, pages_of_words[at])
        return ordered[chance.randrange(at, same)][1]

    def phrase() -> str:
        text = chance.choice(texts)
        start = chance.randrange(len(text) - 3)
        return f'"{" ".join(text[start : start + chance.randint(2, 3)])}"'

    return [
        phrase() if chance.random() < 0.2 else " ".join(word() for _ in range(chance.randint(1, 3)))
        for _ in range(count)
    ]


def build(home: Path, sites: Path, pages: int, queries: int) -> list[str]:
    """An index, and what to ask it. Both are kept in `home`."""
    chance = random.Random(4)
    real = real_entries(sites, min(_REAL_PAGES, pages))
    writer = IndexWriter(home / "index")
    for number, entry in enumerate(repeated(real, pages, chance), 1):
        writer.put(entry)
        if number % 2_000 == 0 or number == pages:
            writer.commit({})
    writer.close()
    CollectionPaths(home).make()
    open_to_write(CollectionPaths(home), memory_mb=64).close()  # a server shows what has a state
    asked = sample_queries(real, queries, chance)
    (home / _SAMPLE).write_text(json.dumps(asked), encoding="utf-8")
    return asked


class Client:
    """A connection to a server, one question after the other.

    By hand, and all of them in one thread: clients of the standard library, each with a thread of
    its own, take a tenth of what a search does, and wait for each other.
    """

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._answer = b""
        self._asked = ""
        self._asked_s = 0.0

    def ask(self, query: str) -> None:
        self._answer, self._asked = b"", query
        target = f"/api/search?q={quote(query)}"
        self._asked_s = time.perf_counter()
        self.socket.sendall(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())

    def took_ms(self) -> float | None:
        """How long the answer took, if it is whole by what has come now."""
        data = self.socket.recv(1 << 20)
        self._answer += data
        head, end, body = self._answer.partition(b"\r\n\r\n")
        if not data or (end and not head.startswith(b"HTTP/1.1 200 ")):
            sys.exit(f"{self._asked!r} got {self._answer[:200]!r}")
        length = _LENGTH.search(head)
        if not end or length is None or len(body) < int(length[1]):
            return None
        return (time.perf_counter() - self._asked_s) * 1000


_LENGTH: Final = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


def timed_by(clients: Sequence[Client], queries: Sequence[str]) -> list[float]:
    """Milliseconds that each took; each of several clients asks on when it has its answer."""
    took: list[float] = []
    left = iter(queries)
    with selectors.DefaultSelector() as selector:
        for client, query in zip(clients, left, strict=False):
            client.ask(query)
            selector.register(client.socket, selectors.EVENT_READ, client)
        while selector.get_map():
            for key, _ in selector.select(60):
                client = key.data
                if (ms := client.took_ms()) is None:
                    continue
                took.append(ms)
                if query := next(left, ""):
                    client.ask(query)
                else:
                    selector.unregister(client.socket)
    return took


WANTED: Final = {1: ((10, 4), (50, 20)), 8: ((40, 20), (120, 60))}  # gate and aim of both


_CUTS: Final = {"median": 49, "99th percentile": 98}


def http_figures(home: Path, queries: Sequence[str], rounds: int) -> Iterator[Figure]:
    """Median and 99th percentile of one client and of eight, against what is wanted."""
    cuts: dict[int, list[list[float]]] = {clients: [] for clients in WANTED}
    stolen = []
    with served(home) as port:
        for _ in range(rounds):
            before = taken()
            for clients, found in cuts.items():
                some = [Client(port) for _ in range(clients)]
                timed_by(some, queries[:50])  # what is read first is read from the disk
                found.append(quantiles(timed_by(some, queries), n=100))
            stolen.append(percent_stolen(before, taken()))
    for clients, wanted in WANTED.items():
        for (name, at), (gate, aim) in zip(_CUTS.items(), wanted, strict=True):
            runs = tuple(one[at] for one in cuts[clients])
            words = f"search over HTTP in ms, {clients} at once, {name}"
            yield Figure(words, runs, gate, aim, is_least=False)
    yield Figure("per cent of the processor that others took", tuple(stolen), is_least=False)


def engine_figures(home: Path, queries: Sequence[str]) -> Iterator[Figure]:
    """The same of an engine of our own, and what a search takes of a core."""
    engine = Engine(home)

    def took_ms(query: str) -> float:
        start_s = time.perf_counter()
        engine.search(Request(query=query))
        return (time.perf_counter() - start_s) * 1000

    for query in queries[:50]:
        took_ms(query)
    start_s = time.thread_time()
    cuts = quantiles([took_ms(query) for query in queries], n=100)
    cpu_ms = (time.thread_time() - start_s) * 1000 / len(queries)
    yield from (Figure(f"search in ms, {name}", (cuts[at],)) for name, at in _CUTS.items())
    yield Figure("search in ms of CPU, mean", (cpu_ms,))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sites", type=Path, default=SITES)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = options.keep or Path(folder)
        home.mkdir(parents=True, exist_ok=True)
        if (home / _SAMPLE).exists():
            queries = json.loads((home / _SAMPLE).read_text(encoding="utf-8"))
        else:
            queries = build(home, options.sites, options.pages, options.queries)
        results = []
        over_net = http_figures(home, queries, options.rounds)
        for figure in itertools.chain(over_net, engine_figures(home, queries)):
            print(figure.as_json(), flush=True)
            results.append(figure)
    return int(any(figure.verdict == "missed" for figure in results))


if __name__ == "__main__":
    sys.exit(main())
