"""Units behind firewalls that are killed, frozen and cut off: the short form of a bench."""

from __future__ import annotations

import json

import pytest
from bench.fleet_faults import main


@pytest.mark.slow
def test_hurt_units_do_each_job_once_and_lose_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    words = "--units 3 --sites 4 --jobs 8 --pages 10 --faults 3 --seconds 300"
    code = main(words.split())
    found = json.loads(capsys.readouterr().out)

    assert code == 0, found
    assert found["done"] == found["jobs"] == 8
    assert found["too_fast"] == 0
