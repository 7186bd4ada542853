"""Each bench runs, in its smallest form, and says its figures as JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.need import need_linux, need_program

ROOT = Path(__file__).parents[2]


def figures_of(bench: str, *arguments: str, codes: tuple[int, ...] = (0,)) -> dict[str, Any]:
    """Run a bench; its figures by name."""
    need_linux("/proc says what each process takes")
    command = [sys.executable, "-m", f"bench.{bench}", *arguments]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode in codes, ended.stderr
    figures = [json.loads(line) for line in ended.stdout.splitlines()]
    assert all({"figure", "gate", "aim"} <= figure.keys() for figure in figures)
    return {figure["figure"]: figure for figure in figures}


def need_sqlite_site() -> None:
    """A bench fetches what is missing; a test never does."""
    need_program("nginx")
    home = os.environ.get("TEST_SITES", "")
    if not home or not (Path(home) / "sqlite3-doc").is_dir():
        pytest.skip("the site sqlite is not in $TEST_SITES; `run.py test` fetches it")


def test_ways_to_keep_duplicates_out_are_compared() -> None:
    figures = figures_of("buffers", "--rounds", "1", "--pages", "400")

    ours, small = figures["buffer: ours"], figures["buffer: adding, in memory, 20"]
    assert (ours["lost"], ours["fetched_twice"]) == (0, 0)
    assert small["lost"] > 0
    assert figures["buffer: taking, on disk, late"]["fetched_twice"] > 0
    assert figures["buffer: taking, on disk"]["largest_queue"] >= ours["largest_queue"]


@pytest.mark.slow
def test_the_pages_that_are_kept_are_nearly_the_best() -> None:
    need_sqlite_site()

    figures = figures_of("keep_best", "--site", "sqlite", "--share", "0.2")

    (kept,) = figures.values()
    assert kept["value"] >= 0.95
    assert kept["kept"] == kept["room"]
    assert kept["problems"] == 0


@pytest.mark.slow
def test_many_hosts_are_crawled_and_scheduled() -> None:
    figures = figures_of("hosts", "--scale", "100", "--rounds", "1")

    assert "answers per CPU-second of the node, 200 hosts against 20" in figures
    assert "scheduling alone, a rest of 1 s, 2,000 hosts against 20" in figures


@pytest.mark.slow
def test_known_urls_are_filled_in_and_crawled_among() -> None:
    need_sqlite_site()

    figures = figures_of("known", "--quick", "--sizes", "1000,5000")

    assert "pages/s with 5,000 known URLs against 1,000" in figures
    assert figures["memory of the node in MB at 5,000 known URLs"]["reached"] == "aim"


@pytest.mark.slow
def test_a_setting_is_varied_and_drawn() -> None:
    need_sqlite_site()

    figures = figures_of(
        "vary", "--factor", "archive.gzip_level=0,3", "--rounds", "1", "--sites", "sqlite"
    )

    none, most = figures["archive.gzip_level = 0"], figures["archive.gzip_level = 3"]
    assert none["pages"] == most["pages"] > 0
    assert (ROOT / "bench" / "out" / "vary-archive.gzip_level.svg").read_text("utf-8")


@pytest.mark.slow
def test_two_minutes_of_a_hostile_web_hold_memory_and_handles() -> None:
    figures = figures_of("soak", "--minutes", "2", codes=(0, 1))

    missed = [figure for figure in figures.values() if figure["reached"] == "missed"]
    assert not missed
    assert figures["pages fetched"]["value"] > 500


def test_links_are_written_and_looked_up() -> None:
    figures = figures_of("links", "--pages", "200", "--asked", "3")

    assert figures["links into a URL, ms (median)"]["value"] > 0
