"""The benches of the search run, in their smallest form, and say their figures as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from search.small_collection import build, entry
from support.shared import data

ROOT = Path(__file__).parents[2]


def figures_of(bench: str, *arguments: str | Path) -> dict[str, Any]:
    """Run a bench; its figures by name. A busy machine may miss a gate of time."""
    command = [sys.executable, "-m", f"bench.{bench}", *map(str, arguments)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode in {0, 1}, ended.stderr
    figures = [json.loads(line) for line in ended.stdout.splitlines()]
    return {figure["figure"]: figure for figure in figures}


@pytest.mark.slow
def test_answers_over_a_judged_collection_are_scored() -> None:
    data("ir/cranfield")

    figures = figures_of("search", "cranfield")

    assert figures["nDCG@10, cranfield, all"]["reached"] == "aim"


@pytest.mark.slow
def test_answers_over_real_pages_are_timed(tmp_path: Path) -> None:
    for number in range(20):
        words = " ".join(f"word{n}" for n in range(number, number + 30))
        (tmp_path / f"{number}.html").write_text(f"<title>{number}</title><p>{words}")

    figures = figures_of(
        "search_speed", "--sites", tmp_path, "--pages", "60", "--queries", "120", "--rounds", "2"
    )

    assert figures["search over HTTP in ms, 1 at once, median"]["value"] > 0
    assert "search over HTTP in ms, 8 at once, 99th percentile" in figures
    assert figures["search in ms of CPU, mean"]["value"] > 0


@pytest.mark.slow
def test_pages_are_looked_for_by_their_titles(tmp_path: Path) -> None:
    titles = ["The rose", "A tulip", "Some lilies"]
    home = build(tmp_path, [entry(f"{n}", "text", title=one) for n, one in enumerate(titles)])

    figures = figures_of("titles", home, "--queries", "3")

    assert figures["first: words, anchors and link rank"]["value"] == 1.0


@pytest.mark.slow
def test_planted_paragraphs_are_found_and_controls_are_not(tmp_path: Path) -> None:
    shared = data("topical").parent

    figures = figures_of(
        "copies", "--sites", tmp_path, "--data", shared, "--pages", "2500", "--rounds", "1"
    )

    for kind in ("planted", "changed"):
        assert figures[f"share of 1000 {kind} paragraphs found"]["value"] == 1.0
    found = [figure["value"] for name, figure in figures.items() if "controls found" in name]
    assert found == [0, 0, 0]
