"""A month on many machines (`lab/scale/`)."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from gossamer.errors import UsageError
from gossamer.lab.scale.compare import ScaleLab, scale_experiment, sizes_in
from gossamer.lab.scale.costs import PageCosts, measured_costs, read_costs
from gossamer.lab.scale.model import (
    DAY_S,
    RESOURCES,
    Machine,
    Plan,
    days_needed,
    first_limit,
    least_machines,
    out_of_reach,
    uses,
)
from gossamer.lab.scale.sites import SiteSizes, fitted_sizes
from gossamer.lab.tune.factor import HELD
from gossamer.lab.tune.local_web import local_web
from support.killing import typed
from support.rows import each_row

COSTS = PageCosts(
    cpu_s=0.001,
    node_cpu_s=0.0003,
    network_bytes=30_000,
    archive_bytes=8_000,
    index_bytes=4_000,
    graph_bytes=500,
    log_bytes=300,
    state_bytes=200,
    known_urls=6,
    links=100,
)
MACHINE = Machine(cores=10, network_gbit_s=1, disk_tb=10, disk_mb_s=100)
EVEN = SiteSizes(mean_pages=100, exponent=0.0)
PLAN = Plan(pages=1e9, machines=10, days=30, delay_s=1)


def test_each_use_is_what_the_crawl_takes_over_what_there_is() -> None:
    used = uses(replace(PLAN, urls_per_page=0.5, url_bytes=100), COSTS, MACHINE, EVEN)

    rate = 1e8 / (30 * DAY_S)
    assert used["CPU"] == pytest.approx(rate * 0.001 / 10)
    assert used["node"] == pytest.approx(rate * 0.0003)
    assert used["network"] == pytest.approx(rate * 30_000 * 8 / 1e9)
    assert used["exchange"] == pytest.approx(rate * 50 * 8 / 1e9)
    assert used["disk space"] == pytest.approx(1e8 * 14_000 / 10e12)
    assert used["politeness"] == pytest.approx(100 / (30 * DAY_S))


def test_one_machine_exchanges_nothing() -> None:
    used = uses(replace(PLAN, machines=1, urls_per_page=0.5), COSTS, MACHINE, EVEN)

    assert used["exchange"] == 0


def test_the_least_machines_fit_and_one_less_does_not() -> None:
    plan = replace(PLAN, pages=3e10)
    machines = least_machines(plan, COSTS, MACHINE, EVEN)

    fits = uses(replace(plan, machines=machines), COSTS, MACHINE, EVEN)
    breaks = uses(replace(plan, machines=machines - 1), COSTS, MACHINE, EVEN)
    assert first_limit(fits)[1] <= 1 < first_limit(breaks)[1]


def test_a_slow_crawl_takes_longer_and_a_full_disk_ends_it() -> None:
    slow = {**dict.fromkeys(RESOURCES, 0.1), "network": 2.0, "politeness": 9.0}

    assert days_needed(PLAN, slow) == 60
    assert days_needed(PLAN, {**slow, "disk space": 1.1}) is None


def test_more_machines_do_not_help_against_politeness() -> None:
    sizes = SiteSizes(mean_pages=200, exponent=1.0)

    one = uses(replace(PLAN, machines=1), COSTS, MACHINE, sizes)["politeness"]
    many = uses(replace(PLAN, machines=1000), COSTS, MACHINE, sizes)["politeness"]
    assert one == many > 1
    assert 0 < out_of_reach(PLAN, sizes) < 1
    assert out_of_reach(replace(PLAN, delay_s=1e-6), sizes) == 0


@each_row("exponent", [0.0, 0.7, 1.0, 1.3])
def test_site_sizes_sum_up_and_what_is_out_of_reach_is_counted(exponent: float) -> None:
    sizes = SiteSizes(mean_pages=50, exponent=exponent)
    pages, most = 100_000.0, 400.0

    each = sizes.largest(pages) / np.arange(1, 2001) ** exponent
    assert each.sum() == pytest.approx(pages, rel=1e-6)
    lost = np.maximum(each - most, 0).sum() / pages
    assert sizes.out_of_reach(pages, most) == pytest.approx(lost, abs=0.005)


def test_the_exponent_of_a_graph_gives_its_largest_site() -> None:
    each = (5000 / np.arange(1, 301) ** 0.9).astype(int)
    site = np.repeat(np.arange(300), each).astype(np.int32)

    fitted = fitted_sizes(site)

    assert fitted.largest(len(site)) == pytest.approx(5000, rel=0.01)
    assert fitted.exponent == pytest.approx(0.9, abs=0.02)


def test_results_tell_what_breaks_first() -> None:
    told = scale_experiment(ScaleLab(machine=MACHINE, sizes=EVEN), COSTS, "a test").as_json()

    results = json.loads(json.dumps(told))["results"]
    assert results["uses"]["1e+11"]["1"]["first_limit"] == "disk space"
    assert results["least_machines"]["1e+09"] == 2
    assert results["costs"]["disk_bytes"] == 14_000


def test_costs_are_read_from_a_file_and_from_an_earlier_result(tmp_path: Path) -> None:
    plain, earlier = tmp_path / "costs.json", tmp_path / "earlier.json"
    plain.write_text(json.dumps(asdict(COSTS)), encoding="utf-8")
    told = scale_experiment(ScaleLab(), COSTS, "a test").as_json()
    earlier.write_text(json.dumps(told), encoding="utf-8")

    assert read_costs(plain) == read_costs(earlier) == COSTS
    ended = typed("lab", "scale", "--costs", plain, "--pages", "1e9", "--machines", "1,10")
    assert ended.code == 0
    assert "What breaks first" in ended.out


@pytest.mark.parametrize("text", ["{}", "[]", "no JSON", '{"cpu_s": "much"}'])
def test_a_file_without_costs_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "costs.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(UsageError, match=r"costs\.json"):
        read_costs(path)


@each_row("text", ["", "many", "1e9,-1", "0"])
def test_sizes_that_are_no_numbers_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--pages"):
        sizes_in(text, "pages")


@pytest.mark.slow
def test_costs_are_measured_on_the_demo_web() -> None:
    with local_web([], None) as web:
        costs = measured_costs(web.seeds, {**HELD, **web.settings}, 1)

    assert costs.node_cpu_s > 0
    assert 0 < costs.cpu_s < 1
    assert costs.archive_bytes > 100
    assert costs.known_urls >= 1


@pytest.mark.slow
def test_a_site_with_few_pages_is_refused(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<title>One</title>", encoding="utf-8")

    with (
        local_web([], tmp_path) as web,
        pytest.raises(UsageError, match=r"costs can be measured with 50"),
    ):
        measured_costs(web.seeds, HELD, 1)
