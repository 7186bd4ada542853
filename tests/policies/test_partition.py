"""Which process owns a URL (`policies/partition.py`)."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policies.partition import (
    Hierarchy,
    Partition,
    SiteHash,
    UrlHash,
    consistent,
    reversed_labels,
)
from gossamer.policies.partition_arrays import consistent_all, owners_of
from gossamer.urls.keys import Keys

KEYS = Keys(b"salt" * 4)
URLS = [
    f"http://{host}.site{site}.example/{page}"
    for site in range(40)
    for host in ("www", "news")
    for page in range(20)
]
HALVES = Hierarchy(("example.site25",))


def owner(partition: Partition, url: str) -> int:
    return partition.owner_of(KEYS.of(url), url)


@pytest.mark.parametrize("partition", [UrlHash(8), SiteHash(8), HALVES])
def test_every_url_has_one_owner_below_the_count(partition: Partition) -> None:
    owners = {owner(partition, url) for url in URLS}

    assert owners == set(range(partition.count))


@pytest.mark.parametrize("partition", [SiteHash(8), HALVES])
def test_all_hosts_of_a_site_have_the_same_owner(partition: Partition) -> None:
    owners_by_site: dict[str, set[int]] = {}
    for url in URLS:
        owners_by_site.setdefault(url.split(".")[1], set()).add(owner(partition, url))

    assert all(len(owners) == 1 for owners in owners_by_site.values())


def test_a_hash_of_urls_spreads_a_site_over_all_processes() -> None:
    urls = [f"http://one.example/{number}" for number in range(4000)]

    sizes = Counter(owner(UrlHash(4), url) for url in urls)

    assert all(900 < sizes[part] < 1100 for part in range(4))


def test_equal_paths_on_different_hosts_are_spread_too() -> None:
    sizes = Counter(owner(UrlHash(4), f"http://h{number}.example/") for number in range(4000))

    assert all(900 < sizes[part] < 1100 for part in range(4))


@given(st.integers(0, 2**64 - 1), st.integers(1, 63))
def test_one_process_more_takes_urls_and_moves_no_others(value: int, count: int) -> None:
    before, after = consistent(value, count), consistent(value, count + 1)

    assert after in {before, count}


@given(st.lists(st.integers(0, 2**64 - 1), max_size=30), st.integers(1, 64))
def test_an_array_gets_the_same_owners_as_single_values(values: list[int], count: int) -> None:
    import numpy as np

    found = consistent_all(np.array(values, np.uint64), count)

    assert found.tolist() == [consistent(value, count) for value in values]


def test_an_array_of_keys_gets_the_same_owners_as_single_urls() -> None:
    keys = b"".join(map(KEYS.of, URLS))

    assert owners_of(UrlHash(16), keys).tolist() == [owner(UrlHash(16), url) for url in URLS]


def test_domains_under_one_suffix_stay_together() -> None:
    sites = {"a.com": 10, "b.com": 10, "c.com": 10, "cnr.it": 15, "infn.it": 15}

    partition = Hierarchy.balanced(sites, 2)

    assert [partition.owner_of_host(host) for host in sites] == [0, 0, 0, 1, 1]
    assert partition.owner_of_host("www.unknown.it") == 1
    assert partition.owner_of_host("127.0.0.1") == 0


@given(
    st.dictionaries(
        st.text("abc", min_size=1, max_size=4).map(lambda name: f"{name}.com"),
        st.integers(1, 1000),
        min_size=1,
    ),
    st.integers(1, 8),
)
def test_ranges_are_as_many_as_asked_or_as_there_are_sites(
    sites: dict[str, int], count: int
) -> None:
    partition = Hierarchy.balanced(sites, count)

    used = {partition.owner_of_host(site) for site in sites}
    assert used == set(range(partition.count))
    assert partition.count <= min(count, len(sites))


def test_a_site_that_is_larger_than_a_share_does_not_starve_the_others() -> None:
    sites = {"a.com": 1000} | {f"s{number:02}.com": 10 for number in range(30)}

    partition = Hierarchy.balanced(sites, 4)

    sizes = Counter[int]()
    for site, pages in sites.items():
        sizes[partition.owner_of_host(site)] += pages
    assert sizes == {0: 1000, 1: 100, 2: 100, 3: 100}


def test_labels_are_reversed_but_not_those_of_an_address() -> None:
    assert reversed_labels("www.cnr.it") == "it.cnr.www"
    assert reversed_labels("127.0.0.1") == "127.0.0.1"
