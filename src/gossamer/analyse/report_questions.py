"""The questions of a site audit, one row for each.

A question is SQL over the tables of `report_rows.py` and the links of the graph. Its result is a
table, and `--fail-on` counts the rows by its name. Redirect chains and mirrors are not found by
SQL: `report_redirects.py` and `report_mirrors.py` do that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LONG_TITLE_CHARS: Final = 60  # search results show about this many
SLOW_S: Final = 1.0
BIG_BYTES: Final = 1_000_000
SAMPLES: Final = 5  # pages listed that link to a broken URL
_OF_A_REASON: Final = 20  # refused URLs listed per reason


@dataclass(frozen=True, slots=True)
class ReportQuestion:
    """One table of a report: its name, its content, and what to do."""

    name: str
    heading: str
    advice: str
    columns: tuple[str, ...]  # JSON keys; `label_of` gives the text for people
    sql: str = ""


_LABELS: Final = {"answer": "response", "asks for": "robots", "for instance": "examples"}


def label_of(column: str) -> str:
    """Return the heading of a column."""
    return _LABELS.get(column, column)


# Views for all questions; `pages` are 200 responses inside the site, `documents` the HTML ones.
VIEWS: Final = {
    "pages": "select * from urls where inside and outcome = 'fetched' and status = 200",
    "documents": "select * from pages where type in ('text/html', 'application/xhtml+xml', '')",
    "dead": "select * from urls where outcome = 'failed' "
    "or (outcome = 'fetched' and status >= 400)",
}

_DEAD: Final = f"""
    with hits as (
        select l.target, l.source, min(l.anchor) as anchor
        from links l join urls s on s.url = l.source
        where s.inside and l.target in (select url from dead)
        group by l.target, l.source
    ), numbered as (
        select *, row_number() over (partition by target order by source) as n from hits
    ), places as (
        select target, count(*) as pages,
               list(source || chr(0) || anchor order by n) filter (n <= {SAMPLES}) as samples
        from numbered group by target
    )
    select d.url, case when d.outcome = 'failed' then d.reason else d.status::varchar end,
           coalesce(p.pages, 0), coalesce(p.samples, [])
    from dead d left join places p on p.target = d.url
    where d.inside or p.target is not null
    order by 3 desc, 1
"""  # noqa: S608 - only our own numbers
_SAME_TITLE: Final = f"""
    select title, count(*), list(url order by url)[1:{SAMPLES}]
    from documents where title <> '' and digest in
        (select digest from documents group by digest having count(*) = 1)
    group by title having count(*) > 1 order by 2 desc, 1
"""  # noqa: S608
_DUPLICATES: Final = """
    select url, first from (
        select url, first_value(url) over (partition by digest order by at_us, url) as first
        from pages where bytes > 0 and digest <> ''
    ) where url <> first order by first, url
"""
_CANONICAL: Final = """
    select l.source, min(l.target)
    from links l join documents d on d.url = l.source
    where list_contains(string_split(l.rel, ' '), 'canonical') and l.target <> l.source
    group by l.source order by 1
"""
_ORPHANS: Final = """
    select p.url, p.title from pages p
    where not p.is_seed and exists (select 1 from links) and not exists
        (select 1 from links l where l.target = p.url and l.source <> p.url)
    order by 1
"""
_REFUSED: Final = f"""
    select url, reason, detail from (
        select url, reason, detail, row_number() over (partition by reason order by url) as n
        from urls where inside and outcome = 'refused'
    ) where n <= {_OF_A_REASON} order by reason, url
