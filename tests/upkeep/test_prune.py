"""Deleting old captures by a rule, in a collection that no crawl is writing to."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer.archive.reader import iter_exchanges, read_info, read_records
from gossamer.base.checked_lines import crc32_of
from gossamer.collection.archive_ends import known_ends
from gossamer.collection.directory import open_to_read
from gossamer.errors import NotKnown, SettingsError
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.deleted_versions import note_on_deleted
from gossamer.records import Answer, Failed, Fetched, Lease, Purpose, Reason
from gossamer.upkeep.retention.prune import prune, survey
from gossamer.upkeep.verify import Checked, verify
from support.a_history import History, a_body, an_answer
from support.killing import typed

PAGES = [f"http://site.test/p{number}" for number in range(6)]


def quiet(_: str) -> None:
    """Progress that no test reads."""


def a_year(folder: Path, *, days: int = 12, share: float = 0.0) -> History:
    """Pages that change every day, every other day, and so on; the last one never."""
    history = History(folder, {"archive.prune_share": share})
    for day in range(days):
        history.wait(1)
        visits = []
        for number, url in enumerate(PAGES):
            version = day // (number + 1) if number < len(PAGES) - 1 else 0
            visits.append((url, a_body(f"p{number}", version, "/", f"/link{version}")))
        history.write(visits)
    history.open()
    return history


def versions(history: History) -> dict[str, list[tuple[int, bytes]]]:
    """Every capture of every page as a reader sees it: time and body."""
    with CollectionReader.open(history.folder) as reader:
        return {
            url: [(one.at_us, reader.page_at(url, one).raw_body) for one in reader.captures(url)]
            for url in PAGES
        }


def check_readable(history: History) -> None:
    """Every capture that is left has the body that was served at its time."""
    served = {(url, at_us): body for url, at_us, body in history.seen}
    for url, kept in versions(history).items():
        assert kept
        assert all(served[url, at_us] == body for at_us, body in kept)


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_a_rule_frees_disk_and_every_kept_version_stays_readable(tmp_path: Path) -> None:
    history = a_year(tmp_path / "c", days=30)
    before = size_of(history.paths.archive)
    assert list(verify(history.paths)) == []

    pruned = prune(history.paths, "last 2", history.clock, quiet)

    assert pruned.problems == []
    assert pruned.captures > 100
    assert before - size_of(history.paths.archive) == pytest.approx(pruned.freed_bytes, rel=0.2)
    assert size_of(history.paths.archive) < before / 3
    assert list(verify(history.paths)) == []
    check_readable(history)
    counts = {url: len({body for _, body in kept}) for url, kept in versions(history).items()}
    assert counts == dict.fromkeys(PAGES[:-1], 2) | {PAGES[-1]: 1}


def test_a_second_time_frees_nothing_more(tmp_path: Path) -> None:
    history = a_year(tmp_path / "c")
    prune(history.paths, "last 2 or 3 days", history.clock, quiet)
    kept = versions(history)

    again = prune(history.paths, "last 2 or 3 days", history.clock, quiet)

    assert (again.captures, again.files, again.freed_bytes) == (0, 0, 0)
    assert versions(history) == kept


def test_a_survey_says_what_would_go_and_changes_nothing(tmp_path: Path) -> None:
    history = a_year(tmp_path / "c")
    kept, sums = versions(history), crc32_of(history.paths.archive / "manifest.jsonl")

    would = survey(history.paths, "last 2", history.clock)

    assert versions(history) == kept
    assert crc32_of(history.paths.archive / "manifest.jsonl") == sums
    done = prune(history.paths, "last 2", history.clock, quiet)
    assert (would.captures, would.capture_bytes) == (done.captures, done.capture_bytes)
    assert survey(history.paths, "last 2", history.clock).captures == 0


def test_the_rule_of_the_settings_counts_if_none_is_named(tmp_path: Path) -> None:
    history = a_year(tmp_path / "c")

    assert prune(history.paths, None, history.clock, quiet).captures == 0
    assert survey(history.paths, None, history.clock).rule == "all"


def test_an_invalid_rule_changes_nothing(tmp_path: Path) -> None:
    history = a_year(tmp_path / "c", days=3)

    with pytest.raises(SettingsError, match="last 3"):
        prune(history.paths, "the best ones", history.clock, quiet)


def test_a_body_stays_while_a_kept_visit_refers_to_it(tmp_path: Path) -> None:
    """The page alternates between two versions; the newest visit confirms an old body."""
    history = History(tmp_path / "c", {"archive.prune_share": 0.0})
    one, two = a_body("one", 1), a_body("two", 2)
    url = PAGES[0]
    for body in (one, two, two, one):
        history.wait(1)
        history.write([(url, body)])
    history.last[url] = history.seen[0][1], one  # its visits refer to the first capture
    for _ in range(3):
        history.wait(1)
        history.write([(url, one)])
    history.open()

    prune(history.paths, "last 1", history.clock, quiet)

    with CollectionReader.open(history.folder) as reader:
        kept = [(c.at_us, reader.page_at(url, c).raw_body) for c in reader.captures(url)]
    assert all((url, at_us, body) in history.seen for at_us, body in kept)
    assert history.seen[0][1] in [at_us for at_us, _ in kept]


def test_deleted_bytes_wait_until_enough_of_a_file_may_go(tmp_path: Path) -> None:
    history = a_year(tmp_path / "c", share=0.99)
    before = size_of(history.paths.archive)

    pruned = prune(history.paths, "versions", history.clock, quiet)

    assert pruned.captures
    assert pruned.files == 0
    assert size_of(history.paths.archive) == pytest.approx(before, rel=0.01)
    assert survey(history.paths, "versions", history.clock).waiting_bytes == pruned.capture_bytes
    assert list(verify(history.paths)) == []
    check_readable(history)


def test_many_small_files_become_few(tmp_path: Path) -> None:
    history = History(tmp_path / "c")
    for day in range(40):
        history.wait(1)
        history.write([(PAGES[day % 6], a_body("p", day))])
    history.open()
    info = read_info(max(history.paths.archive.glob("*.warc.gz")))

    pruned = prune(history.paths, "all", history.clock, quiet)

    files = sorted(history.paths.archive.glob("*.warc.gz"))
    assert pruned.captures == 0
    assert len(files) < 16
    exchanges = [one for path in files for one in iter_exchanges(path)]
    assert len(exchanges) == 40
    ended = [[one.answer.at_us for one in iter_exchanges(path)] for path in files]
    assert all(times == sorted(times) for times in ended)
    assert read_info(files[-1]) == info
    assert list(verify(history.paths)) == []
    check_readable(history)


@pytest.mark.slow
def test_merged_files_are_merged_again_and_the_manifest_stays_short(tmp_path: Path) -> None:
    history = History(tmp_path / "c")
    for number in range(300):
        history.now_us += 1_000_000
        history.write([(PAGES[number % 6], b"<p>page %d</p>" % number)])
    history.open()

    prune(history.paths, "all", history.clock, quiet)
    history.open()

    assert len(list(history.paths.archive.glob("*.warc.gz"))) < 32
    assert (history.paths.archive / "manifest.jsonl").stat().st_size < 10_000
    assert list(verify(history.paths)) == []


def test_the_state_knows_no_file_that_is_gone(tmp_path: Path) -> None:
    history = a_year(tmp_path / "c")

    prune(history.paths, "last 1", history.clock, quiet)

    store = open_to_read(history.paths)
    ends = known_ends(store)
    store.close()
    files = {path.name: path.stat().st_size for path in history.paths.archive.glob("*.warc.gz")}
    assert ends == files
    folders = [path.name for path in history.paths.archive.iterdir() if path.is_dir()]
    assert folders == []


def test_earlier_failures_and_robots_go_with_old_versions(tmp_path: Path) -> None:
    history = a_year(tmp_path / "c", days=8)
    robots = "http://site.test/robots.txt"
    answers: list[tuple[Lease, Answer]] = []
    for minute in range(10):
        at_us = history.now_us + minute * 60_000_000
        lease = history.lease(robots, Purpose.ROBOTS)
        answers.append((lease, an_answer(robots, at_us, b"User-agent: *\nDisallow: /private\n")))
        failed = Failed(PAGES[0], Reason.TIMEOUT, "no answer", at_us + 1, took_s=1.0)
        answers.append((history.lease(PAGES[0]), failed))
    visits = [
        (history.lease(PAGES[0]), an_answer(PAGES[0], history.now_us + n, a_body("x", n)))
        for n in range(700_000_000, 700_000_009)
    ]
    history.append(*answers, *visits)
    history.wait(1)
    history.open()

    prune(history.paths, "last 1", history.clock, quiet)

    kept = [one for path in history.paths.archive.glob("*.warc.gz") for one in iter_exchanges(path)]
    assert sum(one.lease.purpose is Purpose.ROBOTS for one in kept) == 1
    assert sum(not isinstance(one.answer, Fetched) for one in kept) == 1
    assert list(verify(history.paths)) == []


def test_verify_counts_what_is_left(tmp_path: Path) -> None:
    history = a_year(tmp_path / "c")
    prune(history.paths, "last 1", history.clock, quiet)
    checked = Checked()

    assert list(verify(history.paths, checked)) == []
    assert checked.captures == sum(map(len, versions(history).values()))


def test_an_export_has_what_is_left_and_no_visit_without_its_body(tmp_path: Path) -> None:
    """Also where deleted captures are still in their files."""
    history = a_year(tmp_path / "c", share=0.99)
    prune(history.paths, "last 2", history.clock, quiet)
    kept = {(url, at_us) for url, found in versions(history).items() for at_us, _ in found}

    ended = typed("export", "warc", "-o", tmp_path / "all.warc.gz", "-c", history.folder)
    packed = typed("export", "wacz", "-o", tmp_path / "all.wacz", "-c", history.folder)

    assert (ended.code, packed.code) == (0, 0), ended.err + packed.err
    records = list(read_records(tmp_path / "all.warc.gz"))
    assert {(one.uri, one.at_us) for one in records if one.type in ("response", "revisit")} == kept
    brought = typed("import", tmp_path / "all.warc.gz", "-c", tmp_path / "new")
    assert brought.code == 0, brought.err
    assert list(verify(tmp_path / "new")) == []


def test_a_takedown_after_pruning_leaves_nothing(tmp_path: Path) -> None:
    history = a_year(tmp_path / "c", share=0.5)
    prune(history.paths, "last 2", history.clock, quiet)
    aside = history.paths.archive / "replaced"
    aside.mkdir()
    (aside / "old.warc.gz").write_bytes(b"what was replaced a minute ago")

    ended = typed("forget", PAGES[0], "--yes", "-c", history.folder)

    assert ended.code == 0, ended.err
    left = [one for path in history.paths.archive.glob("*.warc.gz") for one in iter_exchanges(path)]
    assert PAGES[0] not in [one.answer.url for one in left]
    assert not aside.exists()
    assert list(verify(history.paths)) == []
    again = prune(history.paths, "last 1", history.clock, quiet)
    assert again.problems == []
    assert list(verify(history.paths)) == []


def test_a_reader_finds_a_capture_whose_file_was_replaced(tmp_path: Path) -> None:
    """It was opened before, and the old file is deleted by now."""
    history = a_year(tmp_path / "c")
    with CollectionReader.open(history.folder) as reader:
        captures = reader.captures(PAGES[0])
        prune(history.paths, "last 2", history.clock, quiet)

        newest, oldest = captures[-1], captures[0]
        assert reader.page_at(PAGES[0], newest).at_us == newest.at_us
        with pytest.raises(NotKnown, match=r"no longer exists|was deleted"):
            reader.page_at(PAGES[0], oldest)


def test_a_backup_taken_while_files_are_replaced_is_whole(tmp_path: Path) -> None:
    """As a kill leaves it between the commit and the renaming of files."""
    history = a_year(tmp_path / "c")
    archive = history.paths.archive
    first = min(archive.glob("*.warc.gz"))
    (archive / "replaced").mkdir()
    first.rename(archive / "replaced" / first.name)

    ended = typed("backup", tmp_path / "copy", "-c", history.folder)

    assert ended.code == 0, ended.err
    (archive / "replaced" / first.name).rename(first)
    assert list(verify(tmp_path / "copy")) == []


def test_who_asks_for_a_deleted_version_is_told(tmp_path: Path) -> None:
    """The page changed every day from January 2nd on. Of each month one version is left, and the
    last ten days."""
    history = a_year(tmp_path / "c", days=60)
    prune(history.paths, "10 days or one a month after 10 days", history.clock, quiet)

    with CollectionReader.open(history.folder) as reader:
        left = [one.at for one in reader.captures(PAGES[0])]
        times = ("2026-02-19", left[1], left[-1], "2026-03-30", "2025-12-01")
        notes = [note_on_deleted(reader, PAGES[0], at) for at in times]

    assert len(left) < 20
    assert "was deleted" in notes[0], left
    assert notes[1:] == [""] * 4
