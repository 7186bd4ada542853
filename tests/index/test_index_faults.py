"""Kills, damage, and readers beside a writer."""

import errno
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gossamer.errors import CorruptFile, DiskFault
from gossamer.index import folder, schema
from gossamer.index.folder import ANCHORS, CURRENT, TEXTS, WORDS
from gossamer.index.reader import IndexReader, ids
from gossamer.index.writer import IndexWriter
from support.entries import an_entry, found, key_of, url_of
from support.need import need_linux

# Writes page after page, one commit for each, and says so; commit number n covers n bytes.
ENDLESS = """
import sys
from pathlib import Path
from support.entries import an_entry, key_of
from gossamer.index.writer import IndexWriter
writer = IndexWriter(Path(sys.argv[1]), fewest_dead=5)
first = writer.covered.get("a.warc.gz", 0) + 1
for number in range(first, first + 1000):
    writer.put(an_entry(number, f"word{number} " * 50))
    writer.put(an_entry(0, f"changing{number}"))
    writer.note_anchor(key_of(number), f"to {number}", key_of(0))
    writer.commit({"a.warc.gz": number})
    print(number, flush=True)
"""


def started(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", ENDLESS, str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(Path(__file__).parents[1])},
    )


def killed_after(folder: Path, commits: int) -> int:
    """Let a process write, kill it after some commits, and say which was the last it told of."""
    last = 0
    with started(folder) as process:
        assert process.stdout is not None
        for _ in range(commits):
            last = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        process.stdout.read()
    return last


def test_after_a_kill_the_index_holds_what_it_says_that_it_covers(tmp_path: Path) -> None:
    for commits in (3, 1, 20, 25):
        told = killed_after(tmp_path, commits)

        writer = IndexWriter(tmp_path)
        covered = writer.covered["a.warc.gz"]
        assert covered >= told
        assert list(ids(tmp_path)) == [key_of(number).hex() for number in range(covered + 1)]
        view = IndexReader(tmp_path).view
        kept = view.find(key_of(covered))
        assert kept is not None
        assert view.text(kept) == f"word{covered} " * 50
        assert kept.anchors == (f"to {covered}",)
        assert found(view, f"changing{covered}") == [url_of(0)]
        assert writer.write_late_anchors() == 0
        writer.close()


def test_another_process_sees_every_commit(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        assert process.stdout is not None
        process.stdout.readline()
        reader = IndexReader(tmp_path)

        for number in range(2, 60):  # the index is rewritten on the way
            process.stdout.readline()
            reader.reload()
            assert found(reader.view, f"word{number}") == [url_of(number)]

        process.kill()
        process.stdout.read()
    assert reader.view.generation.name > "g000001"


def test_a_reader_goes_on_while_the_index_is_rewritten(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path, fewest_dead=10)
    for number in range(30):
        writer.put(an_entry(number, f"first{number}"))
    writer.commit({"a": 1})
    reader = IndexReader(tmp_path)
    old = reader.view

    for number in range(20):
        writer.put(an_entry(number, f"second{number}"))
    writer.commit({"a": 2})

    assert [path.name for path in tmp_path.glob("g*")] == ["g000002"]
    kept = old.find(key_of(3))
    assert kept is not None
    assert old.text(kept) == "first3"
    assert found(old, "first3") == [url_of(3)]
    assert reader.reload()
    assert reader.view.count == 30
    assert found(reader.view, "second3") == [url_of(3)]
    assert found(reader.view, "first25") == [url_of(25)]
    assert found(reader.view, "first3") == []
    assert not reader.reload()
    assert dict(writer.covered) == {"a": 2}
    writer.close()


def test_what_is_written_during_a_rewriting_is_in_the_new_index(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path, fewest_dead=10, rewrite_step=7)
    for number in range(60):
        writer.put(an_entry(number, f"first{number}"))
    writer.commit({"a": 1})
    for number in range(40):
        writer.put(an_entry(number, f"second{number}"))
    writer.commit({"a": 2})
    assert len(list(tmp_path.glob("g*"))) == 2

    for turn in range(20):
        writer.put(an_entry(59 - turn, f"third{turn}"))
        writer.remove(key_of(turn))
        writer.commit({"a": 3 + turn})
    writer.close()

    view = IndexReader(tmp_path).view
    assert view.generation.name >= "g000002"
    assert list(ids(tmp_path)) == [key_of(number).hex() for number in range(20, 60)]
    assert found(view, "third0") == [url_of(59)]
    assert found(view, "second39") == [url_of(39)]
    assert found(view, "first59") == found(view, "first45") == []


# Fills a disk on which no file may grow beyond some bytes, and says what it is told.
FULL = """
import random, resource, sys
from pathlib import Path
from support.entries import an_entry
from gossamer.errors import DiskFault
from gossamer.index.writer import IndexWriter
writer = IndexWriter(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    for number in range(1_000):
        words = random.Random(number).choices(range(10**6), k=1_000)
        writer.put(an_entry(number, " ".join(map(str, words))))
        writer.commit({"a.warc.gz": number})
except DiskFault as fault:
    print(fault)
writer.close()
"""


@pytest.mark.parametrize("size", [500, 20_000, 100_000])
def test_a_disk_that_takes_no_more_leaves_what_is_committed(tmp_path: Path, size: int) -> None:
    need_linux("a limit on the size of files stands for a full disk")
    command = [sys.executable, "-B", "-c", FULL, str(tmp_path), str(size)]
    environment = {"PYTHONPATH": str(Path(__file__).parents[1])}

    said = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)

    assert "cannot write the index" in said.stdout
    assert "(File too large" in said.stdout
    writer = IndexWriter(tmp_path)
    covered = writer.covered.get("a.warc.gz", -1)
    assert list(ids(tmp_path)) == [key_of(number).hex() for number in range(covered + 1)]
    writer.put(an_entry(covered + 1))
    writer.commit({})
    assert IndexReader(tmp_path).view.count == covered + 2
    writer.close()


