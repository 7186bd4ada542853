"""The last words of a crawl: why it ended, and every answer by its status class."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gossamer.cli.run.closing import Closing
from gossamer.cli.show.text import answers_text
from gossamer.frontier.counts import Counts
from gossamer.node.figures.progress import summarise
from support.a_site import Pages, page, site_in_thread
from support.killing import gossamer, typed

QUICK = ("--delay", "0", "--workers", "0")
LINKS = "".join(f"<a href=/{number}>x</a>" for number in range(6))
BROKEN: Pages = {
    "/": page(LINKS),
    "/0": page("no", "404 Not Found"),
    "/1": page("no", "410 Gone"),
    "/2": page("no", "500 Internal Server Error"),
    "*": page("x"),
}


def test_answers_with_an_error_are_counted_by_their_class(collection: Path) -> None:
    with site_in_thread(BROKEN) as site:
        ended = typed("crawl", "-c", collection, *QUICK, site.url())

    assert "4 successes (2xx), 2 client errors (4xx), 1 server error (5xx)" in ended.err
    assert "0 failed" in ended.err
    assert f"`gossamer report -c {collection}` lists broken links." in ended.err


def test_errors_are_told_where_there_are_none() -> None:
    assert answers_text({"2xx": 1}) == (
        "1 success (2xx), 0 client errors (4xx), 0 server errors (5xx)"
    )


def test_each_class_has_a_colour_of_its_own() -> None:
    text = answers_text({"2xx": 1, "3xx": 1, "4xx": 1, "5xx": 1}, is_coloured=True)

    colours = [part.partition("m")[0] for part in text.split("\x1b[") if part[:1] == "3"]
    assert len(set(colours)) == 4


@pytest.mark.parametrize("flag", ["--max-pages", "--set"])
def test_a_limit_that_was_typed_is_named_as_typed(flag: str, collection: Path) -> None:
    value = "2" if flag == "--max-pages" else "limits.max_pages=2"
    with site_in_thread(BROKEN) as site:
        ended = typed("crawl", "-c", collection, *QUICK, flag, value, site.url())

    name = "--max-pages" if flag == "--max-pages" else "--set limits.max_pages"
    assert f"Stopped: {name} 2 reached.\n2 pages fetched" in ended.err


def test_a_limit_kept_from_the_last_run_is_told_with_the_way_to_lift_it(collection: Path) -> None:
    with site_in_thread(BROKEN) as site:
        typed("crawl", "-c", collection, *QUICK, "--max-pages", "2", site.url())
        kept = typed("crawl", "-c", collection, *QUICK)
        lifted = typed("crawl", "-c", collection, *QUICK, "--max-pages", "0", "--json")

    assert (
        "Stopped: --max-pages 2 reached (kept from the last run). Use --max-pages 0 to lift it."
        in kept.err
    )
    assert lifted.summary["stopped"] == "done"


def test_a_limit_of_a_file_is_named_by_its_key_and_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gossamer.toml").write_text("[limits]\nmax_pages = 2\n")
    with site_in_thread(BROKEN) as site:
        ended = typed("crawl", "-c", "study", *QUICK, site.url())

    assert "Stopped: limits.max_pages 2 reached (set in gossamer.toml)." in ended.err


def test_what_strangers_wrote_moves_no_cursor() -> None:
    summary = summarise(Counts(), 0.0, 1.0, "done")

    closing = Closing(summary, Path("c"), why_nothing="http://x/: \x1b[2J gone")

    assert "\x1b" not in "".join(closing.lines())


def test_status_counts_answers_by_their_class(collection: Path) -> None:
    with site_in_thread(BROKEN) as site:
        typed("crawl", "-c", collection, *QUICK, site.url())

    shown = typed("status", "-c", collection).out
    assert "7 pages fetched" in shown
    assert "responses: 4 successes (2xx), 2 client errors (4xx), 1 server error (5xx)" in shown
    assert "404 Not Found: 1" in shown


def test_why_and_versions_tell_status_and_outcome_apart(collection: Path) -> None:
    with site_in_thread(BROKEN) as site:
        typed("crawl", "-c", collection, *QUICK, site.url())
        gone = site.url("/0")

    assert (
        "The server responded 404 Not Found (client error)"
        in typed("why", "-c", collection, gone).out
    )
    assert "404 Not Found" in typed("versions", "-c", collection, gone).out
    assert "status 404 Not Found" in gossamer("page", "-c", collection, gone, "--headers").err


def test_a_revisit_after_which_pages_have_moved_tells_no_negative_number(collection: Path) -> None:
    moving = [page("x"), page("", "302 Found", {"location": "/"})]
    with site_in_thread({"/": page("<a href=/a>a</a>"), "/a": moving}) as site:
        typed("crawl", "-c", collection, *QUICK, site.url())
        again = typed("crawl", "-c", collection, *QUICK, "--revisit")

    assert "1 moved" in again.err
    assert not re.search(r"(?<![\w-])-\d", again.err)
    assert "in the collection: 1 page fetched" in again.err
