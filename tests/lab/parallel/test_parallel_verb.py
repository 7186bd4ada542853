"""`gossamer lab parallel` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.killing import Ended, typed


def links(tmp_path: Path) -> Path:
    lines = [f"{page}\t{other % 60}" for page in range(60) for other in (page + 1, 7 * page)]
    path = tmp_path / "links.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def sites(tmp_path: Path) -> Path:
    path = tmp_path / "sites.tsv"
    text = "".join(f"{page}\t{page // 10}\n" for page in range(60))
    path.write_text(text, encoding="utf-8")
    return path


def ran(*words: str | Path) -> Ended:
    return typed("lab", "parallel", *words)


def test_json_has_the_figures_of_each_partition_and_mode(tmp_path: Path) -> None:
    ended = ran(links(tmp_path), "--sites", sites(tmp_path), "--processes", "2,4", "--json")

    assert ended.code == 0
    told = json.loads(ended.out)
    assert {"schema", "version", "settings", "data_digest", "results"} <= told.keys()
    for partition in ("url-hash", "site-hash", "hierarchical"):
        for mode in ("firewall", "cross-over", "exchange"):
            figures = told["results"][partition][mode]["4"]
            assert {"overlap", "coverage", "quality", "urls_per_page"} <= figures.keys()


def test_tables_name_every_mode_and_say_what_is_left_out(tmp_path: Path) -> None:
    ended = ran(links(tmp_path), "--processes", "2")

    assert ended.code == 0
    assert "Firewall: coverage" in ended.out
    assert "exchange-batch" in ended.out
    assert "Site-hash and hierarchical are left out" in ended.out


@pytest.mark.parametrize(
    ("flag", "value", "sentence"),
    [
        ("--processes", "2,many", "not a list of numbers from 1 to 64"),
        ("--processes", "65", "not a list of numbers from 1 to 64"),
        ("--partitions", "random", "there is no 'random'"),
    ],
)
def test_a_wrong_value_is_explained(tmp_path: Path, flag: str, value: str, sentence: str) -> None:
    ended = ran(links(tmp_path), flag, value)

    assert ended.code == 2
    assert sentence in ended.err
