"""Compare the work of a new unit with that of others until ten jobs in a row were good.

Of a share of its jobs a few pages are fetched again by another unit: a *check*, which is a list job
of its own, before all other jobs. Until then its package is not merged. If the pages are the same,
the job was good. If not, a third unit decides: the one with which it agrees was right. If all three
differ, the site is different for everyone, and the check says nothing. A fault sets a unit back to
the start. A trusted unit makes checks, as long as one is there.

`judge_sample` and `judge_three` are pure.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Final, Literal

from gossamer.base.clock import Clock
from gossamer.fleet.hub.giving import JobGiving
from gossamer.fleet.hub.jobs import check_spec
from gossamer.fleet.hub.rows import CheckRow, JobRow, PackageRow, SampledPage, UnitRow
from gossamer.fleet.hub.secure.audit import AuditLog
from gossamer.fleet.hub.state import HubState
from gossamer.fleet.protocol import JobSpec
from gossamer.fleet.settings import HubSettings

Agreement = Literal["same", "different", "unclear"]
_ALIKE: Final = 0.9  # share of the pages that must be equal
_PRIORITY: Final = -1_000
_WAIT_S: Final = 3_600.0  # for a check; then the package is merged without
_ACTIVE_S: Final = 600.0  # a unit that polled so lately is there


def judge_sample(first: Sequence[SampledPage], second: Sequence[SampledPage]) -> Agreement:
    """Whether two units have found the same pages. Pages that one of them does not have do not
    count, unless they are most."""
    other = {page.url: page for page in second}
    both = [(page, other[page.url]) for page in first if page.url in other]
    if len(both) * 2 < len(first) or not both:
        return "unclear"
    equal = sum((one.status, one.digest) == (two.status, two.digest) for one, two in both)
    return "same" if equal >= _ALIKE * len(both) else "different"


def judge_three(
    first: Sequence[SampledPage], second: Sequence[SampledPage], third: Sequence[SampledPage]
) -> Literal["first", "second", "unclear"]:
    """Which of two units that differ was wrong."""
    agrees_first = judge_sample(first, third) == "same"
    agrees_second = judge_sample(second, third) == "same"
    if agrees_first == agrees_second:
        return "unclear"
    return "second" if agrees_first else "first"


def chosen_pages(
    pages: Sequence[SampledPage], most: int, draw: random.Random
) -> tuple[SampledPage, ...]:
    """Pages of a package that another unit fetches again; the unit cannot know which."""
    answered = [page for page in pages if page.status == 200]
    return tuple(draw.sample(answered, min(most, len(answered))))


class Checking:
    """Open checks. The caller holds the lock of the hub."""

    def __init__(
        self,
        state: HubState,
        settings: HubSettings,
        clock: Clock,
        audit: AuditLog,
        giving: JobGiving,
    ) -> None:
        self._state = state
        self._settings = settings
        self._clock = clock
        self._audit = audit
        self._giving = giving
        self._random = random.SystemRandom()
        self.release: Callable[[PackageRow], None] = lambda _row: None
        self.reject: Callable[[PackageRow, str], None] = lambda _row, _reason: None
        giving.may_check = self.may_check

    def is_trusted(self, unit: UnitRow) -> bool:
        return unit.good_in_row >= self._settings.good_jobs

    def begin(
        self, job: JobRow, unit: UnitRow, row: PackageRow, pages: Sequence[SampledPage]
    ) -> bool:
        """A job has ended with this package. Return whether the package must wait for a check. If
        the job is a check itself, judge it."""
        if job.check_of:
            self._judge(job, unit, pages)
            return True  # a repeated part is never merged
        if self.is_trusted(unit) or not self._others(unit.id):
            return False
        if self._random.random() >= self._settings.check_share:
            return False
        sample = chosen_pages(pages, self._settings.check_pages, self._random)
        if not sample:
            return False
        check = CheckRow(
            job=job.id, unit=unit.id, package=row.id, sample=sample, made_us=self._clock.wall_us()
        )
        self._repeat(check, not_for=(unit.id,))
        return True

    def _repeat(self, check: CheckRow, not_for: tuple[str, ...]) -> None:
        """Have the pages of a check fetched by a unit that has not done so."""
        original = self._state.spec_of(check.job)
        kept = ("max_body", "type", "delay", "urls.query", "urls.session_parameters")
        options = {name: original.options[name] for name in kept if name in original.options}
        spec = JobSpec(
            kind="list", seeds=tuple(page.url for page in check.sample), options=options,
            name=f"check of {check.job}",
        )  # fmt: skip
        job = self._giving.add_one(check_spec(spec), _PRIORITY, check_of=check.job, not_for=not_for)
        check.check_jobs = (*check.check_jobs, job.id)
        self._state.checks.put(check)

    def may_check(self, job: JobRow, unit: UnitRow) -> bool:
        """A trusted unit, or any other if no trusted one is there."""
        if unit.id in job.not_for:
            return False
        if self.is_trusted(unit):
            return True
        return not any(
            self.is_trusted(other) and other.id not in job.not_for
            for other in self._others(unit.id)
        )

    def _others(self, unit: str) -> list[UnitRow]:
        """Units other than this one that have polled lately."""
        limit_us = self._clock.wall_us() - round(_ACTIVE_S * 1e6)
        return [
            other
            for other in self._state.units
            if other.id != unit and not other.is_revoked and other.seen_us >= limit_us
        ]

    # -- verdicts

    def _judge(self, job: JobRow, unit: UnitRow, pages: Sequence[SampledPage]) -> None:
        check = self._state.checks.get(job.check_of)
        if check is None or check.verdict or job.id != check.check_jobs[-1]:
            return
        wanted = {page.url for page in check.sample}
        seen = tuple(page for page in pages if page.url in wanted)
        if not check.second_unit:
            found = judge_sample(check.sample, seen)
            if found == "different":
                check.second_unit, check.second = unit.id, seen
                self._repeat(check, not_for=(check.unit, unit.id))
            else:
                self._end(check, "good" if found == "same" else "unclear")
            return
        wrong = judge_three(check.sample, check.second, seen)
        if wrong == "second":
            self.fault(self._state.units[check.second_unit], f"its check of {check.job} was wrong")
        verdicts = {"first": "fault", "second": "good", "unclear": "unclear"}
        self._end(check, verdicts[wrong])

    def _end(self, check: CheckRow, verdict: str) -> None:
        check.verdict = verdict
        unit = self._state.units[check.unit]
        row = self._state.packages.get(check.package)
        if verdict == "good":
            unit.good_in_row += 1
            self._state.units.put(unit)
        if verdict == "fault":
            self.fault(unit, f"its pages of {check.job} are not those that others get")
            if row is not None:
                self.reject(row, "other units have got other pages")
            self._again(check, unit)
        elif row is not None:
            self.release(row)
        self._audit.note("hub", "checked", job=check.job, unit=check.unit, verdict=verdict)
        for name in check.check_jobs:
            self._giving.cancel(name)
        self._state.checks.delete(check.job)

    def _again(self, check: CheckRow, unit: UnitRow) -> None:
        job = self._state.jobs[check.job]
        if not job.is_open:
            unit.jobs_done -= 1
            self._giving.reopen(job, "its pages were not those that others get", (unit.id,))

    def fault(self, unit: UnitRow, why: str) -> None:
        """The unit begins anew."""
        unit.good_in_row = 0
        unit.faults += 1
        self._state.units.put(unit)
        self._audit.note("hub", "fault", unit=unit.id, why=why)

    def end_old(self) -> None:
        """Checks that nobody makes: their packages are merged without."""
        limit_us = self._clock.wall_us() - round(_WAIT_S * 1e6)
        for check in [row for row in self._state.checks if row.made_us < limit_us]:
            self._end(check, "not made")

    def job_gone(self, job: JobRow) -> None:
        """A check has failed: it says nothing."""
        check = self._state.checks.get(job.check_of)
        if check is not None and not check.verdict and job.id in check.check_jobs:
            self._end(check, "unclear")
