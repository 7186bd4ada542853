"""On real sites we find what `wget2 -r` finds, URL for URL, and every difference has its rule.

Everything asked is compared, answered or not, page or not: the table below is all that sets the two
apart. The archives of these crawls are read by programs that are not ours.
"""

import functools
import json
import re
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal
from urllib.parse import unquote, urlsplit

import pytest

from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import Outcome, Reason
from support.need import need_linux, need_program
from support.sites import RealSite, serving

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # it warns of its own older half
    from fastwarc.warc import ArchiveIterator, WarcRecordType

pytestmark = pytest.mark.slow

SITES: Final = ("postgresql", "sqlite", "python")
_LONGEST_S: Final = 300
_SHOWN: Final = re.compile(r"\.(?:css|js|svg|png|gif|jpe?g|ico|woff2?)$")
_BACKSLASH: Final = re.compile(r"""href\s*=\s*["']?[^"'\s>]*\\""")


@dataclass(frozen=True)
class Both:
    """What two crawlers asked of one site (status by URL), and our collection."""

    ours: dict[str, int]
    theirs: dict[str, int]
    types: dict[str, str]
    collection: Path

    def pages(self, asked: dict[str, int]) -> set[str]:
        return {url for url in asked if asked[url] == 200 and self.types[url] == "text/html"}

    def html_of(self, url: str) -> str:
        with CollectionReader.open(self.collection) as reader:
            return reader.page(url).html

    def via(self, url: str) -> str:
        with CollectionReader.open(self.collection) as reader:
            row = reader.find_key(reader.get(url).via)
        return row.url if row else ""


@dataclass(frozen=True)
class Rule:
    """Why one of the two asks a URL that the other does not."""

    who: Literal["ours", "theirs"]
    because: str
    holds: Callable[[Both, str], bool]


def is_shown_in_pages(_: Both, url: str) -> bool:
    return bool(_SHOWN.search(urlsplit(url).path))


def is_relation_for_programs(both: Both, url: str) -> bool:
    """Whether a `link rev=made`, which names the author's mailbox, leads there."""
    name = re.escape(unquote(urlsplit(url).path.rpartition("/")[2]))
    made = re.compile(rf"""<link[^>]*rev=["']made["'][^>]*href=["']{name}["']""")
    return any(made.search(both.html_of(page)) for page in sorted(both.pages(both.ours))[:20])


def has_backslash(_: Both, url: str) -> bool:
    return "%5C" in url


def stands_behind_backslash(both: Both, url: str) -> bool:
    return bool(_BACKSLASH.search(both.html_of(both.via(url))))


RULES: Final = (
    Rule(
        "theirs",
        "styles, scripts and images are no pages; `--type image` or `any` asks for them",
        is_shown_in_pages,
    ),
    Rule(
        "theirs",
        "of `link` only relations that lead people to a page are followed (parse/links.py)",
        is_relation_for_programs,
    ),
    Rule("theirs", "a backslash is a slash, as in browsers; wget2 sends it", has_backslash),
    Rule("ours", "a backslash is a slash, as in browsers", stands_behind_backslash),
)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Both]:
    """Crawls a site with both programs, once for all tests."""

    @functools.cache
    def crawl(name: str) -> Both:
        need_linux("the loopback addresses 127.0.0.0/8")
        need_program("wget2")
        with serving(name) as site:
            return crawl_with_both(site, tmp_path_factory.mktemp(name))

    return crawl


@pytest.mark.parametrize("name", SITES)
def test_the_pages_are_those_that_wget2_finds(name: str, crawled: Callable[[str], Both]) -> None:
    both = crawled(name)
    ours, theirs = both.pages(both.ours), both.pages(both.theirs)

    assert len(theirs) > 400, "the site is there"
    assert unexplained(both, "theirs", theirs - ours) == []
    assert unexplained(both, "ours", ours - theirs) == []
    assert len(ours ^ theirs) <= 1, "pages that rules set apart are rare"


