"""A focused crawl of a real server: what is about the topic comes first, and the model stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gossamer.collection.directory import CollectionPaths
from gossamer.errors import UsageError
from gossamer.node.focus.marks import mark_page
from gossamer.node.snapshot import crawl_figures
from support.a_crawl import crawl
from support.a_site import Site, page, site_in_thread
from support.killing import typed
from support.plugins import installed
from support.topical_webs import TopicalWeb, title_of, topical_web

WEB = topical_web(pages=40)
MUSIC = [name for name, topic in WEB.topic.items() if topic == "music"]
CHEESE = [name for name, topic in WEB.topic.items() if topic == "cheese"]


def html(web: TopicalWeb, name: str) -> str:
    items = "".join(f'<li><a href="/{to}">{title_of(to)}</a></li>' for to in web.links[name])
    return f"<title>{title_of(name)}</title><p>{web.text[name]}</p><ul>{items}</ul>"


def pages() -> dict[str, bytes]:
    return {f"/{name}": page(html(WEB, name)) for name in WEB.topic}


def examples(folder: Path, many: int = 5) -> str:
    folder.mkdir()
    for name in MUSIC[:many]:
        (folder / f"{name}.html").write_text(html(WEB, name), encoding="utf-8")
    return str(folder)


def asked(site: Site) -> list[str]:
    return [one.path.lstrip("/") for one in site.log if one.path != "/robots.txt"]


def share(names: list[str]) -> float:
    return sum(WEB.topic[name] == "music" for name in names) / len(names)


def focused(collection: Path, site: Site, most: int, **settings: object) -> list[str]:
    crawl(
        collection,
        [site.url(f"/{CHEESE[0]}")],
        limits__max_pages=most,
        fetch__connections=1,
        **{"frontier__order": "focus", **settings},
    )
    return asked(site)


@pytest.mark.parametrize("workers", [0, 1])
def test_pages_like_the_examples_come_first(tmp_path: Path, workers: int) -> None:
    like = (examples(tmp_path / "examples"),)
    with site_in_thread(pages()) as site:
        names = focused(tmp_path / "c", site, 50, focus__like=like, node__workers=workers)

    figures = crawl_figures(CollectionPaths(tmp_path / "c"))["focus"]
    assert share(names) > 0.55  # a quarter of all pages
    assert figures["judged"] == 50
    assert figures["harvest_rate"] == pytest.approx(share(names), abs=0.2)


def test_a_query_is_enough(tmp_path: Path) -> None:
    with site_in_thread(pages()) as site:
        names = focused(tmp_path / "c", site, 50, frontier__query="music1 music2 music3 music4")

    assert share(names) > 0.45


def test_the_page_at_a_url_is_an_example(tmp_path: Path) -> None:
    with site_in_thread(pages()) as site:
        urls = tuple(site.url(f"/{name}") for name in MUSIC[:3])
        crawl(
            tmp_path / "c",
            [site.url(f"/{CHEESE[0]}"), *urls],
            limits__max_pages=50,
            frontier__order="focus",
            focus__like=urls,
            fetch__connections=1,
        )
        names = asked(site)

    assert share(names) > 0.5
    assert crawl_figures(CollectionPaths(tmp_path / "c"))["focus"]["examples"] == 3


def test_focus_is_part_of_a_mix(tmp_path: Path) -> None:
    like = (examples(tmp_path / "examples"),)
    with site_in_thread(pages()) as site:
        mix = "0.8 focus + 0.2 backlinks"
        names = focused(tmp_path / "c", site, 50, focus__like=like, frontier__order=mix)

    assert share(names) > 0.4


def test_without_a_topic_the_crawl_says_what_is_missing(tmp_path: Path) -> None:
    with site_in_thread(pages()) as site, pytest.raises(UsageError, match="needs a topic"):
        focused(tmp_path / "c", site, 5)


def test_an_example_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with site_in_thread(pages()) as site:
        with pytest.raises(UsageError, match=r"none\.html"):
            focused(tmp_path / "c", site, 5, focus__like=(str(tmp_path / "none.html"),))
        (tmp_path / "empty.txt").write_text("1 2 3")
        with pytest.raises(UsageError, match="no words"):
            focused(tmp_path / "c", site, 5, focus__like=(str(tmp_path / "empty.txt"),))


def test_a_resumed_crawl_goes_on_with_what_it_has_learned(tmp_path: Path) -> None:
    like = (examples(tmp_path / "examples"),)
    with site_in_thread(pages()) as site:
        focused(tmp_path / "c", site, 20, focus__like=like)
        site.log.clear()
        names = focused(tmp_path / "c", site, 45, focus__like=like)

    assert len(names) == 25
    assert share(names) > 0.6
    figures = crawl_figures(CollectionPaths(tmp_path / "c"))["focus"]
    assert figures["judged"] == 45
    assert figures["examples"] == 5  # no example counts twice


def test_a_model_is_exported_and_used_by_another_crawl(tmp_path: Path) -> None:
    like = (examples(tmp_path / "examples"),)
    model = tmp_path / "music.npz"
    with site_in_thread(pages()) as site:
        focused(tmp_path / "c", site, 40, focus__like=like)
        assert typed("focus", "export", model, "-c", tmp_path / "c").code == 0
        site.log.clear()
        names = focused(tmp_path / "d", site, 40, focus__model=str(model))

    assert share(names) > 0.55
    shown = typed("focus", "show", "-c", tmp_path / "d", "--json")
    assert json.loads(shown.out)["focus"]["examples"] == 5
    assert "siblings" in typed("focus", "show", "-c", tmp_path / "d").out


def test_a_collection_without_a_topic_has_no_model(tmp_path: Path) -> None:
    with site_in_thread(pages()) as site:
        crawl(tmp_path / "c", [site.url(f"/{CHEESE[0]}")], limits__max_pages=2)

    ended = typed("focus", "export", tmp_path / "m.npz", "-c", tmp_path / "c")
    assert ended.code == 2
    assert "has no model" in ended.err


def test_marks_are_a_topic(tmp_path: Path) -> None:
    """Pages of an ordinary crawl are marked, and the crawl goes on by topic."""
    with site_in_thread(pages()) as site:
        seeds = [site.url(f"/{name}") for name in (*MUSIC[:4], *CHEESE[:4])]
        crawl(tmp_path / "c", seeds, limits__max_pages=8)
        paths = CollectionPaths(tmp_path / "c")
        for name in MUSIC[:4]:
            mark_page(paths, site.url(f"/{name}"), is_wanted=True)
        words = [site.url(f"/{name}") for name in CHEESE[:2]]
        assert typed("focus", "mark", *words, "--not", "-c", tmp_path / "c").code == 0
        site.log.clear()
        crawl(
            tmp_path / "c",
            [site.url(f"/{name}") for name in MUSIC[4:6]],
            limits__max_pages=40,
            frontier__order="focus",
            fetch__connections=1,
        )

    figures = crawl_figures(paths)["focus"]
    assert figures["examples"] == 4
    assert figures["unwanted"] == 2
    assert figures["judged"] == 32


def test_a_plug_in_judges_pages(tmp_path: Path) -> None:
    code = """
class Music:
    def classify(self, page):
        words = page.text.split()
        return {"music": sum(word.startswith("music") for word in words) / max(1, len(words)) * 3}
"""
    groups = {"gossamer.classifier": {"music": "a_classifier:Music"}}
    plugin = installed(tmp_path / "plugin", "a-classifier", groups, code)
    like = (examples(tmp_path / "examples", 1),)
    with plugin, site_in_thread(pages()) as site:
        names = focused(tmp_path / "c", site, 50, focus__like=like, focus__classifier="music:music")

    assert share(names) > 0.5
    figures = crawl_figures(CollectionPaths(tmp_path / "c"))["focus"]
    assert figures["relevant"] == sum(WEB.topic[name] == "music" for name in names)
