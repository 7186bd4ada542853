"""Select the pages and the columns of an export.

--outcome fetched,failed     by outcome of the URL
--status 404  4xx  200-299   by HTTP status; several are joined by OR
--columns url,status,title   in this order
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from gossamer.errors import UsageError
from gossamer.frontier.rows import UrlRow
from gossamer.records import Outcome
from gossamer.settings import nearest

OUTCOMES: Final = tuple(outcome.value for outcome in Outcome)
_STATUS: Final = re.compile(r"(\d{3})|([1-9])xx|(\d{3})-(\d{3})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Choice:
    """Pages by outcome and status, and columns by name; empty means all."""

    outcomes: tuple[str, ...] = ()
    statuses: tuple[tuple[int, int], ...] = ()  # first and last, both included
    columns: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        outcomes: Iterable[str] = (),
        statuses: Iterable[str] = (),
        columns: Iterable[str] = (),
    ) -> Choice:
        """Parse the options; each text may hold several values with commas. Raises UsageError."""
        return cls(
            tuple(map(_outcome, _parted(outcomes))),
            tuple(map(_span, _parted(statuses))),
            tuple(dict.fromkeys(_parted(columns))),
        )

    @property
    def is_filter(self) -> bool:
        """Whether some rows are excluded."""
        return bool(self.outcomes or self.statuses)

    def admits(self, row: UrlRow) -> bool:
        """Whether a URL is selected."""
        if self.outcomes and row.outcome.value not in self.outcomes:
            return False
        return not self.statuses or any(a <= row.status <= b for a, b in self.statuses)

    def condition(self) -> str:
        """Return the same condition in SQL, over the columns `outcome_` and `status_`."""
        outcomes = " or ".join(f"outcome_ = '{one}'" for one in self.outcomes)
        statuses = " or ".join(f"status_ between {a} and {b}" for a, b in self.statuses)
        return " and ".join(f"({part})" for part in (outcomes, statuses) if part) or "true"

    def names(self, schema: Any) -> tuple[str, ...]:
        """Return the selected columns of a table. Raises UsageError for an unknown column."""
        for name in self.columns:
            if name not in schema.names:
                known = ", ".join(schema.names)
                raise UsageError(
                    f"unknown column {name!r}; the columns are {known}{nearest(name, schema.names)}"
                )
        return self.columns or tuple(schema.names)

    def narrowed(self, schema: Any) -> Any:
        """Return the schema with the selected columns only."""
        return schema.empty_table().select(list(self.names(schema))).schema


ALL: Final = Choice()


def _parted(texts: Iterable[str]) -> list[str]:
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def _outcome(text: str) -> str:
    if text not in OUTCOMES:
        raise UsageError(f"--outcome is {text!r}, but it must be one of {', '.join(OUTCOMES)}")
    return text


def _span(text: str) -> tuple[int, int]:
    found = _STATUS.fullmatch(text)
    if found is None:
        raise UsageError(
            f"--status is {text[:40]!r}, but it must be a status such as 404, a class such as 4xx "
            "or a range such as 200-299"
        )
    one, group, first, last = found.groups()
    if one:
        return int(one), int(one)
    if group:
        return int(group) * 100, int(group) * 100 + 99
    if int(first) > int(last):
        raise UsageError(f"--status is {text}, but a range starts with the smaller number")
    return int(first), int(last)
