"""Write changes as a feed: Atom (RFC 4287) or JSON Feed 1.1. Nothing here does I/O.

Titles and URLs come from the web. They are written as text, never as markup, and without characters
that XML forbids or that change how the following text is shown. An entry keeps its id for ever: a
feed reader knows by it which entries it has shown.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from gossamer.base.clock import iso_of
from gossamer.errors import UsageError
from gossamer.version import __version__

ATOM_TYPE: Final = "application/atom+xml"
JSON_TYPE: Final = "application/feed+json"
MAX_ENTRIES: Final = 1_000

_NAMESPACE: Final = uuid.uuid5(uuid.NAMESPACE_URL, "gossamer changes")
_JSON_VERSION: Final = "https://jsonfeed.org/version/1.1"
_LONGEST_TITLE: Final = 300
# Characters that reverse or embed the text after them.
_DIRECTIONS: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """One change as a feed shows it."""

    url: str
    title: str
    text: str
    at_us: int
    kind: str
    page: str = ""  # where a person can see the change; empty for a feed in a file
    facts: dict[str, Any] = field(default_factory=dict)  # for programs, in a JSON feed only

    @property
    def id(self) -> str:
        """The same for this change in every feed."""
        return _id(f"{self.at_us} {self.url}")


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed of changes, the newest first."""

    title: str
    identity: str  # what it is a feed of: the same text gives the same id
    entries: Sequence[FeedEntry]
    address: str = ""  # its own URL; empty for a file
    page: str = ""  # the page for people

    @property
    def updated_us(self) -> int:
        """When the newest change was seen; 0 for a feed without entries."""
        return max((entry.at_us for entry in self.entries), default=0)


def atom(feed: Feed) -> bytes:
    """The feed as an Atom document."""
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"  <title>{_text(feed.title)}</title>",
        f"  <id>{_id(feed.identity)}</id>",
        f"  <updated>{_time(feed.updated_us)}</updated>",
        "  <author><name>Gossamer</name></author>",
        f'  <generator version="{_text(__version__)}">Gossamer</generator>',
    ]
    if feed.address:
        lines.append(f'  <link rel="self" type={quoteattr(ATOM_TYPE)} href={_href(feed.address)}/>')
    if feed.page:
        lines.append(f'  <link rel="alternate" type="text/html" href={_href(feed.page)}/>')
    for entry in feed.entries:
        lines += _atom_entry(entry)
    lines.append("</feed>\n")
    return "\n".join(lines).encode()


def _atom_entry(entry: FeedEntry) -> list[str]:
    lines = [
        "  <entry>",
        f"    <title>{_text(entry.title[:_LONGEST_TITLE])}</title>",
        f"    <id>{entry.id}</id>",
        f"    <updated>{_time(entry.at_us)}</updated>",
        f'    <link rel="alternate" href={_href(entry.url)}/>',
        f"    <category term={quoteattr(entry.kind)}/>",
        f'    <summary type="text">{_text(entry.text)}</summary>',
    ]
    if entry.page:
        lines.insert(5, f'    <link rel="related" type="text/html" href={_href(entry.page)}/>')
    return [*lines, "  </entry>"]


def json_feed(feed: Feed) -> bytes:
    """The feed as a JSON Feed document."""
    facts: dict[str, Any] = {"version": _JSON_VERSION, "title": plain(feed.title)}
    facts |= {"home_page_url": feed.page} if feed.page else {}
    facts |= {"feed_url": feed.address} if feed.address else {}
    facts["authors"] = [{"name": "Gossamer"}]
    facts["items"] = [_json_item(entry) for entry in feed.entries]
    return json.dumps(facts, ensure_ascii=False, indent=1).encode() + b"\n"


def _json_item(entry: FeedEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "url": plain(entry.url),
        **({"external_url": entry.page} if entry.page else {}),
        "title": plain(entry.title)[:_LONGEST_TITLE],
        "content_text": plain(entry.text),
        "date_published": _time(entry.at_us),
        "tags": [entry.kind],
        **({"_gossamer": entry.facts} if entry.facts else {}),
    }


def form_of(name: str) -> str:
    """The form that a file name asks for: `atom` or `json`. Raises UsageError."""
    lower = name.lower()
    if lower.endswith((".atom", ".xml")):
        return "atom"
    if lower.endswith(".json"):
        return "json"
    raise UsageError(f"{name}: a feed is written as .atom (or .xml) or .json")


def written(feed: Feed, form: str) -> bytes:
    """The document of a feed in the form `atom` or `json`."""
    return atom(feed) if form == "atom" else json_feed(feed)


def plain(text: str) -> str:
    """Text from the web without characters that XML forbids, control characters and direction
    marks; half of a surrogate pair becomes a question mark.
    """
    valid = text.encode("utf-8", "replace").decode()
    return "".join(_shown(char) for char in valid if char not in _DIRECTIONS)


def _shown(char: str) -> str:
    is_shown = char in "\t\n" or (char.isprintable() and char not in "\ufffe\uffff")
    return char if is_shown else " "


def _text(text: str) -> str:
    return escape(plain(text))


def _href(url: str) -> str:
    return quoteattr(plain(url).replace("\n", " ").replace("\t", " ").replace(" ", "%20"))


def _id(name: str) -> str:
    valid = name.encode("utf-8", "replace").decode()
    return f"urn:uuid:{uuid.uuid5(_NAMESPACE, valid)}"


def _time(at_us: int) -> str:
    return iso_of(at_us)
