"""Parts that are rebuilt after old captures were deleted."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

import pytest

import gossamer
from gossamer.base.clock import SystemClock
from gossamer.collection.directory import open_to_read, open_to_write
from gossamer.frontier.rows import UrlRow
from gossamer.frontier.store import StateTable, walk
from gossamer.reader.collection_reader import CollectionReader
from gossamer.upkeep.rebuild import rebuild
from gossamer.upkeep.rebuild_index import ended_us, in_order
from gossamer.upkeep.retention.prune import prune, survey
from gossamer.upkeep.verify import verify
from support.a_history import History, a_body
from support.killing import typed

PAGES = [f"http://site.test/p{number}" for number in range(4)]


def quiet(_: str) -> None:
    """Progress that no test reads."""


def a_pruned_collection(folder: Path, share: float) -> History:
    history = History(folder, {"archive.prune_share": share, "scope.kind": "any"})
    for day in range(10):
        history.wait(1)
        visits = [(u, a_body(f"p{n}", day // (n + 1), f"/old{day}")) for n, u in enumerate(PAGES)]
        history.write([*visits, (f"http://site.test/day{day}", a_body("day", day))])
    history.open()
    note_rate(history)
    prune(history.paths, "last 2", history.clock, quiet)
    return history


def note_rate(history: History) -> None:
    """As a crawl notes what its visits have taught of a page."""
    store = open_to_write(history.paths, 16)
    key = history.keys.of(PAGES[0])
    row = UrlRow.decode(store.find(StateTable.URL, key) or b"")
    row.visits, row.rate_shape = 9, 2.5
    store.write({StateTable.URL: {key: row.encode()}})
    store.close()


def facts(history: History) -> dict[str, object]:
    """What a rebuild must not change."""
    store = open_to_read(history.paths)
    urls = {row.url: row for row in map(UrlRow.decode, (r for _, r in walk(store, StateTable.URL)))}
    captures = [(at, row[:0]) for at, row in walk(store, StateTable.CAPTURE)]
    changes = dict(walk(store, StateTable.CHANGE))
    store.close()
    learned = {
        url: (row.standing, row.status, row.title, row.visits, row.changed_us, row.rate_shape)
        for url, row in urls.items()
    }
    with CollectionReader.open(history.folder) as reader:
        counts = reader.counts()
    return {
        "learned": learned,
        "captures": captures,
        "changes": changes,
        "sums": (counts.known, counts.fetched, counts.queued, counts.size_bytes),
        "visits": (counts.visits, counts.unchanged, counts.changed, counts.links),
    }


@pytest.mark.parametrize("share", [0.0, 0.99])
def test_a_rebuild_gives_the_same_answers(tmp_path: Path, share: float) -> None:
    """Also where deleted captures are still in their files, and for URLs of deleted versions."""
    history = a_pruned_collection(tmp_path / "c", share)
    before = facts(history)
    assert len(before["changes"]) > 15  # type: ignore[arg-type]
    assert "http://site.test/old0" in before["learned"]  # type: ignore[operator]

    rebuild(history.paths, "all", SystemClock(), quiet)

    assert list(verify(history.paths)) == []
    assert facts(history) == before
    waiting = survey(history.paths, "last 2", history.clock)
    assert waiting.captures == 0
    assert bool(waiting.waiting_bytes) == (share > 0)


def test_a_lost_state_is_rebuilt_from_what_the_archive_has(tmp_path: Path) -> None:
    history = a_pruned_collection(tmp_path / "c", 0.0)
    kept = facts(history)["captures"]
    for path in history.paths.state.iterdir():
        path.unlink()
    history.paths.state.rmdir()

    rebuild(history.paths, "all", SystemClock(), quiet)

    assert list(verify(history.paths)) == []
    assert facts(history)["captures"] == kept


def test_a_visit_whose_body_was_deleted_is_not_a_version_after_a_rebuild(tmp_path: Path) -> None:
    """Its file was not worth writing anew, and the state is lost."""
    history = History(tmp_path / "c")
    url = PAGES[0]
    bodies = [a_body("x", version) for version in (1, 1, 2, 3, 4)]
    large = [(f"http://site.test/large{n}", a_body("large", n)) for n in range(20)]
    for number, body in enumerate(bodies):
        history.wait(1)
        history.write([(url, body), *(large if number == 1 else ())])
    history.open()
    prune(history.paths, "last 1", history.clock, quiet)
    for path in history.paths.state.iterdir():
        path.unlink()
    history.paths.state.rmdir()

    rebuild(history.paths, "all", SystemClock(), quiet)

    served = {at_us: body for page, at_us, body in history.seen if page == url}
    with CollectionReader.open(history.folder) as reader:
        captures = reader.captures(url)
        assert all(reader.page_at(url, c).raw_body == served[c.at_us] for c in captures)
    assert history.seen[1][1] not in [capture.at_us for capture in captures]


def test_more_files_than_a_process_may_open_are_read_in_order(tmp_path: Path) -> None:
    history = History(tmp_path / "c")
    for number in range(60):
        history.now_us += 1_000_000
        history.write([(PAGES[number % 4], b"<p>short</p>")])
    files = sorted(history.paths.archive.glob("*.warc.gz"))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = len(list(Path("/proc/self/fd").iterdir()))
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 20, hard))
    try:
        ended = [ended_us(exchange) for exchange in in_order(files[::-1])]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert len(ended) == 60
    assert ended == sorted(ended)


def days(history: History) -> dict[str, tuple[str, str]]:
    """The first and last day of each link from the second page."""
    rows = study_links(history.folder).to_pylist()
    return {
        row["target"]: (str(row["first_seen"]), str(row["last_seen"]))
        for row in rows
        if row["source"] == PAGES[1]
    }


def study_links(folder: Path) -> Any:
    return gossamer.open(folder).links.to_arrow()


@pytest.mark.parametrize("act", ["rebuild", "forget"])
def test_links_keep_their_first_day(tmp_path: Path, act: str) -> None:
    """The page linked to /always from its first version on, which is deleted."""
    history = History(tmp_path / "c", {"archive.prune_share": 0.0, "scope.kind": "any"})
    for day in range(10):
        history.wait(1)
        visits = [(url, a_body("x", day, "/always", f"/day{day}")) for url in PAGES]
        history.write(visits)
    history.open()
    before = days(history)
    prune(history.paths, "last 2", history.clock, quiet)
    assert days(history) == before

    if act == "rebuild":
        rebuild(history.paths, "all", SystemClock(), quiet)
    else:
        assert typed("forget", PAGES[0], "--yes", "-c", history.folder).code == 0

    assert before["http://site.test/always"][0].startswith("2026-01-02")
    assert days(history) == before
    assert list(verify(history.paths)) == []
