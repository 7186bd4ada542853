"""What belongs to a crawl, and the sentence that says why."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import UsageError
from gossamer.urls.canonical import NormalForm
from gossamer.urls.domains import domain_of
from gossamer.urls.scope import Scope, ScopeKind, domains_from
from support.rows import each_row

SEED = "https://docs.example.org/guide/start.html?v=/1/"


@each_row(
    ("kind", "url"),
    [
        ("page", SEED),
        ("prefix", "https://docs.example.org/guide/"),
        ("prefix", "https://docs.example.org/guide/deep/er?x"),
        ("host", "https://docs.example.org/else"),
        ("host", "http://docs.example.org/"),
        ("host", "http://docs.example.org:443/"),
        ("site", "http://example.org/"),
        ("site", "https://x.y.example.org/z"),
        ("any", "http://other.net/"),
    ],
)
def test_a_url_is_in(kind: ScopeKind, url: str) -> None:
    verdict = Scope.build(kind, [SEED]).judge(url)

    assert verdict.is_in
    assert verdict.because


@each_row(
    ("kind", "url", "because"),
    [
        ("page", "https://docs.example.org/guide/start.html", "it is not a seed"),
        ("prefix", "https://docs.example.org/guide", "it is not in the directory of a seed"),
        ("prefix", "http://docs.example.org/guide/", "it is not in the directory of a seed"),
        ("prefix", "https://docs.example.org/guidebook/", "it is not in the directory of a seed"),
        ("host", "https://example.org/", "host example.org is not among the seeds' hosts"),
        (
            "host",
            "http://docs.example.org:8080/",
            "docs.example.org:8080 is not among the seeds' hosts and ports",
        ),
        ("site", "https://example.net/", "site example.net is not among the seeds' sites"),
        ("list", SEED, "host docs.example.org is not in a listed domain"),
    ],
)
def test_a_url_is_out_and_the_rule_is_named(kind: ScopeKind, url: str, because: str) -> None:
    verdict = Scope.build(kind, [SEED]).judge(url)

    assert not verdict.is_in
    assert verdict.because == because


def test_all_seeds_count() -> None:
    scope = Scope.build("prefix", ["http://a.org/x/", "http://a.org/x/y/z", "http://b.org/"])

    assert scope.judge("http://a.org/x/w").because == "it is in http://a.org/x/"
    assert scope.judge("http://b.org/anything").is_in
    assert not scope.judge("http://a.org/").is_in


def test_sites_under_a_public_suffix_are_apart() -> None:
    scope = Scope.build("site", ["https://a.github.io/"])

    assert scope.judge("https://www.a.github.io/").is_in
    assert not scope.judge("https://b.github.io/").is_in


def test_exclude_takes_away_and_is_named() -> None:
    scope = Scope.build("host", [SEED], exclude=["*/private/*", "/tmp/"])

    verdict = scope.judge("https://docs.example.org/a/private/b")

    assert not verdict.is_in
    assert verdict.because == "it matches exclude `*/private/*`"
    assert not scope.judge("https://docs.example.org/tmp/x").is_in
    assert scope.judge("https://docs.example.org/a/tmp/x").is_in


def test_with_includes_one_must_match_and_exclude_still_wins() -> None:
    scope = Scope.build("any", [], include=["*.pdf", "/docs/"], exclude=["*draft*"])

    assert scope.judge("https://a.org/x.pdf").is_in
    assert scope.judge("https://a.org/docs/").is_in
    assert not scope.judge("https://a.org/docs/draft").is_in
    assert scope.judge("https://a.org/").because == "it matches no include (`*.pdf`, `/docs/`)"


def test_a_seed_needs_no_include_but_may_be_excluded() -> None:
    seeds = ["https://a.org/", "https://a.org/draft"]
    scope = Scope.build("host", seeds, include=["/docs/"], exclude=["*draft*"])

    assert scope.judge("https://a.org/").is_in
    assert not scope.judge("https://a.org/other").is_in
    assert not scope.judge("https://a.org/draft").is_in


def test_an_include_widens_no_scope() -> None:
    scope = Scope.build("host", [SEED], include=["*"])

    assert not scope.judge("https://other.net/").is_in


def test_a_long_list_of_domains_is_asked_by_name_and_the_names_above() -> None:
    names = [f"d{number}.org" for number in range(100_000)]
    scope = Scope.build("list", [], domains=[*names, "*.Bücher.example", "10.0.0.1"])

    assert scope.judge("https://d99999.org/").is_in
    assert scope.judge("https://www.d5.org./").is_in
    assert scope.judge("https://x.xn--bcher-kva.example/").because.startswith("domain xn--bcher")
    assert scope.judge("http://10.0.0.1/").is_in
    assert not scope.judge("https://xd5.org/").is_in
    assert not scope.judge("https://org/").is_in


@pytest.mark.parametrize("pattern", ["", "re:[", "example.org/*"])
def test_a_bad_pattern_stops_the_start(pattern: str) -> None:
    with pytest.raises(UsageError, match="pattern"):
        Scope.build("host", [SEED], exclude=[pattern])


def test_a_bad_domain_stops_the_start() -> None:
    with pytest.raises(UsageError, match="'a b' is not a domain"):
        Scope.build("list", [], domains=["a b"])


def test_a_file_of_domains_is_read_as_people_write_it(tmp_path: Path) -> None:
    path = tmp_path / "domains.txt"
    path.write_bytes(
        "\ufeff# ours\r\n\r\nExample.ORG\r\n  *.b.org  # theirs\n.c.org\nd.org.\n"
        "bücher.example\n192.168.0.1\n[::1]".encode()
    )

    assert domains_from(path) == (
        "example.org",
        "b.org",
        "c.org",
        "d.org",
        "xn--bcher-kva.example",
        "192.168.0.1",
        "[::1]",
    )


@pytest.mark.parametrize(
    "line",
    [
        "a b.org",
        "http://a.org",
        "a.org/x",
        "a..org",
        "*",
        "a.*.org",
        "*a.org",
        "a.org:80",
        "a@b.org",
        "1.2.3.999",
        "a%41.org",
        "::1",
        "a." * 130 + "org",
        "a,b.org",
    ],
)
def test_a_bad_line_is_named_with_its_file_and_number(tmp_path: Path, line: str) -> None:
    path = tmp_path / "domains.txt"
    path.write_text(f"# first\nexample.org\n{line}\n", encoding="utf-8")

    with pytest.raises(UsageError, match=r"domains\.txt, line 3: .* is not a domain"):
        domains_from(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"a.org\nb\xfccher.example\n")

    with pytest.raises(UsageError, match=r"cannot read .*none: No such file"):
        domains_from(tmp_path / "none")
    with pytest.raises(UsageError, match="latin, line 2: not UTF-8"):
        domains_from(tmp_path / "latin")


@given(
    st.text("aé0x1.-*_[]:", max_size=12) | st.sampled_from(["1.2", "0xf", "a.0", "a.0x1", "é.a"])
)
def test_a_domain_is_always_a_host_that_a_url_can_have(text: str) -> None:
    domain = domain_of(text)

    if domain is not None:
        assert NormalForm().find(f"http://{domain}/") == f"http://{domain}/"
        assert domain_of(domain) == domain


def test_a_seed_at_a_port_of_its_own_is_that_port_alone() -> None:
    scope = Scope.build("host", ["http://[::1]:8080/"])

    assert scope.judge("https://[::1]:8080/x").is_in
    assert not scope.judge("http://[::1]/x").is_in
    assert not scope.judge("http://[::1]:9000/x").is_in
