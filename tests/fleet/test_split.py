"""The parts of a job of a relay."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gossamer.fleet.protocol import JobSpec
from gossamer.fleet.tree.split import name_of, split_job
from gossamer.urls.canonical import host_of
from gossamer.urls.site import site_of


def a_job(seeds: tuple[str, ...], depth: int, **more: int) -> JobSpec:
    return JobSpec(kind="site", seeds=seeds, depth=depth, **more)  # type: ignore[arg-type]


SEEDS = (
    "http://a.example/",
    "http://www.a.example/x",
    "http://b.example/",
    "http://c.example/",
)


def test_a_unit_that_crawls_itself_gets_one_site_at_a_time() -> None:
    parts = split_job(a_job(SEEDS, depth=1), units=2)

    assert [part.seeds for part in parts] == [SEEDS[:2], SEEDS[2:3], SEEDS[3:]]
    assert {part.depth for part in parts} == {0}
    assert [part.name for part in parts] == ["a.example", "b.example", "c.example"]


def test_relays_below_share_the_sites_evenly() -> None:
    parts = split_job(a_job(SEEDS, depth=2), units=2)

    assert sorted(len(part.seeds) for part in parts) == [2, 2]
    assert {part.depth for part in parts} == {1}


def test_limits_of_pages_hold_for_the_whole() -> None:
    parts = split_job(a_job(SEEDS, depth=1, max_pages=8), units=2)

    assert [part.max_pages for part in parts] == [4, 2, 2]
    assert [part.max_bytes for part in parts] == [0, 0, 0]


def test_a_name_says_how_many_sites_there_are() -> None:
    assert name_of(SEEDS) == "a.example and 2 more"


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=40),
    st.integers(1, 8),
    st.integers(1, 3),
)
def test_every_seed_is_in_one_part_and_a_site_is_never_split(
    numbers: list[tuple[int, int]], units: int, depth: int
) -> None:
    seeds = tuple(dict.fromkeys(f"http://h{page}.site{site}.example/" for site, page in numbers))
    parts = split_job(a_job(seeds, depth=depth), units)

    assert sorted(seed for part in parts for seed in part.seeds) == sorted(seeds)
    sites = [{site_of(host_of(seed)) for seed in part.seeds} for part in parts]
    assert sum(map(len, sites)) == len(set[str]().union(*sites))
    if depth > 1:
        assert len(parts) <= units
