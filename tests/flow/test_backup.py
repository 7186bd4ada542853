"""A backup opens, is whole, and goes on to the same end; the crawl that it was taken from, too."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from flow.outcomes import outcomes
from gossamer.collection.directory import CollectionPaths, locked, open_to_write
from gossamer.errors import CollectionInUse, NoCollection, UsageError
from gossamer.reader.collection_reader import CollectionReader
from gossamer.upkeep import backup_partial
from gossamer.upkeep.backup import backup
from gossamer.upkeep.verify import verify
from support.a_crawl import crawl
from support.a_site import Pages, Request, Site, page, site_in_thread
from support.killing import Running, finish, gossamer, started, typed, until

PAGES = 300
RUN = "import sys; sys.argv[0] = 'gossamer'; from gossamer.cli.main import run; run()"
FLAGS = (
    "--json", "--delay", "0", "--per-host", "8", "--workers", "2",
    "--set", "node.commit_every_s=0.1", "--set", "node.index_every_s=0.3",
    "--set", "node.part_every_s=1", "--set", "archive.roll_bytes=60000",
)  # fmt: skip


async def numbered(request: Request) -> bytes:
    number = int(request.target[1:])
    await asyncio.sleep(0.004)
    names = [name for name in (2 * number + 1, 2 * number + 2, number + 1) if name < PAGES]
    links = "".join(f"<a href=/{name}>page {name}</a>" for name in names)
    return page(f"<title>{number}</title>{links}" + f"words of {number} " * 60)


SITE: Pages = {"/robots.txt": page("", "404 Not Found"), "*": numbered}


@pytest.fixture
def site() -> Iterator[Site]:
    with site_in_thread(SITE) as served:
        yield served


def fates(collection: Path) -> dict[str, tuple[str, int]]:
    return {url: (row.outcome.value, row.status) for url, row in outcomes(collection).items()}


def taken_at(requests: int, site: Site, running: Running, source: Path, target: Path) -> None:
    until(lambda: len(site.log) >= requests, running)
    ended = typed("backup", target, "-c", source)
    assert ended.code == 0, ended.err


@pytest.mark.slow
def test_copies_of_a_running_crawl_are_whole_and_go_on(site: Site, tmp_path: Path) -> None:
    source = tmp_path / "source"
    rng = random.Random(5)
    with started("crawl", "-c", source, *FLAGS, site.url("/0")) as running:
        copies = []
        for number, requests in enumerate(sorted(rng.sample(range(40, PAGES - 60), 2))):
            copies.append(tmp_path / f"copy{number}")
            taken_at(requests, site, running, source, copies[-1])
        ended = finish(running)
    assert ended.code == 0, ended.err
    assert list(verify(CollectionPaths(source))) == []
    assert len(site.log) == PAGES + 1, "the crawl was disturbed"

    for copy in copies:
        assert list(verify(CollectionPaths(copy))) == []
        assert typed("status", "-c", copy).code == 0
        known = json.loads(typed("search", "words", "--json", "-c", copy).out)["total"]
        assert known <= PAGES
        asked = len(site.log)
        more = gossamer("crawl", "-c", copy, *FLAGS)
        assert more.code == 0, more.err
        assert 0 < len(site.log) - asked < PAGES
        assert fates(copy) == fates(source)
        assert list(verify(CollectionPaths(copy))) == []
        assert json.loads(typed("search", "words", "--json", "-c", copy).out)["total"] == PAGES
    assert not list((source / "run").glob("checkpoint-*"))
    assert list(verify(CollectionPaths(source))) == [], "what a copy writes is its own"


@pytest.fixture
def at_rest(site: Site, tmp_path: Path) -> Path:
    crawl(tmp_path / "source", [site.url("/280")])
    return tmp_path / "source"


def test_a_copy_at_rest_is_the_same(at_rest: Path, tmp_path: Path) -> None:
    (at_rest / "cookies.txt").touch(0o600)

    copied = backup(CollectionPaths(at_rest), tmp_path / "copies" / "first")

    copy = tmp_path / "copies" / "first"
    assert fates(copy) == fates(at_rest)
    assert copied.pages == 20
    assert (copy / "cookies.txt").stat().st_mode & 0o777 == 0o600
    assert list(verify(CollectionPaths(copy))) == []
    assert [path.name for path in copy.parent.iterdir()] == ["first"]


def test_who_reads_a_copy_is_not_disturbed_by_the_first_who_writes_to_it(
    at_rest: Path, tmp_path: Path
) -> None:
    backup(CollectionPaths(at_rest), tmp_path / "copy")
    with CollectionReader.open(tmp_path / "copy") as reader:
        rows = reader.url_rows()
        next(rows)

        open_to_write(CollectionPaths(tmp_path / "copy"), 16).close()

        assert len(list(rows)) == 19


def test_what_never_changes_is_shared_and_the_rest_is_not(at_rest: Path, tmp_path: Path) -> None:
    backup(CollectionPaths(at_rest), tmp_path / "copy")

    for path in (tmp_path / "copy").rglob("*"):
        is_written_once = path.suffix in (".sst", ".gz", ".cdxj", ".parquet", ".npy")
        if is_written_once:
            assert path.stat().st_nlink > 1, path
        elif path.is_file() and path.parent.name != "words":
            assert path.stat().st_nlink == 1, path


def test_forgetting_leaves_a_copy_as_it_was(at_rest: Path, tmp_path: Path, site: Site) -> None:
    copy = tmp_path / "copy"
    backup(CollectionPaths(at_rest), copy)
    before = fates(copy)

    assert typed("forget", "--yes", site.url("/290"), "-c", at_rest).code == 0

    assert fates(copy) == before
    assert list(verify(CollectionPaths(copy))) == []


def test_a_disk_that_takes_nothing_is_said_so_and_nothing_is_left(
    at_rest: Path, tmp_path: Path
) -> None:
    (at_rest / "gossamer.toml").write_text("# much\n" * 20_000, encoding="utf-8")
    limit = f"import resource as r; r.setrlimit(r.RLIMIT_FSIZE, (100_000,) * 2); {RUN}"
    command = [sys.executable, "-B", "-c", limit, "backup", str(tmp_path / "to" / "copy")]

    ended = subprocess.run(
        [*command, "-c", str(at_rest)], capture_output=True, text=True, check=False
    )

    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert ended.stderr.endswith("copy (File too large); check the disk\n")
    assert list((tmp_path / "to").iterdir()) == []
    assert not list((at_rest / "run").glob("checkpoint-*"))
    assert list(verify(CollectionPaths(at_rest))) == []


def test_where_no_copy_may_be(at_rest: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    for target in (at_rest, at_rest / "copy", tmp_path / "file", tmp_path / "full"):
        with pytest.raises(UsageError):
            backup(CollectionPaths(at_rest), target)
    with pytest.raises(NoCollection):
        backup(CollectionPaths(tmp_path / "none"), tmp_path / "copy")


def test_who_may_not_look_into_a_collection_may_not_look_into_its_copy(
    at_rest: Path, tmp_path: Path
) -> None:
    (at_rest / "gossamer.toml").write_text("[fetch]\nheaders = ['X: secret']", encoding="utf-8")
    (at_rest / "gossamer.toml").chmod(0o600)
    (tmp_path / "mine").mkdir(mode=0o700)

    for mode, target in ((0o700, tmp_path / "copy"), (0o755, tmp_path / "mine")):
        at_rest.chmod(mode)
        backup(CollectionPaths(at_rest), target)

        assert target.stat().st_mode & 0o777 == 0o700
        assert (target / "gossamer.toml").stat().st_mode & 0o777 == 0o600


def test_who_else_writes_is_not_disturbed(at_rest: Path, tmp_path: Path) -> None:
    with locked(CollectionPaths(at_rest)), pytest.raises(CollectionInUse):
        backup(CollectionPaths(at_rest), tmp_path / "copy")

    assert not (tmp_path / "copy").exists()


def partials(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.partial"))


@contextmanager
def stalled_copy(source: Path, target: Path) -> Iterator[tuple[Running, Path]]:
    """A copy that is being made, and stands still; and the folder that it is made in."""
    (source / "cookies.txt").unlink(missing_ok=True)
    os.mkfifo(source / "cookies.txt")  # nobody writes to it, and it is read last
    before = set(partials(target.parent))
    with started("backup", target, "-c", source) as running:
        until(
            lambda: any((path / "log").exists() for path in partials_but(before, target)), running
        )
        yield running, partials_but(before, target).pop()


def partials_but(before: set[Path], target: Path) -> set[Path]:
    return set(partials(target.parent)) - before


@pytest.mark.slow
def test_what_a_killed_copy_left_is_cleared_by_the_next_and_a_running_one_is_not(
    at_rest: Path, tmp_path: Path
) -> None:
    target = tmp_path / "copies" / "copy"
    target.parent.mkdir()
    other = tmp_path / "other"  # of which a copy can be made while the first is held
    shutil.copytree(at_rest, other)
    with stalled_copy(at_rest, target) as (killed, left):
        killed.kill()
        killed.wait()
    assert partials(target.parent) == [left]

    with stalled_copy(at_rest, target) as (_running, at_work):
        assert partials(target.parent) == [at_work]
        backup(CollectionPaths(other), target)
        assert partials(target.parent) == [at_work]

    assert list(verify(CollectionPaths(target))) == []


def test_a_folder_of_that_name_that_no_copy_made_is_left_alone(
    at_rest: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "copies" / "copy.20261116.partial"
    mine.mkdir(parents=True)
    (mine / "thesis.txt").touch()

    backup(CollectionPaths(at_rest), tmp_path / "copies" / "copy")

    assert (mine / "thesis.txt").exists()


def test_a_copy_is_made_where_the_file_system_has_no_locks(
    at_rest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(_descriptor: int) -> bool:
        raise OSError(errno.ENOLCK, "No locks available")

    target = tmp_path / "copies" / "copy"
    left = target.parent / "copy.aaaaaaaa.partial"
    left.mkdir(parents=True)
    (left / "copy.unfinished").touch()
    monkeypatch.setattr(backup_partial, "try_lock", no_locks)

    backup(CollectionPaths(at_rest), target)

    assert CollectionPaths(target).exists
    assert partials(target.parent) == [left]
