"""Every setting, with its default, unit and meaning. There is no other place.

One frozen class per stage. Class and field name make the key in `gossamer.toml` (`[politeness]
host_delay_s`) and in the environment (`GOSSAMER_POLITENESS_HOST_DELAY_S`). A stage is handed its
own section and never sees the others. `collection/configure.py` reads files; this module
only knows what is allowed. A value outside its limits stops the start.
"""

from __future__ import annotations

import functools
import math
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import Field, field, fields, replace
from typing import Any, Final, Literal

from gossamer.base.values import dataclass
from gossamer.errors import SettingsError


def setting(
    default: Any,
    help: str,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    fixed: bool = False,
) -> Any:
    """A dataclass field that can explain and check itself.

    `fixed`: a stored crawl goes on with another value only when the operator says `--change`.
    """
    metadata = {"help": help, "at_least": at_least, "at_most": at_most, "fixed": fixed}
    return field(default=default, metadata=metadata)


class Section:
    """What all sections share: they check themselves when made."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for f in fields(self):  # type: ignore[arg-type]  # every subclass is a dataclass
            value = getattr(self, f.name)
            if value is not f.default:  # a test has checked those: 600 at the start of a crawl
                check_value(key_of(type(self), f), value, f, type_of(type(self), f))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope(Section):
    """[scope] Which URLs belong to the crawl."""

    kind: Literal["page", "prefix", "host", "site", "list", "any"] = setting(
        "host",
        "How far from the seeds: their pages, their directories, hosts (with their ports), sites, "
        "the listed domains, or any.",
        fixed=True,
    )
    include: tuple[str, ...] = setting(
        (),
        "A URL, unless it is a seed, must match one of these patterns; `*` matches anything, `re:` "
        "starts a regex.",
        fixed=True,
    )
    exclude: tuple[str, ...] = setting(
        (), "A URL that matches one of these patterns is refused.", fixed=True
    )
    domains: tuple[str, ...] = setting(
        (), "Domains, their subdomains included, for the scope `list`.", fixed=True
    )
    domains_file: str = setting(
        "", "A file with one domain a line, for the scope `list`.", fixed=True
    )
    ban_files: tuple[str, ...] = setting(
        (), "Files of banned hosts, URL prefixes and patterns, one a line."
    )
    depth: int = setting(
        -1, "Links to follow from a seed at the most; -1 sets no limit.", at_least=-1
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Urls(Section):
    """[urls] The canonical form of a URL, and where URLs come from beside links."""

    query: Literal["keep", "drop", "clean"] = setting(
        "keep",
        "The query string: kept, dropped, or cleaned of session and tracking parameters.",
        fixed=True,
    )
    session_parameters: tuple[str, ...] = setting(
        (
            "phpsessid",
            "jsessionid",
            "sid",
            "sessionid",
            "session_id",
            "aspsessionid*",
            "cfid",
            "cftoken",
            "zenid",
            "oscsid",
            "utm_*",
            "gclid",
            "fbclid",
            "msclkid",
            "mc_eid",
        ),
        "Query parameters that `clean` takes out; `*` at the end matches the rest of a name.",
        fixed=True,
    )
    sitemaps: Literal["robots", "always", "never"] = setting(
        "robots",
        "Sitemaps to ask for: those that robots.txt names, also /sitemap.xml where it names none, "
        "or none.",
    )
    sitemaps_per_host: int = setting(
        1000, "Sitemaps to ask of one host, those in indexes counted.", at_least=0
    )
    ascend: bool = setting(
        False, "Ask for the directories above a page, too: for /a/b.html also /a/ and /."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits(Section):
    """[limits] When the crawl is over. Counted over the collection's life; 0 sets no limit."""

    max_pages: int = setting(0, "Answers to fetch, redirects and robots.txt apart.", at_least=0)
    max_bytes: int = setting(0, "Bytes of bodies to fetch.", at_least=0)
    max_time_s: float = setting(0.0, "Seconds that one run may take.", at_least=0)
    max_matches: int = setting(
        0, "Answers of 200 of a type that fetch.types names; pages on the way to them apart.",
        at_least=0,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetch(Section):
    """[fetch] Asking servers."""

    types: tuple[str, ...] = setting(
        ("html",),
        "What is taken, judged by the headers: html, text, pdf, image, audio, video, any, or MIME "
        "types.",
    )
    max_body_bytes: int = setting(
        10 * 2**20, "Larger bodies are refused at the headers, or cut and marked.", at_least=1
    )
    max_held_bytes: int = setting(
        256 * 2**20,
        "Bytes of answers under way that a worker holds; beyond it all but one answer wait.",
        at_least=2**20,
    )
    max_header_bytes: int = setting(
        128 * 2**10, "A response with more header bytes fails.", at_least=1024, at_most=256 * 2**10
    )
    connect_time_s: float = setting(15.0, "Time to connect, TLS included.", at_least=0.1)
    total_time_s: float = setting(120.0, "Time for one whole answer.", at_least=0.1)
    robots_time_s: float = setting(
        15.0, "Time for a robots.txt: until it is here, nothing of its host is asked.", at_least=0.1
    )
    sitemap_time_s: float = setting(60.0, "Time for a sitemap.", at_least=0.1)
    low_speed_bytes: int = setting(
        256, "An answer slower than this many bytes a second is given up.", at_least=1
    )
    low_speed_time_s: int = setting(20, "Seconds over which that speed is measured.", at_least=1)
    max_rate_bytes: int = setting(
        0, "Bytes of bodies a second, all hosts together; 0 sets no limit.", at_least=0
    )
    connections: int = setting(
        256,
        "Requests under way at once, all hosts together; fewer where the system allows fewer open "
        "files.",
        at_least=1,
        at_most=4096,
    )
    max_redirects: int = setting(10, "Hops from a URL to its answer.", at_least=0, at_most=50)
    headers: tuple[str, ...] = setting(
        (), "Request headers to add, as `Name: value`; secret ones go to typed origins alone."
    )
    headers_file: str = setting(
        "", "A file of secret request headers, one a line, for the origins that were typed."
    )
    cookies: bool = setting(
        True, "Keep the cookies of sites in the collection, and send them back to them."
    )
    proxy: str = setting(
        "", "Proxy for all hosts: a URL with http, https, socks4, socks4a, socks5 or socks5h."
    )
    proxies: tuple[str, ...] = setting(
        (), "Proxies of single hosts, as `HOST=URL`; `HOST=direct` goes round the proxy."
    )
    proxy_resolves: bool = setting(
        False,
        "Tell proxies names instead of the addresses that were judged: for those that tunnel to "
        "no address; then it is theirs to keep away from private ones.",
    )
    logins_file: str = setting(
        "", "A file of logins, each for one host or proxy: `machine HOST login USER password WORD`."
    )
    cookies_file: str = setting(
        "", "A file of cookies (Netscape's form) to begin with; sites then get theirs back."
    )
    client_certificate: str = setting(
        "", "A PEM file with a key and its certificate, shown to typed hosts that ask for one."
    )
    authorities_file: str = setting(
        "", "A PEM file of certificate authorities to trust beside the system's."
    )
    contact: str = setting(
        "", "Mail address or URL of whoever runs the crawl; part of the User-Agent."
    )
    dns_keep_s: float = setting(300.0, "How long a resolved name is believed.", at_least=0)
    allow_private: tuple[str, ...] = setting(
        (), "Networks (CIDR) of private addresses that links may lead to."
    )
    typed_private: bool = setting(
        True,
        "Whether typed hosts may be in private networks. Crawls that `gossamer serve` starts have "
        "it off.",
    )
    ports: tuple[int, ...] = setting(
        (),
        "The only ports to ask, when any are named; those of mail, shell and the like never are.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Politeness(Section):
    """[politeness] How hosts are spared."""

    host_delay_s: float = setting(
        1.0, "Rest of a host after an answer; 0 is for typed or allowed hosts only.", at_least=0
    )
    address_delay_s: float = setting(
        0.5, "Rest of an address, which many hosts may share, after an answer.", at_least=0
    )
    rest_factor: float = setting(
        10.0, "A host that took t seconds to answer rests at least this times t.", at_least=0
    )
    rest_max_s: float = setting(30.0, "The rest for a slow answer is not longer.", at_least=0)
    per_host: int = setting(
        1, "Requests under way at once to a host; more than 1 only with no delay.", at_least=1
    )
    crawl_delay_max_s: float = setting(
        300.0, "A Crawl-delay in robots.txt is honoured up to this.", at_least=0
    )
    retry_after_max_s: float = setting(
        86400.0, "A Retry-After is honoured up to this; beyond it the URL fails.", at_least=0
    )
    busy_rest_s: float = setting(
        60.0, "Rest after a 429 or 503 without Retry-After; doubles each time.", at_least=0
    )
    busy_retries: int = setting(
        5, "Retries after a 429 or 503; then the URL, and its host, is given up.", at_least=0,
        at_most=100,
    )  # fmt: skip
    retries: int = setting(
        3,
        "Retries of a URL or a host that gave no whole answer; some failures allow fewer. 0 for "
        "none.",
        at_least=0,
        at_most=100,
    )
    retry_wait_s: float = setting(
        30.0,
        "Wait before the first retry of a refused connection; doubles each time. Other failures "
        "wait a third of it (reset) or twice as long (timeout, name, TLS).",
        at_least=0,
    )
    idle_retries: int = setting(
        2,
        "Retries of a URL once nothing but retries is left to do. A host that has answered before "
        "keeps all of its retries.",
        at_least=0,
    )
    idle_retry_wait_s: float = setting(5.0, "The longest wait for such a retry.", at_least=0)
    robots_keep_s: float = setting(
        86400.0, "How long a robots.txt is believed.", at_least=0, at_most=86400
    )
    robots_error_keep_s: float = setting(
        60.0, "First rest of a host whose robots.txt cannot be had; doubles each time.", at_least=1
    )
    robots_tries: int = setting(
        5, "Askings for a robots.txt that cannot be had before its host is given up.", at_least=1
    )
    robots_max_bytes: int = setting(
        512 * 2**10, "What is read of a robots.txt.", at_least=500 * 2**10
    )
    own_hosts: tuple[str, ...] = setting(
        (), "Hosts of one's own, for which robots.txt is not asked."
    )
    rel_nofollow: Literal["follow", "obey"] = setting(
        "follow", "Links marked rel=nofollow: followed, or refused with the reason nofollow."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier(Section):
    """[frontier] Order, budgets and traps."""

    order: Literal["breadth", "depth"] = setting("breadth", "Which queued URL comes next.")
    max_path_depth: int = setting(20, "Segments of a path; more is a trap.", at_least=1)
    max_repeats: int = setting(
        3, "Times that one segment may stand in a path; more is a trap.", at_least=1
    )
    max_url_chars: int = setting(2000, "Characters of a URL; more is a trap.", at_least=100)
    max_query_parameters: int = setting(20, "Parameters of a query; more is a trap.", at_least=1)
    pages_per_host: int = setting(0, "Pages to fetch from one host; 0 sets no limit.", at_least=0)
    urls_per_host: int = setting(
        1_000_000, "URLs to know of one host; further ones are refused as budget.", at_least=1
    )
    hosts_per_site: int = setting(
        10_000,
        "Hosts to know of one site (registrable domain); URLs of further ones are refused as "
        "budget.",
        at_least=1,
    )
    hosts_per_page: int = setting(
        1_000,
        "Hosts to which the new links of one page may lead, seeds apart; links to further ones are "
        "dropped and counted.",
        at_least=1,
    )
    avoid_unsafe: bool = setting(True, "Refuse links that may change something, as log-out does.")
    host_buffer: int = setting(64, "Queued URLs of a host held in memory.", at_least=4)
    memory_mb: int = setting(96, "Memory for the state's caches and write buffers.", at_least=16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive(Section):
    """[archive] The WARC files."""

    roll_bytes: int = setting(10**9, "A file that has grown past this is closed.", at_least=10**4)
    gzip_level: int = setting(1, "ISA-L level of compression.", at_least=0, at_most=3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parse(Section):
    """[parse] Bytes to a page."""

    max_decoded_bytes: int = setting(
        64 * 2**20, "A body is decompressed up to this; more is cut.", at_least=2**16
    )
    max_links: int = setting(20_000, "Links taken from a page.", at_least=1)
    max_anchor_chars: int = setting(500, "Characters of an anchor text.", at_least=1)
    language_chars: int = setting(
        1000,
        "Characters of the text by which the language is told; 0 takes what is declared.",
        at_least=0,
    )
    pdf_pages: int = setting(500, "Pages of a PDF that are read.", at_least=1)
    pdf_memory_mb: int = setting(
        1024,
        "Memory of all processes that read PDF together; those of workers have equal parts, of 96 "
        "at the least.",
        at_least=96,
    )
    pdf_time_s: float = setting(
        10.0,
        "After so long no further page of a PDF is read; one that takes as long again is given up.",
        at_least=0.1,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Node(Section):
    """[node] The process that owns the state."""

    workers: int = setting(
        -1,
        "Worker processes; 0 does all in one process, -1 fits them to cores and scope.",
        at_least=-1,
        at_most=64,
    )
    hours: str = setting(
        "", "Local hours in which to ask, as `22-6` or `12-13:30,22-6`; in others the crawl waits."
    )
    commit_every_s: float = setting(1.0, "Between two commits at the most.", at_least=0.01)
    stop_grace_s: float = setting(
        10.0, "After a stop, requests under way may end for so long.", at_least=0
    )
    graph: bool = setting(True, "Keep the links of every page.")
    index: bool = setting(True, "Make every page searchable while the crawl goes on.")
    index_every_s: float = setting(
        5.0, "New pages wait no longer than this to be searchable.", at_least=0.1
    )
    part_rows: int = setting(
        200_000, "Links gathered before a part is written to graph/.", at_least=100
    )
    part_every_s: float = setting(30.0, "Links wait no longer than this for a part.", at_least=1)
    keep_parts_s: float = setting(
        600.0, "Files of links that were merged stay so long, for readers of them.", at_least=0
    )
    min_free_bytes: int = setting(
        64 * 2**20,
        "With less room on the disk the crawl stops; by default a tenth of a disk of less than "
        "640 MiB.",
        at_least=0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Web(Section):
    """[web] What `gossamer serve` allows to those who use its page and API."""

    allow_private: tuple[str, ...] = setting(
        (),
        "Networks (CIDR) of private addresses that crawls started from the page or the API may go "
        "to.",
    )


SECTIONS: Final = (Scope, Urls, Limits, Fetch, Politeness, Frontier, Archive, Parse, Node, Web)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All sections together. Only `node/build.py` takes it apart."""

    scope: Scope = field(default_factory=Scope)
    urls: Urls = field(default_factory=Urls)
    limits: Limits = field(default_factory=Limits)
    fetch: Fetch = field(default_factory=Fetch)
    politeness: Politeness = field(default_factory=Politeness)
    frontier: Frontier = field(default_factory=Frontier)
    archive: Archive = field(default_factory=Archive)
    parse: Parse = field(default_factory=Parse)
    node: Node = field(default_factory=Node)
    web: Web = field(default_factory=Web)


def key_of(section: type[Section], f: Field[Any]) -> str:
    """The setting's name for people: `politeness.host_delay_s`."""
    return f"{section.__name__.lower()}.{f.name}"


def type_of(section: type[Section], f: Field[Any]) -> Any:
    """The annotation of a field, as an object."""
    return _types(section.__name__)[f.name]


@functools.cache  # made anew for each value checked, they are half of what a small crawl costs
def _types(section: str) -> dict[str, Any]:
    return typing.get_type_hints(globals()[section])


_FIELDS: Final[dict[str, tuple[type[Section], Field[Any]]]] = {
    key_of(section, f): (section, f) for section in SECTIONS for f in fields(section)
}
KEYS: Final = tuple(_FIELDS)
_SECRET: Final = frozenset({"fetch.headers"})  # values that no message shows


def describe(key: str) -> tuple[Any, Any, str]:
    """Type, default and help of a setting."""
    section, f = _FIELDS[key]
    return type_of(section, f), f.default, f.metadata["help"]


def is_fixed(key: str) -> bool:
    """Whether a stored crawl may not change it without `--change`."""
    return bool(_FIELDS[key][1].metadata["fixed"])


def limits_of(key: str) -> tuple[float | None, float | None]:
    """The least and the greatest value of a setting, where there are such."""
    metadata = _FIELDS[key][1].metadata
    return metadata["at_least"], metadata["at_most"]


def check_value(key: str, value: object, f: Field[Any], kind: Any) -> None:
    """Raise SettingsError when a value has the wrong type or lies outside its limits."""
    if not _fits(value, kind):
        shown = "has another form" if key in _SECRET else f"is {value!r}"
        raise SettingsError(key, f"{shown}, but it must be {name_of_type(kind)}")
    if isinstance(value, int | float) and not isinstance(value, bool):
        least, most = f.metadata["at_least"], f.metadata["at_most"]
        if not math.isfinite(value):
            raise SettingsError(key, f"is {value!r}, but it must be a finite number")
        if least is not None and value < least:
            raise SettingsError(key, f"is {value!r}, but it must be at least {least}")
        if most is not None and value > most:
            raise SettingsError(key, f"is {value!r}, but it must be at most {most}")


def name_of_type(kind: Any) -> str:
    """How a type is called in messages and docs."""
    origin = typing.get_origin(kind)
    if origin is Literal:
        return "one of " + ", ".join(map(str, typing.get_args(kind)))
    if origin is tuple:
        return "a list of numbers" if typing.get_args(kind)[0] is int else "a list of texts"
    names = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
    return names[kind]


def _fits(value: object, kind: Any) -> bool:
    origin = typing.get_origin(kind)
    if origin is Literal:
        return value in typing.get_args(kind)
    if origin is tuple:
        item = typing.get_args(kind)[0]
        return isinstance(value, tuple) and all(_fits(v, item) for v in value)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, kind) and not isinstance(value, types.NoneType)


def parse_value(key: str, text: str) -> object:
    """A value written as text (in the environment, on the command line) in its setting's type."""
    kind = describe(key)[0]
    origin = typing.get_origin(kind)
    try:
        if origin is tuple:
            item = typing.get_args(kind)[0]
            return tuple(item(part.strip()) for part in text.split(",") if part.strip())
        if kind is bool:
            return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[
                text.lower()
            ]
        if kind in (int, float):
            return kind(text)
    except (ValueError, KeyError):
        raise SettingsError(key, f"is {text!r}, but it must be {name_of_type(kind)}") from None
    return text


def with_values(settings: Settings, values: Mapping[str, object]) -> Settings:
    """`settings` with some keys changed. Raises SettingsError for the first that is wrong."""
    by_section: dict[str, dict[str, object]] = {}
    for key, value in values.items():
        if key not in _FIELDS:
            raise SettingsError(key, f"is not a setting{nearest(key)}")
        section, name = key.split(".")
        given = tuple(value) if isinstance(value, list) else value
        by_section.setdefault(section, {})[name] = given
    changed = {
        section: replace(getattr(settings, section), **names)
        for section, names in by_section.items()
    }
    return replace(settings, **changed)


def values_of(settings: Settings) -> dict[str, object]:
    """Every key with its value."""
    return {key: getattr(getattr(settings, key.split(".")[0]), key.split(".")[1]) for key in KEYS}


def nearest(key: str, names: Iterable[str] = KEYS) -> str:
    """`; did you mean x?`, or nothing when no name is near."""
    import difflib  # for whoever has mistyped: the start of a crawl does not wait for it

    known = list(names)
    begun = [name for name in known if name.startswith(key)]  # `fetch.max` is a shortened one
    close = begun or difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    return f"; did you mean {close[0]}?" if close else ""
