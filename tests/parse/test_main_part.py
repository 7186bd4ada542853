"""The main part of a page."""

from __future__ import annotations

import time

import pytest
import turbohtml
from bench.extraction import ours, pages_in, score
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.parse.main_part import main_part
from gossamer.parse.text_walk import text_of
from support.rows import each_row
from support.shared import data

PROSE = "Bees live in hives and make honey from what they find in flowers near their home. " * 3
OTHER = "Wasps build nests of paper and hunt for flies, of which their young are very fond. " * 3

# What was reached on the marked pages; the figures of others are in docs/extraction.md.
REACHED_F1 = 0.97
REACHED_PRECISION = 0.96
REACHED_RECALL = 0.98


def words_of(html: str | bytes) -> str:
    part = main_part(turbohtml.parse(html))
    return "" if part is None else text_of(part)


def test_menus_and_footers_are_left_out() -> None:
    html = (
        "<body><nav>Home <a href=/>Top</a></nav><div id=page><h1>Bees</h1>"
        f"<p>{PROSE}</p><p>{PROSE}</p><div class=share-bar>Tell others</div></div>"
        "<footer>All rights</footer>"
    )

    found = words_of(html)

    assert found.startswith("Bees")
    for beside in ("Top", "Tell others", "All rights"):
        assert beside not in found


def test_a_list_of_links_goes_and_a_list_of_sentences_stays() -> None:
    html = (
        f"<div><p>{PROSE}</p><ul><li>{PROSE}</ul>"
        "<ul><li><a href=/a>Another page of ours</a><li><a href=/b>And one more of them</a></ul>"
        f"<p>{PROSE}</div>"
    )

    assert "Another page" not in words_of(html)
    assert words_of(html).count("Bees") == 9


def test_what_is_called_a_comment_and_is_the_page_stays() -> None:
    assert "Bees" in words_of(f"<div class=comments><p>{PROSE}</p></div>")


def test_a_short_article_wins_over_many_comments() -> None:
    comments = "".join(f"<li class=comment><p>{OTHER}</p>" for _ in range(50))
    html = (
        "<title>Open thread on bees - Blog</title><div class=post><h1>Open thread on bees</h1>"
        f"<div class=entry-content><p>{PROSE}</p></div>"
        f"<div id=comments><ol class=comment-list>{comments}</ol></div></div>"
    )

    found = words_of(html)

    assert "Bees live" in found
    assert "Wasps" not in found


def test_one_sentence_that_is_named_as_the_content_wins_over_comments() -> None:
    html = f"<main><h1>Bees</h1><p>{PROSE[:70]}</p></main><div class=comments>{OTHER * 9}</div>"

    assert words_of(html).startswith("Bees")
    assert "Wasps" not in words_of(html)


def test_a_forum_page_keeps_its_posts() -> None:
    posts = "".join(f"<div class=post id=post-{n}><p>{PROSE} {n}</p></div>" for n in range(5))

    found = words_of(f"<nav>Forum</nav><h1>Question about bees</h1><div id=posts>{posts}</div>")

    assert found.count("Bees live") == 15


def test_the_article_with_the_title_of_the_page_wins_over_teasers_of_others() -> None:
    teasers = "".join(f"<li><h2>Story {n}</h2><p>{OTHER}</p></li>" for n in range(4))
    html = (
        "<title>Why bees make honey | Paper</title><div>"
        f"<div><h1>Why bees make honey</h1><div><p>{PROSE}</p><p>{PROSE}</p></div></div>"
        f"<div><ul>{teasers}</ul></div></div>"
    )

    found = words_of(html)

    assert "Bees live" in found
    assert "Wasps" not in found


def test_text_without_paragraphs_is_found() -> None:
    lines = "<br><br>".join([PROSE] * 4)
    html = f"<div class=meta><p>{OTHER}</p></div><div class=article>{lines}</div>"

    assert words_of(html).count("Bees live") == 12


@pytest.mark.parametrize("wrapper", ["section", "div class=sect1", "div class=section"])
def test_a_long_section_of_a_manual_does_not_hide_title_and_other_sections(wrapper: str) -> None:
    end = wrapper.split(maxsplit=1)[0]
    parts = "".join(
        f"<{wrapper} id=part-{n}><h2>Part {n}</h2><p>{PROSE * times}</p></{end}>"
        for n, times in enumerate((1, 1, 40, 1))
    )
    title = f"<h1>The manual</h1><p>{OTHER}</p>"
    html = f"<div role=main><{wrapper} id=all>{title}{parts}</{end}></div>"

    found = words_of(html)

    assert found.startswith("The manual")
    for heading in ("Part 0", "Part 1", "Part 2", "Part 3"):
        assert heading in found


def test_sections_whose_ids_are_made_of_their_headings_stay_whatever_they_are_about() -> None:
    titles = ["More on Lists", "Cookie Objects", "Comments", "Date Type", "Related Modules"]
    parts = "".join(
        f"<section id={title.lower().replace(' ', '-')}><h2>{title}</h2><p>{PROSE}</p></section>"
        for title in titles
    )

    found = words_of(f"<main><section id=the-book><h1>The book</h1>{parts}</section></main>")

    assert [title for title in titles if title not in found] == []


