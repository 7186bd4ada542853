"""The main part of a page."""

import gzip
import json
import re
from collections import Counter

import pytest
import turbohtml

from gossamer.parse.main_part import main_part
from support.shared import data

PROSE = "Bees live in hives and make honey from what they find in flowers near their home. " * 3


def words_of(html: str | bytes) -> str:
    part = main_part(turbohtml.parse(html))
    return "" if part is None else part.to_text()


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


@pytest.mark.parametrize("html", ["", "<p>short", "<a href=/>x</a>", "<frameset></frameset>"])
def test_a_page_without_prose_is_taken_as_it_is(html: str) -> None:
    assert words_of(html) == turbohtml.parse(html).to_text()


@pytest.mark.slow
def test_articles_are_found_as_people_marked_them() -> None:
    """The score of the shared pages: precision and recall of pieces of four words."""
    folder = data("extraction")
    truth = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    precisions, recalls = [], []
    for name, marked in truth.items():
        body = gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes())
        true, found = pieces(marked["articleBody"]), pieces(words_of(body))
        both = sum((true & found).values())
        precisions.append(both / max(1, sum(found.values())))
        recalls.append(both / max(1, sum(true.values())))
    precision, recall = (sum(one) / len(one) for one in (precisions, recalls))

    assert 2 * precision * recall / (precision + recall) >= 0.92


def pieces(text: str) -> Counter[tuple[str, ...]]:
    words = re.findall(r"\w+", text)
    return Counter(tuple(words[i : i + 4]) for i in range(len(words) - 3))
