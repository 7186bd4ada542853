"""Durations and rates as people write them: `90s`, `1h`, `7d`, `1.5h`, `5/s`, `100/h`."""

from __future__ import annotations

import re
from typing import Final

UNITS_S: Final = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
_DURATION: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*([smhdw])", re.IGNORECASE)
_RATE: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(?:\s*/\s*([smhdw]))?", re.IGNORECASE)


def seconds_of(written: str) -> float:
    """`7d` in seconds. Raises ValueError, whose text says what is expected."""
    found = _DURATION.fullmatch(written.strip())
    if found is None:
        raise ValueError(
            f"{written!r} is not a duration; expected a number and s, m, h, d or w, such as 90s, "
            "12h or 7d"
        )
    return float(found[1]) * UNITS_S[found[2].lower()]


def rate_of(written: str) -> float:
    """`5/s`, `30/m` or `5` as a number per second. Raises ValueError, as `seconds_of` does."""
    found = _RATE.fullmatch(written.strip())
    if found is None:
        raise ValueError(
            f"{written!r} is not a rate; expected a number per s, m, h, d or w, such as 5/s or "
            "100/h"
        )
    return float(found[1]) / UNITS_S[(found[2] or "s").lower()]
