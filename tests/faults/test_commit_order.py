"""What is on disk in which order: the theory above `node/commit.py`, seen from the kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults.tracing import Call, traced
from support.a_site import Pages, Request, page, site_in_thread
from support.need import need_linux

PAGES = 120
CALLS = ("write", "fsync", "fdatasync", "rename", "renameat", "renameat2")


def numbered(request: Request) -> bytes:
    number = int(request.target[1:])
    names = [name for name in (2 * number + 1, 2 * number + 2) if name < PAGES]
    return page("".join(f"<a href=/{name}>page {name}</a>" for name in names) + "words " * 50)


WEB: Pages = {"/robots.txt": page(""), "*": numbered}


def is_archive(call: Call) -> bool:
    return call.path.endswith(".warc.gz")


def is_log(call: Call) -> bool:
    return call.path.endswith("/log/crawl.jsonl")


def is_state(call: Call) -> bool:
    """RocksDB's own log, by which a batch becomes durable."""
    return "/state/" in call.path and call.path.endswith(".log")


def is_sync(call: Call) -> bool:
    return call.name in ("fsync", "fdatasync")


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
def test_archive_then_log_then_state_then_graph(workers: int, tmp_path: Path) -> None:
    need_linux("strace")
    flags = ("--delay", "0", "--per-host", "4", "--workers", str(workers), "--json")
    often = ("--set", "node.commit_every_s=0.05", "--set", "node.part_every_s=1")
    with site_in_thread(WEB) as site:
        crawl = ("crawl", "-c", tmp_path / "c", *flags, *often, site.url("/0"))
        ended, calls = traced(tmp_path / "trace", CALLS, *crawl)
    assert ended.code == 0, ended.err
    assert ended.summary["fetched"] == PAGES

    commits = [call for call in calls if is_state(call) and is_sync(call)]
    logged = [call for call in calls if is_log(call) and call.name == "write"]
    assert len(commits) >= 3
    assert logged
    for line in logged:  # 2 is not begun before 1 is done, 3 not before 2
        log_sync = next(c for c in calls if is_log(c) and is_sync(c) and c.began >= line.ended)
        state = next(c for c in commits if c.began >= line.ended)
        assert log_sync.ended < state.began, "the log is synced before the state"
        written = [c for c in calls if is_archive(c) and c.name == "write" and c.ended < line.began]
        synced = [c for c in calls if is_archive(c) and is_sync(c) and c.ended < line.began]
        assert written
        assert {c.path for c in synced} <= {c.path for c in written}
        assert synced, "the archive is synced before the log is written"
    state_writes = [c for c in calls if is_state(c) and c.name == "write"]
    for write in state_writes:
        assert any(c.began > write.began and c.path == write.path for c in commits), "all synced"

    named = [
        c for c in calls if c.name.startswith("rename") and c.paths[-1].endswith("/manifest.json")
    ]
    parts = [c for c in calls if c.name.startswith("rename") and ".parquet" in c.paths[-1]]
    assert named
    assert parts
    for manifest in named:
        state = max((c for c in commits if c.ended < manifest.began), key=lambda c: c.ended)
        before = [c for c in parts if c.ended < manifest.began]
        assert state
        assert before, "a part is whole before it is named"
        content = [c for c in calls if is_sync(c) and c.path.endswith("manifest.json.new")]
        assert any(state.ended < c.began and c.ended < manifest.began for c in content), (
            "the manifest is synced after the state and before its rename"
        )
        folder = manifest.paths[-1].rpartition("/")[0]
        assert any(is_sync(c) and c.path == folder and c.began > manifest.ended for c in calls), (
            "and its name after it"
        )


@pytest.mark.slow
def test_every_page_is_in_the_archive_before_anything_else_hears_of_it(tmp_path: Path) -> None:
    need_linux("strace")
    flags = ("--delay", "0", "--workers", "0", "--json", "--set", "node.commit_every_s=0.01")
    with site_in_thread(WEB) as site:
        crawl = ("crawl", "-c", tmp_path / "c", *flags, site.url("/0"))
        ended, calls = traced(tmp_path / "trace", CALLS, *crawl)
    assert ended.code == 0, ended.err

    log = (tmp_path / "c" / "log" / "crawl.jsonl").read_bytes()
    archive = [call for call in calls if is_archive(call) and call.name == "write"]
    syncs = [call for call in calls if is_archive(call) and is_sync(call)]
    assert len(archive) == log.count(b"\n") + 1, "a write for each exchange and the file's head"
    length = 0
    for call in calls:
        if is_log(call) and call.name == "write":
            length += call.result
            last = archive[log[:length].count(b"\n")]  # of the exchanges that it tells of
            assert any(last.ended < sync.began and sync.ended < call.began for sync in syncs)
    assert length == len(log)
