"""The curves of a crawl: from the disk, running or finished, as curves or as a table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gossamer.base import plots
from gossamer.collection.history import Sample
from gossamer.upkeep.check_machine import doctor
from gossamer.web.views import pages
from gossamer.web.views.curves import depths_of, series_of, table_of
from web.a_browser import Browser, Served


def samples(*rows: tuple[float, int, int, int]) -> list[Sample]:
    """Seconds, run, pages and bytes."""
    return [
        Sample(1_700_000_000_000, round(ran_s * 1000), run, pages, 0, 0, 0, 0, 0, size, None)
        for ran_s, run, pages, size in rows
    ]


def test_a_speed_is_that_of_the_last_seconds() -> None:
    found = series_of(samples((0, 1, 0, 0), (1, 1, 5, 500), (4, 1, 11, 1100), (6, 1, 11, 1100)))

    assert found["pages_per_s"] == [None, 5.0, 2.0, 0.0]
    assert found["bytes_per_s"] == [None, 500.0, 200.0, 0.0]


def test_a_speed_never_reaches_over_the_time_between_two_runs() -> None:
    found = series_of(samples((0, 1, 0, 0), (1, 1, 5, 0), (1, 2, 5, 0), (2, 2, 8, 0)))

    assert found["pages_per_s"] == [None, 5.0, None, 3.0]


def test_one_page_a_second_is_not_drawn_as_four_and_none() -> None:
    rows = [(quarter / 4, 1, quarter // 4, 0) for quarter in range(200)]

    speeds = series_of(samples(*rows))["pages_per_s"][20:]

    assert all(0.5 <= speed <= 1.5 for speed in speeds)


def test_no_sample_and_one_sample_give_series_without_a_fault() -> None:
    assert series_of([])["ran_s"] == []
    assert series_of(samples((0, 1, 0, 0)))["pages_per_s"] == [None]
    assert table_of(series_of([])) == []


def test_the_table_has_a_few_rows_with_the_newest_first() -> None:
    rows = table_of(series_of(samples(*((second, 1, second, 0) for second in range(1_200)))))

    assert len(rows) <= 40
    assert rows[0]["ran_s"] == 1_199
    assert [row["ran_s"] for row in rows] == sorted((row["ran_s"] for row in rows), reverse=True)


def test_depths_are_in_their_order_and_the_deepest_are_summed_up() -> None:
    assert depths_of({"10": 1, "2": 5, "0": 1}) == [("0", 1), ("2", 5), ("10", 1)]
    assert depths_of({str(depth): 1 for depth in range(15)})[-1] == ("12 and more", 3)
    assert depths_of(None) == []


def test_a_finished_crawl_has_its_history(server: Served) -> None:
    found = Browser(server).get("/api/history").json()

    series = found["series"]
    assert len({len(column) for column in series.values()}) == 1
    assert len(series["ran_s"]) >= 2
    status = Browser(server).get("/api/status").json()
    assert series["fetched"][-1] == status["fetched"]
    assert sum(status["by_depth"].values()) == status["fetched"]


def test_a_crawl_that_is_not_there_has_no_history(server: Served) -> None:
    assert Browser(server).get("/api/history", c="nobody").json()["series"]["ran_s"] == []


def test_the_page_of_a_finished_crawl_has_the_figures_of_its_curves(server: Served) -> None:
    markup = Browser(server).get("/crawls/garden").text
    rows = re.findall(r'<tr><th scope="row" class="time">(.*?)</tr>', markup)

    assert len(rows) >= 2
    fetched = Browser(server).get("/api/status").json()["fetched"]
    assert f'<td class="number">{fetched}</td>' in rows[0]
    depths = markup.partition('id="depths"')[2].partition("</table>")[0]
    assert re.findall(r'<th scope="row">(\d+)</th>', depths) == ["0", "1"]


@pytest.mark.parametrize("has_library", [True, False])
def test_without_the_library_the_page_works_and_says_so(
    server: Served, monkeypatch: pytest.MonkeyPatch, has_library: bool
) -> None:
    monkeypatch.setattr(pages, "has_plots", lambda: has_library)

    markup = Browser(server).get("/crawls/garden").text

    assert ("uPlot.iife.min.js" in markup) is has_library
    assert ('data-curve="pages"' in markup) is has_library
    assert ("gossamer doctor" in markup) is not has_library
    assert ('<details id="samples" open>' in markup) is not has_library
    assert 'class="time"' in markup


def test_doctor_says_whether_there_are_curves(tmp_path: Path) -> None:
    (tmp_path / "vendor").mkdir()
    assert plots.plot_library(tmp_path) == ""
    (tmp_path / "vendor" / "stamp.json").write_text('{"packages": {"uplot": "1.2.3"}}')

    assert plots.plot_library(tmp_path) == "uplot 1.2.3"
    check = next(check for check in doctor() if check.name == "curves")
    assert check.is_ok
    assert ("draws them with uplot" in check.says) is plots.has_plots()
