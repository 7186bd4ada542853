"""Names that go wrong, in a network of its own: each has an outcome, and none holds a crawl up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fetch.dns_faults_run import BAD, GOOD, V4, V6
from support.own_internet import run_within

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    said: dict[str, Any] = json.loads(run_within(Path(__file__).with_name("dns_faults_run.py")))
    return said


def test_a_name_that_cannot_be_had_is_a_fault_soon(found: dict[str, Any]) -> None:
    for label in BAD:
        count, _, fault, took_s = found["resolved"][label]
        assert count == 0, label
        assert fault, label
        assert took_s < 30, label


def test_a_name_that_can_be_had_is_had(found: dict[str, Any]) -> None:
    first = {label: found["resolved"][label][1][0] for label in GOOD}

    assert first == {"good": V4, "many": "93.184.0.1", "six": V6, "half": V4, "alias": V4}
    assert found["resolved"]["many"][0] == 8  # of 500: each may have to be tried


def test_each_bad_name_fails_by_its_reason_alone_and_among_others(found: dict[str, Any]) -> None:
    for run in ("only bad", "all"):
        told = found[run]
        assert told["stopped"] == "done"
        assert {told[f"http://{label}.test/"] for label in BAD} == {"failed dns"}
    assert {found["all"][f"http://{label}.test/"] for label in GOOD} == {"fetched"}
    assert set(found["reached"]) == {V4, V6, "93.184.0.1"}


def test_dead_links_at_the_end_of_a_crawl_do_not_look_like_a_dead_network(
    found: dict[str, Any],
) -> None:
    told = found["dead links"]

    assert told.pop("stopped") == "done"
    assert told.pop("http://good.test/dead") == "fetched"
    assert set(told.values()) == {"failed dns"}
    assert len(told) == 8
