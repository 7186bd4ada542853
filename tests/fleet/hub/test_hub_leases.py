"""Jobs are given out under leases; each is done once, whoever is silent and returns."""

from pathlib import Path

import pytest

from gossamer.fleet.hub.faults import UnitRefusal
from gossamer.fleet.hub.leases import HostLeases, LeaseEnds, judge_lease
from gossamer.fleet.hub.rows import JobRow
from gossamer.fleet.protocol import JobProgress, UsedHost
from support.a_hub import a_hub, notice_of, packed, pages_of, site


def job_row(**facts: object) -> JobRow:
    row = JobRow(id="j1", number=1, name="x", kind="site", state="allocated", unit="u1", fence=2)
    row.holders = ("u2", "u1")
    for name, value in facts.items():
        setattr(row, name, value)
    return row


@pytest.mark.parametrize(
    ("facts", "unit", "fence", "verdict"),
    [
        ({}, "u1", 2, "current"),
        ({}, "u2", 2, "stale"),
        ({}, "u1", 3, "stale"),
        ({}, "u1", 0, "stale"),
        ({}, "u3", 1, "stale"),
        ({"state": "unallocated"}, "u3", 1, "stale"),
        ({"holders": ("u1",)}, "u2", 1, "stale"),  # too long ago
        ({"state": "unallocated"}, "u1", 2, "late"),
        ({"state": "unallocated"}, "u2", 1, "late"),
        ({}, "u2", 1, "late"),  # u1 has not started
        ({"has_started": True}, "u2", 1, "stale"),
        ({"state": "done"}, "u1", 2, "stale"),
        ({"state": "failed"}, "u1", 2, "stale"),
    ],
)
def test_only_the_unit_with_the_lease_counts_or_one_that_nobody_has_replaced(
    facts: dict[str, object], unit: str, fence: int, verdict: str
) -> None:
    assert judge_lease(job_row(**facts), unit, fence) == verdict


def test_a_host_belongs_to_one_job_with_all_hosts_below_it() -> None:
    leases = HostLeases()
    leases.take("j1", (".example.org", "one.test"))

    assert leases.holder("example.org") == "j1"
    assert leases.holder("www.example.org") == "j1"
    assert leases.holder(".www.example.org") == "j1"
    assert leases.holder(".test") == "j1"
    assert leases.holder(".org") == "j1"
    assert leases.are_free(("notexample.org", "two.test", ".net", "test"))
    leases.release("j2", (".example.org",))
    assert leases.holder("a.example.org") == "j1"
    leases.release("j1", (".example.org", "one.test"))
    assert leases.are_free((".org", ".test"))
    assert len(leases) == 0


def test_a_lease_that_was_renewed_ends_later() -> None:
    ends = LeaseEnds()
    ends.set("a", 10)
    ends.set("b", 11)
    ends.set("a", 20)

    assert ends.take_ended(9) == []
    assert ends.take_ended(12) == ["b"]
    assert ends.take_ended(19) == []
    assert ends.take_ended(20) == ["a"]
    ends.set("a", 30)
    ends.drop("a")
    assert ends.take_ended(100) == []


def test_a_job_goes_from_unallocated_to_done_and_is_counted_once(tmp_path: Path) -> None:
    test = a_hub(tmp_path)
    test.hub.add_jobs([site("example.org")])
    unit = test.new_unit()

    job = unit.ask()
    assert (job.fence, job.hosts) == (1, (".example.org",))
    unit.finish(job, pages_of("https://example.org/", "https://example.org/a"))
    unit.tell(job, fetched=2, ending="done")  # the answer was lost: told again

    row = test.hub.giving.job(job.job)
    assert (row.state, row.fetched, unit.row.jobs_done) == ("done", 2, 1)
    assert len(test.pieces.merged) == 1
    assert unit.poll(wants_job=True).job is None


def test_a_lost_answer_brings_the_same_job_under_the_same_fence(tmp_path: Path) -> None:
    test = a_hub(tmp_path)
    test.hub.add_jobs([site("example.org"), site("example.net")])
    unit = test.new_unit()

    first = unit.ask()

    assert unit.ask() == first


def test_a_job_of_a_silent_unit_is_given_to_another_and_the_first_is_told_to_stop(
    tmp_path: Path,
) -> None:
    test = a_hub(tmp_path, lease_s=100)
    test.hub.add_jobs([site("example.org")])
    silent, other = test.new_unit("a"), test.new_unit("b")
    job = silent.ask()
    silent.tell(job, fetched=3)

    test.later(99)
    assert other.poll(wants_job=True).job is None
    test.later(2)
    again = other.ask()
    other.tell(again, fetched=1)

    assert (again.job, again.fence) == (job.job, 2)
    assert silent.tell(job, fetched=4).stop == (job.job,)
    with pytest.raises(UnitRefusal, match="given to another unit") as refused:
        silent.send(job, pages_of("https://example.org/"))
    assert refused.value.status == 409
    other.finish(again)
    assert (silent.row.jobs_done, other.row.jobs_done) == (0, 1)


def test_a_silent_unit_that_returns_in_time_resumes_its_job(tmp_path: Path) -> None:
    test = a_hub(tmp_path, lease_s=100)
    test.hub.add_jobs([site("example.org")])
    unit = test.new_unit()
    job = unit.ask()

    test.later(500)
    assert test.hub.giving.job(job.job).state == "unallocated"
    answer = unit.tell(job, fetched=7)

    assert (answer.stop, list(answer.renewed)) == ((), [job.job])
    assert test.hub.giving.job(job.job).state == "allocated"
    unit.finish(job)
    assert unit.row.jobs_done == 1