# The same for the anchors that are put in order.
FULL_OF_ANCHORS = """
import resource, sys
from pathlib import Path
from support.entries import key_of
from gossamer.index.anchors import AnchorStore
book = AnchorStore(Path(sys.argv[1]), remember=100)
for number in range(1_000):
    book.note(key_of(number), "some words", key_of(9_999))
resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, resource.RLIM_INFINITY))
try:
    book.settle([key_of(1)])
except OSError as fault:
    print(fault)
book.close()
"""


def test_a_disk_that_does_not_take_anchors_is_told_of_once(tmp_path: Path) -> None:
    need_linux("a limit on the size of files stands for a full disk")
    command = [sys.executable, "-B", "-c", FULL_OF_ANCHORS, str(tmp_path / "anchors")]
    environment = {"PYTHONPATH": str(Path(__file__).parents[1])}

    said = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)

    assert "File too large" in said.stdout


# The same while an index is written anew for the sake of late anchors.
LATE = """
import random, resource, sys
from pathlib import Path
from support.entries import an_entry, key_of
from gossamer.errors import DiskFault
from gossamer.index.writer import IndexWriter
writer = IndexWriter(Path(sys.argv[1]), fewest_dead=10)
for number in range(100):
    words = random.Random(number).choices(range(10**6), k=1_000)
    writer.put(an_entry(number, " ".join(map(str, words))))
writer.commit({"a.warc.gz": 100})
for number in range(100):
    writer.note_anchor(key_of(number), f"late{number}", key_of(999))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    writer.write_late_anchors()
except DiskFault as fault:
    print(fault)
writer.close()
"""


@pytest.mark.parametrize("size", [5_000, 200_000])
def test_a_disk_that_does_not_take_the_new_index_leaves_the_old(tmp_path: Path, size: int) -> None:
    need_linux("a limit on the size of files stands for a full disk")
    command = [sys.executable, "-B", "-c", LATE, str(tmp_path), str(size)]
    environment = {"PYTHONPATH": str(Path(__file__).parents[1])}

    said = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)

    assert "cannot write the index" in said.stdout
    assert "(File too large" in said.stdout
    assert [path.name for path in tmp_path.glob("g*")] == ["g000001"]
    writer = IndexWriter(tmp_path, fewest_dead=10)
    assert list(ids(tmp_path)) == [key_of(number).hex() for number in range(100)]
    writer.put(an_entry(100))
    for number in range(100):
        writer.note_anchor(key_of(number), f"late{number}", key_of(999))
    writer.commit({})
    assert writer.write_late_anchors() == 100
    writer.close()
    view = IndexReader(tmp_path).view
    assert (view.count, found(view, "late7", schema.ANCHORS)) == (101, [url_of(7)])


def many_lack_words(writer: IndexWriter) -> None:
    """The index is written anew at once."""
    for number in range(30):
        writer.note_anchor(key_of(number), f"late{number}", key_of(999))
    writer.write_late_anchors()


