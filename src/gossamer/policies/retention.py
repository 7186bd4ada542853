"""Which old captures of a page may be deleted? The rule of the setting `archive.keep`.

    all                          keep every capture
    versions                     keep every version, but not every visit that found no change
    last 3                       keep the last three versions
    90 days                      keep what was current at any time within the last 90 days
    one a month after a year     keep everything for a year, and then one version per month

Several rules are joined by `or`: `last 3 or 90 days` keeps what one of them keeps.

A *version* is a run of captures in a row with the same content. Of a version that is kept, the
first and the last capture stay: they say from when until when the page had this content. Kept
under every rule are the newest version, the one before it, and the one before the last change
that counts, so that `diff` can always show the last change.

When a version between two versions with the same content is deleted, these two become one. So the
rule is applied until it changes nothing. Pure: told the time, and independent of the order of the
captures.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final, NamedTuple

from gossamer.errors import SettingsError

_HOUR_US: Final = 3_600_000_000
_DAY_US: Final = 24 * _HOUR_US
_UNITS: Final = {
    "h": _HOUR_US,
    "hour": _HOUR_US,
    "d": _DAY_US,
    "day": _DAY_US,
    "w": 7 * _DAY_US,
    "week": 7 * _DAY_US,
    "month": 30 * _DAY_US,
    "y": 365 * _DAY_US,
    "year": 365 * _DAY_US,
}
_PERIODS: Final = {"day": "%Y-%m-%d", "week": "%G-%V", "month": "%Y-%m", "year": "%Y"}
_AGE: Final = r"(?P<count>\d{1,6}|an?|one)\s*(?P<unit>h|hour|d|day|w|week|month|y|year)s?"
_IN_DAYS: Final = re.compile(_AGE)
_LAST: Final = re.compile(r"last (?P<count>\d{1,6})(?: versions?)?")
_THINNED: Final = re.compile(rf"one (?:an?|per) (?P<period>\w+)(?: after {_AGE})?")
_NOT_MODIFIED: Final = 304


class PastCapture(NamedTuple):
    """One capture of a page: when, and what identifies its content."""

    at_us: int
    digest: str  # of the body; a visit that found no change has that of the body it confirms
    status: int

    def has_content_of(self, other: PastCapture) -> bool:
        """Whether both have the same content. Redirects may differ in their target."""
        statuses = {200 if one.status == _NOT_MODIFIED else one.status for one in (self, other)}
        is_redirect = 300 <= min(statuses) < 400
        is_same = bool(self.digest) and self.digest == other.digest and len(statuses) == 1
        return is_same and not is_redirect


@dataclass(frozen=True, slots=True)
class _Version:
    """Captures in a row with the same content."""

    captures: Sequence[PastCapture]
    until_us: int | None  # when the next version was found; None: it is current

    @property
    def from_us(self) -> int:
        return self.captures[0].at_us

    def is_current_after(self, at_us: int) -> bool:
        return self.until_us is None or self.until_us > at_us


class _Clause(ABC):
    @abstractmethod
    def wanted(self, versions: Sequence[_Version], now_us: int) -> Iterable[int]:
        """Return the positions of the versions to keep."""


@dataclass(frozen=True, slots=True)
class _Every(_Clause):
    def wanted(self, versions: Sequence[_Version], now_us: int) -> Iterable[int]:  # noqa: ARG002
        return range(len(versions))


@dataclass(frozen=True, slots=True)
class _Last(_Clause):
    count: int

    def wanted(self, versions: Sequence[_Version], now_us: int) -> Iterable[int]:  # noqa: ARG002
        return range(max(0, len(versions) - self.count), len(versions))


@dataclass(frozen=True, slots=True)
class _Within(_Clause):
    age_us: int

    def wanted(self, versions: Sequence[_Version], now_us: int) -> Iterable[int]:
        after_us = now_us - self.age_us
        return (at for at, one in enumerate(versions) if one.is_current_after(after_us))


@dataclass(frozen=True, slots=True)
class _Thinned(_Clause):
    """One version per period: the last that was found in it."""

    period: str
    age_us: int  # younger versions are all kept

    def wanted(self, versions: Sequence[_Version], now_us: int) -> Iterable[int]:
        last_of = {_period(one.from_us, self.period): at for at, one in enumerate(versions)}
        young = _Within(self.age_us).wanted(versions, now_us) if self.age_us else ()
        return {*last_of.values(), *young}


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """A rule, as the operator wrote it."""

    text: str
    keeps_all: bool
    clauses: tuple[_Clause, ...] = ()

    @classmethod
    def read(cls, text: str) -> RetentionRule:
        """Raises SettingsError for a text that is not a rule."""
        words = " ".join(text.lower().split())
        parts = words.split(" or ")
        if "all" in parts:
            return cls(words, True)
        return cls(words, False, tuple(_clause(part, text) for part in parts))

    def kept(
        self, captures: Collection[PastCapture], now_us: int, changed_us: int = 0
    ) -> frozenset[int]:
        """Return the times of the captures of one page that must stay.

        `changed_us` is the time of the last change that counts; 0 if it is not known.
        """
        left = sorted(captures)
        while not self.keeps_all:
            chosen = self._chosen(left, now_us, changed_us)
            if len(chosen) == len(left):
                break
            left = chosen
        return frozenset(one.at_us for one in left)

    def _chosen(
        self, captures: Sequence[PastCapture], now_us: int, changed_us: int
    ) -> list[PastCapture]:
        versions = _versions(captures)
        wanted = {at for clause in self.clauses for at in clause.wanted(versions, now_us)}
        wanted |= {len(versions) - 1, len(versions) - 2}
        starts = [one.from_us for one in versions]
        wanted.add(bisect_left(starts, changed_us) - 1)  # the last that was found before
        chosen = set[PastCapture]()
        for at, version in enumerate(versions):
            if at in wanted:
                chosen |= {version.captures[0], version.captures[-1]}
        return sorted(chosen)


def _versions(captures: Sequence[PastCapture]) -> list[_Version]:
    runs: list[list[PastCapture]] = [[one] for one in captures[:1]]
    for before, after in pairwise(captures):
        if after.has_content_of(before):
            runs[-1].append(after)
        else:
            runs.append([after])
    ends = [*(run[0].at_us for run in runs[1:]), None]
    return [_Version(run, end) for run, end in zip(runs, ends, strict=True)] if runs else []


def _period(at_us: int, period: str) -> str:
    return datetime.fromtimestamp(at_us // 1_000_000, UTC).strftime(_PERIODS[period])


def _clause(part: str, text: str) -> _Clause:
    if part in ("versions", "every version"):
        return _Every()
    if (found := _LAST.fullmatch(part)) is not None and int(found["count"]):
        return _Last(int(found["count"]))
    if (found := _IN_DAYS.fullmatch(part)) is not None:
        return _Within(_age_us(found))
    if (found := _THINNED.fullmatch(part)) is not None and found["period"] in _PERIODS:
        return _Thinned(found["period"], _age_us(found) if found["unit"] else 0)
    raise SettingsError(
        "archive.keep",
        f"is {text!r}, but it must be a rule such as `all`, `versions`, `last 3`, `90 days`, "
        "`one a month after a year`, or several of them joined by ` or `",
    )


def _age_us(found: re.Match[str]) -> int:
    count = int(found["count"]) if found["count"].isdecimal() else 1
    return count * _UNITS[found["unit"]]
