"""What a person may mean by a name, and what becomes of seeds and settings that have it."""

from __future__ import annotations

import pytest

from gossamer.errors import UsageError
from gossamer.frontier.store import MemoryStore
from gossamer.settings import Scope, Settings
from gossamer.upkeep.forget_names import Cover, read_names
from gossamer.urls.canonical import NormalForm
from gossamer.urls.keys import Keys
from support.rows import each_row


def names(*texts: str, is_site: bool = False) -> list[tuple[str, str]]:
    found = read_names(texts, NormalForm(), is_site=is_site)
    return [(one.breadth.value, one.name) for one in found]


def cover_of(*texts: str, settings: Settings | None = None) -> Cover:
    named = read_names(texts, NormalForm())
    return Cover.of(named, settings or Settings(), Keys(bytes(16)), MemoryStore())


@each_row(
    ("text", "meant"),
    [
        ("https://Example.org/a#b", [("url", "https://example.org/a")]),
        ("https://example.org", [("url", "https://example.org/")]),
        ("example.org", [("host", "example.org")]),
        ("BÜCHER.example", [("host", "xn--bcher-kva.example")]),
        ("[::1]", [("host", "[::1]")]),
        ("example.org/a", [("url", "https://example.org/a"), ("url", "http://example.org/a")]),
    ],
)
def test_a_url_is_a_url_and_a_bare_name_is_a_host(text: str, meant: list[object]) -> None:
    assert names(text) == meant


def test_a_site_is_named_by_any_of_its_hosts() -> None:
    assert names("https://www.example.co.uk/x", is_site=True) == [("site", "example.co.uk")]


@each_row("text", ["", "a b", "mailto:me@example.org", "example.org:80", "[::1]:80"])
def test_other_texts_are_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(UsageError):
        names(text)


def test_a_seed_that_goes_alone_leaves_the_scope_as_it_was() -> None:
    cover = cover_of("https://a.example/dir/page?q=/")

    seeds = cover.seeds(["https://a.example/dir/page?q=/", "https://b.example/"])

    assert seeds == ["https://a.example/dir/", "https://b.example/"]


def test_a_seed_whose_host_goes_is_gone() -> None:
    assert cover_of("a.example").seeds(["https://a.example/dir/page"]) == []


def test_where_only_seeds_are_in_scope_a_seed_leaves_none() -> None:
    settings = Settings(scope=Scope(kind="page"))

    assert cover_of("http://a.example/x", settings=settings).seeds(["http://a.example/x"]) == []


def test_settings_lose_what_names_nothing_else() -> None:
    cover = cover_of("a.example")
    values = {
        "scope.domains": ["a.example", "b.example"],
        "scope.exclude": ["*a.example*"],
        "fetch.proxies": ["a.example=http://proxy.example:1", "b.example=direct"],
        "scope.depth": 3,
    }

    assert cover.values(values) == {
        "scope.domains": ["b.example"],
        "scope.exclude": ["*a.example*"],
        "fetch.proxies": ["b.example=direct"],
        "scope.depth": 3,
    }
    assert cover.values({"scope.domains": ["a.example"]}) == {"scope.domains": ["a.example"]}


def test_acts_keep_everything_but_the_name() -> None:
    act = {"at": "2026-01-31T12:00:00Z", "act": "begin"}
    seeds = ["http://a.example/", "http://b.example/"]

    left = cover_of("a.example").without({**act, "seeds": seeds})

    assert left == {**act, "seeds": seeds[1:]}


@each_row(
    ("url", "is_covered"),
    [
        ("dns:a.example", True),
        ("ftp://a.example/x", True),
        ("http://A.example/x", True),
        ("urn:uuid:1", False),
        ("", False),
        ("metadata://b.example/x", False),
    ],
)
def test_archives_of_others_have_urls_of_all_kinds(url: str, is_covered: bool) -> None:
    assert cover_of("a.example").covers_any(url) == is_covered


@each_row(
    ("url", "is_covered"),
    [
        ("dns:Gone.example", True), ("ftp://gone.example/x", True), ("ftp://else.example/", False),
        ("ftp://[gone.example", False), ("urn:gone.example", False), ("", False),
    ],
)  # fmt: skip
def test_records_of_other_schemes_are_told_by_their_host_and_rubbish_is_none(
    url: str, is_covered: bool
) -> None:
    assert cover_of("gone.example").covers_any(url) is is_covered
