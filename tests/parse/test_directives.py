"""What pages ask of robots, in tags and headers."""

from gossamer.parse.directives import in_headers, in_meta
from support.rows import each_row


@each_row(
    ("content", "wanted"),
    [
        ("noindex", {"noindex"}),
        ("NOINDEX,NoFollow", {"noindex", "nofollow"}),
        (" none ", {"noindex", "nofollow"}),
        ("index, follow, all", set()),
        ("noarchive, nosnippet, max-snippet:20", {"noarchive", "nosnippet"}),
        ("", set()),
    ],
)
def test_a_meta_says_what_robots_may(content: str, wanted: set[str]) -> None:
    assert in_meta(content) == wanted


@each_row(
    ("values", "wanted"),
    [
        ([], set()),
        (["noindex"], {"noindex"}),
        (["noindex", "nofollow"], {"noindex", "nofollow"}),
        (["otherbot: noindex"], set()),
        (["otherbot: noindex, nofollow"], set()),
        (["Gossamer: nofollow"], {"nofollow"}),
        (["otherbot: noindex, gossamer: nofollow, noarchive"], {"nofollow", "noarchive"}),
        (["nosnippet, otherbot: noindex"], {"nosnippet"}),
        (["otherbot: noindex", "none"], {"noindex", "nofollow"}),
        (["*: noindex"], {"noindex"}),
        (["unavailable_after: 25 Jun 2010 15:00:00 PST"], set()),
        (["unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT, noindex"], {"noindex"}),
        (["max-snippet: 20, noarchive"], {"noarchive"}),
        ([":", ",,", "a: b: c"], set()),
    ],
)
def test_a_header_for_others_is_not_for_us(values: list[str], wanted: set[str]) -> None:
    assert in_headers(values) == wanted
