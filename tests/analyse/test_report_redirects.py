"""Where redirects lead in the end."""

import itertools

from gossamer.analyse.report_redirects import chains_of, loops_of


def test_a_chain_is_told_once_from_its_first_url() -> None:
    (way,) = chains_of({"a": "b", "b": "c", "c": "d"})

    assert way.urls == ("a", "b", "c", "d")
    assert way.hops == 3


def test_one_hop_is_no_chain() -> None:
    assert chains_of({"a": "b", "c": "b"}) == []


def test_two_ways_into_one_chain_are_two_chains() -> None:
    assert [way.urls[0] for way in chains_of({"a": "c", "b": "c", "c": "d"})] == ["a", "b"]


def test_a_loop_is_told_once_wherever_one_enters_it() -> None:
    redirects = {"in": "b", "b": "c", "c": "a", "a": "b", "self": "self"}

    assert [way.urls for way in loops_of(redirects)] == [("a", "b", "c", "a"), ("self", "self")]
    assert chains_of(redirects) == []


def test_a_web_of_redirects_is_walked_once() -> None:
    names = [str(n) for n in range(100_000)]

    assert loops_of(dict(itertools.pairwise(names))) == []
    assert chains_of(dict(itertools.pairwise(names)))[0].hops == 99_999
