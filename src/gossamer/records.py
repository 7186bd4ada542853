"""The values that travel between stages. Read this file first.

    Found --admit--> Lease --fetch--> Fetched | Failed | Refused --parse--> Page --> Report

A record is made by one stage, read by the next and never changed on the way; a stage that
learns more makes a new record (`msgspec.structs.replace`). Nothing here does I/O.

Each record is defined here and nowhere else. Between processes it travels as msgspec packs it, in
the order of its fields (`workers/wire.py`). What the state keeps of a report is copied by name into
the Structs of `frontier/rows.py`. So a new field of a report is one line here, with a default, one
line at the end of the row that keeps it, and its value in `workers/process.py`.

Times ending in `_us` are wall time, microseconds since 1970; names ending in `_s` are seconds, in
`_bytes` bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from msgspec import Struct


class Outcome(StrEnum):
    """What has become of a URL. Each known URL has exactly one."""

    QUEUED = "queued"
    FETCHED = "fetched"  # an answer of any status, kept
    FAILED = "failed"  # asked, no whole answer
    REFUSED = "refused"  # our rule said no, before asking or at the headers


class Reason(StrEnum):
    """Why a URL failed or was refused. `docs/reasons.md` explains each to people."""

    # refused: our rule
    SCOPE = "scope"
    DEPTH = "depth"
    BANNED = "banned"
    ROBOTS = "robots"
    NOFOLLOW = "nofollow"
    TYPE = "type"
    LISTED = "listed"  # a wanted file of which only the headers are wanted
    SIZE = "size"
    TRAP = "trap"
    UNSAFE = "unsafe"  # asking could change something: a log-out link
    BUDGET = "budget"
    EVICTED = "evicted"  # it was fetched, and left the collection for a better page
    PRIVATE = "private"
    CONTACT = "contact"  # a public host, and nobody whom its owner could turn to
    PORT = "port"
    REDIRECTS = "redirects"
    MALFORMED = "malformed"
    # failed: asked, or tried to
    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    RESET = "reset"
    PROTOCOL = "protocol"
    ENCODING = "encoding"
    BUSY = "busy"  # 429 or 503 to the end
    CRASH = "crash"  # our own code failed on it


class Purpose(StrEnum):
    """What a request is for; only pages count against limits."""

    PAGE = "page"
    ROBOTS = "robots"
    SITEMAP = "sitemap"
    KEPT = "kept"  # none: it came with an imported archive, and nothing is made of it


class Place(StrEnum):
    """The part of a page in which a link stands."""

    HEAD = "head"
    HEADER = "header"
    NAV = "nav"
    MAIN = "main"
    ASIDE = "aside"
    FOOTER = "footer"
    BODY = "body"  # none of the others


# In the place of `Found.via`: the operator named the URL in an imported list or sitemap. It is in
# scope by that, and no seed all the same: its host may not be private, nor does scope grow by it.
NAMED: Final = b"named"


class Found(NamedTuple):
    """A URL that something names: a seed, a link, a redirect. In canonical form.

    `key` is its 16-byte name in the state (urls/keys.py); `redirects` counts the hops that led
    here without a page between them. A tuple for the reason that `Link` is one.
    """

    url: str
    key: bytes
    depth: int
    via: bytes = b""  # key of the page that names it; empty for a seed
    redirects: int = 0
    is_nofollow: bool = False  # its page, or the link itself, asks not to follow it


class Previous(Struct, frozen=True, array_like=True):
    """The version of a page that is known when the page is requested again.

    It is the last capture with a body: never a revisit record.
    """

    at_us: int
    digest: str  # "sha1:BASE32" of the body as stored
    status: int
    etag: str = ""
    modified_at: str = ""  # the Last-Modified header
    file: str = ""  # where its response record lies in the archive
    offset: int = 0


class Lease(Struct, frozen=True, array_like=True):
    """A URL to ask now. Whoever holds it owes exactly one report."""

    number: int
    url: str
    key: bytes
    host: str
    address: str  # the one that the node resolved and judged; pinned and checked at connect
    purpose: Purpose = Purpose.PAGE
    depth: int = 0
    tries: int = 0
    redirects: int = 0
    via: str = ""
    is_trusted: bool = False  # typed or allowed by the operator: may be private
    gets_secrets: bool = False  # its very origin was typed: it may hear the operator's secrets
    max_body_bytes: int = 10 * 2**20
    source: str = ""  # of what was imported: a name of the record it came from, 32 hex digits
    must_be_public: bool = False  # a typed name that was public when it was first looked up
    previous: Previous | None = None  # of a page that is requested again
    run: int = 0  # of pages up to this one, which brought nothing new
    level: int = 0  # of its queue entry (`frontier/levels/`)


class Fetched(Struct, frozen=True):
    """The server answered, whatever it said: a 404 is an answer.

    `head` is the response's status line and headers as they came, ending in an empty line;
    `body` is what came after it without transfer coding but with its content coding.
    """

    url: str
    status: int
    head: bytes
    body: bytes
    request: bytes  # the request as sent, without credentials
    address: str
    protocol: str  # "http/1.0", "http/1.1", "h2", "h3"
    at_us: int  # when the request began
    took_s: float
    cut: str = ""  # why the body is not whole: "length" or "time"; empty when whole


class Failed(Struct, frozen=True):
    """We asked, or tried to, and got no whole answer."""

    url: str
    reason: Reason
    detail: str
    at_us: int
    took_s: float = 0.0
    status: int = 0  # where the headers came and the rest did not
    came_bytes: int = 0  # of an answer that was ended for what it sent


class Refused(Struct, frozen=True):
    """Our rule said no; `detail` names the line of robots.txt, the setting or the header."""

    url: str
    reason: Reason
    detail: str
    at_us: int
    took_s: float = 0.0
    status: int = 0  # set when the rule spoke at the headers: the host was asked
    type: str = ""  # of a file that is only listed: MIME type without parameters, lower case
    named_bytes: int = 0  # of such a file: its length as the headers say; 0: they do not


Answer = Fetched | Failed | Refused


class LinkKind(StrEnum):
    """How a link is meant: to go to, to show inside the page, or as a redirect.

    A row of the graph can also say that a page was captured; it is no link then.
    """

    ANCHOR = "a"
    AREA = "area"
    FRAME = "frame"
    LINK = "link"
    REFRESH = "refresh"
    MEDIA = "media"
    REDIRECT = "redirect"
    CAPTURE = "capture"


class Link(NamedTuple):
    """A link as it stands in a page: `href` is as written, white space stripped.

    Links and edges are tuples, not dataclasses: a page has 90 of them, and a frozen dataclass
    takes 0.9 microseconds to make where a tuple takes 0.2. A link does not say in which line it
    stands, so that the same link of two pages is equal and is resolved once.
    """

    href: str
    kind: LinkKind
    text: str = ""  # anchor text with the alt of images; white space folded
    rel: str = ""  # lower case, space separated
    place: Place = Place.BODY


class Page(Struct, frozen=True, array_like=True):
    """What parsing made of an answer. `base` is the URL that its links are relative to."""

    base: str
    charset: str = ""
    title: str = ""
    headings: tuple[str, ...] = ()
    text: str = ""
    language: str = ""  # ISO 639-1 where there is one, else 639-3, else empty
    description: str = ""
    canonical: str = ""  # href of rel=canonical, as written
    robots: frozenset[str] = frozenset()  # noindex, nofollow, noarchive, nosnippet
    links: tuple[Link, ...] = ()
    lines: Sequence[int] = ()  # of each link, in the decoded source from 1, of a PDF its page; 0 is
    # not known
    generator: str = ""
    dates: tuple[tuple[str, str], ...] = ()  # of a feed: links of its entries, and their dates


class Edge(NamedTuple):
    """A link in canonical form. `fault` is set, and `target` as written, when it is no URL.

    Pages share the edges they have in common; only one with a fault says in which line it stands.
    """

    target: str
    key: bytes
    text: str
    rel: str
    place: str
    kind: str
    line: int = 0
    fault: str = ""


class Stored(Struct, frozen=True, array_like=True):
    """Where an exchange lies in the archive: a file's name and the span of its records."""

    file: str
    start: int  # first byte of the exchange
    response: int  # first byte of the response record; equal to `start` where there is none
    end: int  # first byte after the exchange
    digest: str = ""  # "sha1:BASE32" of the body as stored; empty where there is none