def many_are_dead(writer: IndexWriter) -> None:
    """The index is written anew in one step."""
    for number in range(20):
        writer.put(an_entry(number, f"word{number}"))
    writer.commit({"a": 2})


@pytest.mark.parametrize("wear_out", [many_lack_words, many_are_dead])
def test_a_new_index_that_counts_already_stays_when_the_disk_fails_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wear_out: Callable[[IndexWriter], None]
) -> None:
    def fail(path: Path) -> None:
        if path == tmp_path:
            raise OSError(errno.EIO, "Input/output error")

    writer = IndexWriter(tmp_path, fewest_dead=10)
    for number in range(30):
        writer.put(an_entry(number, f"word{number}"))
    writer.commit({"a": 1})
    with monkeypatch.context() as broken:
        broken.setattr(folder, "sync_folder", fail)
        with pytest.raises(DiskFault):
            wear_out(writer)
    writer.close()

    writer = IndexWriter(tmp_path)
    assert list(ids(tmp_path)) == [key_of(number).hex() for number in range(30)]
    assert found(IndexReader(tmp_path).view, "word7") == [url_of(7)]
    writer.close()


def an_index(folder: Path) -> Path:
    """An index of some pages; returns its generation."""
    writer = IndexWriter(folder)
    for number in range(50):
        writer.put(an_entry(number, f"word{number} " * 20))
        writer.note_anchor(key_of(number), "a link", key_of(99))
    writer.commit({"a.warc.gz": 1})
    writer.close()
    return folder / "g000001"


def read_all(folder: Path) -> None:
    view = IndexReader(folder).view
    for number in range(50):
        found(view, f"word{number}")
        kept = view.find(key_of(number))
        assert kept is not None
        view.text(kept)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"version": 9, "generation": ""}'])
def test_a_damaged_list_of_generations_is_named_with_the_way_out(
    tmp_path: Path, content: bytes
) -> None:
    an_index(tmp_path)
    (tmp_path / CURRENT).write_bytes(content)

    with pytest.raises(CorruptFile, match=r"current.*`gossamer rebuild index`"):
        IndexReader(tmp_path)
    with pytest.raises(CorruptFile, match=r"current.*`gossamer rebuild index`"):
        IndexWriter(tmp_path)


def test_a_generation_that_is_gone_is_named_with_the_way_out(tmp_path: Path) -> None:
    shutil.rmtree(an_index(tmp_path))

    with pytest.raises(CorruptFile, match=r"g000001.*`gossamer rebuild index`"):
        IndexReader(tmp_path)


@pytest.mark.parametrize("damage", ["cut", "empty", "garbage", "gone"])
def test_a_damaged_file_of_words_is_an_error_with_the_way_out(tmp_path: Path, damage: str) -> None:
    for path in sorted((an_index(tmp_path / "whole") / WORDS).iterdir()):
        if path.name.startswith("."):
            continue
        folder = tmp_path / path.name
        shutil.copytree(tmp_path / "whole", folder)
        victim = folder / "g000001" / WORDS / path.name
        content = victim.read_bytes()
        match damage:
            case "cut":
                victim.write_bytes(content[: len(content) // 2])
            case "empty":
                victim.write_bytes(b"")
            case "garbage":
                victim.write_bytes(b"\xa5" * len(content))
            case _:
                victim.unlink()

        with pytest.raises(CorruptFile, match="`gossamer rebuild index`"):
            read_all(folder)


@pytest.mark.parametrize("size", [0, 100])
def test_a_file_of_texts_that_was_cut_is_an_error_with_the_way_out(
    tmp_path: Path, size: int
) -> None:
    path = an_index(tmp_path) / TEXTS
    path.write_bytes(path.read_bytes()[:size])

    with pytest.raises(CorruptFile, match=r"texts, byte .*`gossamer rebuild index`"):
        read_all(tmp_path)
    with pytest.raises(CorruptFile, match=r"texts, byte .*`gossamer rebuild index`"):
        IndexWriter(tmp_path)


def test_a_file_of_anchors_that_was_cut_is_an_error_with_the_way_out(tmp_path: Path) -> None:
    an_index(tmp_path)
    (tmp_path / ANCHORS).write_bytes(b"short")

    with pytest.raises(CorruptFile, match=r"anchors, byte 5.*`gossamer rebuild index`"):
        IndexWriter(tmp_path)