@pytest.mark.parametrize("name", SITES)
def test_everything_else_that_one_of_us_asks_has_a_rule(
    name: str, crawled: Callable[[str], Both]
) -> None:
    both = crawled(name)

    assert unexplained(both, "theirs", both.theirs.keys() - both.ours) == []
    assert unexplained(both, "ours", both.ours.keys() - both.theirs) == []
    shared = both.ours.keys() & both.theirs.keys()
    assert {url: both.ours[url] for url in shared} == {url: both.theirs[url] for url in shared}


@pytest.mark.parametrize("name", SITES)
def test_every_url_has_an_outcome_and_a_reason_where_one_is_due(
    name: str, crawled: Callable[[str], Both]
) -> None:
    both = crawled(name)
    with CollectionReader.open(both.collection) as reader:
        rows = list(reader.url_rows())

    asked = {row.url for row in rows if row.status}
    origin = "/".join(next(iter(both.ours)).split("/")[:3])
    assert asked == both.ours.keys() - {f"{origin}/robots.txt"}
    assert {row.outcome for row in rows} == {Outcome.FETCHED, Outcome.REFUSED}
    assert {bool(row.reason) for row in rows if row.outcome is Outcome.FETCHED} == {False}
    refused = Counter(row.reason for row in rows if row.outcome is Outcome.REFUSED)
    assert refused.keys() <= {Reason.SCOPE, Reason.TYPE}, refused
    for row in rows:
        assert row.reason != Reason.SCOPE or not row.url.startswith(origin), row.url
        assert row.reason != Reason.TYPE or row.type != "text/html", row.url


@pytest.mark.parametrize("name", SITES)
def test_the_archive_holds_what_was_fetched_and_other_programs_read_it(
    name: str, crawled: Callable[[str], Both]
) -> None:
    both = crawled(name)
    files = sorted((both.collection / "archive").glob("*.warc.gz"))
    with CollectionReader.open(both.collection) as reader:
        fetched = {row.url for row in reader.url_rows() if row.outcome is Outcome.FETCHED}

    check = [sys.executable, "-m", "warcio.cli", "check", *map(str, files)]
    checked = subprocess.run(check, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stdout) == (0, ""), checked.stderr
    kept = [url for file in files for url in responses_in(file)]
    assert Counter(kept).most_common(1)[0][1] == 1, "no answer is kept twice"
    assert fetched == {url for url in kept if not url.endswith("/robots.txt")}


def crawl_with_both(site: RealSite, home: Path) -> Both:
    """Run wget2 and then our program, each as a person would, but without rests."""
    run("wget2", "-r", "--level=0", "-q", "--no-config", "-P", str(home / "wget2"), site.start)
    theirs = site.take_asked()
    collection = home / "collection"
    gossamer = [sys.executable, "-m", "gossamer"]
    flags = ["--delay", "0", "--per-host", "8", "-c", str(collection), "--json"]
    summary = json.loads(run(*gossamer, "crawl", site.start, *flags))
    assert (summary["stopped"], summary["failed"], summary["queued"]) == ("done", 0, 0)
    ours = site.take_asked()
    return Both(ours, theirs, site.types_of([*ours, *theirs]), collection)


def run(*command: str) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, timeout=_LONGEST_S, check=False)
    # wget2 says 8 when a server answered with an error, and a real site has broken links.
    assert ended.returncode == 0 or (command[0], ended.returncode) == ("wget2", 8), ended.stderr
    return ended.stdout


def unexplained(both: Both, who: Literal["ours", "theirs"], urls: Iterable[str]) -> list[str]:
    """URLs that no rule of the table speaks of."""
    rules = [rule for rule in RULES if rule.who == who]
    return sorted(url for url in urls if not any(rule.holds(both, url) for rule in rules))


def responses_in(file: Path) -> Iterator[str]:
    """The URLs of a WARC file's responses, each record read by fastwarc and its digest right."""
    with file.open("rb") as stream:
        for record in ArchiveIterator(stream, verify_digests=True):
            if record.record_type == WarcRecordType.response:
                yield record.headers["WARC-Target-URI"]
