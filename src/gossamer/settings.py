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
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, ClassVar, Final, Literal

from gossamer.base.weighted_names import read_mix
from gossamer.errors import SettingsError
from gossamer.plugins import ORDER, REFRESH, plugin_names


def setting(
    default: Any,
    help: str,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    fixed: bool = False,
    plugins: str = "",
    mixes: bool = False,
) -> Any:
    """A dataclass field that can explain and check itself.

    `fixed`: a stored crawl goes on with another value only when the operator says `--change`.
    `plugins`: the group of entry points whose names are allowed, too.
    `mixes`: a weighted mix of the named values is allowed, too (`base/weighted_names.py`).
    """
    metadata = {
        "help": help,
        "at_least": at_least,
        "at_most": at_most,
        "fixed": fixed,
        "plugins": plugins,
        "mixes": mixes,
    }
    return field(default=default, metadata=metadata)


class Section:
    """What all sections share: they check themselves when made."""

    __slots__ = ()
    is_flat: ClassVar[bool] = False  # its keys have no prefix

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
        "Which URLs belong to the crawl: the seeds only (page), their directories (prefix), "
        "hosts with port (host), registrable domains (site), the listed domains (list), or "
        "all URLs (any).",
        fixed=True,
    )
    include: tuple[str, ...] = setting(
        (),
        "A URL that is not a seed must match one of these patterns. `*` matches anything; "
        "`re:` starts a regular expression.",
        fixed=True,
    )
    exclude: tuple[str, ...] = setting(
        (), "A URL that matches one of these patterns is refused.", fixed=True
    )
    domains: tuple[str, ...] = setting(
        (), "Domains for the scope `list`; subdomains are included.", fixed=True
    )
    domains_file: str = setting(
        "", "A file of domains for the scope `list`, one per line.", fixed=True
    )
    ban_files: tuple[str, ...] = setting(
        (), "Files of banned hosts, URL prefixes and patterns, one per line."
    )
    depth: int = setting(-1, "Maximum number of links from a seed; -1: no limit.", at_least=-1)
    hosts: tuple[str, ...] = setting(
        (),
        "Hosts that may be requested, whatever the scope is, also for robots.txt and sitemaps; "
        "`.example.org` means with all hosts below it; empty: all.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Urls(Section):
    """[urls] The canonical form of a URL, and sources of URLs other than links."""

    query: Literal["keep", "drop", "clean"] = setting(
        "keep",
        "The query string of a URL: keep it, drop it, or clean it of session and tracking "
        "parameters.",
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
        "Query parameters that `clean` removes; `*` at the end matches any ending.",
        fixed=True,
    )
    sitemaps: Literal["robots", "always", "never"] = setting(
        "robots",
        "Sitemaps to fetch: those in robots.txt (robots), also /sitemap.xml if robots.txt "
        "names none (always), or none (never).",
    )
    sitemaps_per_host: int = setting(
        1000, "Maximum number of sitemaps per host, including those in sitemap indexes.", at_least=0
    )
    ascend: bool = setting(
        False, "Also request the directories above each page: for /a/b.html also /a/ and /."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits(Section):
    """[limits] When the crawl ends. Counted over the lifetime of the collection; 0: no limit."""

    max_pages: int = setting(
        0, "Maximum number of responses, without redirects and robots.txt; 0: no limit.", at_least=0
    )
    max_bytes: int = setting(0, "Maximum number of body bytes; 0: no limit.", at_least=0)
    max_time_s: float = setting(
        0.0, "Maximum duration of one run, in seconds; 0: no limit.", at_least=0
    )
    keep_best: int = setting(
        0,
        "Maximum number of pages in the collection, by importance: when better ones come, the "
        "least important leave (reason `evicted`); 0: no limit.",
        at_least=0,
    )
    threshold: float = setting(
        0.0,
        "Stop when no queued URL can be expected to have this importance; fetched pages that have "
        "it are counted as hot; 0: no threshold.",
        at_least=0,
    )
    threshold_patience: int = setting(
        500,
        "With a threshold: how many pages in a row must bring no new hot page before the crawl "
        "stops.",
        at_least=1,
    )
    importance: Literal["backlinks", "pagerank", "best"] = setting(
        "backlinks",
        "The importance of pages for `threshold` and `keep_best`: fetched pages that link to it "
        "(backlinks), or PageRank times the number of known URLs (pagerank; best is the same).",
    )
    max_matches: int = setting(
        0, "Maximum number of 200 responses with a type from fetch.types; pages that only lead "
        "to them do not count; 0: no limit.",
        at_least=0,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetch(Section):
    """[fetch] Requests and responses."""

    types: tuple[str, ...] = setting(
        ("html",),
        "Content types to keep, decided by the response headers: html, text, pdf, image, "
        "audio, video, any, or MIME types.",
    )
    list_only: bool = setting(
        False,
        "Only list files of the wanted types: their bodies are not transferred, and type, size, "
        "linking pages and anchor texts are kept (`gossamer files`). HTML is fetched, because its "
        "links lead to the files.",
    )
    max_body_bytes: int = setting(
        10 * 2**20,
        "Maximum body size in bytes. A larger body is refused if the headers name its size; "
        "otherwise it is cut and marked.",
        at_least=1,
    )
    max_held_bytes: int = setting(
        256 * 2**20,
        "Maximum bytes of incomplete responses in the memory of one worker. Above it, all "
        "responses but one wait.",
        at_least=2**20,
    )
    max_header_bytes: int = setting(
        128 * 2**10,
        "Maximum size of the response headers in bytes; a larger response fails as protocol.",
        at_least=1024,
        at_most=256 * 2**10,
    )
    connect_time_s: float = setting(
        15.0, "Timeout for connecting, including TLS, in seconds.", at_least=0.1
    )
    total_time_s: float = setting(
        120.0, "Timeout for one complete response, in seconds.", at_least=0.1
    )
    robots_time_s: float = setting(
        15.0,
        "Timeout for a robots.txt, in seconds. It is short because the host waits for it.",
        at_least=0.1,
    )
    sitemap_time_s: float = setting(60.0, "Timeout for a sitemap, in seconds.", at_least=0.1)
    low_speed_bytes: int = setting(
        256,
        "Minimum speed of a response, in bytes per second; a slower one fails as timeout.",
        at_least=1,
    )
    low_speed_time_s: int = setting(
        20, "Interval over which that speed is measured, in seconds.", at_least=1
    )
    max_rate_bytes: int = setting(
        0, "Maximum body bytes per second, all hosts together; 0: no limit.", at_least=0
    )
    requests_per_s: float = setting(
        0.0,
        "Maximum number of requests per second, all hosts together, such as 5 or 0.1; 0: no limit. "
        "The delay of each host holds besides.",
        at_least=0,
    )
    connections: int = setting(
        256,
        "Maximum number of parallel requests, all hosts together; fewer if the system allows "
        "fewer open files.",
        at_least=1,
        at_most=4096,
    )
    max_redirects: int = setting(
        10, "Maximum number of redirects in a row.", at_least=0, at_most=50
    )
    headers: tuple[str, ...] = setting(
        (),
        "Request headers to add, as `Name: value`. Secret ones are sent only to the origins "
        "of seeds.",
    )
    headers_file: str = setting(
        "",
        "A file of secret request headers, one per line. They are sent only to the origins of "
        "seeds.",
    )
    cookies: bool = setting(
        True, "Store the cookies of sites in the collection and send them back."
    )
    conditional: bool = setting(
        True,
        "Request a page that was fetched before with conditions (If-None-Match, "
        "If-Modified-Since), so that the server sends it only if it has changed.",
    )
    proxy: str = setting(
        "", "Proxy for all hosts: a URL with http, https, socks4, socks4a, socks5 or socks5h."
    )
    proxies: tuple[str, ...] = setting(
        (), "Proxies for single hosts, as `HOST=URL`; `HOST=direct` uses no proxy."
    )
    proxy_resolves: bool = setting(
        False,
        "Send host names to the proxy, not the IP addresses that were checked. Some proxies "
        "need this; they must then block private addresses themselves.",
    )
    logins_file: str = setting(
        "",
        "A file of logins for hosts and proxies, one per line: `machine HOST login USER "
        "password WORD`.",
    )
    cookies_file: str = setting("", "A file of initial cookies, in Netscape format.")
    client_certificate: str = setting(
        "", "A PEM file with a key and its certificate, for seed hosts that request one."
    )
    authorities_file: str = setting(
        "", "A PEM file of certificate authorities to trust in addition to those of the system."
    )
    contact: str = setting(
        "", "Mail address or URL of the operator of the crawl; part of the User-Agent."
    )
    permit_file: str = setting(
        "",
        "A file with the time until which requests may be sent, which another process renews: 8 "
        "bytes, nanoseconds since the start of the machine. Then requests wait until it is "
        "renewed; empty: no limit. Units of a fleet use it for their leases.",
    )
    dns_keep_s: float = setting(
        300.0, "How long a resolved host name is cached, in seconds.", at_least=0
    )
    allow_private: tuple[str, ...] = setting((), "Private networks (CIDR) that links may lead to.")
    typed_private: bool = setting(
        True,
        "Allow seed hosts in private networks. Crawls that `gossamer serve` starts turn this off.",
    )
    ports: tuple[int, ...] = setting(
        (),
        "Allowed ports; empty: all except those of other services, such as mail and ssh, "
        "which are never requested.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Politeness(Section):
    """[politeness] Delays, retries and robots.txt."""

    host_delay_s: float = setting(
        1.0,
        "Minimum delay between a response and the next request to the same host, in seconds. "
        "0 works only for seed hosts and allowed hosts.",
        at_least=0,
    )
    address_delay_s: float = setting(
        0.5,
        "Minimum delay between a response and the next request to the same IP address, in "
        "seconds. Many hosts may share an address.",
        at_least=0,
    )
    rest_factor: float = setting(
        10.0,
        "The delay is at least this factor times the response time, so a slow host gets fewer "
        "requests.",
        at_least=0,
    )
    rest_max_s: float = setting(
        30.0, "Maximum delay that results from rest_factor, in seconds.", at_least=0
    )
    per_host: int = setting(
        1,
        "Maximum number of parallel requests to one host; more than 1 needs a delay of 0.",
        at_least=1,
    )
    crawl_delay_max_s: float = setting(
        300.0, "A longer Crawl-delay in robots.txt is cut to this, in seconds.", at_least=0
    )
    retry_after_max_s: float = setting(
        86400.0,
        "Maximum Retry-After that is waited for, in seconds; with a longer one the URL fails.",
        at_least=0,
    )
    busy_rest_s: float = setting(
        60.0,
        "Delay after a 429 or 503 without Retry-After, in seconds; doubles each time.",
        at_least=0,
    )
    busy_retries: int = setting(
        5, "Maximum number of retries after a 429 or 503; then the URL fails and its host is "
        "given up.", at_least=0,
        at_most=100,
    )  # fmt: skip
    retries: int = setting(
        3,
        "Maximum number of retries of a URL or host without a complete response; some "
        "failures have fewer. 0: none.",
        at_least=0,
        at_most=100,
    )
    retry_wait_s: float = setting(
        30.0,
        "Delay before the first retry after a failed connection, in seconds; doubles each "
        "time. A reset waits a third of it; a timeout, DNS or TLS failure waits twice as "
        "long.",
        at_least=0,
    )
    idle_retries: int = setting(
        2,
        "Maximum number of retries of a URL when only retries are left. A host that has "
        "answered before keeps all its retries.",
        at_least=0,
    )
    idle_retry_wait_s: float = setting(
        5.0, "Maximum delay before such a retry, in seconds.", at_least=0
    )
    robots_keep_s: float = setting(
        86400.0,
        "How long a robots.txt is cached, in seconds; at most 24 hours, as RFC 9309 says.",
        at_least=0,
        at_most=86400,
    )
    robots_error_keep_s: float = setting(
        60.0,
        "Delay after the first failed robots.txt fetch, in seconds; doubles each time.",
        at_least=1,
    )
    robots_tries: int = setting(
        5, "Failed robots.txt fetches before the host is given up.", at_least=1
    )
    robots_max_bytes: int = setting(
        512 * 2**10,
        "Maximum size of a robots.txt that is read, in bytes; RFC 9309 requires at least 500 KiB.",
        at_least=500 * 2**10,
    )
    own_hosts: tuple[str, ...] = setting((), "Your own hosts. Their robots.txt is ignored.")
    rel_nofollow: Literal["follow", "obey"] = setting(
        "follow", "Links with rel=nofollow: follow them, or obey and refuse them as nofollow."
    )


# Plug-ins and mixes add to these.
OrderName = Literal[
    "best", "breadth", "depth", "backlinks", "pagerank", "pagerank-site", "opic", "location",
    "similarity", "focus", "visits", "random",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier(Section):
    """[frontier] Order of URLs, budgets and traps."""

    order: OrderName | str = setting(  # noqa: RUF009 - a name of a Literal hides that it is one
        "breadth",
        "Order of requests (docs/orders.md): a name, the name of a plug-in, or a weighted mix such "
        'as "0.6 pagerank + 0.4 location".',
        plugins=ORDER,
        mixes=True,
    )
    query: str = setting(
        "",
        "Words that the order `similarity` looks for in links and URLs, and the order `focus` in "
        "pages.",
    )
    location: tuple[str, ...] = setting(
        ("*?*=0.5", "*/index.*=1.5", "*/home*=1.5"),
        "For the order `location`: PATTERN=WEIGHT. The value of a URL is multiplied by the weights "
        "of all patterns that match it.",
    )
    visits_file: str = setting(
        "",
        "For the order `visits`: an access log in common or combined format, or lines of URL, tab "
        "and number.",
    )
    order_seed: int = setting(
        0, "For the order `random`: the same number gives the same order.", at_least=0
    )
    scored_urls: int = setting(
        4_000_000,
        "Maximum number of URLs that an order by value (docs/orders.md) keeps in memory, at about "
        "300 bytes each, and 4 bytes for each link. Further URLs come last, breadth-first.",
        at_least=1,
    )
    max_path_depth: int = setting(
        20, "Maximum number of path segments; more is refused as trap.", at_least=1
    )
    max_repeats: int = setting(
        3, "How often one segment may occur in a path; more is refused as trap.", at_least=1
    )
    max_url_chars: int = setting(
        2000, "Maximum length of a URL in characters; more is refused as trap.", at_least=100
    )
    max_query_parameters: int = setting(
        20, "Maximum number of query parameters; more is refused as trap.", at_least=1
    )
    pages_per_host: int = setting(
        0, "Maximum number of pages to fetch from one host; 0: no limit.", at_least=0
    )
    urls_per_host: int = setting(
        1_000_000, "Maximum number of known URLs per host; more are refused as budget.", at_least=1
    )
    hosts_per_site: int = setting(
        10_000,
        "Maximum number of known hosts per site (registrable domain); URLs of further hosts "
        "are refused as budget.",
        at_least=1,
    )
    hosts_per_page: int = setting(
        1_000,
        "Maximum number of hosts that the new links of one page may lead to. Seed hosts do not "
        "count. Links to further hosts are dropped and only counted.",
        at_least=1,
    )
    trap_budget: int = setting(
        5_000,
        "Requests that a host may waste on URLs that bring no new text, only more links, before "
        "such URLs are refused as trap. It grows with what the host brings. 0: never.",
        at_least=0,
    )
    trap_budget_per_site: int = setting(
        20_000,
        "The same for all hosts of a site (registrable domain) together. It grows with what the "
        "site brings, with sites that link to it, and with pages that are relevant. 0: no limit.",
        at_least=0,
    )
    avoid_unsafe: bool = setting(
        True, "Refuse links that may change data on the server, such as log-out links."
    )
    host_buffer: int = setting(64, "Queued URLs per host that are kept in memory.", at_least=4)
    memory_mb: int = setting(
        96, "Memory for caches and write buffers of the state, in MB.", at_least=16
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Focus(Section):
    """[focus] The topic of a crawl with the order `focus` (docs/focus.md)."""

    like: tuple[str, ...] = setting(
        (),
        "Examples of wanted pages: files, folders of files, or URLs. A URL is fetched as a seed.",
    )
    model: str = setting("", "A model of an earlier crawl to begin with (`gossamer focus export`).")
    start_from: tuple[str, ...] = setting(
        (),
        "Where to search for `frontier.query`; the results are further seeds: collections, or URLs "
        "of search engines with {query} in the place of the words.",
    )
    start_select: str = setting(
        "",
        "Which part of an engine's answer has the results: a CSS selector of links, or for JSON "
        "the names on the way to the URLs, such as `results.url`. Empty: all links to other sites.",
    )
    start_urls: int = setting(
        20, "Maximum number of results that one search gives.", at_least=1, at_most=1_000
    )
    classifier: str = setting(
        "",
        "A plug-in that judges pages in the place of our judge: NAME, or NAME:LABEL for the label "
        "that is wanted.",
    )
    save_every_s: float = setting(
        60.0,
        "Interval, in seconds, at which a running crawl stores what it has learned.",
        at_least=1.0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive(Section):
    """[archive] The WARC files."""

    roll_bytes: int = setting(
        10**9,
        "A WARC file larger than this is closed and the next one is started. The WARC "
        "standard recommends 1 GB.",
        at_least=10**4,
    )
    roll_days: float = setting(
        30.0,
        "A WARC file older than this is closed at its next page, in days; 0: only by size. Old "
        "captures are deleted from closed files only.",
        at_least=0,
    )
    keep: str = setting(
        "all",
        "Which old captures to keep: `all`, `versions`, `last 3`, `90 days`, `one a month after a "
        "year`, or several of them joined by ` or `. The newest version of a page always stays.",
    )
    prune_share: float = setting(
        0.25,
        "A WARC file is rewritten when this share of it may be deleted.",
        at_least=0,
        at_most=1,
    )
    prune_every_h: float = setting(
        24.0,
        "How often a running crawl deletes what `archive.keep` does not keep, in hours; 0: never.",
        at_least=0,
    )
    keep_log_days: float = setting(
        90.0,
        "Lines of log/crawl.jsonl that are older go when `archive.keep` is applied, in days; "
        'refusals without a request stay. 0: no line goes. With `archive.keep = "all"` none goes.',
        at_least=0,
    )
    max_disk_bytes: int = setting(
        0,
        "Disk budget of the whole collection, in bytes. Near it, a crawl deletes what "
        "`archive.keep` does not keep; at it, the crawl stops. 0: no budget.",
        at_least=0,
    )
    gzip_level: int = setting(
        1, "Compression level of ISA-L; 0 is the fastest, 3 the smallest.", at_least=0, at_most=3
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Parse(Section):
    """[parse] Reading of pages and documents."""

    max_decoded_bytes: int = setting(
        64 * 2**20,
        "Maximum size of a decompressed body, in bytes; the rest is cut off.",
        at_least=2**16,
    )
    max_links: int = setting(20_000, "Maximum number of links taken from a page.", at_least=1)
    max_anchor_chars: int = setting(
        500, "Maximum length of an anchor text, in characters.", at_least=1
    )
    language_chars: int = setting(
        1000,
        "Number of text characters for language detection; 0: use only the declared language.",
        at_least=0,
    )
    pdf_pages: int = setting(500, "Maximum number of pages read from a PDF.", at_least=1)
    pdf_memory_mb: int = setting(
        1024,
        "Memory for all processes that read PDF files, in MB. Each worker gets an equal "
        "share, but at least 96.",
        at_least=96,
    )
    pdf_time_s: float = setting(
        10.0,
        "Time for one PDF, in seconds. Then no further page is read; after twice the time the "
        "PDF is given up.",
        at_least=0.1,
    )


DuplicateMode = Literal["none", "exact", "html95", "near"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicates(Section):
    """[duplicates] Which pages count as duplicates of an earlier page."""

    mode: Literal["none", "exact", "html95", "near"] = setting(
        "exact",
        "Which pages are duplicates: none; the same bytes (exact); the same visible text without "
        "dates, counters and tokens (near); HTML that is at least `threshold` the same (html95). "
        "html95 also finds many pages of reference manuals that are different to a reader.",
    )
    threshold: float = setting(
        0.95,
        "For html95: the least share of HTML that is the same, 2 x common bytes / bytes of both.",
        at_least=0.8,
        at_most=1.0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Node(Section):
    """[node] The process that writes the collection."""

    workers: int = setting(
        -1,
        "Number of worker processes. 0: everything in one process; -1: chosen by cores and scope.",
        at_least=-1,
        at_most=64,
    )
    hours: str = setting(
        "",
        "Local hours in which to send requests, such as `22-6` or `12-13:30,22-6`. Outside "
        "them the crawl waits.",
    )
    commit_every_s: float = setting(
        1.0,
        "Maximum interval between two commits, in seconds. After a kill, at most this much "
        "work is read again from the archive.",
        at_least=0.01,
    )
    stop_grace_s: float = setting(
        10.0, "How long requests in flight may continue after a stop, in seconds.", at_least=0
    )
    graph: bool = setting(True, "Store the links of every page.")
    index: bool = setting(True, "Make every page searchable while the crawl is running.")
    index_every_s: float = setting(
        5.0, "Maximum time until a new page is searchable, in seconds.", at_least=0.1
    )
    part_rows: int = setting(
        200_000,
        "Number of links that a worker collects before it writes them to a file in graph/.",
        at_least=100,
    )
    part_every_s: float = setting(
        30.0, "Maximum time until links are written to a part, in seconds.", at_least=1
    )
    keep_parts_s: float = setting(
        600.0,
        "How long replaced files of links and archive are kept for their readers, in seconds.",
        at_least=0,
    )
    min_free_bytes: int = setting(
        64 * 2**20,
        "The crawl stops when less disk space is free, in bytes. By default a tenth of the "
        "disk if the disk is smaller than 640 MiB.",
        at_least=0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh(Section):
    """[refresh] A crawl that runs without end: which known pages it visits again, and when."""

    policy: Literal["uniform", "proportional", "optimal"] = setting(
        "optimal",
        "How visits are shared among pages: all alike (uniform), as often as they change "
        "(proportional), or so that most copies are up to date (optimal). Plug-ins add more.",
        plugins=REFRESH,
    )
    order: Literal["fixed", "random"] = setting(
        "fixed",
        "The order of visits with the policies uniform and proportional: always the same (fixed) "
        "or drawn at random (random).",
    )
    new_share: float = setting(
        0.5,
        "Share of the requests that new pages get while both new pages and visits wait; 1: visits "
        "only when no new page waits.",
        at_least=0,
        at_most=1,
    )
    importance: Literal["none", "depth", "links"] = setting(
        "none",
        "Which pages count more: none, those near a seed (depth), or those with many links to them "
        "(links; ranks of the link graph).",
    )
    min_interval_s: float = setting(
        300.0, "Minimum time between two visits of a page, in seconds.", at_least=0
    )
    max_interval_s: float = setting(
        0.0,
        "A page is visited at least this often, whatever the policy says, in seconds; 0: no such "
        "limit.",
        at_least=0,
    )
    lists_every_s: float = setting(
        3600.0,
        "How often sitemaps are read again, in seconds. They tell of new, changed and gone pages; "
        "0: never.",
        at_least=0,
    )
    complete_every_s: float = setting(
        300.0,
        "How often ranks and late anchor texts are computed while the crawl "
        "runs, in seconds, if enough has changed; 0: only at the end.",
        at_least=0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch(Section):
    """[watch] Who is told of changes. Webhook and command are not stored with the collection: name
    them again for each run, or in a settings file."""

    webhook: str = setting(
        "", "URL that gets the changes seen, as POST requests with a JSON body; empty: none."
    )
    webhook_secret_file: str = setting(
        "",
        "A file with a secret; each request to the webhook is signed with it (HMAC-SHA256 in the "
        "header Gossamer-Signature).",
    )
    webhook_time_s: float = setting(
        15.0, "How long a request to the webhook may take, in seconds.", at_least=0.1, at_most=600
    )
    command: str = setting(
        "",
        "A program with its arguments that gets the changes seen, as JSON on its stdin; no shell "
        "reads it; empty: none.",
    )
    command_time_s: float = setting(
        60.0, "How long the command may take before it is ended, in seconds.", at_least=0.1
    )
    batch: int = setting(
        100, "Maximum number of changes in one request or call.", at_least=1, at_most=10_000
    )
    max_waiting: int = setting(
        100_000,
        "Changes that may wait for a webhook or command; then the oldest are skipped.",
        at_least=1,
    )
    max_delay_s: float = setting(
        300.0, "Longest delay before a failed batch is sent again, in seconds.", at_least=0.1
    )
    finish_s: float = setting(
        10.0, "How long the end of a crawl sends waiting changes, in seconds.", at_least=0
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirrors(Section):
    """[mirrors] When `gossamer report` calls a host or a directory a mirror of another."""

    min_pages: int = setting(
        10, "Pages that both must have at the same path, at least.", at_least=1
    )
    min_share: float = setting(
        0.8,
        "Share of the pages of the mirror that the original must have, from 0 to 1.",
        at_least=0.01,
        at_most=1,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Web(Section):
    """[web] What `gossamer serve` allows to users of its page and API."""

    allow_private: tuple[str, ...] = setting(
        (),
        "Private networks (CIDR) that crawls started from the page or the API may reach.",
    )


SECTIONS: Final = (
    Scope, Urls, Limits, Fetch, Politeness, Frontier, Focus, Archive, Parse, Duplicates, Node,
    Refresh, Watch, Mirrors, Web,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All sections together. Only `node/build.py` takes it apart."""

    scope: Scope = field(default_factory=Scope)
    urls: Urls = field(default_factory=Urls)
    limits: Limits = field(default_factory=Limits)
    fetch: Fetch = field(default_factory=Fetch)
    politeness: Politeness = field(default_factory=Politeness)
    frontier: Frontier = field(default_factory=Frontier)
    focus: Focus = field(default_factory=Focus)
    archive: Archive = field(default_factory=Archive)
    parse: Parse = field(default_factory=Parse)
    duplicates: Duplicates = field(default_factory=Duplicates)
    node: Node = field(default_factory=Node)
    refresh: Refresh = field(default_factory=Refresh)
    watch: Watch = field(default_factory=Watch)
    mirrors: Mirrors = field(default_factory=Mirrors)
    web: Web = field(default_factory=Web)


def key_of(section: type[Section], f: Field[Any]) -> str:
    """The setting's name for people: `politeness.host_delay_s`. A section in a file of its own
    (`fleet/settings.py`) has no prefix."""
    return f.name if section.is_flat else f"{section.__name__.lower()}.{f.name}"


def type_of(section: type[Section], f: Field[Any]) -> Any:
    """The annotation of a field, as an object."""
    return _types(section)[f.name]  # type: ignore[arg-type]  # a class is hashable


@functools.cache  # made anew for each value checked, they are half of what a small crawl costs
def _types(section: type[Section]) -> dict[str, Any]:
    return typing.get_type_hints(section)


_FIELDS: Final[dict[str, tuple[type[Section], Field[Any]]]] = {
    key_of(section, f): (section, f) for section in SECTIONS for f in fields(section)
}
KEYS: Final = tuple(_FIELDS)
_SECRET: Final = frozenset({"fetch.headers", "watch.webhook"})  # values that no message shows


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
    if not _is_allowed(value, f, kind):
        shown = "has another form" if key in _SECRET else f"is {value!r}"
        raise SettingsError(key, f"{shown}, but {_wanted(value, f, kind)}")
    if isinstance(value, int | float) and not isinstance(value, bool):
        least, most = f.metadata["at_least"], f.metadata["at_most"]
        if not math.isfinite(value):
            raise SettingsError(key, f"is {value!r}, but it must be a finite number")
        if least is not None and value < least:
            raise SettingsError(key, f"is {value!r}, but it must be at least {least}")
        if most is not None and value > most:
            raise SettingsError(key, f"is {value!r}, but it must be at most {most}")


def is_allowed(key: str, value: object) -> bool:
    """Whether a value has the type of its setting, or names what the setting allows."""
    section, f = _FIELDS[key]
    return _is_allowed(value, f, type_of(section, f))


def _is_allowed(value: object, f: Field[Any], kind: Any) -> bool:
    if _fits(value, kind) or _is_plugin(value, f.metadata["plugins"]):
        return True
    return bool(f.metadata["mixes"]) and not _fault_of_mix(value, kind)


def _is_plugin(value: object, group: str) -> bool:
    return bool(group) and value in plugin_names(group)


def _wanted(value: object, f: Field[Any], kind: Any) -> str:
    """What a value that is not allowed must be."""
    if f.metadata["mixes"] and isinstance(value, str) and len(value.split()) > 1:
        return _fault_of_mix(value, kind)
    near = nearest(value, choices_of(kind)) if isinstance(value, str) else ""
    return f"it must be {name_of_type(kind)}{near if choices_of(kind) else ''}"


def _fault_of_mix(value: object, kind: Any) -> str:
    """Why a value is not a mix of names, as the end of a sentence; empty if it is one."""
    try:
        parts = read_mix(value if isinstance(value, str) else "")
    except ValueError as fault:
        return str(fault)
    choices = choices_of(kind)
    for part in parts:
        if part.name not in choices:
            names = ", ".join(choices)
            return f"{part.name!r} is not one of {names}{nearest(part.name, choices)}"
    return ""


def choices_of(kind: Any) -> tuple[str, ...]:
    """The values that a type names; empty where it names none."""
    if typing.get_origin(kind) is Literal:
        return typing.get_args(kind)
    if is_extensible(kind):
        return choices_of(typing.get_args(kind)[0])
    return ()


def is_extensible(kind: Any) -> bool:
    """Whether plug-ins add values to those that a type names: `Literal[...] | str`."""
    return typing.get_origin(kind) in (typing.Union, types.UnionType)


def name_of_type(kind: Any) -> str:
    """How a type is called in messages and docs."""
    origin = typing.get_origin(kind)
    if choices := choices_of(kind):
        added = ", or the name of an installed plug-in" if is_extensible(kind) else ""
        return "one of " + ", ".join(map(str, choices)) + added
    if origin is tuple:
        return "a list of numbers" if typing.get_args(kind)[0] is int else "a list of texts"
    names = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
    return names[kind]


def _fits(value: object, kind: Any) -> bool:
    origin = typing.get_origin(kind)
    if choices := choices_of(kind):
        return value in choices
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
    import difflib  # imported here, because only a mistyped name needs it

    known = list(names)
    begun = [name for name in known if name.startswith(key)]  # `fetch.max` is a shortened one
    close = begun or difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    return f"; did you mean {close[0]}?" if close else ""