"""  # noqa: S608

QUESTIONS: Final = (
    ReportQuestion(
        "dead",
        "Broken links",
        "These URLs returned an error or did not respond. Fix the link, or restore the page.",
        ("URL", "answer", "pages", "linked from"),
        _DEAD,
    ),
    ReportQuestion(
        "loops",
        "Redirect loops",
        "These redirects lead back to themselves. Visitors never reach a page.",
        ("URL", "hops", "way"),
    ),
    ReportQuestion(
        "chains",
        "Redirect chains",
        "Each hop costs time. Redirect the first URL directly to the last one.",
        ("URL", "hops", "way"),
    ),
    ReportQuestion(
        "duplicates",
        "Duplicate pages",
        "They are identical byte for byte. Redirect one to the other, or set a canonical URL.",
        ("URL", "same as"),
        _DUPLICATES,
    ),
    ReportQuestion(
        "mirrors",
        "Hosts and directories that mirror others",
        "Their pages are identical to those at the same paths of another place. Redirect them.",
        ("mirror", "original", "same pages", "pages", "share"),
    ),
    ReportQuestion(
        "no_title",
        "Pages without a title",
        "Search results and browser tabs show the title. Add one.",
        ("URL",),
        "select url from documents where title = '' order by 1",
    ),
    ReportQuestion(
        "long_title",
        f"Titles longer than {LONG_TITLE_CHARS} characters",
        "Search results truncate them. Shorten the title.",
        ("URL", "characters", "title"),
        f"select url, length(title), title from documents where length(title) > {LONG_TITLE_CHARS} "  # noqa: S608
        "order by 2 desc, 1",
    ),
    ReportQuestion(
        "same_title",
        "Different pages with the same title",
        "They look the same in search results. Duplicate pages are not listed here.",
        ("title", "pages", "for instance"),
        _SAME_TITLE,
    ),
    ReportQuestion(
        "no_description",
        "Pages without a description",
        "Without a description, search engines show an excerpt of their choice.",
        ("URL", "title"),
        "select d.url, d.title from documents d join heads h using (url) "
        "where h.description = '' order by 1",
    ),
    ReportQuestion(
        "noindex",
        "Pages excluded from search engines (noindex)",
        "This is correct for some pages. Check that it is intended.",
        ("URL", "asks for"),
        "select url, robots from pages where list_contains(string_split(robots, ' '), 'noindex') "
        "order by 1",
    ),
    ReportQuestion(
        "canonical_elsewhere",
        "Pages with another canonical URL",
        "Search engines show the canonical page. Link to it directly.",
        ("URL", "canonical"),
        _CANONICAL,
    ),
    ReportQuestion(
        "mixed",
        "Secure pages with insecure files (http)",
        "Browsers block such files or show a warning. Load them by https.",
        ("URL", "file"),
        "select url, insecure from heads where insecure is not null order by 1",
    ),
    ReportQuestion(
        "slow",
        f"Pages slower than {SLOW_S:g} s",
        "Time from the request to the last byte, as measured by the crawl.",
        ("URL", "seconds"),
        f"select url, round(took_s, 2) from pages where took_s > {SLOW_S} order by 2 desc, 1",  # noqa: S608
    ),
    ReportQuestion(
        "big",
        f"Pages larger than {BIG_BYTES // 10**6} MB",
        "Size as sent, after compression.",
        ("URL", "bytes"),
        f"select url, bytes from pages where bytes > {BIG_BYTES} order by 2 desc, 1",  # noqa: S608
    ),
    ReportQuestion(
        "orphans",
        "Pages without incoming links",
        "They were found in a sitemap or a parent directory. Visitors cannot reach them by links.",
        ("URL", "title"),
        _ORPHANS,
    ),
    ReportQuestion(
        "refused",
        "Refused URLs",
        f"The crawl skipped them (up to {_OF_A_REASON} per reason). Details: `gossamer why URL`.",
        ("URL", "reason", "detail"),
        _REFUSED,
    ),
)

# Counts by one property, the most common first; depths in ascending order.
HISTOGRAMS: Final = {
    "outcomes": "select outcome, count(*) from urls where inside group by 1 order by 2 desc, 1",
    "statuses": "select status::varchar, count(*) from urls where inside and outcome = 'fetched' "
    "group by 1 order by 2 desc, 1",
    "types": "select if(type = '', 'none', type), count(*) from pages "
    "group by 1 order by 2 desc, 1",
    "languages": "select if(language = '', 'unknown', language), count(*) from documents "
    "group by 1 order by 2 desc, 1",
    "depths": "select depth::varchar, count(*) from pages group by depth order by depth",
    "failed": "select reason, count(*) from urls where inside and outcome = 'failed' "
    "group by 1 order by 2 desc, 1",
    "refused": "select reason, count(*) from urls where inside and outcome = 'refused' "
    "group by 1 order by 2 desc, 1",
}

# Pages with the same content, for finding mirrors, and all pages, also outside the site.
SAME_PAGES: Final = """
    select content, at_us, url, inside from urls
    where outcome = 'fetched' and status = 200 and bytes > 0 and content in (
        select content from urls
        where outcome = 'fetched' and status = 200 and bytes > 0 and content <> ''
        group by content having count(*) > 1
    ) order by content, at_us, url
"""
ALL_PAGES: Final = "select url from urls where outcome = 'fetched' and status = 200"

# Figures that are not the length of a table.
SUMS: Final = {
    "pages": "select count(*) from pages",
    "known": "select count(*) from urls where inside",
    "failed": "select count(*) from urls where inside and outcome = 'failed'",
    "errors_4xx": "select count(*) from urls where inside and outcome = 'fetched' "
    "and status between 400 and 499",
    "errors_5xx": "select count(*) from urls where inside and outcome = 'fetched' "
    "and status >= 500",
    "redirects": "select count(*) from urls where inside and redirect <> ''",
    "dead_links": "select count(*) from links l join urls s on s.url = l.source "
    "where s.inside and l.target in (select url from dead)",
    "refused": "select count(*) from urls where inside and outcome = 'refused'",
}
# These need the archive; a quick report skips them.
FROM_ARCHIVE: Final = frozenset({"no_description", "mixed"})
NAMES: Final = tuple(dict.fromkeys([*SUMS, *(question.name for question in QUESTIONS)]))
