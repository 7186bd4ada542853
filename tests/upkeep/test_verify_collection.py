"""verify finds what is wrong, names it, and finds nothing where all is well."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.archive.cdxj import cdxj_path
from gossamer.cli.commands.doctor import run_doctor
from gossamer.cli.commands.verify import run_verify
from gossamer.collection.directory import CollectionPaths, locked, open_to_write
from gossamer.errors import NoCollection
from gossamer.frontier.counts import Counts
from gossamer.frontier.meta_keys import CLEAN_KEY, SALT_KEY
from gossamer.frontier.rows import HostRow, QueueEntry, Standing, UrlRow, time_key
from gossamer.frontier.store import StateTable, Store, TableChanges
from gossamer.graph.arrow import pq
from gossamer.reader.collection_reader import CollectionReader
from gossamer.upkeep.check_machine import doctor, holder_of
from gossamer.upkeep.verify import Checked, Problem, verify
from gossamer.urls.keys import Keys
from support.a_crawl import crawl_in_loop, crawl_until
from support.a_site import Pages, Site, a_site, page, redirect, robots, site_in_thread, too_many

PAGES: Pages = {
    "/robots.txt": robots("User-agent: *\nDisallow: /private\n"),
    "/": page(
        "<a href=/b>b</a> <a href=/moved>m</a> <a href=/private/x>x</a> "
        "<a href=http://other.example/>o</a> <a href='http://[bad/'>bad</a>"
    ),
    "/b": page("<p>bees</p><a href=/busy>busy</a>"),
    "/moved": redirect("/b"),
    "/busy": too_many("3600"),
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Path]]:
    folder = tmp_path_factory.mktemp("checks") / "collection"
    with site_in_thread(PAGES) as site:
        crawl_until(folder, [site.url()], lambda: set(PAGES) <= set(site.asked))
        yield site, folder


@pytest.fixture
def site(crawled: tuple[Site, Path]) -> Site:
    return crawled[0]


@pytest.fixture
def home(crawled: tuple[Site, Path], collection: Path) -> CollectionPaths:
    """A copy of the collection, to be damaged."""
    shutil.copytree(crawled[1], collection)
    return CollectionPaths(collection)


def problems(home: CollectionPaths) -> list[Problem]:
    return list(verify(home))


def said(home: CollectionPaths) -> str:
    found = problems(home)
    assert found, "the damage was not found"
    assert all(problem.todo for problem in found)
    return "\n".join(f"{problem.where}: {problem.what}" for problem in found)


def change(home: CollectionPaths, changes: TableChanges) -> None:
    with locked(home):
        store = open_to_write(home, 16)
        store.write(changes)
        store.close()


def look(home: CollectionPaths, url: str) -> tuple[bytes, UrlRow]:
    with CollectionReader.open(home.path) as reader:
        return reader.keys.of(url), reader.get(url)


def warc(home: CollectionPaths) -> Path:
    (path,) = home.archive.glob("*.warc.gz")
    return path


def test_a_collection_that_is_whole_has_no_problem(home: CollectionPaths) -> None:
    checked = Checked()

    assert list(verify(home.path, checked)) == []
    counts = (checked.urls, checked.hosts, checked.captures, checked.files, checked.exchanges)
    assert (*counts, checked.parts, checked.entries) == (6, 2, 3, 1, 5, 1, 2)
    assert checked.sums > 20
    assert checked.unsure == []


def test_without_a_collection_there_is_nothing_to_verify(tmp_path: Path) -> None:
    with pytest.raises(NoCollection):
        list(verify(tmp_path))


def test_a_collection_stays_whole_when_a_crawl_goes_on(home: CollectionPaths, site: Site) -> None:
    seed = site.url("/more", "localhost")
    crawl_until(home.path, [seed], lambda: "/more" in site.asked)

    assert problems(home) == []
    assert len(list(home.archive.glob("*.warc.gz"))) == 2


def test_a_flipped_byte_is_found_with_its_place(home: CollectionPaths, site: Site) -> None:
    with CollectionReader.open(home.path) as reader:
        (capture,) = reader.captures(site.url("/b"))
    data = bytearray(warc(home).read_bytes())
    data[capture.offset + 150] ^= 0xFF
    warc(home).write_bytes(data)

    assert f"{warc(home)}, byte {capture.offset}" in said(home)
    assert f"{site.url('/b')}: its capture cannot be read" in said(home)


def test_a_file_that_is_gone_or_cut_is_found(home: CollectionPaths) -> None:
    path = warc(home)
    size = path.stat().st_size
    with path.open("rb+") as file:
        file.truncate(size - 100)
    cut = said(home)
    path.unlink()

    assert f"it has {size - 100} bytes, but {size} were committed" in cut
    assert f"the file is missing ({size} committed bytes)" in said(home)


def test_bytes_behind_what_was_committed_are_found_when_nobody_writes(
    home: CollectionPaths,
) -> None:
    with warc(home).open("ab") as file:
        file.write(b"tail")

    assert "4 bytes follow the last committed byte" in said(home)


def test_a_tail_that_a_killed_crawl_left_is_no_problem(home: CollectionPaths) -> None:
    with warc(home).open("ab") as file:
        file.write(b"tail")
    cdxj_path(warc(home)).unlink()
    change(home, {StateTable.META: {CLEAN_KEY: b"0"}})

    assert problems(home) == []


def test_a_capture_that_points_elsewhere_is_found(home: CollectionPaths, site: Site) -> None:
    (key, row), (other, other_row) = look(home, site.url("/b")), look(home, site.url())
    with CollectionReader.open(home.path) as reader:
        wrong = reader.store.find(StateTable.CAPTURE, other + time_key(other_row.at_us))
    assert wrong is not None
    change(home, {StateTable.CAPTURE: {key + time_key(row.at_us): wrong}})

    assert f"{site.url('/b')}: its capture should be in" in said(home)


def test_a_fetched_url_without_capture_is_found_from_both_sides(
    home: CollectionPaths, site: Site
) -> None:
    key, row = look(home, site.url("/b"))
    change(home, {StateTable.CAPTURE: {key + time_key(row.at_us): None}})

    found = said(home)
    assert f"{site.url('/b')}: it is fetched, but the state has no capture" in found
    assert f"the state does not know this capture of {site.url('/b')}" in found


def test_a_url_that_the_state_lost_is_found(home: CollectionPaths, site: Site) -> None:
    key, _ = look(home, site.url("/b"))
    change(home, {StateTable.URL: {key: None}})

    found = said(home)
    assert f"the state does not know {site.url('/b')}" in found
    assert "the capture belongs to an unknown URL" in found
    assert "the state says 6 known, but the URLs add up to 5" in found


def test_sums_that_are_none_are_found(home: CollectionPaths) -> None:
    with CollectionReader.open(home.path) as reader:
        counts: Counts = reader.counts()
    counts.fetched += 1
    counts.count_reason("robots")
    change(home, {StateTable.META: {b"counts": counts.encode()}})

    found = said(home)
    assert "the state says 3 fetched, but the URLs add up to 2" in found
    assert "the state says 2 with robots, but there are 1" in found


def test_a_host_that_miscounts_is_found(home: CollectionPaths, site: Site) -> None:
    key, _ = look(home, site.url())
    with CollectionReader.open(home.path) as reader:
        host = HostRow.decode(reader.store.find(StateTable.HOST, key[:8]) or b"")
    host.refused += 1
    change(home, {StateTable.HOST: {key[:8]: host.encode()}})

    assert "host 127.0.0.1: its row says 2 refused, but its URLs add up to 1" in said(home)


def test_a_queue_entry_of_a_fetched_url_is_found(home: CollectionPaths, site: Site) -> None:
    key, row = look(home, site.url("/b"))
    entry = QueueEntry(key, row.url)
    change(home, {StateTable.QUEUE: {key[:8] + b"\x01" * 12: entry.encode()}})

    assert f"{row.url}: it is in the queue, but its row says fetched" in said(home)


def test_a_url_in_two_states_is_found(home: CollectionPaths, site: Site) -> None:
    key, row = look(home, site.url("/b"))
    row.place = b"\x01" * 12
    change(home, {StateTable.URL: {key: row.encode()}})

    assert f"{row.url}: its queue entry belongs to another URL" in said(home)


def test_a_failed_url_in_a_queue_is_found(home: CollectionPaths, site: Site) -> None:
    key, row = look(home, site.url("/b"))
    row.standing, row.reason, row.place = Standing.FAILED, "timeout", b"\x01" * 12
    change(home, {StateTable.URL: {key: row.encode()}})

    assert f"{row.url}: it is failed, but still in a queue" in said(home)


def test_a_queued_url_that_nothing_will_bring_is_found(home: CollectionPaths, site: Site) -> None:
    key, row = look(home, site.url("/busy"))
    change(home, {StateTable.DUE: {time_key(row.due_us) + key: None}})
    lost = said(home)
    row.due_us = 0
    change(home, {StateTable.URL: {key: row.encode()}})

    assert f"{row.url}: it waits for a time that no queue contains" in lost
    assert f"{row.url}: it is queued, but never due" in said(home)


def test_a_wake_up_for_another_time_is_found(home: CollectionPaths, site: Site) -> None:
    key, row = look(home, site.url("/busy"))
    change(home, {StateTable.DUE: {time_key(row.due_us + 1) + key: b""}})

    assert f"{row.url}: its time in the due table differs from its row" in said(home)


def test_a_row_under_a_wrong_key_is_found(home: CollectionPaths, site: Site) -> None:
    store: Store = open_to_write(home, 16)
    keys = Keys(store.find(StateTable.META, SALT_KEY) or b"")
    row = UrlRow(standing=Standing.REFUSED, depth=1, url=site.url("/b"), reason="scope")
    store.write({StateTable.URL: {keys.of(site.url("/other")): row.encode()}})
    store.close()

    assert f"{site.url('/b')}: it is stored under the key of another URL" in said(home)


def test_a_part_that_is_gone_or_damaged_or_short_is_found(home: CollectionPaths) -> None:
    (part,) = home.graph.glob("links-*.parquet")
    pq.write_table(pq.read_table(part).slice(1), part)
    short = said(home)
    part.write_bytes(b"PAR1 and nothing more")
    damaged = said(home)
    part.unlink()

    assert f"{part}: it has 9 rows, but the manifest says 10" in short
    assert f"{part}: it cannot be read" in damaged
    assert f"{part}: the manifest names this file, but it is missing" in said(home)


def test_a_manifest_that_is_none_is_found(home: CollectionPaths) -> None:
    (home.graph / "manifest.json").write_text("{")

    assert "manifest.json" in said(home)


def test_an_index_that_is_gone_or_wrong_is_found(home: CollectionPaths) -> None:
    path = cdxj_path(warc(home))
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[1:]), encoding="utf-8")
    short = said(home)
    path.write_text("".join(lines).replace('"status": "200"', '"status": "500"'), encoding="utf-8")
    other = said(home)
    path.unlink()

    assert f"{path}: " in short
    assert "is missing" in short
    assert "describes another capture" in other
    assert f"{path}: the CDXJ index of a closed file is missing" in said(home)


def test_a_log_that_was_cut_or_garbled_is_found(home: CollectionPaths) -> None:
    data = home.log.read_bytes()
    home.log.write_bytes(b"?" + data[1:])
    garbled = said(home)
    home.log.write_bytes(data[:-1])

    assert f"{home.log}, line 1: the line is not JSON" in garbled
    assert "were committed" in said(home)


def test_a_running_crawl_is_verified_at_one_moment(collection: Path) -> None:
    async def both() -> list[Problem]:
        found: list[Problem] = []
        links = "".join(f"<a href=/{n}>{n}</a>" for n in range(40))
        async with (
            a_site({"/": page(links), "*": page("<p>x")}) as site,
            asyncio.TaskGroup() as group,
        ):
            settings = {"node__commit_every_s": 0.01, "politeness__per_host": 1}
            running = group.create_task(crawl_in_loop(collection, [site.url()], settings))
            while not running.done():
                await asyncio.sleep(0.005)
                if CollectionPaths(collection).exists:
                    found.extend(verify(collection))
        return found

    assert asyncio.run(both()) == []


def test_the_holder_of_a_collection_is_named_while_it_holds_it(home: CollectionPaths) -> None:
    before = holder_of(home)
    with locked(home):
        during = holder_of(home)
    after = holder_of(home)
    (home.run / "lock").write_text('{"pid": 4711}')  # as a killed process leaves it

    assert (before, after, holder_of(home)) == (None, None, None)
    assert during is not None
    assert during.startswith("process ")


def test_the_doctor_finds_this_machine_well(home: CollectionPaths) -> None:
    checks = {check.name: check for check in doctor(home.path)}

    assert all(checks[name].is_ok for name in ("python", "libcurl", "state", "names"))
    assert checks["collection"].says.startswith("format 1")
    assert checks["writer"].says == "no process is writing to it"


def test_the_doctor_says_what_is_wrong_with_a_collection(home: CollectionPaths) -> None:
    change(home, {StateTable.META: {b"format": b"99"}})

    checks = {check.name: check for check in doctor(home.path)}

    assert not checks["collection"].is_ok
    assert "format 99" in checks["collection"].says


def test_exit_codes_tell_clean_from_not(
    home: CollectionPaths, capsys: pytest.CaptureFixture[str]
) -> None:
    clean = run_verify(home.path, as_json=True)
    (home.graph / "manifest.json").write_text("{")
    damaged = run_verify(home.path, as_json=False)
    run_doctor(home.path, as_json=True)

    assert (clean, damaged) == (0, 1)
    assert '"schema": 1' in capsys.readouterr().out