def test_a_late_package_is_used_if_nobody_else_has_started(tmp_path: Path) -> None:
    test = a_hub(tmp_path, lease_s=100)
    test.hub.add_jobs([site("example.org")])
    first, second = test.new_unit("a"), test.new_unit("b")
    job = first.ask()
    test.later(200)
    again = second.ask()

    assert first.send(job, pages_of("https://example.org/")).is_new
    assert test.hub.giving.job(job.job).state == "done"
    assert second.tell(again, fetched=1).stop == (job.job,)
    repeated = notice_of(job.job, job.fence, packed(pages_of("https://example.org/")))
    assert not test.hub.take_package(first.row, repeated).is_new
    assert (first.row.jobs_done, second.row.jobs_done) == (1, 0)
    assert len(test.pieces.merged) == 1


def test_a_unit_cannot_send_for_the_job_of_another(tmp_path: Path) -> None:
    test = a_hub(tmp_path)
    test.hub.add_jobs([site("example.org")])
    owner, thief = test.new_unit("a"), test.new_unit("b")
    job = owner.ask()

    with pytest.raises(UnitRefusal) as refused:
        thief.send(job, pages_of("https://example.org/"))

    assert refused.value.status == 403
    assert thief.tell(job, fetched=1).stop == (job.job,)
    assert test.hub.giving.job(job.job).unit == owner.row.id


def test_no_two_units_work_on_one_host_and_the_next_waits_for_the_delay(tmp_path: Path) -> None:
    test = a_hub(tmp_path, host_delay_s=2)
    test.hub.add_jobs([site("example.org"), site("www.example.org"), site("example.net")])
    one, two, three = (test.new_unit(name) for name in "abc")

    first, other = one.ask(), two.ask()
    assert (first.hosts, other.hosts) == ((".example.org",), (".example.net",))
    assert three.poll(wants_job=True).job is None
    used = UsedHost(host="www.example.org", delay_s=30.0, since_s=4.0)
    one.poll(JobProgress(job=first.job, fence=1, fetched=1, used=(used,)), state="working")
    one.finish(first)

    assert three.ask().host_waits == {"www.example.org": 26.0}


def test_a_job_that_was_given_back_waits_for_the_unit_that_has_its_pages(tmp_path: Path) -> None:
    test = a_hub(tmp_path, own_unit_s=60)
    test.hub.add_jobs([site("example.org")])
    unit, other = test.new_unit("a"), test.new_unit("b")
    job = unit.ask()
    unit.tell(job, fetched=5, ending="released", reason="user is active")

    assert other.poll(wants_job=True).job is None
    again = unit.ask()
    assert again.fence == 2
    unit.tell(again, fetched=5, ending="released")
    test.later(61)
    assert other.ask().fence == 3


def test_a_failed_job_goes_to_another_unit_and_fails_after_some_tries(tmp_path: Path) -> None:
    test = a_hub(tmp_path, max_tries=3)
    test.hub.add_jobs([site("example.org")])
    one, two = test.new_unit("a"), test.new_unit("b")

    job = one.ask()
    one.tell(job, ending="failed", reason="no disk space")
    assert one.poll(wants_job=True).job is None
    two.tell(two.ask(), ending="failed", reason="no disk space")
    assert one.tell(one.ask(), ending="failed", reason="no disk space").stop == ()

    row = test.hub.giving.job(job.job)
    assert (row.state, row.reason, row.tries) == ("failed", "no disk space", 3)
    test.hub.again(job.job)
    assert two.ask().fence == 4


def test_a_unit_that_says_done_without_a_package_has_failed(tmp_path: Path) -> None:
    test = a_hub(tmp_path)
    test.hub.add_jobs([site("example.org"), site("example.net")])
    unit = test.new_unit()

    empty = unit.ask()
    unit.tell(empty, fetched=0, ending="done")
    job = unit.ask()
    unit.tell(job, fetched=10, ending="done")

    assert test.hub.giving.job(empty.job).state == "done"
    assert test.hub.giving.job(job.job).reason == "the unit sent no package"


def test_a_restarted_hub_has_everything_that_it_answered(tmp_path: Path) -> None:
    test = a_hub(tmp_path, lease_s=100)
    test.hub.add_jobs([site("example.org"), site("example.net"), site("example.com")])
    unit = test.new_unit()
    done = unit.ask()
    unit.finish(done)
    job = unit.ask()
    test.hub.state.close()  # as after a kill: nothing is written at the end

    again = a_hub(tmp_path, lease_s=100, clock=test.clock)
    row = again.hub.unit_of(unit.token)

    assert row.jobs_done == 1
    assert again.hub.giving.job(done.job).state == "done"
    unit.hub, unit.row = again.hub, row
    assert list(unit.tell(job, fetched=1).renewed) == [job.job]
    other = again.new_unit("b").ask()
    assert (other.job, other.spec.name) == ("j3", "example.com")
    again.later(101)
    assert again.hub.giving.job(job.job).state == "unallocated"


def test_a_job_whose_package_cannot_be_merged_is_done_again(tmp_path: Path) -> None:
    hub = a_hub(tmp_path, max_tries=2)
    hub.hub.add_jobs([site("a.example")])
    unit = hub.new_unit()
    unit.finish(unit.ask())
    first = hub.pieces.merged[-1]
    hub.hub.merge_failed(first, "a file was damaged")
    hub.later(10)
    again = unit.ask()
    unit.finish(again, pages_of("https://a.example/", text="new"))
    hub.hub.intake.note_merged(hub.pieces.merged[-1])

    assert again.fence == 2
    assert [row.state for row in hub.hub.state.packages] == ["refused", "merged"]
    assert [job.state for job in hub.hub.state.jobs] == ["done"]
    hub.hub.merge_failed(first, "once more")  # told twice: nothing happens
    assert [job.state for job in hub.hub.state.jobs] == ["done"]
