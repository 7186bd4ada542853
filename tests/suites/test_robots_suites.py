"""Robots rules against the RFC's own examples and the cases of Google's parser."""

import json
from typing import Any, Final
from urllib.parse import urlsplit

from gossamer.politeness.robots import Robots
from support.shared import suite

# Rows of Google's suite that we judge otherwise, by test and position in it, with the reason.
# Those marked rfc9309 contradict RFC 9309, 2.2.2, whose table the other suite transcribes.
DEVIATIONS: Final[dict[tuple[str, int], str]] = {
    ("ID_Encoding", 2): "RFC 2.2.2: octets outside ASCII in the URI are encoded before comparison",
    ("ID_Encoding", 4): "RFC 2.2.2: octets outside ASCII in the URI are encoded before comparison",
    ("ID_Encoding", 5): "RFC 2.2.2, table: %62%61%7A is compared as baz",
    ("GoogleOnly_IndexHTMLisDirectory", 0): "RFC: /dir/index.html is another path than /dir/",
    ("GoogleOnly_LineTooLong", 1): "RFC has no limit for a line; 16,663 bytes of path are compared",
    ("GoogleOnly_LineTooLong", 4): "RFC has no limit for a line; half an Allow opens too much",
}
SCORES: Final = {"rfc9309": (69, 72), "google-only": (70, 73)}


def target_of(url: str) -> str:
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def body_of(row: dict[str, Any]) -> bytes:
    return bytes.fromhex(row["robots_hex"]) if "robots_hex" in row else row["robots"].encode()


def test_the_examples_of_the_rfc_are_judged_as_it_says() -> None:
    rows = json.loads((suite("robots-rfc9309") / "rfc9309.json").read_text())["allow_cases"]

    wrong = [
        row
        for row in rows
        if Robots.parse(row["robots"].encode(), row["agents"][0])
        .judge(target_of(row["url"]))
        .allowed
        != row["allowed"]
    ]

    assert not wrong
    assert len(rows) == 30


def test_every_spelling_in_a_row_of_the_rfc_table_matches_every_other() -> None:
    document = json.loads((suite("robots-rfc9309") / "rfc9309.json").read_text())
    for row in document["path_encoding_table_2_2_2"]:
        for rule in row.values():
            robots = Robots.parse(f"user-agent: *\ndisallow: {rule}$".encode())
            for target in row.values():
                assert not robots.judge(target).allowed, (rule, target)


def test_google_cases_differ_only_where_the_reason_is_written_down() -> None:
    rows = json.loads((suite("robots-google") / "allow_cases.json").read_text())
    seen: dict[str, int] = {}
    right: dict[str, int] = dict.fromkeys(SCORES, 0)
    total: dict[str, int] = dict.fromkeys(SCORES, 0)
    differing = set()
    for row in rows:
        place = (row["test"], seen.get(row["test"], 0))
        seen[row["test"]] = place[1] + 1
        ruling = Robots.parse(body_of(row), row["agent"]).judge(target_of(row["url"]))
        is_right = ruling.allowed == row["allowed"]
        right[row["scope"]] += is_right
        total[row["scope"]] += 1
        if not is_right:
            differing.add(place)

    assert differing == set(DEVIATIONS)
    assert {scope: (right[scope], total[scope]) for scope in SCORES} == SCORES


def test_lines_are_counted_alike_whatever_ends_them() -> None:
    rows = json.loads((suite("robots-google") / "other_cases.json").read_text())["parse_counts"]
    for row in rows:
        if row["test"] != "ID_LinesNumbersAreCountedCorrectly":
            continue
        body = bytes.fromhex(row["robots_hex"])
        assert Robots.parse(body, "foo").judge("/some/path").line == 2
        assert Robots.parse(body, "bar").judge("/").line == row["expected"]["last_line_seen"]


def test_a_byte_order_mark_is_skipped_at_the_start_alone_even_when_cut() -> None:
    rows = json.loads((suite("robots-google") / "other_cases.json").read_text())["parse_counts"]
    for row in rows:
        if row["test"] != "ID_UTF8ByteOrderMarkIsSkipped":
            continue
        rules = Robots.parse(bytes.fromhex(row["robots_hex"]), "foo").rules
        assert bool(rules) == (row["expected"]["valid_directives"] == 2)


def test_a_sitemap_is_found_wherever_it_stands() -> None:
    rows = json.loads((suite("robots-google") / "other_cases.json").read_text())["parse_counts"]
    found = [
        Robots.parse(bytes.fromhex(row["robots_hex"])).sitemaps
        for row in rows
        if "sitemap" in row["expected"]
    ]

    assert found == [("http://foo.bar/sitemap.xml",)] * 2
