"""Auxiliary fetches of hosts that have nothing else to do, or are given up: none is left behind."""

from __future__ import annotations

from gossamer.records import Lease, Outcome, Purpose, Reason
from schedule.scheduler_bench import PUBLIC, A, B, Bench, a_bench, seconds_until_next

SKIPPED_AT_ONCE = 500


def opened(bench: Bench) -> Bench:
    bench.scheduler.open_sitemaps(bench.store, is_changed=False)
    return bench


def given_up_in_slices() -> Bench:
    """b.example is private and has so many URLs that skipping them takes several slices."""
    bench = opened(a_bench(f"{A}/1"))
    bench.names["b.example"] = ("10.0.0.1",)
    bench.admit(*(f"{B}/{number}" for number in range(3 * SKIPPED_AT_ONCE)))
    return bench


def test_a_sitemap_is_fetched_although_robots_txt_forbids_all_pages_of_its_host() -> None:
    bench = opened(a_bench(f"{A}/private/1"))
    rules = f"User-agent: *\nDisallow: /private\nSitemap: {A}/sitemap.xml\n"
    bench.answer(bench.get(f"{A}/robots.txt"), 200, rules.encode())

    _, lease = seconds_until_next(bench)

    assert bench.outcome_of(f"{A}/private/1") == (Outcome.REFUSED, "robots")
    assert lease is not None
    assert (lease.purpose, lease.url) == (Purpose.SITEMAP, f"{A}/sitemap.xml")


def test_a_sitemap_of_a_host_that_is_being_given_up_does_not_wait_forever() -> None:
    bench = given_up_in_slices()
    lease: Lease | None = bench.get(f"{A}/robots.txt")
    assert lease is not None
    assert bench.frontier.counts.refused, "the first slice was skipped"
    bench.answer(lease, 200, f"Sitemap: {B}/sitemap.xml\n".encode())

    while lease is not None:
        _, lease = seconds_until_next(bench)
        if lease is not None:
            bench.answer(lease)

    assert bench.scheduler.sitemaps_waiting == 0
    assert (f"{B}/sitemap.xml", Reason.PRIVATE) in [(row.url, row.reason) for row in bench.decided]


def test_a_robots_txt_at_a_host_that_is_being_given_up_keeps_no_other_host_waiting() -> None:
    bench = given_up_in_slices()
    bench.names["a.example"] = (PUBLIC + "1",)
    lease: Lease | None = bench.get(f"{A}/robots.txt")
    assert bench.frontier.counts.refused, "the first slice was skipped"

    tries = 0
    while lease is not None:
        tries += 1
        bench.answer(lease, 301, redirect=f"{B}/robots.txt")
        _, lease = seconds_until_next(bench)

    assert tries == bench.settings.politeness.robots_tries
    assert bench.outcome_of(f"{A}/1") == (Outcome.REFUSED, "robots")
