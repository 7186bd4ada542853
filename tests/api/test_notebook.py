"""Python as a newcomer meets it: completion, help, what values show of themselves."""

from __future__ import annotations

import asyncio
import inspect
import rlcompleter
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import turbohtml
from mypy import api as mypy

import gossamer
from gossamer.collection.option_names import FLAGS, NOT, OTHERS
from gossamer.collection.options import Options
from gossamer.errors import UsageError
from gossamer.settings import KEYS, describe
from support.a_site import Pages, answer, page, site_in_thread

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"
SITE: Pages = {
    "/": page(
        "<title>Home &lt;script&gt;alert(1)&lt;/script&gt;</title>"
        "<nav><a href=/a rel=nofollow>to <b>a</b></a></nav><h1>Head</h1>"
        "<p>rose &lt;img src=x onerror=alert(2)&gt; garden \u202egnp.exe"
        "<a href='/b#part'>to b</a><a href='mailto:x@y.example'>mail</a>"
        "<a href='http://a b/'>no</a>"
    ),
    "/a": page("<title>A</title><h2>One</h2><h2>Two</h2>words"),
    "/b": answer(b"plain words", headers={"content-type": "text/plain"}),
}


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[gossamer.Collection]:
    folder = tmp_path_factory.mktemp("notebook") / "study"
    with site_in_thread(SITE) as site:
        opened = gossamer.crawl(
            site.url(), collection=folder, delay=0, type=["html", "text"], depth=3
        )
    with opened:
        yield opened


def home_of(reader: gossamer.Collection) -> str:
    return reader.seeds()[0]


def completed(text: str, **names: object) -> set[str]:
    """What the Tab key offers."""
    completer = rlcompleter.Completer({"gossamer": gossamer, **names})
    found: list[str] = []
    while (one := completer.complete(text, len(found))) is not None:
        found.append(one.rstrip("()"))
    return set(found)


def test_completion_shows_the_public_names_and_no_others() -> None:
    public = {name for name in gossamer.__all__ if not name.startswith("_")}

    assert set(dir(gossamer)) == set(gossamer.__all__)
    assert completed("gossamer.") == {f"gossamer.{name}" for name in public}
    assert all(getattr(gossamer, name) for name in public)


def test_completion_goes_on_within_a_collection_and_a_page(reader: gossamer.Collection) -> None:
    found = reader.page(home_of(reader))

    assert {"reader.pages", "reader.search", "reader.page"} <= completed("reader.", reader=reader)
    assert {"page.links", "page.css", "page.xpath"} <= completed("page.", page=found)


@pytest.mark.parametrize("function", [gossamer.Crawl, gossamer.crawl])
def test_every_option_is_in_the_signature_and_explained(function: object) -> None:
    assert callable(function)
    names = inspect.signature(function).parameters
    told = " ".join((inspect.getdoc(function) or "").split())

    for name in (*FLAGS, *NOT, *OTHERS):
        assert names[name].kind is inspect.Parameter.KEYWORD_ONLY
    for name, key in FLAGS.items():
        assert f"{name} ({names[name].annotation}): {' '.join(describe(key)[2].split())}" in told


def test_every_setting_is_an_option_with_a_type() -> None:
    names = {*FLAGS, *NOT, *OTHERS, *(key.replace(".", "__") for key in KEYS)}

    assert set(Options.__annotations__) == names


@pytest.mark.slow  # a type checker reads the whole package
def test_type_checkers_find_wrong_options(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import gossamer\n"
        'gossamer.crawl("https://a.example", depth=2, scope="site", type=["html"])\n'
        'gossamer.Crawl("https://a.example", politeness__rest_factor=5.0, include=("a", "b"))\n'
        'gossamer.Crawl("https://a.example", dpeth=2)\n'
        'gossamer.crawl("https://a.example", depth="2")\n'
        'gossamer.crawl("https://a.example", scope="galaxy")\n'
    )
    flags = ["--strict", "--python-executable", sys.executable, "--follow-imports=silent"]

    told, wrong, _ = mypy.run([*flags, "--cache-dir", str(tmp_path / "cache"), str(script)])

    lines = [line for line in told.splitlines() if ": error:" in line]
    numbers = [int(line.split(".py:")[1].split(":")[0]) for line in lines]
    assert numbers == [4, 5, 6], (told, wrong)