class Capture(Struct, frozen=True, array_like=True):
    """An answer in the archive, beside the main one of its lease."""

    url: str  # canonical
    key: bytes
    at_us: int
    stored: Stored
    status: int
    type: str = ""  # MIME type without parameters, lower case
    size_bytes: int = 0  # of the body as received
    took_s: float = 0.0


class ChangeKind(StrEnum):
    """What a visit found of a page that was known before, or of a page that is new."""

    NEW = "new"
    CHANGED = "changed"
    GONE = "gone"  # it answers 404 or 410
    BACK = "back"  # a page that was gone or moved is there again
    MOVED = "moved"  # it redirects, or it is gone and the same body is at another URL


class ChangedSpot(NamedTuple):
    """A place in a page where words or links changed.

    A spot is known by what stands next to it: hashes of the words before and after. In all pages
    that are made from one template at least one of the two is the same.
    """

    before: int
    after: int
    removed: int = 0  # words; 0 of a spot of links
    added: int = 0
    is_large: bool = False  # too much changed here to be noise


class PageChange(Struct, frozen=True, array_like=True):
    """How a page differs from its previous version, as the worker that fetched it saw it."""

    words_added: int = 0
    words_removed: int = 0
    links_added: int = 0
    links_removed: int = 0
    status_before: int = 0
    title_before: str = ""  # empty where the title is the same
    spots: tuple[ChangedSpot, ...] = ()  # a limited number, without those that a mask explains
    template: int = 0  # pages with the same number are made from one template
    is_cut: bool = False  # there are more spots, or the versions were too long to compare
    is_masked: bool = False  # something changed that the masks of `policies/masks.py` explain


