"""A crawl in the order of a plug-in, as its user installs and names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer.errors import PluginError
from support.a_crawl import crawl
from support.a_site import page, reset, site_in_thread
from support.plugins import example_installed, installed, run_gossamer

PATHS = ["/a-very-long-name-of-a-page", "/short", "/x", "/somewhat-longer"]
SITE = {
    "/": page("".join(f"<a href={path}>page</a>" for path in PATHS)),
    **{path: page("") for path in PATHS},
}
BY_LENGTH = sorted(PATHS, key=len)
FAILING = """
class Order:
    uses_link_counts = False
    is_newest_first = False
    revision = 0
    def score(self, candidate):
        if "x" in candidate.url.rsplit("/", 1)[1]:
            raise RuntimeError("no score today")
        return 1
"""

SCORES_ONCE = """
class Order:
    uses_link_counts = False
    is_newest_first = False
    revision = 0
    def __init__(self):
        self.scored = set()
    def score(self, candidate):
        if candidate.url in self.scored:
            raise RuntimeError("scored before")
        self.scored.add(candidate.url)
        return 1
"""


def pages_in(asked: list[str]) -> list[str]:
    return [path for path in asked if path not in ("/robots.txt", "/")]


def test_pages_are_requested_in_the_order_of_the_example(tmp_path: Path) -> None:
    with example_installed(tmp_path / "packages"), site_in_thread(SITE) as site:
        crawl(tmp_path / "c", [site.url()], frontier__order="short", politeness__per_host=1)

        assert pages_in(site.asked) == BY_LENGTH


def test_the_command_takes_the_name_of_the_example(tmp_path: Path) -> None:
    with example_installed(tmp_path / "packages"), site_in_thread(SITE) as site:
        ran = run_gossamer(
            tmp_path / "packages", "crawl", site.url(), "-c", str(tmp_path / "c"),
            "--order", "short", "--delay", "0", "--workers", "1",
        )  # fmt: skip

        assert ran.returncode == 0, ran.stderr
        assert pages_in(site.asked) == BY_LENGTH


def test_an_order_that_is_not_installed_is_refused_before_a_collection_is_made(
    tmp_path: Path,
) -> None:
    ran = run_gossamer(
        tmp_path, "crawl", "http://127.0.0.1:9/", "-c", str(tmp_path / "c"), "--order", "short"
    )

    assert ran.returncode == 2
    assert "--order is 'short', but it must be one of best, breadth, depth, " in ran.stderr
    assert not (tmp_path / "c").exists()


def test_a_crawl_whose_order_was_uninstalled_resumes_breadth_first_and_says_so(
    tmp_path: Path,
) -> None:
    with site_in_thread(SITE) as site:
        seed, collection = site.url(), str(tmp_path / "c")
        with example_installed(tmp_path / "packages"):
            run_gossamer(
                tmp_path / "packages", "crawl", seed, "-c", collection, "--order", "short",
                "--delay", "0", "--max-pages", "2",
            )  # fmt: skip
        ran = run_gossamer(tmp_path, "crawl", "-c", collection, "--max-pages", "0", "--delay", "0")

    assert ran.returncode == 0, ran.stderr
    assert "short" in ran.stderr
    assert "breadth" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_an_order_that_fails_in_a_crawl_stops_it_with_one_sentence(tmp_path: Path) -> None:
    groups = {"gossamer.order": {"frail": "a_frail_package:Order"}}
    with (
        installed(tmp_path / "packages", "a-frail-package", groups, FAILING),
        site_in_thread(SITE) as site,
    ):
        with pytest.raises(PluginError, match=r"'frail' of a-frail-package 1\.0 failed to score"):
            crawl(tmp_path / "c", [site.url()], frontier__order="frail")
        ran = run_gossamer(
            tmp_path / "packages", "crawl", site.url(), "-c", str(tmp_path / "d"),
            "--order", "frail", "--delay", "0",
        )  # fmt: skip

    assert ran.returncode == 2, ran.stderr
    assert "Traceback" not in ran.stderr
    assert "the order 'frail' of a-frail-package 1.0 failed to score" in ran.stderr


def test_an_order_that_fails_when_a_url_is_queued_for_a_retry_stops_with_one_sentence(
    tmp_path: Path,
) -> None:
    groups = {"gossamer.order": {"once": "a_forgetful_package:Order"}}
    with (
        installed(tmp_path / "packages", "a-forgetful-package", groups, SCORES_ONCE),
        site_in_thread({"/": page("<a href=/b>b</a>"), "/b": reset()}) as site,
        pytest.raises(PluginError, match=r"'once' of a-forgetful-package 1\.0 failed to score"),
    ):
        crawl(
            tmp_path / "c", [site.url()], frontier__order="once",
            politeness__retry_wait_s=0.01, politeness__idle_retry_wait_s=0.01,
        )  # fmt: skip


BY_ANCHOR = """
class Order:
    uses_anchors = True
    uses_link_counts = False
    is_newest_first = False
    revision = 0
    def score(self, candidate):
        if "flute" in candidate.anchor:
            return 1
        return 2 if "oboe" in candidate.context else 3
"""


def test_an_order_can_look_at_anchor_and_context(tmp_path: Path) -> None:
    text = (
        "<p>A list: <a href=/1>cheese</a></p><p>words that are far enough from the others, so</p>"
    )
    text += "<p>about the oboe: <a href=/2>see there</a></p>" + "<p>and much more</p>" * 9
    text += "<p><a href=/3>flute makers</a></p>"
    pages = {"/": page(text), "/1": page(""), "/2": page(""), "/3": page("")}
    with (
        installed(
            tmp_path, "by-anchor", {"gossamer.order": {"words": "by_anchor:Order"}}, BY_ANCHOR
        ),
        site_in_thread(pages) as site,
    ):
        crawl(tmp_path / "c", [site.url()], frontier__order="words", politeness__per_host=1)
        here = pages_in(site.asked)
        site.log.clear()
        ran = run_gossamer(
            tmp_path, "crawl", site.url(), "-c", str(tmp_path / "d"),
            "--order", "words", "--delay", "0", "--workers", "1",
        )  # fmt: skip
        there = pages_in(site.asked)

    assert ran.returncode == 0, ran.stderr
    assert here == there == ["/3", "/2", "/1"]