def test_every_object_says_in_a_line_what_it_is(reader: gossamer.Collection) -> None:
    home = reader.page(home_of(reader))
    hits = reader.search("rose")

    assert repr(reader).endswith("3 pages fetched, 3 URLs known, 2 links>")
    assert repr(home).startswith(f'<StoredPage 200 {home.url} "Home <script>alert(1)</script>", 20')
    assert repr(reader.page(f"{home.url}b")).startswith(f"<StoredPage 200 {home.url}b text/plain, ")
    assert repr(home.links[0]) == f'<PageLink {home.url}a "to a", nofollow, nav>'
    assert repr(hits[0]).startswith(f"<Hit {hits[0].score:.3f} {home.url} ")
    assert repr(hits).splitlines()[0].startswith("<Results 1 of 1 page in ")
    assert "hint: A quotation mark" in repr(reader.search('"rose'))
    assert repr(reader.graph("host")) == f"<Graph of hosts in {str(reader.paths.path)!r}>"
    first, names, *rows = repr(reader.pages).splitlines()
    assert first == "<Table pages: 3 rows>"
    assert names.startswith("url ")
    assert len(rows) == 3
    assert all(len(line) <= 110 for line in repr(reader.pages).splitlines())


def test_a_crawl_says_how_far_it_is(tmp_path: Path) -> None:
    async def looked_at(url: str) -> list[str]:
        crawl = gossamer.Crawl(url, collection=tmp_path / "c", delay=0)
        shown = [repr(crawl)]
        async with crawl:
            async for found in crawl:
                shown += [repr(found), repr(crawl)]
        return [*shown, repr(crawl)]

    with site_in_thread(SITE) as site:
        before, page_line, running, *_, after = asyncio.run(looked_at(site.url()))

    where = f"<Crawl of {site.url()} into {str(tmp_path / 'c')!r}: "
    assert before == f"{where}not started>"
    assert page_line.startswith(f"<CrawledPage 200 {site.url()} ")
    assert running.startswith(f"{where}running, ")
    assert after == f"{where}done, 2 pages fetched>"


def test_a_closed_collection_says_so(reader: gossamer.Collection) -> None:
    other = gossamer.open(reader.paths.path)
    other.close()

    assert repr(other).endswith(": closed>")
    assert "closed" in other._repr_html_()


def test_what_a_notebook_shows_never_runs(reader: gossamer.Collection) -> None:
    home = reader.page(home_of(reader))
    hits = reader.search("rose")
    crawled = gossamer.CrawledPage(
        f"https://a.example/{EVIL}\"' onclick=x", 200, EVIL, EVIL, EVIL, EVIL, (EVIL,), (), 0, 1,
        f"javascript:{EVIL}",
    )  # fmt: skip
    odd = reader.sql(
        f"select '{EVIL}' as \"{EVIL}\", 'javascript:alert(1)' as b, 'https://\"x' as c"
    )

    for value in (reader, home, hits, hits[0], reader.pages, reader.links, crawled, odd):
        markup = value._repr_html_()
        document = turbohtml.parse(markup)
        assert not document.select("script, img, iframe, style, link, form, input"), markup
        for element in document.select("*"):
            assert not any(name.startswith("on") for name in element.attrs), markup
        for link in document.select("a"):
            assert str(link.attr("href")).startswith(("http://", "https://")), markup
        assert "\u202e" not in markup


def test_a_notebook_shows_facts_rows_and_marked_words(reader: gossamer.Collection) -> None:
    home = reader.page(home_of(reader))

    shown = turbohtml.parse(home._repr_html_())
    assert "Home <script>alert(1)</script>" in shown.text
    assert "rose <img src=x onerror=alert(2)> garden" in shown.text
    assert "<b>rose</b>" in reader.search("rose")._repr_html_()
    assert "3 rows" in reader.pages._repr_html_()
    assert "study" in reader._repr_html_()


def test_a_stored_page_has_the_links_that_the_crawl_found(tmp_path: Path) -> None:
    with site_in_thread(SITE) as site:
        with gossamer.Crawl(site.url(), collection=tmp_path / "c", delay=0) as crawl:
            crawled = {found.url: found.links for found in crawl}
        with gossamer.open(tmp_path / "c") as reader:
            stored = {url: reader.page(url).links for url in crawled}

    assert stored == crawled
    assert [link.url for link in stored[site.url()]] == [site.url("/a"), site.url("/b")]


def test_elements_are_chosen_by_css_and_xpath(reader: gossamer.Collection) -> None:
    home = reader.page(home_of(reader))

    assert [one.text for one in home.css("nav a[href]")] == ["to a"]
    assert [one.attr("href") for one in home.css("nav a")] == [f"{home.url}a"]
    assert reader.page(f"{home.url}a").xpath("//h2/text()") == ["One", "Two"]
    assert home.xpath("count(//nav)") == 1
    assert reader.page(f"{home.url}b").css("*") == reader.page(f"{home.url}b").xpath("//*") == []


@pytest.mark.parametrize("wrong", ["a[", "", "::::"])
def test_a_selector_that_is_none_is_told(reader: gossamer.Collection, wrong: str) -> None:
    home = reader.page(home_of(reader))

    with pytest.raises(UsageError, match="selector"):
        home.css(wrong)
    with pytest.raises(UsageError, match="XPath"):
        home.xpath(f"//{wrong}[")
