"""Which unit is near a site? Jobs go to a near unit, if one is free soon.

Measured round-trip times count first. Without them the distance between places is turned into a
time: light in fibre goes 200 km in a millisecond, there and back. Without coordinates, equal labels
are near and different ones far. A job waits for a nearer unit for a limited time: a far unit is
better than none.

Pure: every function is given the time that a job has waited.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from gossamer.fleet.protocol import UnitPlace

_EARTH_KM: Final = 6371.0
_KM_PER_MS: Final = 100.0  # of a round trip
_SAME_LABEL_MS: Final = 10.0
_OTHER_LABEL_MS: Final = 100.0
_CLEARLY: Final = 1.5  # a unit that is this many times as far, and a bit, is not near
_A_BIT_MS: Final = 5.0


def round_trip_ms(
    unit: UnitPlace, site: UnitPlace, measured_ms: Iterable[float] = ()
) -> float | None:
    """The time between a unit and a site; None if nothing is known. Negative measurements mean that
    the site was not reached, which is as far as can be."""
    found = list(measured_ms)
    if found:
        reached = [ms for ms in found if ms >= 0]
        return sum(reached) / len(reached) if reached else math.inf
    km = distance_km(unit, site)
    if km is not None:
        return km / _KM_PER_MS
    if unit.label and site.label:
        return _SAME_LABEL_MS if unit.label == site.label else _OTHER_LABEL_MS
    return None


def distance_km(one: UnitPlace, other: UnitPlace) -> float | None:
    """Along the surface of the earth; None if a place has no coordinates."""
    if None in (one.latitude, one.longitude, other.latitude, other.longitude):
        return None
    lat_1, lon_1, lat_2, lon_2 = (
        math.radians(degrees or 0.0)
        for degrees in (one.latitude, one.longitude, other.latitude, other.longitude)
    )
    half = (
        math.sin((lat_2 - lat_1) / 2) ** 2
        + math.cos(lat_1) * math.cos(lat_2) * math.sin((lon_2 - lon_1) / 2) ** 2
    )
    return 2 * _EARTH_KM * math.asin(min(1.0, math.sqrt(half)))


def may_take(
    own_ms: float | None, others_ms: Iterable[float | None], *, waited_s: float, patience_s: float
) -> bool:
    """Whether a unit may take a job now, or a clearly nearer unit that is alive should have it."""
    if waited_s >= patience_s:
        return True
    known = [ms for ms in others_ms if ms is not None]
    if not known:
        return True
    return own_ms is not None and own_ms <= _CLEARLY * min(known) + _A_BIT_MS
