"""Stop with a threshold: when is nothing more to be expected?"""

from __future__ import annotations

from gossamer.policies.threshold import Threshold


def test_the_crawl_is_over_when_nothing_queued_is_hot_and_no_page_became_hot_for_a_while() -> None:
    rule = Threshold(least=10, patience=100)
    rule.note(fetched=50, hot=3)

    assert not rule.is_over(149, best_queued=9)
    assert rule.is_over(150, best_queued=9)


def test_a_queued_url_that_is_hot_by_known_links_is_waited_for() -> None:
    rule = Threshold(least=10, patience=100)
    rule.note(fetched=50, hot=3)

    assert not rule.is_over(1_000, best_queued=10)


def test_each_new_hot_page_starts_the_patience_again() -> None:
    rule = Threshold(least=10, patience=100)
    rule.note(fetched=50, hot=3)
    rule.note(fetched=120, hot=4)
    rule.note(fetched=130, hot=4)

    assert not rule.is_over(219, best_queued=0)
    assert rule.is_over(220, best_queued=0)


def test_a_crawl_without_hot_pages_ends_after_its_patience() -> None:
    rule = Threshold(least=10, patience=100)
    rule.note(fetched=60, hot=0)

    assert not rule.is_over(99, best_queued=0)
    assert rule.is_over(100, best_queued=0)
