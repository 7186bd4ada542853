"""news.localhost: a year of the Orrel Courier; feed, refresh, redirect loop, broken links."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Final

from gossamer.demo.pages import (
    DemoAnswer,
    HostPages,
    Shell,
    file,
    link,
    links,
    png,
    redirect,
    robots,
    text,
)
from gossamer.demo.prose import number, paragraphs, pick, slug, some, tell
from gossamer.demo.valley import PEOPLE, VALLEY

TOPICS: Final = ("river", "council", "museum", "books", "sport", "weather")
MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
STORIES_A_MONTH: Final = 6
YEAR: Final = 2025

GRAMMAR: Final = {
    **VALLEY,
    "act": ("repaired", "painted", "counted", "moved", "insured", "forgotten", "found again"),
    "event": ("the raft race", "the harvest supper", "the bell ringing", "the spring fair"),
    "crowd": ("a small crowd", "half the valley", "the choir", "eleven children", "the fire crew"),
    "said": ("said", "told the Courier", "explained", "admitted", "sang"),
    "river": (
        "Ferry {act} in {village}",
        "Otters seen below {village}",
        "Weir keeper thanks {village}",
    ),
    "council": (
        "{Village} bridge to be {act}",
        "Council argues about {food}",
        "Clock {act} at last",
    ),
    "museum": (
        "Eel trap {act} by museum",
        "Museum cat moves to {village}",
        "Night opening draws {crowd}",
    ),
    "books": (
        "Library lends {number} kites",
        "A new novel is set in {village}",
        "{Village} reads aloud",
    ),
    "sport": ("{Village} wins {event}", "{Event} ends in a draw", "Cricket stopped by {bird}"),
    "weather": ("Frost in {village}", "Fog delays {event}", "Warmest day brings out {crowd}"),
}
LINES: Final = (
    "{Crowd} came to {water} {sky}.",
    "“We had not planned it,” {said} {person}, “but there was {food} for everyone.”",
    "The work took {number} days and was finished {sky}.",
    "It is years since {village} has seen anything like it, and {number} letters have arrived.",
    "{Person}, who remembers the old ferry, {said} that it had been louder then.",
    "{Event} will be held as usual, with {bird} as guest of honour.",
    "The council meets again on Tuesday; bring a chair.",
)

SHELL: Final = Shell(
    "The Orrel Courier",
    "en",
    (
        ("/", "Today"),
        ("/archive/", "Archive"),
        ("/topics/sport/", "Sport"),
        ("/about.html", "About"),
    ),
    "Printed on Thursdays. <a href='javascript:window.print()'>Print</a> "
    "<a href='mailto:desk@news.localhost?subject=News'>Send us news</a>",
)
FEED: Final = "<link rel='alternate' type='application/atom+xml' href='/feed.xml' title='News'>\n"


def news(roots: Mapping[str, str]) -> HostPages:
    """All pages of the host; `roots` has the address of every host."""
    pages: HostPages = {
        "/robots.txt": robots("User-agent: *", "Disallow: /drafts/", "Disallow: /*?print")
    }
    by_topic: dict[str, list[tuple[str, str]]] = {topic: [] for topic in TOPICS}
    by_month: dict[str, list[tuple[str, str]]] = {}
    for month in range(1, 13):
        by_month[f"/{YEAR}/{month:02}/"] = _month(month, by_topic, pages)
    for home, stories in by_month.items():
        pages[home] = SHELL.page(f"{MONTHS[int(home[6:8]) - 1]} {YEAR}", links(stories), head=FEED)
    for topic, stories in by_topic.items():
        pages[f"/topics/{topic}/"] = SHELL.page(topic.capitalize(), links(stories), head=FEED)
    latest = by_month[f"/{YEAR}/12/"]
    pages |= _front(roots, latest, list(by_month)) | _oddities(latest[0][0])
    pages["/feed.xml"] = _feed(roots["news.localhost"], latest)
    return pages


def _month(
    month: int, by_topic: dict[str, list[tuple[str, str]]], pages: HostPages
) -> list[tuple[str, str]]:
    """Write a month's stories into `pages`; where they are and what they are called."""
    stories: list[tuple[str, str]] = []
    for at in range(STORIES_A_MONTH):
        key, topic = f"news/{month}/{at}", TOPICS[(at + month) % len(TOPICS)]
        title = tell(f"{{{topic.capitalize()}}}", GRAMMAR, key)
        path = f"/{YEAR}/{month:02}/{slug(title)}.html"
        stories.append((path, title))
        facts = {"sky": pick(VALLEY["weather"], key)}
        day = 1 + number(key, 28)
        byline = f"By {pick(PEOPLE, key + 'by')}, {day} {MONTHS[month - 1]} {YEAR}"
        earlier = some(by_topic[topic], 2, key)
        main = (
            f"<p><em>{escape(byline)}</em></p>"
            + text(*paragraphs(LINES, (3, 2), GRAMMAR, key, facts))
            + f"<p>More about the {link(f'/topics/{topic}/', topic)}. "
            + f"{link(path + '?print', 'For the printer')}</p>"
            + links(earlier)
        )
        modified = (
            f"{('Mon', 'Wed', 'Thu')[at % 3]}, {day:02} {MONTHS[month - 1][:3]} {YEAR} 06:00:00 GMT"
        )
        pages[path] = SHELL.page(title, main, head=FEED, headers={"last-modified": modified})
        by_topic[topic].append((path, title))
    return stories


