"""Which unit is near a site."""

from __future__ import annotations

import math

import pytest

from gossamer.fleet.hub.nearness import distance_km, may_take, round_trip_ms
from gossamer.fleet.protocol import UnitPlace

BERLIN = UnitPlace(label="de", latitude=52.52, longitude=13.405)
PARIS = UnitPlace(label="fr", latitude=48.857, longitude=2.352)
TOKYO = UnitPlace(label="jp", latitude=35.68, longitude=139.69)


def test_the_distance_of_two_cities_is_known() -> None:
    assert distance_km(BERLIN, PARIS) == pytest.approx(878, abs=5)
    assert distance_km(BERLIN, TOKYO) == pytest.approx(8919, abs=40)


def test_measured_times_count_before_places() -> None:
    assert round_trip_ms(BERLIN, PARIS, [20.0, 30.0]) == 25.0
    assert round_trip_ms(BERLIN, PARIS, [-1.0]) == math.inf
    assert round_trip_ms(BERLIN, PARIS) == pytest.approx(8.8, abs=0.1)


def test_labels_are_compared_where_there_are_no_coordinates() -> None:
    same, other = UnitPlace(label="de"), UnitPlace(label="fr")

    assert round_trip_ms(UnitPlace(label="de"), same) < round_trip_ms(UnitPlace(label="de"), other)  # type: ignore[operator]
    assert round_trip_ms(UnitPlace(), same) is None


def test_a_job_waits_for_a_nearer_unit_for_a_limited_time() -> None:
    assert not may_take(100.0, [10.0], waited_s=5, patience_s=30)
    assert may_take(100.0, [10.0], waited_s=30, patience_s=30)
    assert may_take(12.0, [10.0], waited_s=0, patience_s=30)


def test_nobody_waits_when_nothing_is_known() -> None:
    assert may_take(None, [None], waited_s=0, patience_s=30)
    assert not may_take(None, [10.0], waited_s=0, patience_s=30)
