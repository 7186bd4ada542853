"""What `status` says of visits, freshness and notifications."""

from __future__ import annotations

from pathlib import Path

from gossamer.cli.commands.status import status_lines
from gossamer.cli.show.visits import freshness_text, notified_text, visits_text
from gossamer.frontier.counts import Counts
from gossamer.node.figures.progress import figures_of

FRESH = {
    "measured": 0.9356,
    "predicted": 0.941,
    "age_s": 7_200.0,
    "predicted_age_s": 90.0,
    "next_us": 61_000_000,
    "due_hour": 43,
}


def test_visits_are_told_with_what_they_found() -> None:
    counts = Counts(visits=120, unchanged=100, changed=19, gone=1, revisits=3)

    assert visits_text(figures_of(counts)["visited"]) == (
        "visits of known pages: 120 (100 unchanged, 19 changed, 1 gone); "
        "3 pages waiting for a visit"
    )
    assert visits_text(figures_of(Counts())["visited"]) == ""


def test_freshness_is_told_measured_and_predicted() -> None:
    assert freshness_text(FRESH, 1_000_000) == (
        "freshness: 93.6% measured, 94.1% predicted; age: 2 h measured, 1.5 m predicted; "
        "next visit in 1 m; 43 pages due within an hour"
    )
    none = {**FRESH, "measured": None, "age_s": None, "next_us": 0}
    assert "freshness: not yet measured" in freshness_text(none, 0)


def test_a_failing_webhook_is_told_with_its_last_answer() -> None:
    told = {"delivered": 12, "waiting": 3, "skipped": 0, "failures": 4, "fault": "it answered 500"}

    assert notified_text("webhook", told) == (
        "webhook: 12 changes delivered, 3 waiting; 4 failed attempts, the last: it answered 500"
    )


def test_status_shows_all_of_them() -> None:
    told = {"delivered": 1, "waiting": 0, "skipped": 0, "failures": 0, "fault": None}
    disk = dict.fromkeys(("archive", "index", "graph", "state", "log", "budget"), 0)
    facts = {
        "state": "stored",
        **figures_of(Counts(visits=2, unchanged=2)),
        "freshness": FRESH,
        "disk": {**disk, "total": 0, "pruned_captures": 0, "keep": "all"},
        "notified": {"webhook": told},
    }

    lines = list(status_lines(Path("study"), facts, is_coloured=False))

    text = "\n".join(lines)
    assert "visits of known pages: 2 (2 unchanged)" in text
    assert "freshness: 93.6%" in text
    assert "webhook: 1 change delivered, 0 waiting" in text
