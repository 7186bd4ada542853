"""A crawl that deletes old captures while it runs."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from gossamer.errors import NotKnown
from gossamer.reader.collection_reader import CollectionReader
from gossamer.upkeep.verify import verify
from support.a_crawl import crawl_in_loop
from support.a_history import SEED, History, a_body
from support.a_site import hang, page, site_in_thread

PAGES = [f"http://site.test/p{number}" for number in range(5)]
SETTINGS = {
    "archive__keep": "last 2",
    "archive__prune_share": 0.0,
    "archive__prune_every_h": 1e-6,
    "limits__max_time_s": 60.0,
}


def a_history(folder: Path) -> History:
    history = History(folder)
    for day in range(20):
        history.wait(1)
        visits = [(url, a_body(f"p{n}", day, "/")) for n, url in enumerate(PAGES)]
        history.write([*visits, (f"http://site.test/day{day}", a_body("day", day))])
    history.open()
    return history


class Reading(threading.Thread):
    """Reads all versions of all pages again and again, each as its list was a moment before."""

    def __init__(self, history: History) -> None:
        super().__init__()
        self._history = history
        self.is_over = threading.Event()
        self.rounds = 0
        self.faults: list[str] = []

    def run(self) -> None:
        served = {(url, at_us): body for url, at_us, body in self._history.seen}
        with CollectionReader.open(self._history.folder) as reader:
            while not self.is_over.is_set():
                for url in PAGES:
                    for one in reader.captures(url):
                        try:
                            body = reader.page_at(url, one).raw_body
                        except NotKnown:
                            continue  # it was deleted in the meantime
                        except Exception as fault:  # noqa: BLE001  # the test reports it
                            self.faults.append(f"{url} {one.at_us}: {fault!r}")
                            continue
                        if body != served[url, one.at_us]:
                            self.faults.append(f"{url} {one.at_us}: another body")
                self.rounds += 1
                if self.rounds % 3 == 0:
                    reader.refresh()


def counts(folder: Path) -> list[int]:
    with CollectionReader.open(folder) as reader:
        return [len(reader.captures(url)) for url in PAGES]


@pytest.mark.slow
def test_readers_see_every_kept_version_while_a_crawl_deletes_others(tmp_path: Path) -> None:
    history = a_history(tmp_path / "c")
    reading = Reading(history)

    def is_done() -> bool:
        is_merged = len(list(history.paths.archive.glob("gossamer-run-*.warc.gz"))) <= 6
        return is_merged and not any(history.paths.archive.glob("staged/*")) and reading.rounds > 3

    with site_in_thread({"/": page("<a href=/slow>x</a>"), "/slow": hang()}) as site:
        reading.start()
        try:
            settings = {**SETTINGS, "scope__kind": "any"}
            run = crawl_in_loop(
                history.folder, [SEED, site.url()], settings, may_change=True, until=is_done
            )
            summary = asyncio.run(run)
        finally:
            reading.is_over.set()
            reading.join()

    assert reading.faults == []
    assert summary.fetched >= 1
    assert counts(history.folder) == [2] * len(PAGES)
    assert list(verify(history.paths)) == []


@pytest.mark.slow
def test_a_crawl_stops_at_its_disk_budget_after_the_rule_was_applied(tmp_path: Path) -> None:
    history = a_history(tmp_path / "c")
    settings = {**SETTINGS, "archive__prune_every_h": 0, "archive__max_disk_bytes": 10_000}
    with site_in_thread({"/": page("<a href=/slow>x</a>"), "/slow": hang()}) as site:
        named = {**settings, "scope__kind": "any", "node__stop_grace_s": 0.5}
        run = crawl_in_loop(history.folder, [SEED, site.url()], named, may_change=True)
        summary = asyncio.run(run)

    assert summary.stopped == "disk-budget"
    assert counts(history.folder) == [2] * len(PAGES)
    assert list(verify(history.paths)) == []
