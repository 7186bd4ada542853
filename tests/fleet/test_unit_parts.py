"""Parts of a unit that need no hub: folders, kept collections, bans, traffic, orders, waits."""

from __future__ import annotations

import asyncio
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from gossamer.base.clock import ManualClock
from gossamer.errors import StoreError, UsageError
from gossamer.fleet.protocol import Assignment, BannedLines, JobSpec, UnitOrder
from gossamer.fleet.settings import UnitSettings
from gossamer.fleet.unit.banned import BannedList
from gossamer.fleet.unit.folder import UnitFolder, UnitIdentity
from gossamer.fleet.unit.job_folder import (
    JobFolder,
    KeptCollections,
    UnitJob,
    key_of,
    stored_jobs,
)
from gossamer.fleet.unit.job_settings import job_settings, seeds_within
from gossamer.fleet.unit.job_watch import LogWatch, ban_line
from gossamer.fleet.unit.orders import OrderBook, give_command, take_command
from gossamer.fleet.unit.round_trips import RoundTrips
from gossamer.fleet.unit.service import service_text
from gossamer.fleet.unit.usage import TrafficCounter
from gossamer.fleet.unit.waiting import Backoff
from gossamer.reader.trap_facts import TrapVerdict
from gossamer.settings import Settings, with_values

SITE = "http://a.example"


def a_folder(tmp_path: Path) -> UnitFolder:
    folder = UnitFolder(tmp_path / "unit")
    folder.make()
    return folder


def an_assignment(job: str = "j", **options: object) -> Assignment:
    spec = JobSpec(kind="site", seeds=(f"{SITE}/",), options=options)
    return Assignment(job=job, fence=1, spec=spec, lease_s=60.0, hosts=("a.example",))


# -- folders


def test_secrets_are_readable_by_the_owner_only(tmp_path: Path) -> None:
    folder = a_folder(tmp_path)

    folder.save_identity(UnitIdentity(hub_url="https://h", unit="u", token="t", hub="h"))

    assert folder.identity.stat().st_mode & 0o777 == 0o600
    assert folder.path.stat().st_mode & 0o777 == 0o700
    assert folder.read_identity().token == "t"


def test_a_folder_with_other_files_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "unit").mkdir()
    (tmp_path / "unit" / "thesis.txt").write_text("mine")

    with pytest.raises(UsageError, match=r"thesis\.txt"):
        a_folder(tmp_path)


def test_what_is_not_ours_survives_a_deletion(tmp_path: Path) -> None:
    folder = a_folder(tmp_path)
    (folder.path / "thesis.txt").write_text("mine")

    folder.delete()

    assert [path.name for path in folder.path.iterdir()] == ["thesis.txt"]


def test_only_one_process_runs_a_unit(tmp_path: Path) -> None:
    folder = a_folder(tmp_path)

    with folder.locked():
        assert folder.is_running
        with pytest.raises(StoreError, match="is running"), folder.locked():
            pass
    assert not folder.is_running


@pytest.mark.parametrize("job", ["../../etc", "/etc/passwd", "a/b", "", ".", "x" * 200, "ü"])
def test_the_hub_cannot_name_a_path(tmp_path: Path, job: str) -> None:
    folder = a_folder(tmp_path)

    assert JobFolder.of(folder, job).path.parent == folder.jobs


def test_a_job_that_was_not_written_whole_is_dropped(tmp_path: Path) -> None:
    folder = a_folder(tmp_path)
    whole = JobFolder.of(folder, "whole")
    whole.path.mkdir()
    whole.save_job(UnitJob(assignment=an_assignment("whole"), at_us=1))
    half = JobFolder.of(folder, "half")
    half.path.mkdir()
    half.job_file.write_text('{"assignment": {')

    assert [job.assignment.job for _, job in stored_jobs(folder)] == ["whole"]
    assert not half.path.exists()


# -- kept collections


def kept(folder: UnitFolder, clock: ManualClock, assignment: Assignment, size: int = 10) -> None:
    job = JobFolder.of(folder, assignment.job)
    (job.collection).mkdir(parents=True)
    (job.collection / "page").write_bytes(b"x" * size)
    KeptCollections(folder, clock).keep(assignment, job, is_complete=True)
    job.delete()


def test_the_next_job_of_a_site_gets_its_collection(tmp_path: Path) -> None:
    folder, clock = a_folder(tmp_path), ManualClock()
    kept(folder, clock, an_assignment("one", max_rate=5))
    again = JobFolder.of(folder, "two")
    again.path.mkdir()

    assert KeptCollections(folder, clock).take(an_assignment("other", depth=1), again) is None
    assert KeptCollections(folder, clock).take(an_assignment("two", max_rate=9), again) is True
    assert (again.collection / "page").exists()
    assert list(folder.kept.iterdir()) == []


