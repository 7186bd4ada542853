"""A collection that nobody may write to can be read in every way."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gossamer.base.disk import is_denied_error, is_full_error, is_read_only_error
from support.a_crawl import crawl
from support.a_site import page, site_in_thread
from support.killing import WAIT_S, Ended
from support.need import need_linux

# Mounts a folder upon itself, read-only, in a name space of its own, and runs a program there.
MOUNTED = (
    'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" || exit 77; exec "$@"'  # 77: may not
)
PAGES = {
    "/": page("<title>Home</title><a href=/a>first</a> <a href=/b>second</a> words"),
    "/a": page("<title>A</title><a href=/b>third</a> words"),
    "/b": page("<title>B</title>words of b"),
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A folder that holds a collection, and the root of the site in it."""
    need_linux("mounts and modes")
    folder = tmp_path_factory.mktemp("kept")
    with site_in_thread(PAGES) as site:
        crawl(folder / "c", [site.url()])
        root = site.root
    yield folder, root
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o700)


@contextmanager
def started(folder: Path, *args: str | Path) -> Iterator[subprocess.Popen[str]]:
    """`gossamer ARGS...` where nothing in the folder can be written: mounted so for root, and by
    modes for anybody else."""
    command = [sys.executable, "-m", "gossamer", *map(str, args)]
    if os.geteuid() == 0:
        command = ["unshare", "-m", "sh", "-c", MOUNTED, str(folder), *command]
    else:
        for path in (*folder.rglob("*"), folder):
            path.chmod(path.stat().st_mode & ~0o222)
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def read_only(folder: Path, *args: str | Path) -> Ended:
    with started(folder, *args) as process:
        out, err = process.communicate(timeout=WAIT_S)
    if process.returncode == 77 or "unshare failed" in err:
        pytest.skip("nothing can be mounted here")
    return Ended(process.returncode, out, err)


READERS = {
    "status": (),
    "verify": (),
    "search": ("words",),
    "why": ("{}/a",),
    "page": ("{}/a", "--text"),
    "versions": ("{}/a",),
    "backlinks": ("{}/b",),
    "anchors": ("{}/b",),
    "top": ("--by", "pagerank"),
    "report": (),
}


@pytest.mark.slow
@pytest.mark.parametrize("verb", READERS)
def test_a_read_only_collection_answers(crawled: tuple[Path, str], verb: str) -> None:
    folder, root = crawled

    ended = read_only(
        folder, verb, *(word.format(root) for word in READERS[verb]), "-c", folder / "c"
    )

    assert (ended.code, "Traceback" in ended.err) == (0, False), ended.err
    assert ended.out or verb == "verify"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["pages.jsonl", "links.csv", "text.jsonl", "graph.gexf", "warc.warc.gz", "wacz.wacz"]
)
def test_a_read_only_collection_is_exported(
    crawled: tuple[Path, str], name: str, tmp_path: Path
) -> None:
    folder, _ = crawled

    ended = read_only(
        folder, "export", name.partition(".")[0], "-o", tmp_path / name, "-c", folder / "c"
    )

    assert ended.code == 0, ended.err
    assert (tmp_path / name).stat().st_size


@pytest.mark.slow
@pytest.mark.parametrize("words", [("crawl",), ("rebuild", "all"), ("forget", "{}/a", "--yes")])
def test_who_wants_to_write_is_told_in_one_sentence(
    crawled: tuple[Path, str], words: tuple[str, ...]
) -> None:
    folder, root = crawled

    ended = read_only(folder, *(word.format(root) for word in words), "-c", folder / "c")

    assert ended.code == (11 if os.geteuid() == 0 else 1)
    assert len(ended.err.strip().splitlines()) == 1
    assert "read-only" in ended.err or "writing is not permitted" in ended.err


@pytest.mark.slow
def test_a_read_only_collection_is_served(crawled: tuple[Path, str]) -> None:
    folder, root = crawled
    read_only(folder, "status", "-c", folder / "c")  # skips where nothing can be mounted
    with started(folder, "serve", "--port", "0", "-c", folder / "c") as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        while line and "http://" not in line:
            line = process.stderr.readline()
        base = "http://" + line.partition("http://")[2].split("/")[0].split()[0]
        for path in (f"/api/page?url={root}/a", "/api/search?q=words", "/api/status", "/?q=words"):
            with urllib.request.urlopen(base + path, timeout=WAIT_S) as answer:
                assert answer.status == 200
                body = answer.read().decode()
                assert path.startswith("/?") or json.loads(body)["schema"] == 1


def test_errors_of_libraries_are_told_apart() -> None:
    read_only_text = ValueError('IoError(Os { code: 30, message: "Read-only file system" })')
    denied_text = OSError("IO error: Permission denied (os error 13)")

    assert is_read_only_error(OSError(errno.EROFS, "x"))
    assert is_read_only_error(read_only_text)
    assert not is_read_only_error(denied_text)
    assert is_denied_error(denied_text)
    assert is_denied_error(PermissionError(errno.EACCES, "x"))
    assert not is_denied_error(OSError(errno.EIO, "x"))
    assert is_full_error(OSError(errno.EDQUOT, "x"))
