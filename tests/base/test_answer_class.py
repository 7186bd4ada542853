"""Outcome and status together: a dead page is never counted or named as a good one."""

from __future__ import annotations

import pytest

from gossamer.base.answer_class import (
    LABELS,
    AnswerClass,
    answer_text,
    class_of,
    count_classes,
    status_text,
)
from support.rows import each_row


@each_row(
    ("outcome", "status", "expected"),
    [
        ("fetched", 200, "2xx"),
        ("fetched", 204, "2xx"),
        ("fetched", 301, "3xx"),
        ("fetched", 304, "3xx"),
        ("fetched", 404, "4xx"),
        ("fetched", 410, "4xx"),
        ("fetched", 503, "5xx"),
        ("fetched", 999, "other"),
        ("fetched", 0, "other"),
        ("failed", 0, "failed"),
        ("failed", 503, "failed"),
        ("refused", 200, "refused"),
        ("queued", 0, "queued"),
    ],
)
def test_a_url_has_one_class(outcome: str, status: int, expected: str) -> None:
    assert class_of(outcome, status) == expected


def test_an_outcome_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="lost"):
        class_of("lost", 200)


def test_outcome_and_status_are_told_apart() -> None:
    assert answer_text("fetched", 404) == "fetched, 404 Not Found"
    assert answer_text("fetched", 999) == "fetched, 999"
    assert answer_text("failed", 0, "timeout") == "failed: timeout"
    assert answer_text("queued") == "queued"
    assert status_text(503) == "503 Service Unavailable"


def test_every_class_has_a_label_and_is_counted() -> None:
    counts = count_classes(
        {"200": 5, "204": 1, "301": 2, "404": 3, "999": 1}, failed=7, refused=8, queued=9
    )

    assert set(LABELS) == set(AnswerClass) == set(counts)
    assert counts["2xx"] == 6
    assert (counts["3xx"], counts["4xx"], counts["5xx"], counts["other"]) == (2, 3, 0, 1)
    assert (counts["failed"], counts["refused"], counts["queued"]) == (7, 8, 9)