def test_jobs_are_the_same_crawl_if_only_limits_differ() -> None:
    one, two = an_assignment("1", delay=1), an_assignment("2", delay=9)

    assert key_of(one) == key_of(two)
    assert key_of(one) != key_of(an_assignment("3", include=["/x"]))
    assert key_of(one) != key_of(structs.replace(one, hosts=("b.example",)))


def test_the_oldest_collections_leave_when_the_disk_space_is_used(tmp_path: Path) -> None:
    folder, clock = a_folder(tmp_path), ManualClock()
    for number in range(3):
        kept(folder, clock, an_assignment(f"{number}", depth=number), size=1000)
        asyncio.run(clock.advance(1.0))

    used = KeptCollections(folder, clock).make_room(2500)

    assert used <= 2500
    keys = {key_of(an_assignment("x", depth=number)) for number in (1, 2)}
    assert {path.name for path in folder.kept.iterdir()} == keys


# -- bans, traffic, orders, waits


def test_a_new_banned_list_tells_what_has_changed(tmp_path: Path) -> None:
    folder = a_folder(tmp_path)
    bans = BannedList(folder)
    bans.replace(BannedLines(version=1, lines=("a.example", "b.example")))

    change = BannedList(folder).replace(
        BannedLines(version=2, lines=("b.example", "re:(", "x\ny", "c.example/x/"))
    )

    assert (list(change.added), list(change.lifted), change.invalid) == (
        ["c.example/x/"], ["a.example"], 2,
    )  # fmt: skip
    assert folder.bans_text.read_text() == "b.example\nc.example/x/\n"
    assert BannedList(folder).version == 2


def test_the_traffic_of_a_month_is_counted_once_and_over_restarts(tmp_path: Path) -> None:
    folder, clock = a_folder(tmp_path), ManualClock()
    counter = TrafficCounter(folder, clock)
    counter.note("j", 100)
    counter.note("j", 150)

    again = TrafficCounter(folder, clock)
    again.note("j", 150)
    assert again.month_bytes == 150
    again.forget("j")
    again.note("j2", 10)
    assert again.month_bytes == 160

    asyncio.run(clock.advance(32 * 86_400.0))
    assert again.month_bytes == 0
    again.note("j2", 15)
    assert again.month_bytes == 5


def test_an_order_that_is_repeated_is_carried_out_once() -> None:
    book, order = OrderBook(), UnitOrder(order=7, kind="drain")

    assert book.new([order]) == [order]
    book.done(order)
    assert book.new([order]) == []
    assert [done.order for done in book.to_tell()] == [7]
    book.told(book.to_tell())
    assert book.to_tell() == ()


def test_a_command_of_the_owner_is_taken_once(tmp_path: Path) -> None:
    folder = a_folder(tmp_path)
    give_command(folder, "stop-after")

    assert take_command(folder) == "stop-after"
    assert take_command(folder) is None


def test_waits_grow_and_are_spread() -> None:
    backoff = Backoff(seed=1)

    waits = [backoff.next_s() for _ in range(200)]

    assert max(waits[:3]) < 5
    assert 30 < max(waits) <= 61
    assert len(set(waits)) == 200
    assert backoff.next_s(at_least_s=300.0) >= 300.0
    backoff.succeeded()
    assert backoff.next_s() < 2
    assert 9.0 <= backoff.spread(10.0) <= 11.0


def test_a_hub_cannot_measure_the_network_of_the_unit() -> None:
    assert RoundTrips((), ManualClock()).time_to("127.0.0.1:1") < 0
    assert RoundTrips((), ManualClock()).time_to("no such host") < 0


# -- settings of jobs


def settings_of(tmp_path: Path, assignment: Assignment, **owner: Any) -> dict[str, Any]:
    folder = a_folder(tmp_path)
    job = JobFolder.of(folder, assignment.job)
    return job_settings(assignment, UnitSettings(**owner), folder, job)


@pytest.mark.parametrize(
    "option",
    ["header", "cookies", "logins", "proxy", "allow_private", "ban", "run", "webhook", "index",
     "workers", "fetch.headers_file", "fetch.typed_private", "watch.command", "scope.hosts"],
)  # fmt: skip
def test_a_job_cannot_choose_what_is_the_owners(tmp_path: Path, option: str) -> None:
    with pytest.raises(UsageError):
        settings_of(tmp_path, an_assignment(**{option: "x"}))


