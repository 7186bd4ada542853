"""Sites in 26 languages and old charsets, full of copies and broken links, in one crawl.

Two of the eight shared sites here; all of them with `EIGHT_SITES=1` (`make realsites`). What is
true is found without our program: languages from the directories, where the text differs from the
English page of the same name; charsets by Python's own codecs; copies by digests of the archived
bodies; broken links from the server's log.
"""

import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import lxml.html
import pytest
from warcio.archiveiterator import ArchiveIterator

from gossamer.analyse.report import make_report
from gossamer.reader.collection_reader import CollectionReader
from gossamer.transfer.exports import batches
from support.need import need_linux
from support.sites import RealSite, serving

pytestmark = pytest.mark.slow

IS_WHOLE: Final = bool(os.environ.get("EIGHT_SITES"))
TRANSLATED: Final = ("apache", "handbook")
OTHERS: Final = ("python", "postgresql", "cppreference", "sqlite", "git", "linux")
LANGUAGES: Final = (
    "ar-MA", "ca-ES", "cs-CZ", "da-DK", "de-DE", "el-GR", "en-US", "es-ES", "fa-IR", "fr-FR",
    "hr-HR", "id-ID", "it-IT", "ja-JP", "ko-KR", "nb-NO", "nl-NL", "pl-PL", "pt-BR", "ro-RO",
    "ru-RU", "sv-SE", "tr-TR", "vi-VN", "zh-CN", "zh-TW",
)  # fmt: skip
_LONGEST_S: Final = 300
_SHINGLE: Final = 12  # characters
_LOOKED_AT: Final = 500  # pages of a site whose language is checked, where not all are
_DENSE: Final = ("zh", "ja", "ko")
# Both packages have no types.
document_of: Final[Any] = lxml.html.document_fromstring
parser_of: Final[Any] = lxml.html.HTMLParser
records_in: Final[Any] = ArchiveIterator


@dataclass
class Crawled:
    """A crawl, and what somebody else knows of it."""

    collection: Path
    summary: dict[str, Any]
    sites: dict[str, RealSite]
    asked: dict[str, int]
    bodies: dict[str, bytes] = field(default_factory=dict)  # of pages, by URL

    def name_of(self, url: str) -> str:
        return next((name for name, site in self.sites.items() if url.startswith(site.origin)), "")

    @cached_property
    def pages(self) -> list[dict[str, Any]]:
        """The rows of all pages that were found; to export them takes 8 s."""
        with CollectionReader.open(self.collection) as reader:
            rows = [row for batch in batches(reader, "pages") for row in batch.to_pylist()]
        return [row for row in rows if row["outcome"] == "fetched" and row["status"] == 200]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    need_linux("the loopback addresses 127.0.0.0/8")
    collection = tmp_path_factory.mktemp("sites") / "collection"
    with ExitStack() as stack:
        names = TRANSLATED + OTHERS if IS_WHOLE else TRANSLATED
        sites = {name: stack.enter_context(serving(name)) for name in names}
        seeds = [site.start for name, site in sites.items() if name != "handbook"]
        seeds += [f"{sites['handbook'].origin}/{name}/" for name in LANGUAGES]
        flags = ["--delay", "0", "--per-host", "8", "-c", str(collection), "--json"]
        command = [sys.executable, "-m", "gossamer", "crawl", *seeds, *flags]
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=_LONGEST_S, check=True
        )
        asked = {
            url: status for site in sites.values() for url, status in site.take_asked().items()
        }
    found = Crawled(collection, json.loads(ended.stdout), sites, asked)
    found.bodies.update(bodies_in(collection))
    return found


def bodies_in(collection: Path) -> Iterator[tuple[str, bytes]]:
    for file in sorted((collection / "archive").glob("*.warc.gz")):
        with file.open("rb") as stream:
            for record in records_in(stream):
                headers = record.http_headers
                if record.rec_type == "response" and headers.get_statuscode() == "200":
                    url = record.rec_headers.get_header("WARC-Target-URI")
                    yield url, record.content_stream().read()


def test_every_page_that_links_lead_to_is_there(crawled: Crawled) -> None:
    pages = len(crawled.pages)

    assert crawled.summary["stopped"] == "done"
    assert crawled.summary["failed"] == 0
    assert pages >= (16_000 if IS_WHOLE else 5_900)
    wall_s, cpu_s = crawled.summary["wall_s"], crawled.summary["cpu_s"]
    print(f"{pages} pages in {wall_s:.0f} s, {cpu_s:.0f} s of CPU")


@pytest.mark.parametrize("name", TRANSLATED)
def test_languages_are_right_where_the_text_is_truly_of_that_language(
    name: str, crawled: Crawled
) -> None:
    right: Counter[bool] = Counter()
    wrong = []
    shingles = Shingles(crawled.bodies)
    rows = [row for row in crawled.pages if crawled.name_of(row["url"]) == name]
    for row in rows if IS_WHOLE else random.Random(name).sample(rows, _LOOKED_AT):
        if truth := language_of(row["url"], shingles):
            right[row["language"] == truth] += 1
            wrong += [(row["url"], truth, row["language"])] * (row["language"] != truth)

    assert sum(right.values()) > _LOOKED_AT // 2
    assert right[True] / sum(right.values()) >= 0.97, wrong[:50]


