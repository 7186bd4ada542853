"""trap.localhost: a calendar without end, a maze, a list in every order. Made when asked for.

None of these pages exists before someone asks, so their number has no bound: a crawler that
believes every link stays here for ever. What ends each of them is said in `docs/guide.md`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from gossamer.demo.pages import DemoAnswer, HostPages, Shell, file, link, links, robots, text
from gossamer.demo.prose import pick, tell
from gossamer.demo.valley import VALLEY

SHELL: Final = Shell(
    "What Is On",
    "en",
    (("/", "What is on"), ("/calendar/2026/01", "Calendar"), ("/maze/", "Maze")),
    "Every day has a page. Every page has a day after.",
)
COLUMNS: Final = ("day", "place", "price")
TURNS: Final = ("left", "right")
GRAMMAR: Final = {
    **VALLEY,
    "event": ("A concert", "A lecture", "A walk", "A supper", "A sale of work", "A swim"),
}

_MONTH: Final = re.compile(r"/calendar/(\d{4,6})/(\d\d)")
_MAZE: Final = re.compile(r"/maze/((?:[a-z]+/)*)")


def traps(roots: Mapping[str, str]) -> HostPages:
    """The few pages of the host that are always there; `roots` has the address of every host."""
    ways = (
        ("/calendar/2026/01", "The calendar"),
        ("/maze/", "The hedge maze"),
        ("/list?sort=day", "The list"),
        ("/tickets?session=1", "Tickets"),
        (roots["news.localhost"] + "/", "The Courier, who asked for this calendar"),
    )
    return {
        "/robots.txt": robots("User-agent: *", "Disallow: /box-office/"),
        "/": SHELL.page("What is on", links(ways) + link("/box-office/", "Box office")),
        "/poster.txt": file(b"Everything is on, always.\n", "text/plain; charset=utf-8"),
    }


def made_page(target: str) -> DemoAnswer | None:
    """The page for a path with its query, or None where not even a trap has one."""
    parts = urlsplit(target)
    if (month := _MONTH.fullmatch(parts.path)) and 1 <= int(month[2]) <= 12:
        return _calendar(int(month[1]), int(month[2]))
    if maze := _MAZE.fullmatch(parts.path):
        return _maze(maze[1])
    if parts.path == "/list":
        return _list(dict(parse_qsl(parts.query)))
    if parts.path == "/tickets":
        return _tickets(dict(parse_qsl(parts.query)).get("session", "1"))
    return None


def _calendar(year: int, month: int) -> DemoAnswer:
    """A month, with the month before and the month after, to the end of numbers."""
    after = (year + month // 12, month % 12 + 1)
    before = (year - (month == 1), (month - 2) % 12 + 1)
    told = tell("{Event} in {village}, {weather}. Bring {food}.", GRAMMAR, f"{year}/{month}")
    near = links(
        (f"/calendar/{y:04}/{m:02}", words)
        for (y, m), words in ((after, "The month after"), (before, "The month before"))
        if 1000 <= y <= 999_999
    )
    return SHELL.page(f"{year:04}-{month:02}", text(told) + near)


def _maze(path: str) -> DemoAnswer:
    """A crossing: its ways lead one directory deeper, and all look alike."""
    sight = tell("You stand between hedges {weather} and hear {bird}.", GRAMMAR, pick(TURNS, path))
    ways = links((f"{turn}/", f"Go {turn}") for turn in TURNS)
    return SHELL.page("A crossing in the maze", text(sight) + ways)


def _list(query: dict[str, str]) -> DemoAnswer:
    """One short list under every mixture of orders and filters."""
    ways = [
        ("/list?" + "&".join(f"{k}={v}" for k, v in {**query, column: order}.items()), words)
        for column in COLUMNS
        for order, words in (("up", f"{column} up"), ("down", f"{column} down"))
    ]
    return SHELL.page("The list", text("A concert, a walk, a supper.") + links(ways))


def _tickets(session: str) -> DemoAnswer:
    """The same page under a new session number for every look at it."""
    number = int(session) if session.isdecimal() and len(session) < 12 else 0
    again = link(f"/tickets?session={number * 7 % 999_983 + 1}", "Reload the tickets")
    return SHELL.page("Tickets", text("All sold out, and always were.") + again)
