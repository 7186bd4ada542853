"""On a real site, the links into a page are those that somebody else finds.

Somebody else is the script below: it reads the archive with warcio and every page with lxml,
resolves links with the standard library, and shares nothing with our program.
"""

import json
import random
import re
import subprocess
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urljoin, urlsplit

import lxml.html
import pytest
from warcio.archiveiterator import ArchiveIterator

from gossamer.graph import tables
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.links import anchors, backlinks
from support.need import need_linux
from support.sites import serving

pytestmark = pytest.mark.slow

SITES: Final = ("sqlite", "postgresql")
TARGETS: Final = 200
_LONGEST_S: Final = 300
_MAX_CHARS: Final = 500  # of an anchor: `parse.max_anchor_chars`

# Both packages have no types.
document_fromstring: Final[Any] = lxml.html.document_fromstring
records_in: Final[Any] = ArchiveIterator

Links = dict[str, set[tuple[str, str]]]  # of each target, the pages and words that lead to it


@pytest.mark.parametrize("name", SITES)
def test_backlinks_and_their_words_are_those_that_a_slow_script_finds(
    name: str, tmp_path: Path
) -> None:
    need_linux("the loopback addresses 127.0.0.0/8")
    collection = tmp_path / "collection"
    with serving(name) as site:
        crawl(site.start, collection)
    found = links_by_script(collection)
    with CollectionReader.open(collection) as reader:
        by_spelling = {spelt(url): url for url in targets_of(reader)}
        assert by_spelling.keys() == found.keys()
        for target in random.Random(name).sample(sorted(found), TARGETS):
            rows = backlinks(reader, by_spelling[target])[1].to_pylist()
            links = {(spelt(row["source"]), words(row["anchor"])) for row in rows if shown(row)}
            assert links == found[target], target
            told = {
                words(row["anchor"]) for row in anchors(reader, by_spelling[target])[1].to_pylist()
            }
            assert told >= {text for _, text in found[target]}, target


def crawl(start: str, collection: Path) -> None:
    flags = ["--delay", "0", "--per-host", "8", "-c", str(collection), "--json"]
    command = [sys.executable, "-m", "gossamer", "crawl", start, *flags]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=_LONGEST_S, check=True)
    assert json.loads(ended.stdout)["stopped"] == "done"


def targets_of(reader: CollectionReader) -> Iterator[str]:
    for batch in tables.batches(
        reader.paths.graph, "select distinct target from links where kind in ('a', 'area')"
    ):
        yield from batch.column("target").to_pylist()


def shown(row: dict[str, Any]) -> bool:
    return row["kind"] in ("a", "area")


# -- the script


def links_by_script(collection: Path) -> Links:
    found: Links = defaultdict(set)
    for url, content in pages_of(collection):
        page = document_fromstring(content)
        base = next((b.get("href") for b in page.iter("base") if b.get("href")), "")
        for element in page.iter("a", "area"):
            href = element.get("href")
            if href is None or element.getparent() is None:
                continue
            target = urljoin(urljoin(url, base), href.strip().replace("\\", "/"))
            if urlsplit(target).scheme in ("http", "https"):
                found[spelt(target)].add((spelt(url), words(text_of(element))))
    return found


def pages_of(collection: Path) -> Iterator[tuple[str, str]]:
    """URL and text of every page of HTML in the archive."""
    for file in sorted((collection / "archive").glob("*.warc.gz")):
        with file.open("rb") as stream:
            for record in records_in(stream):
                headers = record.http_headers
                if record.rec_type != "response" or not headers:
                    continue
                kind = headers.get_header("content-type") or ""
                if kind.partition(";")[0] == "text/html":
                    content = record.content_stream().read()
                    yield record.rec_headers.get_header("WARC-Target-URI"), text(content, kind)


def text(content: bytes, kind: str) -> str:
    charset = kind.partition("charset=")[2] or meta_charset(content)
    # Browsers read ISO 8859-1 as Windows-1252.
    decoded = content.decode("cp1252" if charset.lower() == "iso-8859-1" else charset, "replace")
    return re.sub(r"^\s*<\?xml[^>]*\?>", "", decoded)  # lxml would not have it in a text


def meta_charset(content: bytes) -> str:
    after = content[:1024].lower().partition(b"charset=")[2]
    return after.lstrip(b"\"'").split(b'"')[0].split(b"'")[0].decode() or "cp1252"


def text_of(element: Any) -> str:
    if element.tag == "area":
        return element.get("alt") or ""
    parts = [element.text or ""]
    for inner in element:
        if inner.tag == "img":
            parts.append(" " + (inner.get("alt") or "") + " ")
        elif isinstance(inner.tag, str) and inner.tag not in ("script", "style"):
            parts.append(text_of(inner))
        parts.append(inner.tail or "")
    return "".join(parts)


def spelt(url: str) -> str:
    """A URL without its fragment, however its characters are escaped."""
    parts = urlsplit(url)
    host = parts.netloc.lower()
    return unquote(parts._replace(netloc=host, path=parts.path or "/", fragment="").geturl())


def words(anchor: str) -> str:
    """The characters of an anchor: where white space stands between blocks is a matter of taste."""
    folded = " ".join(anchor.split())[:_MAX_CHARS]
    return "".join(unicodedata.normalize("NFC", folded).split())