def test_the_owner_sets_the_limits_of_a_job(tmp_path: Path) -> None:
    assignment = an_assignment(delay=0, connections=200, max_rate=1000)

    values = settings_of(
        tmp_path, assignment, min_delay_s=2.0, connections=8, max_rate_bytes=10, contact="a@b.c"
    )

    settings = with_values(Settings(), values)
    assert settings.politeness.host_delay_s == 2.0
    assert (settings.fetch.connections, settings.fetch.max_rate_bytes) == (8, 10)
    assert settings.scope.hosts == ("a.example",)
    assert (settings.node.index, settings.node.graph) == (False, False)
    assert not settings.fetch.typed_private


def test_a_job_without_hosts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no hosts"):
        settings_of(tmp_path, structs.replace(an_assignment(), hosts=()))
    assert seeds_within([f"{SITE}/", "http://b.example/"], ("a.example",)) == [f"{SITE}/"]


# -- what is told of the log


def log_of(tmp_path: Path, *facts: dict[str, str]) -> LogWatch:
    path = tmp_path / "crawl.jsonl"
    path.write_text("".join(json.dumps(fact) + "\n" for fact in facts) + '{"url": "half')
    watch = LogWatch(path)
    watch.look()
    return watch


def test_urls_without_address_and_those_that_robots_refuse_are_told_apart(tmp_path: Path) -> None:
    watch = log_of(
        tmp_path,
        {"url": f"{SITE}/robots.txt", "outcome": "fetched", "purpose": "robots"},
        {"url": f"{SITE}/1", "outcome": "fetched"},
        {"url": "http://no.example/", "outcome": "failed", "reason": "dns"},
        {"url": f"{SITE}/private", "outcome": "refused", "reason": "robots"},
    )

    assert list(watch.recent) == [f"{SITE}/1"]
    assert list(watch.unresolved) == ["http://no.example/"]
    assert list(watch.robots_refused) == [f"{SITE}/private"]


def test_a_pattern_that_the_node_takes_for_a_trap_is_told_with_a_line_to_ban(
    tmp_path: Path,
) -> None:
    urls = [f"{SITE}/calendar/{year}/{month}" for year in range(2000, 2010) for month in range(12)]
    watch = log_of(tmp_path, *({"url": url, "outcome": "fetched"} for url in urls))
    verdict = TrapVerdict("a.example", "/calendar/0/0", 3, 117, 8, is_refused=True)

    [loop] = watch.loops([verdict])

    assert (loop.pattern, loop.urls, loop.fetched) == (f"{SITE}/calendar/", 120, 120)
    assert loop.example == urls[-1]


def test_a_pattern_that_is_most_of_a_long_crawl_is_told(tmp_path: Path) -> None:
    urls = [f"{SITE}/shop?page={number}" for number in range(400)]
    watch = log_of(tmp_path, *({"url": url, "outcome": "fetched"} for url in urls))

    assert [loop.pattern for loop in watch.loops([])] == [f"{SITE}/shop?page=*"]


@pytest.mark.parametrize(
    ("prefix", "example", "line"),
    [
        (f"{SITE}/a/b/x", f"{SITE}/a/b/xy", f"{SITE}/a/b/"),
        (f"{SITE}/", f"{SITE}/a/b", f"{SITE}/a/"),
        (f"{SITE}/", f"{SITE}/x?sid=1&b=2", f"{SITE}/*?sid=*"),
        (f"{SITE}/x?", f"{SITE}/x?sid=1", f"{SITE}/x?*"),
        (f"{SITE}/", f"{SITE}/only", f"{SITE}/only"),
    ],
)
def test_a_line_to_ban_never_names_a_whole_host(prefix: str, example: str, line: str) -> None:
    assert ban_line(prefix, example) == line


def test_a_service_is_printed_with_the_way_to_remove_it() -> None:
    for platform in ("linux", "win32", "darwin"):
        text = service_text(Path("/a dir"), platform)
        assert "/a dir" in text
        assert "remove it" in text


def test_every_setting_of_a_unit_is_in_the_documents() -> None:
    text = (Path(__file__).parents[2] / "docs" / "fleet.md").read_text(encoding="utf-8")

    missing = [f.name for f in fields(UnitSettings) if f"| `{f.name}` | " not in text]
    assert missing == []


def test_a_job_brings_the_contact_of_its_hub_unless_the_owner_has_one(tmp_path: Path) -> None:
    assignment = an_assignment(user_agent_contact="hub@a.example")

    assert settings_of(tmp_path, assignment)["fetch.contact"] == "hub@a.example"
    own = settings_of(tmp_path, assignment, contact="me@b.example")
    assert own["fetch.contact"] == "me@b.example"
