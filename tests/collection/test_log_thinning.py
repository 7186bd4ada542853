"""Leaving old lines out of crawl.jsonl."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gossamer.collection.crawl_log import CrawlLog
from gossamer.collection.directory import open_to_read
from gossamer.collection.log_thinning import ThinnedLog, new_log_path
from gossamer.frontier.rocks import RocksStore
from gossamer.frontier.store import StateTable, walk
from gossamer.upkeep.retention.prune import prune
from gossamer.upkeep.verify import verify
from support.a_history import History, a_body

URL = "http://site.test/p"


def quiet(_: str) -> None:
    """Progress that no test reads."""


def a_collection(folder: Path) -> History:
    history = History(folder)
    for day in range(120):
        history.wait(1)
        history.write([(URL, a_body("p", day, "mailto:a@b.c", "/x"))])
    history.open()
    return history


def lines_of(history: History) -> list[dict[str, str]]:
    return [json.loads(line) for line in history.paths.log.read_text("utf-8").splitlines()]


def test_lines_of_old_visits_go_and_the_next_ones_follow(tmp_path: Path) -> None:
    history = a_collection(tmp_path / "c")
    before = lines_of(history)

    prune(history.paths, "last 5", history.clock, quiet)

    visits = [line for line in lines_of(history) if line["url"] == URL]
    assert sum(line["url"] == URL for line in before) == 120
    assert len(visits) in (90, 91)
    assert visits == [line for line in before if line["url"] == URL][-len(visits) :]
    decided = [line for line in before if "address" not in line and line["outcome"] != "fetched"]
    assert [line for line in lines_of(history) if line in decided] == decided
    assert list(verify(history.paths)) == []
    history.wait(1)
    history.write([(URL, a_body("p", 500))])
    history.open()
    assert lines_of(history)[-1]["url"] == URL
    assert list(verify(history.paths)) == []


def test_a_rule_that_keeps_all_keeps_the_log(tmp_path: Path) -> None:
    history = a_collection(tmp_path / "c")
    before = lines_of(history)

    prune(history.paths, "all", history.clock, quiet)

    assert lines_of(history) == before


@pytest.mark.parametrize("is_decided", [False, True])
def test_a_kill_leaves_the_old_log_or_the_new_one(tmp_path: Path, is_decided: bool) -> None:
    history = a_collection(tmp_path / "c")
    before = history.paths.log.read_bytes()
    thinned = ThinnedLog.begin(history.paths.log, history.now_us - 30 * 86_400_000_000)
    thinned.copy()
    if is_decided:
        store = RocksStore.open(history.paths.state, 16)
        thinned.decide(store)
        store.close()
    new = new_log_path(history.paths.log).read_bytes()

    open_to_read(history.paths).close()  # completes it, or deletes the new log

    assert history.paths.log.read_bytes() == (new if is_decided else before)
    assert not new_log_path(history.paths.log).exists()
    reading = open_to_read(history.paths)
    assert b"log new" not in dict(walk(reading, StateTable.META))
    reading.close()
    assert not [one for one in verify(history.paths) if "crawl.jsonl" in one.where]


def test_a_reopened_log_appends_to_the_new_file(tmp_path: Path) -> None:
    path = tmp_path / "crawl.jsonl"
    path.write_bytes(b'{"at": "2026-01-01T00:00:00Z", "url": "a", "outcome": "fetched"}\n' * 2)
    log = CrawlLog(path, path.stat().st_size)
    (tmp_path / "new").write_bytes(b"")
    (tmp_path / "new").replace(path)

    log.reopen()
    log.append(b'{"at": "x"}\n')
    log.close()

    assert path.read_bytes() == b'{"at": "x"}\n'
