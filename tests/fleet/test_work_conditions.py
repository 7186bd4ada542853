"""When a unit works: pure rules."""

from __future__ import annotations

import pytest

from gossamer.errors import UsageError
from gossamer.fleet.settings import UnitSettings
from gossamer.fleet.unit.idle.conditions import JobAction, MachineState, WorkConditions
from gossamer.fleet.unit.idle.work_hours import WorkHours

MON, FRI, SAT, SUN = 0, 4, 5, 6


def test_a_machine_without_input_devices_is_idle() -> None:
    verdict = WorkConditions(UnitSettings()).judge(MachineState(), 0.0)

    assert (verdict.may_start, verdict.work, verdict.why) == (True, JobAction.RUN, "")


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (MachineState(input_idle_s=179.0), "somebody used the machine"),
        (MachineState(other_cpu=0.3), "other programs use the CPU"),
        (MachineState(is_on_battery=True), "on battery"),
        (MachineState(free_bytes=1000), "disk space"),
        (MachineState(used_bytes=2**40), "max_disk_bytes"),
    ],
)
def test_no_job_starts_on_a_machine_that_is_used(state: MachineState, why: str) -> None:
    verdict = WorkConditions(UnitSettings()).judge(state, 0.0)

    assert not verdict.may_start
    assert why in verdict.why


@pytest.mark.parametrize(
    ("state", "work"),
    [
        (MachineState(input_idle_s=60.0), JobAction.RUN),
        (MachineState(input_idle_s=1.0), JobAction.SUSPEND),
        (MachineState(other_cpu=0.4), JobAction.RUN),
        (MachineState(other_cpu=0.6), JobAction.SUSPEND),
        (MachineState(is_on_battery=True), JobAction.SUSPEND),
        (MachineState(free_bytes=1000), JobAction.GIVE_BACK),
    ],
)
def test_what_stops_a_start_need_not_suspend_a_job(state: MachineState, work: JobAction) -> None:
    assert WorkConditions(UnitSettings()).judge(state, 0.0).work is work


def test_a_suspended_job_resumes_after_a_quiet_while_and_not_before() -> None:
    conditions = WorkConditions(UnitSettings(resume_s=60.0))
    used, free = MachineState(input_idle_s=0.0), MachineState(input_idle_s=200.0)

    assert conditions.judge(used, 0.0).work is JobAction.SUSPEND
    assert conditions.judge(free, 10.0).work is JobAction.SUSPEND
    assert conditions.judge(used, 40.0).work is JobAction.SUSPEND, "the while begins anew"
    assert conditions.judge(free, 50.0).work is JobAction.SUSPEND
    assert conditions.judge(free, 109.0).work is JobAction.SUSPEND
    assert conditions.judge(free, 110.0).work is JobAction.RUN


def test_a_job_that_is_suspended_for_long_is_given_back() -> None:
    conditions = WorkConditions(UnitSettings(give_back_s=600.0))
    used = MachineState(input_idle_s=0.0)

    assert conditions.judge(used, 0.0).work is JobAction.SUSPEND
    assert conditions.judge(used, 600.0).work is JobAction.SUSPEND
    assert conditions.judge(used, 601.0).work is JobAction.GIVE_BACK


def test_a_unit_that_always_works_looks_at_disk_and_traffic_only() -> None:
    conditions = WorkConditions(UnitSettings(when="always", max_bytes_month=1000))
    used = MachineState(input_idle_s=0.0, other_cpu=1.0, is_on_battery=True)

    assert conditions.judge(used, 0.0).may_start
    assert conditions.judge(MachineState(month_bytes=1000), 1.0).work is JobAction.SUSPEND


def test_hours_of_work_hold_per_weekday_and_over_midnight() -> None:
    hours = WorkHours(["mon-fri 18-8", "sat,sun 0-24"])

    assert hours.is_open(MON, 18 * 60)
    assert not hours.is_open(MON, 12 * 60)
    assert not hours.is_open(MON, 7 * 60), "the night of Sunday is not listed"
    assert hours.is_open(SAT, 7 * 60)
    assert hours.is_open(FRI, 23 * 60 + 59)
    assert hours.is_open(SUN, 12 * 60)
    assert WorkHours([]).is_open(MON, 0)
    assert WorkHours(["22:30-6"]).is_open(MON, 22 * 60 + 30)
    assert not WorkHours(["22:30-6"]).is_open(MON, 22 * 60 + 29)


@pytest.mark.parametrize("line", ["", "mon", "mon 8", "foo 8-9", "mon 8-25", "8:75-9", "mon 8-9 x"])
def test_hours_that_cannot_be_read_are_refused(line: str) -> None:
    with pytest.raises(UsageError, match="hours"):
        WorkHours([line])


def test_outside_the_hours_of_work_a_job_is_suspended() -> None:
    conditions = WorkConditions(UnitSettings(hours=("mon 18-8",)))

    assert conditions.judge(MachineState(weekday=MON, minute=600), 0.0).work is JobAction.SUSPEND
