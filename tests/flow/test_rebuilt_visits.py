"""A small site that changes is visited for three rounds; a rebuild of all parts tells the same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.frontier.counts import Counts
from gossamer.frontier.meta_keys import (
    BODY_PREFIX,
    CHANGE_PREFIX,
    CHANGES_KEY,
    COUNTS_KEY,
    NOISE_PREFIX,
)
from gossamer.frontier.rows import UrlRow
from gossamer.frontier.store import StateTable
from gossamer.index.reader import ids
from gossamer.reader.collection_reader import CollectionReader
from gossamer.upkeep.rebuild import rebuild
from gossamer.upkeep.verify import verify
from support.a_crawl import crawl, crawl_again
from support.a_site import Request, answer, page, redirect, reset, robots, site_in_thread
from support.killing import typed

ADS = ("Buy shoes at Walkers", "Fly to Spain from 49 euro", "Soup for everybody", "New kitchens")
LONG = f"<title>Moves</title><p>{'many words ' * 40}</p>"
SAME = f"<title>Twin</title><p>{'the same words ' * 60}</p>"


class DaysLater(SystemClock):
    """A robots.txt is valid for a day."""

    def __init__(self, days: int) -> None:
        self._days = days

    def wall_us(self) -> int:
        return super().wall_us() + self._days * 86_400_000_000


_RANK = re.compile(r'("rank": \d+\.\d{6})\d*')  # sums of the same floats in another order
GONE = answer(b"<p>nothing here", status="404 Not Found")


def article(number: int, text: str, visit: int) -> bytes:
    return page(
        f"<title>Page {number}</title><nav><a href=/>home</a></nav><main><p>{text}</p>"
        f"<p>{f'article {number} is about boats. ' * 30}</p></main>"
        f"<aside>Advert<p>{ADS[(visit + number) % 4]}</p></aside>"
        f"<footer>Views: {visit * 37}</footer>"
    )


def tagged(request: Request) -> bytes:
    if request.headers.get("if-none-match") == '"1"':
        return answer(b"", "304 Not Modified", {"etag": '"1"'})
    return page(f"<title>Tag</title>{'tagged ' * 50}", headers={"etag": '"1"'})


def site_at(visit: int) -> dict[str, Any]:
    names = ["1", "2", "3", "4", "5", "tag", "twin1", "twin2", "twin3", "bad", "no", "err"]
    names += ["new", "moved"] if visit else []
    links = "".join(f"<a href=/p/{name}>{name}</a> " for name in names)
    return {
        "/robots.txt": robots(""),
        "/": page(f"<title>Home</title>{links}"),
        "/p/1": article(1, "The first article stays.", visit),
        "/p/2": article(2, "The second was edited." if visit > 1 else "The second.", visit),
        "/p/3": GONE if visit in (1, 2) else article(3, "The third comes and goes.", 0),
        "/p/4": redirect("/p/1") if visit == 2 else article(4, "The fourth.", 0),
        "/p/5": GONE if visit else page(LONG),
        "/p/tag": tagged,
        "/p/twin1": page(SAME) if visit != 2 else GONE,
        "/p/twin2": page(SAME),
        "/p/twin3": page(SAME) if visit != 1 else article(7, "It is no twin for once.", 1),
        "/p/bad": reset() if visit == 1 else article(8, "It fails once.", 0),
        "/p/err": answer(b"oops", "500 Internal Server Error")
        if visit == 2
        else article(6, "Up.", 0),
        "/p/no": GONE if visit == 0 else article(10, "It was not there at first.", 0),
        "/p/new": article(9, "It is new.", 0),
        "/p/moved": page(LONG),
    }


def told(home: Path) -> dict[str, object]:
    """Everything that people and programs are told of visits."""
    with CollectionReader.open(home) as reader:
        rows = {row.url: row for row in reader.url_rows()}
        meta = dict(reader.scan(StateTable.META))
        kept = (BODY_PREFIX, CHANGE_PREFIX, NOISE_PREFIX, CHANGES_KEY)
        facts: dict[str, object] = {
            "rows": {u: _facts(r) for u, r in rows.items()},
            "meta": {k: v for k, v in meta.items() if k.startswith(kept)},
            "counts": structs.asdict(Counts.decode(meta[COUNTS_KEY])),
            "captures": dict(reader.scan(StateTable.CAPTURE)),
            "changes": dict(reader.scan(StateTable.CHANGE)),
            "duplicates": dict(reader.scan(StateTable.DUPLICATE)),
            "sketches": dict(reader.scan(StateTable.SKETCH)),
            "hosts": dict(reader.scan(StateTable.HOST)),
        }
    facts["index"] = sorted(ids(CollectionPaths(home).index))
    for what in ("pages", "links", "hosts", "anchors", "refused", "text", "captures"):
        file = home.parent / f"{what}.jsonl"
        assert typed("export", what, "-c", home, "-o", file).code == 0
        facts[what] = sorted(_RANK.sub(r"\1", file.read_text()).splitlines())
        file.unlink()
    facts["told"] = typed("changes", "--all", "--json", "-c", home).out
    facts["versions"] = {u: typed("versions", u, "--json", "-c", home).out for u in sorted(rows)}
    return facts


def _facts(row: UrlRow) -> dict[str, object]:
    return {
        n: v for n, v in structs.asdict(row).items() if n not in {"took_s", "place", "first_us"}
    }


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["exact", "html95", "near"])
def test_three_rounds_of_visits_are_the_same_after_a_rebuild(tmp_path: Path, mode: str) -> None:
    home, pages = tmp_path / "c", site_at(0)
    quick: Any = {"politeness__retries": 0, "politeness__per_host": 1, "duplicates__mode": mode}
    with site_in_thread(pages) as site:
        crawl(home, [site.url()], **quick)
        for visit in (1, 2, 3):
            pages.clear()
            pages.update(site_at(visit))
            crawl_again(home, **quick)
    assert_rebuilt_alike(home)


@pytest.mark.slow
def test_visits_that_robots_txt_forbade_for_a_while_are_the_same_after_a_rebuild(
    tmp_path: Path,
) -> None:
    home, pages = tmp_path / "c", site_at(0)
    quick: Any = {"politeness__retries": 0, "politeness__per_host": 1}
    with site_in_thread(pages) as site:
        crawl(home, [site.url()], **quick)
        for visit in (1, 2, 3):
            pages.clear()
            pages.update(site_at(visit))
            if visit == 2:
                pages["/robots.txt"] = robots("User-agent: *\nDisallow: /p/1\nDisallow: /p/twin2")
            crawl_again(home, clock=DaysLater(2 * visit), **quick)
    assert_rebuilt_alike(home)


@pytest.mark.slow
def test_visits_of_a_server_that_was_down_are_the_same_after_a_rebuild(tmp_path: Path) -> None:
    home, pages = tmp_path / "c", site_at(0)
    quick: Any = {"politeness__retries": 0, "politeness__per_host": 1}
    with site_in_thread(pages) as site:
        crawl(home, [site.url()], **quick)
        port = site.port
    crawl_again(home, clock=DaysLater(2), **quick)
    with site_in_thread(site_at(2), port=port):
        crawl_again(home, clock=DaysLater(4), **quick)
    assert_rebuilt_alike(home)


def assert_rebuilt_alike(home: Path) -> None:
    assert list(verify(home)) == []
    before = told(home)
    counts = Counts(**before["counts"])  # type: ignore[arg-type]
    sums = (counts.queued, counts.fetched, counts.redirects, counts.failed, counts.refused)
    assert counts.known == sum(sums)
    rebuild(CollectionPaths(home), "all", SystemClock(), lambda _: None)

    assert list(verify(home)) == []
    after = told(home)
    assert after.keys() == before.keys()
    for name, value in before.items():
        assert after[name] == value, name
