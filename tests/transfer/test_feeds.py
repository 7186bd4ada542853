"""A feed of changes is valid whatever titles the web has, and its entries keep their ids."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import UsageError
from gossamer.transfer.feeds import Feed, FeedEntry, atom, form_of, json_feed, plain, written

ATOM = "{http://www.w3.org/2005/Atom}"
NEW_YEAR_US = 1_767_225_600_000_000
ENTRY = FeedEntry(
    url="http://a.test/news?a=1&b=2",
    title="Changed: News & <views>",
    text="12 words added, 3 removed",
    at_us=NEW_YEAR_US,
    kind="changed",
    page="http://127.0.0.1:8800/page?url=http%3A%2F%2Fa.test%2Fnews&view=diff",
    facts={"words_added": 12},
)
FEED = Feed(
    title="Changes on a.test",
    identity="collection site=a.test",
    entries=(ENTRY, replace(ENTRY, at_us=NEW_YEAR_US - 1_000_000, kind="gone")),
    address="http://127.0.0.1:8800/feeds/changes.atom?site=a.test&c=x",
    page="http://127.0.0.1:8800/changes",
)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def _text(parent: ET.Element, name: str) -> str:
    found = parent.find(ATOM + name)
    assert found is not None
    assert found.text
    return found.text


def _parsed(feed: Feed) -> ET.Element:
    return ET.fromstring(atom(feed))  # our own document


def test_an_atom_feed_has_what_the_standard_requires() -> None:
    root = _parsed(FEED)

    assert root.tag == f"{ATOM}feed"
    assert _text(root, "title") == "Changes on a.test"
    assert _text(root, "id").startswith("urn:uuid:")
    assert _text(root, "updated") == "2026-01-01T00:00:00Z"
    author = root.find(f"{ATOM}author")
    assert author is not None
    assert _text(author, "name")
    links = {link.get("rel"): link.get("href") for link in root.findall(f"{ATOM}link")}
    assert links == {"self": FEED.address, "alternate": FEED.page}
    entries = root.findall(f"{ATOM}entry")
    assert len(entries) == 2
    for entry in entries:
        assert _text(entry, "id").startswith("urn:uuid:")
        assert _TIME.fullmatch(_text(entry, "updated"))
        assert _text(entry, "title") == ENTRY.title
        assert _text(entry, "summary") == ENTRY.text
    links = {link.get("rel"): link.get("href") for link in entries[0].findall(f"{ATOM}link")}
    assert links == {"alternate": ENTRY.url, "related": ENTRY.page}
    assert len({_text(entry, "id") for entry in entries}) == 2


def test_a_json_feed_has_what_the_standard_requires() -> None:
    found = json.loads(json_feed(FEED))

    assert found["version"] == "https://jsonfeed.org/version/1.1"
    assert found["title"] == "Changes on a.test"
    assert found["feed_url"] == FEED.address
    item = found["items"][0]
    assert item["id"] == ENTRY.id
    assert item["url"] == ENTRY.url
    assert item["content_text"] == ENTRY.text
    assert item["date_published"] == "2026-01-01T00:00:00Z"
    assert item["tags"] == ["changed"]
    assert item["_gossamer"] == {"words_added": 12}


def test_ids_stay_the_same_and_are_those_of_the_other_form() -> None:
    ids = [item["id"] for item in json.loads(json_feed(FEED))["items"]]

    again = _parsed(replace(FEED, title="Another title", address="http://other.test/"))
    assert [_text(entry, "id") for entry in again.findall(f"{ATOM}entry")] == ids
    assert _text(again, "id") == _text(_parsed(FEED), "id")
    assert _text(again, "id") != _text(_parsed(replace(FEED, identity="another")), "id")


def test_a_feed_without_entries_is_valid() -> None:
    empty = replace(FEED, entries=())

    assert _TIME.fullmatch(_text(_parsed(empty), "updated"))
    assert json.loads(json_feed(empty))["items"] == []


hostile = st.text(st.characters(), max_size=60) | st.sampled_from([
    "]]></title><script>alert(1)</script>", "\x00\x0b\x1f", "\ud800", "\ufffe\uffff", "&#0;",
    '" onload="x', "\u202etxt.exe", "<!DOCTYPE x [<!ENTITY a 'b'>]>&a;",
])  # fmt: skip


@given(hostile, hostile, hostile)
def test_any_title_text_and_url_gives_a_valid_feed(title: str, text: str, url: str) -> None:
    entry = replace(ENTRY, title=title, text=text, url=f"http://a.test/{url}", page="")
    feed = replace(FEED, title=title, entries=(entry,))

    root = _parsed(feed)
    assert {one.tag for one in root.iter()} <= {
        ATOM + name
        for name in (
            "feed", "title", "id", "updated", "author", "name", "generator", "link", "entry",
            "category", "summary",
        )
    }  # fmt: skip
    item = json.loads(json_feed(feed))["items"][0]
    assert item["title"] == plain(title)[:300]
    assert not set(item["title"]) & set("\u202e\x00")


def test_the_name_of_a_file_says_the_form() -> None:
    assert [form_of(name) for name in ("a.atom", "b.XML", "c.json")] == ["atom", "atom", "json"]
    assert written(FEED, "atom") == atom(FEED)
    assert written(FEED, "json") == json_feed(FEED)
    with pytest.raises(UsageError, match=r"\.atom"):
        form_of("feed.csv")
