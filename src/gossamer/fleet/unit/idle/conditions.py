"""When does a unit work? Separate conditions to start, to suspend, to continue and to give back.

    start      nobody has used the machine for a while, other programs use little CPU, it is not on
               battery, it is an hour of work, there is disk space and traffic left
    suspend    somebody uses the machine now, other programs need twice as much CPU, the machine is
               on battery, or the hours of work are over
    continue   none of these holds for `resume_s`
    give back  suspended for longer than `give_back_s`, or no disk space is left

A suspended job keeps its lease and its pages. Pure: `probes.py` measures, `loop.py` acts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from gossamer.fleet.settings import UnitSettings
from gossamer.fleet.unit.idle.work_hours import WorkHours

_ACTIVE_S: Final = 10.0  # input within so many seconds: somebody uses the machine now
_SUSPEND_CPU: Final = 2.0  # times the share up to which a job may start


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineState:
    """The machine at one moment. None: the system does not tell, which counts as idle."""

    input_idle_s: float | None = None
    other_cpu: float | None = None  # share of all cores
    is_on_battery: bool = False
    weekday: int = 0  # local; 0 is Monday
    minute: int = 0  # local, of the day
    free_bytes: int = 2**62
    used_bytes: int = 0  # of the unit's directory
    month_bytes: int = 0  # traffic


class JobAction(Enum):
    """What is to be done with jobs."""

    RUN = auto()
    SUSPEND = auto()
    GIVE_BACK = auto()


@dataclass(frozen=True, slots=True)
class WorkVerdict:
    """What a unit may do now, and for people why not more."""

    may_start: bool
    work: JobAction
    why: str = ""


class WorkConditions:
    """The conditions of one unit. It remembers since when they hold."""

    def __init__(self, settings: UnitSettings) -> None:
        """Raises UsageError for hours that cannot be read."""
        self._settings = settings
        self._hours = WorkHours(settings.hours)
        self._suspended_s: float | None = None  # since when
        self._good_s: float | None = None  # since when no reason to suspend holds

    def judge(self, state: MachineState, now_s: float) -> WorkVerdict:
        """`now_s` is monotonic."""
        full = self._why_full(state)
        busy = self._why_suspend(state)
        if full:
            return WorkVerdict(False, JobAction.GIVE_BACK, full)
        if busy:
            self._good_s = None
            if self._suspended_s is None:
                self._suspended_s = now_s
            is_long = now_s - self._suspended_s > self._settings.give_back_s
            return WorkVerdict(False, JobAction.GIVE_BACK if is_long else JobAction.SUSPEND, busy)
        if self._suspended_s is not None:
            if self._good_s is None:
                self._good_s = now_s
            if now_s - self._good_s < self._settings.resume_s:
                return WorkVerdict(False, JobAction.SUSPEND, "the machine was in use a moment ago")
            self._suspended_s = self._good_s = None
        why = self._why_not_start(state)
        return WorkVerdict(not why, JobAction.RUN, why)

    def _why_full(self, state: MachineState) -> str:
        if state.free_bytes < self._settings.min_free_bytes:
            return "too little disk space is free (min_free_bytes)"
        return ""

    def _why_suspend(self, state: MachineState) -> str:
        settings = self._settings
        most = settings.max_bytes_month
        if most and state.month_bytes >= most:
            return "the traffic of this month is used up (max_bytes_month)"
        if settings.when == "always":
            return ""
        idle_s = state.input_idle_s
        if settings.idle_s and idle_s is not None and idle_s < min(_ACTIVE_S, settings.idle_s):
            return "somebody uses the machine"
        if _is_more(state.other_cpu, settings.max_other_cpu, _SUSPEND_CPU):
            return "other programs need the CPU"
        return self._why_never(state)

    def _why_not_start(self, state: MachineState) -> str:
        settings = self._settings
        if state.used_bytes >= settings.max_disk_bytes:
            return "the unit has used its disk space (max_disk_bytes)"
        if settings.when == "always":
            return ""
        idle_s = state.input_idle_s
        if settings.idle_s and idle_s is not None and idle_s < settings.idle_s:
            return "somebody used the machine a while ago"
        if _is_more(state.other_cpu, settings.max_other_cpu, 1.0):
            return "other programs use the CPU"
        return ""

    def _why_never(self, state: MachineState) -> str:
        if state.is_on_battery and not self._settings.on_battery:
            return "the machine is on battery"
        if not self._hours.is_open(state.weekday, state.minute):
            return "it is not an hour of work"
        return ""


def _is_more(used: float | None, most: float, times: float) -> bool:
    """Whether a share of the CPU is more than allowed; a limit of 1 is none."""
    return used is not None and most < 1.0 and used > min(0.95, most * times)
