"""`gossamer prune` that is killed, or that finds the disk full: old or new, never half."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from faults.failing_disk import Fault, with_faults
from gossamer.archive.manifest import read_manifest
from gossamer.collection.archive_list import lost_files
from gossamer.reader.collection_reader import CollectionReader
from gossamer.upkeep.verify import verify
from support.a_history import History, a_body
from support.killing import finish, gossamer, started, typed, until

PAGES = [f"http://site.test/p{number}" for number in range(5)]
RULE = ("--keep", "last 1")


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    """Five pages that change every day, and one more page each day, in twenty files."""
    made = History(tmp_path_factory.mktemp("prune") / "c", {"archive.prune_share": 0.0})
    for day in range(20):
        made.wait(1)
        visits = [(url, a_body(f"p{n}", day, "/")) for n, url in enumerate(PAGES)]
        made.write([*visits, (f"http://site.test/day{day}", a_body("day", day))])
    made.open()
    return made


def copy_of(history: History, tmp_path: Path) -> Path:
    return Path(shutil.copytree(history.folder, tmp_path / "c"))


def check(history: History, collection: Path) -> dict[str, int]:
    """Nothing is damaged, and every version that is left has its body; return their numbers."""
    served = {(url, at_us): body for url, at_us, body in history.seen}
    counts = {}
    with CollectionReader.open(collection) as reader:
        for url in PAGES:
            captures = reader.captures(url)
            counts[url] = len(captures)
            assert len(captures) >= 2
            newest = max(at_us for page, at_us in served if page == url)
            assert captures[-1].at_us == newest
            for one in captures:
                assert reader.page_at(url, one).raw_body == served[url, one.at_us]
    assert list(verify(collection)) == []
    assert lost_files(collection / "archive", {}) == []
    return counts


def has_staged(collection: Path) -> bool:
    return any((collection / "archive").glob("staged/*"))


def has_replaced(collection: Path) -> bool:
    return any((collection / "archive").glob("replaced/*"))


def has_new(collection: Path) -> bool:
    return any((collection / "archive").glob("gossamer-kept-*"))


def names_new(collection: Path) -> bool:
    return any("kept" in name for name in read_manifest(collection / "archive").files)


@pytest.mark.slow
@pytest.mark.parametrize("moment", [has_staged, has_replaced, has_new, names_new])
def test_a_killed_run_leaves_old_or_new_and_can_be_repeated(
    history: History, tmp_path: Path, moment: Callable[[Path], bool]
) -> None:
    collection = copy_of(history, tmp_path)
    with started("prune", *RULE, "-c", collection) as running:
        until(lambda: moment(collection), running)
        running.kill()
        running.wait()

    check(history, collection)
    assert gossamer("prune", *RULE, "-c", collection).code == 0
    assert check(history, collection) == dict.fromkeys(PAGES, 2)
    assert not has_staged(collection)
    assert not has_replaced(collection)


@pytest.mark.slow
@pytest.mark.parametrize("number", [3, 12, 25, 40, 60, 90, 130])
def test_a_full_disk_loses_nothing(history: History, tmp_path: Path, number: int) -> None:
    collection = copy_of(history, tmp_path)
    fault = Fault(frozenset({"write", "room"}), number, errno.ENOSPC)

    ended, _ = with_faults(fault, collection, "prune", *RULE, "-c", collection)

    assert ended.code in (0, 1, 11), ended.err
    assert "Traceback" not in ended.err
    check(history, collection)
    assert gossamer("prune", *RULE, "-c", collection).code == 0
    assert check(history, collection) == dict.fromkeys(PAGES, 2)


@pytest.mark.slow
def test_the_command_says_what_it_deletes(history: History, tmp_path: Path) -> None:
    collection = copy_of(history, tmp_path)

    would = typed("prune", *RULE, "--dry-run", "-c", collection)
    assert "Would delete 90 captures of 5 pages" in would.err
    with started("prune", *RULE, "-c", collection, "--json") as running:
        done = finish(running)

    assert done.code == 0
    assert done.summary["captures"] == 90
    assert done.summary["freed_bytes"] > 50_000
    assert check(history, collection) == dict.fromkeys(PAGES, 2)
    status = typed("status", "-c", collection)
    assert "deleted by the rule 'all': 90 old captures" in status.out
    wrong = typed("prune", "--keep", "the best", "-c", collection)
    assert wrong.code == 2
    assert "one a month after a year" in wrong.err