def _front(roots: Mapping[str, str], latest: list[tuple[str, str]], months: list[str]) -> HostPages:
    archive = [(home, f"{MONTHS[int(home[6:8]) - 1]} {YEAR}") for home in months]
    topics = [(f"/topics/{topic}/", f"All about the {topic}") for topic in TOPICS]
    elsewhere = (
        (roots["museum.localhost"] + "/", "Orrel Valley Museum"),
        (roots["library.localhost"] + "/", "Valley Library"),
        (roots["stadt.localhost"] + "/", "Our twin town Lindwehr (in German)"),
        (roots["trap.localhost"] + "/", "What is on: the calendar"),
        ("/today", "Today's story"),
        ("/advert", "An offer"),
        ("/readers-letters", "Letters"),
        ("/drafts/next-week.html", "Next week"),
    )
    broken = (
        "<p>The old index has not been mended: <a href='http://:80/'>first</a>, "
        "<a href='http://[news.localhost/'>second</a>, <a href='/1999/01/gone.html'>third</a>, "
        "<a href='http://exa mple/'>fourth</a>, <a href='tel:+490000'>telephone</a>, "
        "<a href='/old-paper.html'>the paper of 1952</a>, <a href=''>this page</a>, "
        "<a href='#top'>the top</a>.</p>"
    )
    main = links(latest) + links(topics) + broken + links(elsewhere)
    about = text("The Courier has been written by its readers since the ferry had a bell.")
    return {
        "/": SHELL.page("The week in the valley", main, head=FEED),
        "/archive/": SHELL.page("Archive", links(archive)),
        "/about.html": SHELL.page("About", about + links(elsewhere[:4])),
        "/drafts/next-week.html": SHELL.page("Draft", text("Not yet.")),
    }


def _oddities(latest: str) -> HostPages:
    """A refresh, a loop, a page that is gone, one that fails, and links not to be followed."""
    refresh = f"<meta http-equiv='refresh' content='0; url={latest}'>\n"
    sponsored = link("/offers/umbrella.html", "Umbrellas", "nofollow sponsored")
    return {
        "/today": SHELL.page("Today", text("One moment, please."), head=refresh),
        "/readers-letters": redirect("/letters/", 302),
        "/letters/": redirect("/readers-letters", 302),
        "/old-paper.html": SHELL.page("Gone", text("We sold that one."), status=410),
        "/advert": SHELL.page("An offer", sponsored + link("/counter.cgi", "Visitors")),
        "/offers/umbrella.html": SHELL.page("Umbrellas", text("For fog, frost and fairs.")),
        "/counter.cgi": SHELL.page("Error", text("The counter has stopped."), status=500),
        "/masthead.gif": file(png(60, 12, (40, 40, 40)), "image/png"),
    }


def _feed(root: str, stories: list[tuple[str, str]]) -> DemoAnswer:
    entries = "".join(
        f"<entry><title>{escape(title)}</title><id>{root}{path}</id>"
        f"<link href='{root}{path}'/><updated>{YEAR}-12-31T06:00:00Z</updated></entry>"
        for path, title in stories
    )
    source = (
        "<?xml version='1.0' encoding='utf-8'?>\n<feed xmlns='http://www.w3.org/2005/Atom'>"
        f"<title>The Orrel Courier</title><id>{root}/</id>"
        f"<updated>{YEAR}-12-31T06:00:00Z</updated>{entries}</feed>\n"
    )
    return file(source.encode(), "application/atom+xml")
