"""Read a weighted mix of names: `0.6 focus + 0.3 pagerank + 0.1 location`."""

from __future__ import annotations

import math
import re
from typing import Final, NamedTuple

_PART: Final = re.compile(r"(?:(?P<weight>[^\s*A-Za-z][^\s*]*)\s*\*?\s*)?(?P<name>[A-Za-z][\w.-]*)")


class WeightedName(NamedTuple):
    """One part of a mix."""

    weight: float
    name: str


def read_mix(text: str) -> list[WeightedName]:
    """The parts of a mix. A name without a weight has the weight 1.

    Raises ValueError with what is wrong, as the end of a sentence that begins with the text.
    """
    parts = [_part(part.strip()) for part in text.split("+")]
    names = [part.name for part in parts]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name!r} occurs twice")
    return parts


def _part(text: str) -> WeightedName:
    match = _PART.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a weight and a name, such as '0.6 pagerank'")
    try:
        weight = float(match["weight"] or 1)
    except ValueError:
        raise ValueError(f"{match['weight']!r} is not a number") from None
    if not (math.isfinite(weight) and weight > 0):
        raise ValueError(f"the weight {match['weight']} is not greater than 0")
    return WeightedName(weight, match["name"])
