"""Freshness and age of a policy on a trace, and the comparison of policies."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gossamer.errors import GossamerError
from gossamer.lab.output.svg import drawn
from gossamer.lab.refresh import (
    KNOWN,
    POLICIES,
    RefreshLab,
    gap_closed,
    mean_gap,
    measure,
    measure_all,
    parse_budgets,
    result_object,
)
from gossamer.lab.refresh_result import refresh_plot
from gossamer.lab.replay import DAY_S, replay
from gossamer.lab.traces import ChangeTrace, read_trace
from gossamer.policies.refresh.uniform import Uniform
from support.change_traces import bursty_trace, poisson_trace, shifting_trace
from support.rows import each_row

SHARED_TRACE = Path(__file__).parents[3] / "shared" / "data" / "trace" / "php_doc_en.csv.gz"


def trace_of(folder: Path, rows: list[tuple[str, float]]) -> ChangeTrace:
    path = folder / "trace.csv"
    lines = [f"{page},{day * DAY_S}" for page, day in rows]
    path.write_text("\n".join(["path,timestamp", *lines]) + "\n", encoding="utf-8")
    return read_trace(path)


def test_freshness_and_age_are_exact(tmp_path: Path) -> None:
    """Two pages, 90 days, visits every 20 days in turn; measured from day 30 on.

    Page a is visited on the days 10, 30, 50, 70, 90 and changes on day 45: stale for 5 days. Page b
    is visited on the days 20, 40, 60, 80 and changes on day 67.5: stale for 12.5 days.
    """
    trace = trace_of(tmp_path, [("a", 0), ("b", 0), ("a", 45), ("b", 67.5), ("b", 90)])
    reached = replay(trace, Uniform(), 20)

    assert reached.visits == 9
    assert reached.freshness == pytest.approx(1 - (5 + 12.5) / 120)
    assert reached.age_s / DAY_S == pytest.approx((5**2 / 2 + 12.5**2 / 2) / 120)


def test_a_page_counts_from_its_creation_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    rows = ["a,0,A", "b,0,A", "c,50,A", "b,60,D", "c,70,M", "a,90,M"]
    lines = [f"{page},{float(day) * DAY_S},{status}" for page, day, status in
             (row.split(",") for row in rows)]  # fmt: skip
    path.write_text("\n".join(["path,timestamp,status", *lines]), encoding="utf-8")
    reached = replay(read_trace(path), Uniform(), 1e5)

    # 60 days of a, 30 of b, 40 of c, which is stale for the last 20 of them; nobody visits
    assert reached.visits == 0
    assert reached.freshness == pytest.approx(1 - 20 / 130)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "least"), [(poisson_trace, 0.5), (bursty_trace, 1.0), (shifting_trace, 0.2)]
)
def test_the_optimal_policy_closes_the_gap_on_made_up_traces(
    make: Callable[[], ChangeTrace], least: float
) -> None:
    row = measure(make(), 30.0, ["optimal", "random-order"])

    share = gap_closed(row, "optimal")
    assert share is not None
    assert share > least
    assert row["optimal"].age_s < 1.02 * row["uniform"].age_s
    assert row["random-order"].freshness < row["uniform"].freshness
    assert abs(row["optimal"].expected - row["optimal"].freshness) < 0.05


@pytest.mark.slow
@pytest.mark.skipif(not SHARED_TRACE.exists(), reason="the shared trace is not here")
def test_the_optimal_policy_closes_most_of_the_gap_on_the_shared_trace() -> None:
    rows = measure_all(RefreshLab(SHARED_TRACE, (365.0, 30.0)))

    closed = mean_gap(rows, "optimal")
    assert closed is not None
    assert closed > 0.65
    for row in rows.values():
        assert row["optimal"].age_s < row["uniform"].age_s
        assert row["optimal"].freshness > row["optimal-without-siblings"].freshness
        assert row[KNOWN].freshness > row["uniform"].freshness > row["random-order"].freshness


def test_the_result_names_data_settings_and_each_policy_at_each_budget(tmp_path: Path) -> None:
    days = np.random.default_rng(1).uniform(0, 150, 12)
    rows = [(f"p{n % 2}", float(day)) for n, day in enumerate(days)]
    trace = trace_of(tmp_path, [*rows, *((f"p{n}", 0) for n in range(6))])
    lab = RefreshLab(tmp_path / "trace.csv", (30.0, 7.0))
    measured = measure_all(lab)
    result = json.loads(json.dumps(result_object(lab, trace, measured)))

    assert measured == {budget: measure(trace, budget) for budget in (30.0, 7.0)}
    assert {"schema", "version", "settings", "data_digest", "results"} <= set(result)
    assert result["settings"]["budgets_days"] == [30.0, 7.0]
    assert set(result["results"]) == set(POLICIES)
    for budgets in result["results"].values():
        assert set(budgets) == {"30", "7"}
        assert {"freshness", "age", "gap_closed"} <= set(budgets["7"])
    assert result["results"]["uniform"]["7"]["gap_closed"] == 0.0
    assert result["results"][KNOWN]["30"]["gap_closed"] == 1.0


def test_the_picture_has_a_curve_for_each_policy(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, [("a", 0), ("b", 0), *(("a", float(day)) for day in range(1, 60))])
    picture = drawn(refresh_plot({budget: measure(trace, budget) for budget in (30.0, 15.0)}))

    assert picture.startswith("<g")
    assert picture.count("<polyline") == len(POLICIES)


def test_a_trace_without_changes_has_no_gap(tmp_path: Path) -> None:
    row = measure(trace_of(tmp_path, [("a", 0), ("b", 100)]), 30.0)

    assert gap_closed(row, "optimal") is None
    assert row["optimal"].freshness == 1.0
    assert not any(refresh_plot({30.0: row}).curves.values())


def test_a_process_that_fails_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(GossamerError, match="the experiment failed"):
        measure_all(RefreshLab(tmp_path / "none.csv", (7.0,)))


@each_row("text", ["", "7,", "7,7", "-1", "0", "nan", "x"])
def test_budgets_are_different_numbers_of_days(text: str) -> None:
    assert list(parse_budgets("365, 7.5")) == [365, 7.5]
    with pytest.raises(ValueError, match=r".*"):
        parse_budgets(text)
