"""The bench of ranks runs, in its smallest form, and says its figures as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.need import need_linux

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_ranks_are_fast_enough_in_little_memory() -> None:
    need_linux("the bench counts the cost of processes that it starts")
    command = [sys.executable, "-m", "bench.ranks", "--rounds", "1", "--links", "3000000"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    figures = {f["figure"]: f for f in map(json.loads, ended.stdout.splitlines())}

    assert figures["peak memory in MB, 3,000,000 links"]["value"] < 1000
    assert figures["milliseconds to look up 200 ranks"]["reached"] != "missed"
    visits = figures.get("million link visits per CPU-second, PageRank, real graph")
    assert visits is None or visits["reached"] != "missed"  # the shared data may be missing
