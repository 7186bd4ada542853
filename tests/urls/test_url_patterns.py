"""Patterns that operators write."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import UsageError
from gossamer.urls.patterns import Prefixes, find_match, pattern_of
from support.rows import each_row

URL = "https://docs.example.org/guide/a.pdf?v=1"


@each_row(
    "pattern",
    [
        "*",
        "*/guide/*",
        "*.pdf?v=1",
        "https://docs.example.org/*",
        "https://*.example.org/*",
        "http*://docs.example.org/guide/*",
        "HTTPS://Docs.Example.ORG:443/gui*",
        "https://docs.example.org/guide/",
        "https://docs.example.org",
        "/guide/",
        "/gu",
        "/guide/*.pdf*",
        "/*?v=1",
        "**a**",
        r"re:\.pdf\b",
        "re:[[(]?docs",
        "re:^https://docs",
        " */guide/* ",
    ],
)
def test_a_pattern_matches(pattern: str) -> None:
    assert pattern_of(pattern).matches(URL)


@each_row(
    "pattern",
    [
        "*.pdf",
        "*/Guide/*",
        "http://docs.example.org/",
        "https://docs.example.org/a",
        "https://example.org",
        "/a.pdf",
        "/guide/*.html",
        "/guide/a?pdf",
        "*guide*guide*",
        "re:^docs",
    ],
)
def test_a_pattern_does_not_match(pattern: str) -> None:
    assert not pattern_of(pattern).matches(URL)


def test_a_host_in_a_prefix_is_whole() -> None:
    assert not pattern_of("https://example.org").matches("https://example.org.evil.net/")


def test_what_is_not_ascii_is_found_as_canonical_urls_have_it() -> None:
    url = "https://xn--bcher-kva.example/%C3%BC%20b"

    assert pattern_of("https://Bücher.example/ü b").matches(url)
    assert pattern_of("*/ü*").matches(url)


def test_the_ends_of_a_glob_do_not_overlap() -> None:
    assert not pattern_of("http://a/b*b/c").matches("http://a/b/c")


@each_row(
    ("pattern", "message"),
    [
        ("", "is empty"),
        ("example.org", "matches no URL; begin it with http:// or https://"),
        ("example.org/*", "matches no URL"),
        ("ftp://example.org/*", "matches no URL"),
        ("https://exa mple.org/x", "has no valid host"),
        ("https://me@example.org/x", "has no valid host"),
        ("https:///x", "has no valid host"),
        ("/a#b", "never has a fragment"),
        ("re:(", "is not a regular expression"),
        ("re:a{99999999999}", "is not a regular expression"),
        ("re:^(?!.*login)", "look-around and back-references are not supported"),
        (r"re:/(\w+)/\1/", "look-around and back-references are not supported"),
        ("re:a{1001}", "cannot be used: invalid repetition size"),
        ("re:/a{,5}/", "write {0,5}"),
        ("re:/page[[:digit:]]+", "has [:digit:]; write its characters"),
        ("re:straße", "has 'ß', but URLs are ASCII"),
        ("re:(.{1,99}){1,9}(.{1,99}){1,9}", "counts in braces multiply"),
    ],
)
def test_a_pattern_that_can_match_nothing_is_refused_in_one_sentence(
    pattern: str, message: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        pattern_of(pattern)

    assert "\n" not in str(caught.value)


@given(st.text("ab*/", max_size=8), st.text("ab/", max_size=12))
def test_a_glob_means_what_the_regex_of_it_means(glob: str, path: str) -> None:
    wanted = ".*".join(map(re.escape, glob.split("*")))
    pattern = pattern_of("/*" + glob)

    assert pattern.matches("http://a/" + path) == bool(re.fullmatch("/.*" + wanted, "/" + path))


def test_a_glob_of_many_stars_is_not_slow_on_a_long_url() -> None:
    # A backtracking matcher would need more than 10^40 steps.
    pattern = pattern_of("*" + "a*" * 40 + "b")

    assert not pattern.matches("http://a.org/" + "a" * 16_000)


def test_the_first_match_is_named_as_it_was_written() -> None:
    patterns = [pattern_of("/x"), pattern_of(" /gui* "), pattern_of("*")]

    assert find_match(patterns, URL) == "/gui*"
    assert find_match(patterns[:1], URL) is None


@given(st.lists(st.text("ab/", max_size=4)), st.text("ab/", max_size=6))
def test_a_prefix_is_found_among_many_when_one_by_one_would_find_one(
    prefixes: list[str], text: str
) -> None:
    found = Prefixes(prefixes).find(text)

    assert (found is not None) == any(map(text.startswith, prefixes))
    assert found is None or (found in prefixes and text.startswith(found))


@each_row(
    "pattern", ["re:(a+)+$", "re:(a|aa)+$", r"re:(\w+/?)+!$", "re:(.*a){20}b", "re:a*a*a*a*a*a*a*c"]
)
def test_no_url_makes_a_pattern_slow(pattern: str) -> None:
    """Python's engine needs more steps for each than there are atoms on earth."""
    url = "http://a/" + "a" * 16_000 + "!x"
    began_s = time.process_time()

    assert not pattern_of(pattern).matches(url)

    assert time.process_time() - began_s < 2


def test_the_largest_pattern_on_the_longest_url_takes_a_moment() -> None:
    pattern = pattern_of("re:(.{1,99}){1,9}$")
    began_s = time.process_time()

    assert pattern.matches("http://a/" + "ab/" * 5_400)

    assert time.process_time() - began_s < 10


EXPRESSIONS = st.from_regex(r"\A[a-c/.?*+|^$]{0,3}(\([a-c|.]{1,3}\)[*+?]?)?[a-c/\\d]{0,3}\Z")


@given(EXPRESSIONS, st.text("abc/.1", max_size=10))
def test_an_expression_means_what_python_says(expression: str, path: str) -> None:
    try:
        wanted = re.search(expression, "http://a/" + path) is not None
        pattern = pattern_of("re:" + expression)
    except (re.error, FutureWarning, UsageError):
        return

    assert pattern.matches("http://a/" + path) == wanted
