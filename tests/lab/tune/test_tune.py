"""One setting varied on a live crawl (`lab/tune/`)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gossamer.errors import SettingsError, UsageError
from gossamer.lab.tune.compare import difference, plots_of, table_of
from gossamer.lab.tune.crawls import TuneRun
from gossamer.lab.tune.factor import Factor, factor_in, held_in
from gossamer.lab.tune.local_web import local_web
from support.killing import typed
from support.rows import each_row


def test_a_factor_is_a_setting_and_its_values() -> None:
    assert factor_in("fetch.connections=10, 50,10") == Factor("fetch.connections", ("10", "50"))


def test_values_with_commas_are_separated_by_semicolons() -> None:
    factor = factor_in("urls.session_parameters=sid,token;sid")

    assert factor.values == ("sid,token", "sid")


@each_row(
    ("text", "sentence"),
    [
        ("fetch.conections=1,2", "is not a setting; did you mean fetch.connections"),
        ("fetch.connections=1,many", "must be a whole number"),
        ("fetch.connections=1,-5", "fetch.connections"),
        ("fetch.connections=7", "is not KEY=VALUE,VALUE"),
        ("fetch.connections", "is not KEY=VALUE,VALUE"),
    ],
)
def test_a_wrong_name_or_value_gets_the_usual_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        factor_in(text)


def test_settings_that_are_held_are_checked_too() -> None:
    assert held_in(["fetch.connections=3"]) == {"fetch.connections": "3"}
    with pytest.raises(SettingsError):
        held_in(["fetch.connection=3"])
    with pytest.raises(UsageError, match="not KEY=VALUE"):
        held_in(["fetch.connections"])


@pytest.mark.parametrize(
    "url", ["http://example.org/", "http://10.0.0.1/", "https://localhost.org/"]
)
def test_only_this_machine_is_crawled_again_and_again(url: str) -> None:
    with pytest.raises(UsageError, match="not on this machine"), local_web([url], None):
        pass


@pytest.mark.parametrize("url", ["http://127.0.0.2:81/", "http://[::1]/", "http://a.localhost/"])
def test_addresses_of_this_machine_are_crawled(url: str) -> None:
    with local_web([url], None) as web:
        assert web.seeds == (url,)


def run(value: str, pages_per_s: float) -> TuneRun:
    return TuneRun(value, 100, 1.0, 100 / pages_per_s, 1.0, 50.0)


def test_a_difference_is_told_only_where_the_ranges_are_apart() -> None:
    assert difference([22.0, 24.0, 26.0], [10.0, 12.0, 11.0]) == "+118 %"
    assert difference([11.0, 24.0, 26.0], [10.0, 12.0, 11.0]) == "not clear"


def test_the_table_has_median_and_range_of_each_value() -> None:
    runs = [run("1", 10), run("2", 40), run("1", 12), run("2", 44), run("1", 11), run("2", 42)]

    table = table_of(Factor("fetch.connections", ("1", "2")), runs)

    assert [row[:5] for row in map(list, table.rows)] == [
        ["1", 11.0, 10.0, 12.0, None],
        ["2", 42.0, 40.0, 44.0, "+282 %"],
    ]


def test_numbers_are_drawn_with_their_range_and_names_are_not() -> None:
    runs = [run("1", 10), run("16", 40), run("1", 12), run("16", 44)]

    wall, cpu = plots_of(Factor("fetch.connections", ("1", "16")), runs)

    assert [round(y) for _, y in wall.curves["smallest"]] == [10, 40]
    assert [round(y) for _, y in wall.curves["largest"]] == [12, 44]
    assert [x for x, _ in wall.curves["median"]] == [1.0, 16.0]
    assert (wall.x_scale, cpu.y_name) == ("log", "pages per CPU-second")
    assert plots_of(Factor("frontier.order", ("breadth", "depth")), []) == []


@pytest.mark.slow
def test_a_folder_is_crawled_with_each_value(tmp_path: Path) -> None:
    for number in range(5):
        text = f'<title>{number}</title><a href="p{number + 1}.html">next</a>'
        name = "index.html" if not number else f"p{number}.html"
        (tmp_path / name).write_text(text, encoding="utf-8")

    ended = typed(
        "lab", "tune", "archive.gzip_level=0,3", "--folder", tmp_path, "--repeats", "2", "--json"
    )

    told = json.loads(ended.out)
    assert ended.code == 0
    assert set(told["results"]) == {"0", "3"}
    assert all(len(point["runs_per_s"]) == 2 for point in told["results"].values())
    assert told["results"]["0"]["pages"] == told["results"]["3"]["pages"] >= 5