@each_row(
    "html",
    [
        "",
        "<p>short",
        "<a href=/>x</a>",
        "<frameset></frameset>",
        "<nav>All there is</nav>",
        "<footer>Only a footer, and it is long enough to be a sentence of prose.</footer>",
        "<div hidden>Hidden words</div>",
        "<ul><li><a href=/a>One link</a><li><a href=/b>Another link of the page</a></ul>",
        "<table><tr><td>1<td>2<tr><td>3<td>4</table>",
        "<button>Press me</button>",
        "<noscript>Turn scripts on</noscript>",
        "<select><option>One</select>",
        "<div class=cookie-notice>Cookies taste good, and this page is about nothing else.</div>",
        f"<div class=comments><a href=/>{PROSE}</a></div>",
        "<p><span class=date>2026-01-01</span></p>",
    ],
)
def test_a_page_without_prose_is_taken_as_it_is(html: str) -> None:
    document = turbohtml.parse(html)

    assert words_of(html) == text_of(document)


def test_a_page_of_one_table_keeps_it_beside_a_short_introduction() -> None:
    rows = "".join(f"<tr><td>Hive {n}<td>{n} kg<td>full" for n in range(200))
    html = f"<div><div><p>{PROSE[:90]}</p></div><div><table>{rows}</table></div></div>"

    assert "Hive 199" in words_of(html)


def test_a_page_that_is_an_index_keeps_its_links() -> None:
    links = "".join(f"<li><a href=/{n}>Chapter {n} of the book about bees</a>" for n in range(60))
    html = f"<div id=content><h1>Contents</h1><p>{PROSE}</p><ul>{links}</ul></div>"

    assert "Chapter 59" in words_of(html)


def test_the_content_of_a_page_laid_out_by_a_table_is_found() -> None:
    menu = "".join(f"<p><a href=/{n}>Menu {n}</a>" for n in range(30))
    html = f"<table><tr><td>{menu}<td><h1>Bees</h1><p>{PROSE}</p><p>{PROSE}</p></table>"

    found = words_of(html)

    assert "Bees live" in found
    assert "Menu 7" not in found


TAGS = (
    "div", "p", "ul", "li", "nav", "footer", "aside", "form", "span", "a", "section", "article",
    "main", "h1", "h2", "table", "tr", "td", "button", "noscript", "figure", "blockquote",
    "dialog", "header", "template", "script", "style", "title", "iframe", "select", "svg",
)  # fmt: skip
NAMES = ("", "comments", "content", "article-body", "share", "cookie", "menu", "footer", "date")


@st.composite
def trees(draw: st.DrawFn, depth: int = 4) -> str:
    """HTML of any shape, most of it badly nested."""
    tag, name = draw(st.sampled_from(TAGS)), draw(st.sampled_from(NAMES))
    attrs = draw(st.sampled_from(("", " hidden", " style=display:none", " role=navigation")))
    inner = draw(st.sampled_from(("", "x", "\xa0", "two words", PROSE, "蜜蜂")))
    if depth:
        inner += "".join(draw(st.lists(trees(depth - 1), max_size=3)))
    end = draw(st.sampled_from((f"</{tag}>", "")))
    return f"<{tag} class='{name}'{attrs} href=/>{inner}{end}"


@settings(max_examples=2 * settings().max_examples)
@given(trees())
def test_any_page_with_text_has_main_text(html: str) -> None:
    whole = text_of(turbohtml.parse(html))
    part = main_part(turbohtml.parse(html))

    assert part is None or bool(text_of(part).strip()) == bool(whole.strip())


SHAPES = {
    "lists": "<ul><li>An item of a list ",
    "lists of links": "<ul><li><a href=/>An item of a list</a> ",
    "tables": "<table><tr><td>A cell of a table ",
    "sections": f"<section id=a><h2>A heading</h2><p>{PROSE}",
    "comments": f"<div class=comments>{PROSE}",
    "headings": "<h1>A heading<div>",
    "labels": "<span class=date>Today ",
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_deep_pages_take_time_in_proportion_to_their_length(shape: str) -> None:
    took_s = {}
    for depth in (2_500, 10_000):
        document = turbohtml.parse(SHAPES[shape] * depth)
        began_s = time.process_time()
        main_part(document)
        took_s[depth] = time.process_time() - began_s

    assert took_s[10_000] < 2.0
    assert took_s[10_000] < 10 * took_s[2_500] + 0.2


@pytest.mark.slow
def test_articles_are_found_as_people_marked_them() -> None:
    found = score(ours, pages_in(data("extraction")))

    assert found.empty == 0
    assert found.f1 >= REACHED_F1
    assert found.precision >= REACHED_PRECISION
    assert found.recall >= REACHED_RECALL
