"""Counts of linking pages, hosts and sites: distinct, of other pages, of what stands now."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.graph.degrees import degrees
from gossamer.urls.canonical import host_of
from gossamer.urls.site import site_of
from support.a_graph import a_graph, capture, link, rows

URLS = [
    f"http://{host}/{page}"
    for host in ("a.example", "www.a.example", "b.example:81", "[::1]:80", "10.0.0.1", "x.co.uk")
    for page in ("", "p?q=1#")
]


def test_pages_hosts_and_sites_are_counted_once_each(tmp_path: Path) -> None:
    target = "http://never-fetched.example/"
    folder = a_graph(
        tmp_path,
        [
            capture("http://a.example/1", 1, link(target, "x"), link(target, "y")),
            capture("http://a.example/2", 1, link(target)),
            capture("http://www.a.example/", 1, link(target)),
            capture("http://b.example:8080/", 1, link(target)),
            capture(target, 1, link(target)),
        ],
    )

    assert rows(degrees(folder)) == [(target, 4, 3, 2)]


@settings(max_examples=settings().max_examples // 2)
@given(st.lists(st.tuples(st.sampled_from(URLS), st.sampled_from(URLS)), max_size=30))
def test_the_counts_are_those_of_sets(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]
) -> None:
    pages = [capture(url, 1, *(link(t) for s, t in pairs if s == url)) for url in URLS]
    folder = a_graph(tmp_path_factory.mktemp("home"), pages[:5], pages[5:])

    wanted = []
    for target in sorted({t for s, t in pairs if s != t}):
        sources = {s for s, t in pairs if t == target and s != target}
        hosts = {host_of(source) for source in sources}
        wanted.append((target, len(sources), len(hosts), len({site_of(host) for host in hosts})))
    assert rows(degrees(folder)) == wanted
