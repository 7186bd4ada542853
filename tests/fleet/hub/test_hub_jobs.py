"""Jobs from files and commands, their hosts and options, the queue, and long jobs."""

from pathlib import Path

import pytest

from gossamer.errors import UsageError
from gossamer.fleet.hub.jobs import check_spec, hosts_of
from gossamer.fleet.hub.queue import JobQueue
from gossamer.fleet.hub.rows import JobRow
from gossamer.fleet.hub.shown.job_files import format_of, read_jobs
from gossamer.fleet.hub.shown.long_jobs import AllocatedJob, find_long, loops_of, shape_of
from gossamer.fleet.hub.shown.operations import call
from gossamer.fleet.protocol import JobProgress, JobSpec, UrlLoop
from support.a_hub import a_hub, site


@pytest.mark.parametrize(
    ("kind", "seeds", "options", "hosts"),
    [
        ("site", ("http://www.bbc.co.uk/x",), {}, (".bbc.co.uk",)),
        ("site", ("http://www.bbc.co.uk/",), {"scope": "host"}, ("www.bbc.co.uk",)),
        ("site", ("http://127.0.0.1:8000/",), {}, ("127.0.0.1",)),
        ("page", ("EXAMPLE.org/a#b",), {}, ("example.org",)),
        ("list", ("a.org/1", "a.org/2", "b.org/"), {}, ("a.org", "b.org")),
        ("list", ("a.org",), {"scope": "list", "scope.domains": ["b.org"]}, (".b.org", "a.org")),
    ],
)
def test_the_hosts_of_a_job_follow_from_its_scope(
    kind: str, seeds: tuple[str, ...], options: dict[str, object], hosts: tuple[str, ...]
) -> None:
    spec = check_spec(JobSpec(kind=kind, seeds=seeds, options=options))  # type: ignore[arg-type]

    assert hosts_of(spec) == hosts


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"seeds": ()}, "at least one seed"),
        ({"seeds": ("a.org", "b.org")}, "has one seed"),
        ({"seeds": ("mailto:x",)}, "is not a URL"),
        ({"options": {"scope": "any"}}, "hosts must be known"),
        ({"options": {"proxy": "http://x"}}, "is not an option of a job"),
        ({"options": {"cookies": "/etc/passwd"}}, "is not an option of a job"),
        ({"options": {"order": "sideways"}}, "must be one of"),
        ({"depth": 99}, "the depth of a job"),
        ({"max_pages": -1}, "0 .no limit. or more"),
    ],
)
def test_a_job_that_cannot_be_done_is_refused(facts: dict[str, object], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        check_spec(JobSpec(**{"kind": "site", "seeds": ("a.org",), **facts}))  # type: ignore[arg-type]


def test_jobs_are_read_from_all_formats() -> None:
    lines = read_jobs("\ufeffa.org # one\n\n# no\nb.org\n", "txt", {"kind": "site"}, "x")
    whole = read_jobs("a.org\nb.org\n", "txt", {"kind": "list"}, "x")
    table = read_jobs("url,name,max_pages,duplicates\na.org,A,5,exact\n", "csv", {}, "x")
    objects = read_jobs('{"seeds": ["a.org", "b.org"], "place": "de"}\n', "jsonl", {}, "x")
    toml = read_jobs(
        '[defaults]\nmax_pages = 7\n[[job]]\nurl = "a.org"\n[[job]]\nurl="b.org"\nkind="page"\n',
        "toml", {}, "x",
    )  # fmt: skip

    assert [job.seeds for job in lines] == [("a.org",), ("b.org",)]
    assert [job.seeds for job in whole] == [("a.org", "b.org")]
    assert (table[0].name, table[0].max_pages) == ("A", 5)
    assert table[0].options == {"duplicates": "exact"}
    assert (objects[0].kind, objects[0].place.label) == ("list", "de")
    assert [(job.kind, job.max_pages) for job in toml] == [("site", 7), ("page", 7)]
    assert [format_of(n) for n in ("a", "a.CSV", "a.ndjson", "b.toml", "c.urls")] == [
        "txt", "csv", "jsonl", "toml", "txt",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "form", "told"),
    [
        ("", "txt", "x has no job"),
        ("name\nA\n", "csv", "line 1: the header has no column"),
        ("url,name\na.org,A,more\n", "csv", "line 2: the line has more cells"),
        ("url,max_pages\na.org,many\n", "csv", "line 2"),
        ("{}\n[1]\n", "jsonl", "line 2: an object"),
        ('{"url": "a.org"}\n{', "jsonl", "line 2: not valid JSON"),
        ('{"url": "a.org", "colour": 1}', "jsonl", "line 1: 'colour' is not a field"),
        ('[[job]]\nurl = "a.org"\ndepth = "x"\n', "toml", "job 1"),
        ("[other]\n", "toml", "'other' is not a table of jobs"),
        ("[[job]\n", "toml", "not valid TOML"),
    ],
)
def test_a_wrong_file_of_jobs_names_its_line(text: str, form: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        read_jobs(text, form, {}, "x")


def row(number: int, host: str, priority: int = 0) -> JobRow:
    return JobRow(
        id=f"j{number}", number=number, name="", kind="site", hosts=(host,), priority=priority
    )


def test_the_queue_gives_jobs_in_order_and_passes_over_hosts_that_are_leased() -> None:
    queue = JobQueue()
    for number, host in enumerate(("a", "a", "b", "c"), 1):
        queue.add(row(number, host))
    queue.add(row(9, "d", priority=-1))

    def chosen(**facts: object) -> str | None:
        job = queue.choose(lambda job: job.id not in facts.get("without", ()))  # type: ignore[operator]
        return job.id if job else None

    assert chosen() == "j9"
    queue.remove("j9")
    queue.block("a")
    assert chosen() == "j3"
    queue.unblock("a")
    assert chosen() == "j1"
    assert chosen(without=("j1",)) == "j2"
    nearest = queue.choose(lambda _job: True, lambda job: -job.number)
    assert nearest is not None
    assert nearest.id == "j4"
    for name in ("j1", "j2", "j3", "j4"):
        queue.remove(name)
    assert chosen() is None
    assert len(queue) == 0


def test_many_jobs_of_leased_hosts_cost_nothing() -> None:
    queue = JobQueue()
    for number in range(20_000):
        queue.add(row(number, "big"))
    queue.block("big")
    looked: list[str] = []

    def may_have(job: JobRow) -> bool:
        looked.append(job.id)
        return True

    assert queue.choose(may_have) is None
    assert looked == []


def test_a_long_job_is_found_with_the_pattern_that_loops() -> None:
    loop = UrlLoop(pattern="*/calendar/*", urls=900, fetched=300, example="https://a/calendar/1")
    told = JobProgress(job="j1", fence=1, fetched=400, queued=600, loops=(loop,))
    running = [AllocatedJob("j1", "site", 5_000, None), AllocatedJob("j2", "site", 700, told)]
    done = [("site", 100.0)] * 5 + [("page", 1.0)] * 50

    found = find_long(running, done, factor=5, least_s=600)

    assert [(one.job, one.expected_s) for one in found] == [("j1", 100.0), ("j2", 100.0)]
    assert "the median of others is 100 s" in found[0].why
    assert "900 URLs of the form */calendar/*" in found[1].why
    assert find_long(running[:1], done[:4], factor=5, least_s=600) != []
    assert find_long(running[:1], [], factor=5, least_s=600) == []


def test_a_pattern_is_found_in_recent_urls_if_the_unit_tells_none() -> None:
    recent = tuple(f"https://a.org/day/2026-{at}?page={at}" for at in range(10))
    [loop] = loops_of(JobProgress(job="j", fence=1, recent=recent))

    assert loop.pattern == shape_of(recent[0]) == "https://a.org/day/*-*?page=*"
    assert (
        loops_of(JobProgress(job="j", fence=1, recent=("https://a.org/x", "https://a.org/y"))) == ()
    )


def test_one_call_bans_the_pattern_that_makes_a_job_long(tmp_path: Path) -> None:
    test = a_hub(tmp_path, long_least_s=1)
    test.hub.add_jobs([site(f"s{at}.org") for at in range(6)])
    unit = test.new_unit()
    for _ in range(5):
        short = unit.ask()
        test.later(1)
        unit.finish(short)
    job = unit.ask()
    loop = UrlLoop(pattern="https://s5.org/cal/*", urls=10, fetched=5)
    test.later(50)
    unit.tell(job, fetched=10, loops=(loop,))

    [long] = test.hub.long_jobs()
    assert (long["task"], long["machine"], long["pattern"]) == (job.job, "den", loop.pattern)
    found = call(test.hub, "ban_loop", "operator", {"job": job.job})
    assert found["bans"] == [loop.pattern]
    assert unit.tell(job, fetched=11).bans_version == 1


def test_the_report_has_machine_task_site_start_and_jobs_done(tmp_path: Path) -> None:
    test = a_hub(tmp_path, lease_s=100, wait_s=1)
    test.hub.add_jobs([site("example.org"), site("example.net")])
    unit = test.new_unit("room-3-pc-7")
    unit.finish(unit.ask())
    job = unit.ask()

    [seen] = test.hub.machines()
    columns = ("machine", "task", "site", "start", "jobs_done", "state")
    assert [seen[name] for name in columns] == [
        "room-3-pc-7", job.job, "example.net", "2026-01-01T00:00:00Z", 1, "idle",
    ]  # fmt: skip
    assert test.hub.jobs()["counts"] == {"unallocated": 0, "allocated": 1, "done": 1, "failed": 0}
    saved = test.hub.packages()
    assert saved["saved_bytes"] == saved["crawled_bytes"] - saved["sent_bytes"] > 0
    assert [one["name"] for one in test.hub.tree()] == ["room-3-pc-7"]
    test.later(1_000)
    assert test.hub.machines()[0]["state"] == "silent"