class ListedUrl(NamedTuple):
    """A URL in a sitemap or feed, and when that says it was changed."""

    key: bytes
    modified_us: int


class Report(Struct, frozen=True, array_like=True):
    """How a lease ended, all that the node needs to know of it."""

    lease: Lease
    outcome: Outcome
    at_us: int
    took_s: float
    stored: Stored
    reason: Reason | None = None
    detail: str = ""
    status: int = 0
    type: str = ""  # MIME type without parameters, lower case
    size_bytes: int = 0  # of the body as received
    digest: str = ""  # "sha1:BASE32" of the body as stored
    modified_at: str = ""  # the Last-Modified header
    retry_after_s: float = 0.0
    title: str = ""
    language: str = ""
    robots: frozenset[str] = frozenset()
    redirect: str = ""  # canonical target of a redirect
    is_cut: bool = False
    found: tuple[Found, ...] = ()
    out_links: int = 0
    body: bytes = b""  # decoded; only for robots.txt
    sitemaps: tuple[str, ...] = ()  # canonical URLs of those that an index of sitemaps names
    dropped: int = 0  # links to more hosts than a page may name, which are not among `found`
    wasted_bytes: int = 0  # that came and are no body; they count against `limits.max_bytes`
    # Links to URLs that were reported before, if the order counts links (`urls/repeated_links.py`).
    repeated: bytes = b""
    # Further answers that the lease brought, such as the files of a page that a browser shows. They
    # lie before the main one in the same WARC file, so that `stored.end` is the end of all.
    parts: tuple[Capture, ...] = ()
    etag: str = ""  # the ETag header
    is_unchanged: bool = False  # the page is as its previous version: a 304, or the same body
    change: PageChange | None = None  # of a page that was requested again and is not unchanged
    sketch: bytes = b""  # numbers by which pages that are nearly the same are found
    listed: tuple[ListedUrl, ...] = ()  # dates that a sitemap or feed says
    named_bytes: int = 0  # length of a body that was not taken, as the headers say; 0: unknown
    # What the text has that its host had not shown before (`policies/traps/news.py`).
    news: int = 0
    focus: bytes = b""  # for a focused crawl: words of page and links (`focus/page_words.py`)
    text_numbers: bytes = b""  # of the text, where several workers fetch
    # Anchor text and context of the links to `found`, in its order; empty where the order of the
    # crawl does not look at them.
    link_texts: tuple[tuple[str, str], ...] = ()
