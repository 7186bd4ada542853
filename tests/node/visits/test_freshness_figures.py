"""The figures of freshness: stored, sampled over time, and told by `status` and metrics."""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gossamer.base.clock import ManualClock
from gossamer.collection.directory import CollectionPaths, open_to_write
from gossamer.collection.history import Recorder, decode_sample, encode_sample, read_history
from gossamer.frontier.counts import Counts
from gossamer.frontier.meta_keys import FRESHNESS_KEY
from gossamer.frontier.store import StateTable
from gossamer.frontier.visits.freshness import Freshness
from gossamer.node.snapshot import crawl_figures
from gossamer.node.visits.figures import FigureMaker, VisitSpeed
from gossamer.node.visits.measured import FreshnessMeter, Interval
from gossamer.node.visits.slot_table import SlotTable
from gossamer.policies.refresh.uniform import Uniform
from gossamer.web.route import ServerCounters
from gossamer.web.views.metrics import metrics_text
from support.a_crawl import crawl
from support.a_site import page, site_in_thread

NOW_S = 1_767_225_600.0
A, B = b"hosthos1", b"hosthos2"


def figures() -> Freshness:
    table, policy, meter = SlotTable(), Uniform(), FreshnessMeter()
    for number in range(30):
        key = (A if number < 20 else B) + number.to_bytes(8, "big")
        policy.add(table.add(key), NOW_S - 3600)
    meter.note(A, Interval(3600.0, False, 1e-6), 30, 20)
    meter.note(A, Interval(1200.0, True, 1e-9), 30, 20)
    due_s = np.full(30, NOW_S + 7200)
    due_s[:4] = [NOW_S - 1, NOW_S + 60, math.inf, math.nan]
    names = {A: "a.example", B: "b.example"}
    return FigureMaker(policy, "uniform", table, meter, names.__getitem__).make(NOW_S, due_s, 0.5)


def test_the_figures_name_all_pages_and_each_site() -> None:
    made = figures()

    assert made.pages == 30
    assert (made.due_hour, made.due_day, made.given_up) == (2, 28, 1)
    assert made.next_us == round((NOW_S - 1) * 1e6)
    assert made.measured == pytest.approx(4200 / 4800, abs=0.01)
    assert 0.9 < made.predicted < 1.0
    assert [(site.host, site.pages) for site in made.sites] == [
        ("a.example", 20),
        ("b.example", 10),
    ]
    assert made.sites[0].measured is not None
    assert made.sites[1].measured is None
    assert made.sites[1].next_us == round((NOW_S + 7200) * 1e6)


def test_a_row_is_read_as_it_was_written() -> None:
    assert Freshness.decode(figures().encode()).encode() == figures().encode()
    with pytest.raises(ValueError, match="array"):
        Freshness.decode(b"\xff")


def test_a_stored_collection_tells_its_last_figures(tmp_path: Path) -> None:
    with site_in_thread({"/": page("")}) as site:
        crawl(tmp_path / "c", [site.url()])
    paths = CollectionPaths(tmp_path / "c")
    assert crawl_figures(paths)["freshness"] is None

    store = open_to_write(paths, 16)
    store.write({StateTable.META: {FRESHNESS_KEY: figures().encode()}})
    store.close()

    told = crawl_figures(paths)["freshness"]
    assert told["policy"] == "uniform"
    assert told["sites"][0]["host"] == "a.example"
    assert "sums" not in told


def test_samples_have_the_freshness_of_their_time(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "h", ManualClock(), Counts(), lambda: 1, figures)
    recorder.note()

    (sample,) = read_history(tmp_path / "h")
    assert sample.freshness == pytest.approx(0.875, abs=0.01)
    assert sample.predicted == round(figures().predicted, 4)


def test_a_sample_of_an_earlier_version_has_no_freshness(tmp_path: Path) -> None:
    Recorder(tmp_path / "h", ManualClock(), Counts(), lambda: 1).note()
    (sample,) = read_history(tmp_path / "h")

    assert sample.freshness is None
    assert encode_sample(sample).count(",") == 11
    assert decode_sample(encode_sample(sample)) == sample


def test_metrics_have_no_line_for_a_figure_that_is_not_known() -> None:
    with_figures = {"freshness": figures().as_json()}
    crawls: list[dict[str, Any]] = [
        defaultdict(int, {"crawl": "old", "state": "stored", "freshness": None, "visited": {}}),
        defaultdict(int, {"crawl": "new", "state": "running", "visited": {}, **with_figures}),
    ]

    text = metrics_text(ServerCounters(), crawls)

    assert 'gossamer_freshness_predicted{crawl="new"} 0.9' in text
    assert 'gossamer_freshness_predicted{crawl="old"}' not in text


def test_the_speed_is_that_of_the_last_minutes() -> None:
    speed = VisitSpeed()
    for second in range(3000):
        speed.ended(5 if second < 1500 else 1)
        speed.tick(NOW_S + second)

    assert speed.per_s == pytest.approx(1.3, abs=0.2)
    assert VisitSpeed(4.0).per_s == 4.0
    assert VisitSpeed().per_s == 0.0
