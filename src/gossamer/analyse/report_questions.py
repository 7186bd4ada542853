"""What does an owner want to know of a site? One row for each question.

A question is asked of the tables of `report_rows.py` and of the links of the graph, and its answer
is a table; its name is what `--fail-on` counts. Redirect chains are no question of SQL: they are
followed in `report_redirects.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LONG_TITLE_CHARS: Final = 60  # result pages of search engines show about so many
SLOW_S: Final = 1.0
BIG_BYTES: Final = 1_000_000
SAMPLES: Final = 5  # places shown where a dead URL is linked
_OF_A_REASON: Final = 20  # refused URLs shown for each


@dataclass(frozen=True, slots=True)
class Question:
    """One table of a report: its name, what it shows, and what to do about it."""

    name: str
    heading: str
    advice: str
    columns: tuple[str, ...]
    sql: str = ""


# Names for all questions; `pages` are answers of 200 inside the site, `documents` those of HTML.
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
    Question(
        "dead",
        "Dead links",
        "These answered with an error, or not at all. Mend the link, or bring the page back.",
        ("URL", "answer", "pages", "linked from"),
        _DEAD,
    ),
    Question(
        "loops",
        "Redirects that never end",
        "Nobody gets to see a page here.",
        ("URL", "hops", "way"),
    ),
    Question(
        "chains",
        "Redirects to redirects",
        "Each hop costs a visitor time; let the first one name the last.",
        ("URL", "hops", "way"),
    ),
    Question(
        "duplicates",
        "Pages of the same content",
        "Byte for byte the same. Redirect one to the other, or name one as canonical.",
        ("URL", "same as"),
        _DUPLICATES,
    ),
    Question(
        "no_title",
        "Pages without a title",
        "Search engines and tabs of browsers show the title first.",
        ("URL",),
        "select url from documents where title = '' order by 1",
    ),
    Question(
        "long_title",
        f"Titles of more than {LONG_TITLE_CHARS} characters",
        "Result pages cut them off.",
        ("URL", "characters", "title"),
        f"select url, length(title), title from documents where length(title) > {LONG_TITLE_CHARS} "  # noqa: S608
        "order by 2 desc, 1",
    ),
    Question(
        "same_title",
        "Different pages under one title",
        "Nobody can tell them apart in a list of results. Pages of the same content are not here.",
        ("title", "pages", "for instance"),
        _SAME_TITLE,
    ),
    Question(
        "no_description",
        "Pages without a description",
        "Where there is none, search engines choose some words of the page themselves.",
        ("URL", "title"),
        "select d.url, d.title from documents d join heads h using (url) "
        "where h.description = '' order by 1",
    ),
    Question(
        "noindex",
        "Pages that ask to stay out of search engines",
        "Right for some; make sure that it is meant.",
        ("URL", "asks for"),
        "select url, robots from pages where list_contains(string_split(robots, ' '), 'noindex') "
        "order by 1",
    ),
    Question(
        "canonical_elsewhere",
        "Pages that name another as the canonical one",
        "Search engines show the other. Links should lead there at once.",
        ("URL", "canonical"),
        _CANONICAL,
    ),
    Question(
        "mixed",
        "Secure pages that load files by http",
        "Browsers refuse such files, or warn of the page.",
        ("URL", "file"),
        "select url, insecure from heads where insecure is not null order by 1",
    ),
    Question(
        "slow",
        f"Pages that took more than {SLOW_S:g} s",
        "From the request to the last byte, as the crawl saw it.",
        ("URL", "seconds"),
        f"select url, round(took_s, 2) from pages where took_s > {SLOW_S} order by 2 desc, 1",  # noqa: S608
    ),
    Question(
        "big",
        f"Pages of more than {BIG_BYTES // 10**6} MB",
        "As sent, compression included.",
        ("URL", "bytes"),
        f"select url, bytes from pages where bytes > {BIG_BYTES} order by 2 desc, 1",  # noqa: S608
    ),
    Question(
        "orphans",
        "Pages that no page links to",
        "They are in a sitemap, or were found by their directory. Visitors cannot find them.",
        ("URL", "title"),
        _ORPHANS,
    ),
    Question(
        "refused",
        "URLs that were not asked for",
        f"At most {_OF_A_REASON} of each reason are shown; `gossamer why URL` tells more.",
        ("URL", "reason", "detail"),
        _REFUSED,
    ),
)

# Sums by one property, the most common first; depths in their own order.
HISTOGRAMS: Final = {
    "outcomes": "select outcome, count(*) from urls where inside group by 1 order by 2 desc, 1",
    "statuses": "select status::varchar, count(*) from urls where inside and outcome = 'fetched' "
    "group by 1 order by 2 desc, 1",
    "types": "select if(type = '', 'none', type), count(*) from pages "
    "group by 1 order by 2 desc, 1",
    "languages": "select if(language = '', 'not known', language), count(*) from documents "
    "group by 1 order by 2 desc, 1",
    "depths": "select depth::varchar, count(*) from pages group by depth order by depth",
    "failed": "select reason, count(*) from urls where inside and outcome = 'failed' "
    "group by 1 order by 2 desc, 1",
    "refused": "select reason, count(*) from urls where inside and outcome = 'refused' "
    "group by 1 order by 2 desc, 1",
}

# Figures that are no length of a table.
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
# Answered from the archive, and left out of a quick report.
FROM_ARCHIVE: Final = frozenset({"no_description", "mixed"})
NAMES: Final = tuple(dict.fromkeys([*SUMS, *(question.name for question in QUESTIONS)]))
