"""Attributes of every kind, empty ones above all, mean the same to both forms of the reader."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gossamer.native.extensions import load
from parse.test_scan import BARE_SCANNED, BARE_TREES, SCANNED, TREES, read
from support.rows import each_row

pytestmark = pytest.mark.skipif(
    load("gossamer.native._page") is None, reason="the scanner is not built: `make native`"
)

# Every attribute that either form looks at, and one of nobody's.
NAMES = (
    "alt", "title", "href", "xlink:href", "rel", "src", "name", "content", "http-equiv", "role",
    "lang", "xml:lang", "type", "id", "data", "value", "style", "hidden", "label", "srcset",
    "encoding", "charset",
)  # fmt: skip
TAGS = (
    "img", "img", "a", "area", "iframe", "frame", "link", "meta", "base", "html", "body", "title",
    "div", "p", "h1", "input", "button", "svg", "object", "embed", "option", "nav", "font",
    "image", "annotation-xml",
)  # fmt: skip
# How an attribute can be written; `{}` is its name, `{v}` a value.
WRITTEN = (
    " {}", " {}=", " {}=''", ' {}=""', " {}={v}", " {}='{v}'", ' {}="{v}"', " {} = {v}", "/{}",
    " {}/", " {}=/", "\n{}\t=\n''", " {}=' '", " {}='\u3000'", " {}='&#32;'", " {}='&#0;'",
    " {}=&", " {}='&amp'", " {}='\n'", " {}=' {v} '", " {}=\x0c", " {}='\x0b'", " {}='\x1f'",
)  # fmt: skip
VALUES = (
    "x", "next", "canonical", "nofollow", "robots", "description", "generator", "refresh",
    "content-language", "de", "main", "navigation", "hidden", "noindex", "a&amp;b", "#f", "?", "é",
    "0;url=y", "text/html", "utf-8",
)  # fmt: skip


# Case, other attributes and place of an attribute: all 27 ways, and nine threes of them that each
# hold every value of all three once.
ALL_WAYS = tuple(itertools.product(range(3), repeat=3))
THREE_WAYS = tuple(
    tuple((case, (case + more) % 3, (case + place) % 3) for case in range(3))
    for more in range(3)
    for place in range(3)
)


def tries_many() -> bool:
    """Whether `make properties` runs this."""
    return settings.get_current_profile_name() == "many"


def cased(name: str, how: int) -> str:
    return (name, name.upper(), name.title())[how]


_attribute = st.builds(
    lambda name, case, written, value: written.format(cased(name, case), v=value),
    st.sampled_from(NAMES),
    st.integers(0, 2),
    st.sampled_from(WRITTEN),
    st.sampled_from(VALUES),
)
_tag = st.builds(
    lambda tag, case, attributes, end: f"<{cased(tag, case)}{''.join(attributes)}{end}>",
    st.sampled_from(TAGS),
    st.integers(0, 2),
    st.lists(_attribute, max_size=4),
    st.sampled_from(["", "", "", " ", "/", " /"]),
)
_closing = st.sampled_from(["</a>", "</h1>", "</p>", "</div>", "</iframe>", "</title>", "</svg>"])
_text = st.sampled_from(["i", "z", " ", " w ", "\n", "\u00a0", "&#32;", ""])
PAGES = st.builds(
    lambda opening, pieces: opening + "".join(pieces),
    st.sampled_from(["", "<a href=x>i", "<h1>i", "<a href=x><h2>", "<head>", "<body>"]),
    st.lists(_tag | _text | _closing, max_size=12),
)


@example("<a href=x>i<img alt>z</a>")
@example("<h1>i<img alt=''>z</h1>")
@example("<a href=x>i<img ALT= Alt=q>z</a>")
@example("<a href=x>i<img alt='&#32;'>z</a>")
@example("<iframe src title name=n></iframe><area href alt>")
@settings(max_examples=3 * settings().max_examples)
@given(PAGES)
def test_attributes_mean_the_same_to_both_forms(page: str) -> None:
    assert read(SCANNED, page) == read(TREES, page)
    assert read(BARE_SCANNED, page) == read(BARE_TREES, page)


@each_row("tag", sorted(set(TAGS)))
def test_an_attribute_without_value_means_the_same_to_both_forms(tag: str) -> None:
    """Each tag with each attribute, however written, in each case, before each of three other
    attributes and in each of three places. `make properties` combines all of these, 27 s long; here
    the last three change together, and each pair of them comes with every tag and attribute."""
    for at, (name, written) in enumerate(itertools.product(NAMES, WRITTEN)):
        for case, other, place in ALL_WAYS if tries_many() else THREE_WAYS[at % len(THREE_WAYS)]:
            attribute = written.format(cased(name, case), v="x")
            more = ("", f" {name}=second", " href=y rel=next content=c name=robots")[other]
            page = f"<p>i<{tag}{attribute}{more}>w</{tag}>z</p>"
            whole = (page, f"<a href=x>{page}</a>", f"<h1>{page}")[place]
            assert read(SCANNED, whole) == read(TREES, whole), whole
            assert read(BARE_SCANNED, page) == read(BARE_TREES, page), page


def test_an_image_without_words_does_not_part_the_words_around_it() -> None:
    for image in ("<img alt>", "<img alt=''>", "<img>", '<img ALT="" alt=x>'):
        page = f"<a href=x>i{image}z</a><h1>i{image}z</h1>"
        for form in (SCANNED, TREES):
            made = read(form, page)
            assert (made.links[0].text, made.headings) == ("iz", ("iz",))
