"""`Collection.copies`: where a text or a page stands elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

import gossamer
from support.a_crawl import crawl
from support.a_site import page, site_in_thread

SHARED = (
    "The old mill at the bend of the river was built in the year of the great flood, when the "
    "people of the valley decided that they would never again carry their grain over the pass."
)


def test_copies_of_a_text_and_of_a_page_are_found(tmp_path: Path) -> None:
    pages = {
        "/": page(f"<title>One</title><p>{SHARED}</p><a href=/copy>c</a>"),
        "/copy": page(f"<title>Two <b></title><p>{SHARED}</p>"),
    }
    with site_in_thread(pages) as site:
        crawl(tmp_path / "c", [site.url()])
        url = site.url()

    study = gossamer.open(tmp_path / "c")
    of_text, of_page = study.copies(SHARED), study.copies(url=url)
    study.close()

    assert {copy.url for copy in of_text} == {url, f"{url}copy"}
    assert [copy.url for copy in of_page] == [f"{url}copy"]
    assert isinstance(of_page[0], gossamer.Copy)
    assert "2 pages with parts of the text (36 words)" in repr(of_text)
    assert "Two &lt;b&gt;" in of_page._repr_html_()


def test_copies_want_a_text_or_a_url_and_not_both(tmp_path: Path) -> None:
    with site_in_thread({"/": page("x")}) as site:
        crawl(tmp_path / "c", [site.url()])
    study = gossamer.open(tmp_path / "c")

    for text, url in (("", ""), ("a", "b")):
        with pytest.raises(gossamer.GossamerError, match="either a text or a url"):
            study.copies(text, url=url)
    study.close()