# -- languages, without our program


class Shingles:
    """The prose of pages, and the pieces of it of twelve characters."""

    def __init__(self, bodies: dict[str, bytes]) -> None:
        self._bodies = bodies
        self._english: dict[str, set[str]] = {}

    def prose(self, url: str) -> list[str]:
        """The texts of blocks that are sentences: mostly letters."""
        page = document_of(decoded(self._bodies[url]).encode(), parser=parser_of(encoding="utf-8"))
        blocks = page.xpath("//p | //li | //dd | //div[@class='para']")
        texts = (" ".join(block.text_content().split()) for block in blocks)
        return [text for text in texts if letters(text) > 0.85 * len(text)]

    def english(self, url: str) -> set[str]:
        if url not in self._english:
            self._english[url] = set(pieces(" ".join(self.prose(url))))
        return self._english[url]

    def share(self, url: str, english: str) -> float:
        """How much of a page's prose stands in another page word for word."""
        own = [piece for text in self.prose(url) for piece in pieces(text)]
        return sum(piece in self.english(english) for piece in own) / max(1, len(own))

    def is_english(self, url: str) -> bool:
        """Whether a page is there and does not declare another language."""
        return url in self._bodies and b'lang="pt' not in self._bodies[url][:1000]


def pieces(text: str) -> list[str]:
    return [text[i : i + _SHINGLE] for i in range(len(text) - _SHINGLE + 1)]


def letters(text: str) -> int:
    return sum(char.isalpha() or char == " " for char in text)


def language_of(url: str, shingles: Shingles) -> str:
    """What the directory says, or English where the text is; empty where it is some of both.

    Six English pages of apache's package are Portuguese: where the English page is not English
    itself, nothing is true.
    """
    folder, _, rest = urlsplit(url).path.lstrip("/").partition("/")
    language = folder.partition("-")[0]
    here = "en-US" if folder in LANGUAGES else "en"
    english = url.replace(f"/{folder}/", f"/{here}/", 1)
    if not rest or not shingles.is_english(english):
        return ""
    if sum(map(len, shingles.prose(url))) < (80 if language in _DENSE else 200):
        return ""
    share = shingles.share(url, english)
    if language == "en":
        return "en"
    if share <= 0.4:
        return language
    return "en" if share >= (0.95 if language in _DENSE else 0.8) else ""


# -- charsets, without our program


def charset_of(body: bytes) -> str:
    """What the page declares, as browsers understand it."""
    found = re.search(rb"charset=[\"']?([a-z0-9_-]+)", body[:1024], re.IGNORECASE)
    label = found[1].decode().lower() if found else "cp1252"
    return {"iso-8859-1": "cp1252", "euc-kr": "cp949"}.get(label, label)


def decoded(body: bytes) -> str:
    return body.decode(charset_of(body), "replace")


@pytest.mark.parametrize(("charset", "fewest"), [("cp949", 100), ("cp1252", 40)])
def test_old_charsets_are_read_as_others_read_them(
    charset: str, fewest: int, crawled: Crawled
) -> None:
    urls = [url for url, body in crawled.bodies.items() if charset_of(body) == charset]
    urls = [url for url in urls if crawled.name_of(url) == "apache"]
    assert len(urls) >= fewest
    with CollectionReader.open(crawled.collection) as reader:
        for url in urls:
            assert reader.page(url).html == decoded(crawled.bodies[url]).removeprefix("\ufeff"), url


# -- copies and broken links, without our program


def test_copies_are_those_of_equal_bytes(crawled: Crawled) -> None:
    digests = Counter(sha256(body).digest() for body in crawled.bodies.values() if body)
    copies = sum(count - 1 for count in digests.values())

    named = [row for row in crawled.pages if row["duplicate_of"]]

    assert len(named) == crawled.summary["duplicates"] == copies
    assert copies > 1_800
    for row in named:
        assert crawled.bodies[row["url"]] == crawled.bodies[row["duplicate_of"]]


def test_broken_links_are_those_that_the_server_did_not_find(crawled: Crawled) -> None:
    broken = {url for url, status in crawled.asked.items() if status == 404}
    broken = {url for url in broken if urlsplit(url).path != "/robots.txt"}

    with CollectionReader.open(crawled.collection) as reader:
        report = make_report(reader, is_quick=True, shown_rows=10_000)

    dead = next(finding for finding in report.findings if finding.question.name == "dead")
    assert {row[0] for row in dead.rows} == broken
    assert all(row[3] for row in dead.rows), "each is told with the pages that link to it"
    assert len(broken) > 150
