"""garden.localhost: a gardener's diary with tags; near copies, and files of other types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gossamer.demo.pages import HostPages, Shell, file, link, links, pdf, png, redirect, text
from gossamer.demo.prose import paragraphs, slug, some, tell
from gossamer.demo.valley import VALLEY

TAGS: Final = ("roses", "beans", "bees", "compost", "apples", "tools", "weather", "visitors")
DAYS: Final = 40

GRAMMAR: Final = {
    **VALLEY,
    "plant": ("beans", "old roses", "quinces", "sweet peas", "leeks", "lavender", "medlars"),
    "job": ("pruned", "watered", "moved", "tied up", "apologised to", "counted", "mulched"),
    "pest": ("snails", "a mole", "pigeons", "the museum cat", "cabbage whites"),
    "mood": ("A good day for", "A long day with", "Nothing but", "Surprised by", "Waiting for"),
}
LINES: Final = (
    "I {job} the {plant} {weather}.",
    "The {plant} did better than the {plant}, and both know it.",
    "{Person} came from {village} with {food} and stayed to help.",
    "Lost {number} plants to {pest}, and forgave them.",
    "{Bird} sat on the spade for {number} minutes.",
    "The water in {water} is high, so the lower beds can wait.",
    "Note for next year: fewer {plant}, more paths.",
)

SHELL: Final = Shell(
    "A Garden by the Orrel",
    "en",
    (("/", "Diary"), ("/tags/", "Tags"), ("/about/", "About")),
    "<a href='/days/1'>The first day</a>",
)


def garden(roots: Mapping[str, str]) -> HostPages:
    """All pages of the host, which has no robots.txt; `roots` has the address of every host."""
    pages: HostPages = {}
    tagged: dict[str, list[tuple[str, str]]] = {tag: [] for tag in TAGS}
    days = [_day(day, tagged, pages) for day in range(1, DAYS + 1)]
    for tag, found in tagged.items():
        pages[f"/tags/{tag}"] = SHELL.page(f"Days with {tag}", links(found))
    pages["/tags/"] = SHELL.page("Tags", links((f"/tags/{tag}", tag) for tag in TAGS))
    return pages | _front(roots, days)


def _day(day: int, tagged: dict[str, list[tuple[str, str]]], pages: HostPages) -> tuple[str, str]:
    """Write one day into `pages`; where it is and what it is called."""
    key, path = f"garden/{day}", f"/days/{day}"
    title = tell("{mood} {plant}", GRAMMAR, key)
    tags = some(TAGS, 2, key)
    for tag in tags:
        tagged[tag].append((path, title))
    near = [(f"/days/{day + 1}", "The day after")] if day < DAYS else []
    near += [(f"/days/{day - 1}", "The day before")] if day > 1 else []
    main = (
        text(*paragraphs(LINES, (3, 1), GRAMMAR, key))
        + links(near)
        + "<p>Tags: "
        + ", ".join(link(f"/tags/{tag}", tag) for tag in tags)
        + "</p>"
    )
    pages[path] = SHELL.page(title, main)
    if day % 10 == 0:  # the same day for a small screen: nearly the same page
        pages[f"/m{path}"] = SHELL.page(title, main + text("You are reading the small edition."))
        pages[path] = SHELL.page(title, main + f"<p>{link(f'/m{path}', 'Small edition')}</p>")
    return path, title


def _front(roots: Mapping[str, str], days: list[tuple[str, str]]) -> HostPages:
    elsewhere = (
        (roots["museum.localhost"] + "/visit.html", "Visit the museum beside the garden"),
        (roots["library.localhost"] + "/shelves/bees-and-orchards/", "Books on bees and orchards"),
        (roots["trap.localhost"] + "/maze/", "The hedge maze"),
        ("http://10.0.0.1/greenhouse", "The greenhouse (at home only)"),
        ("/photos/rose.png", "A rose"),
        ("/photos/plan.pdf", "Plan of the beds"),
        ("/seeds.csv", "Seeds"),
        ("/song.wav", "A blackbird"),
        ("/diary", "The diary"),
    )
    seeds = "\n".join(f"{slug(plant)},{at + 3}" for at, plant in enumerate(GRAMMAR["plant"]))
    # 44 bytes of header and a tenth of a second of silence, 8 bits at 8 kHz.
    silence = b"RIFF" + (836).to_bytes(4, "little") + b"WAVEfmt " + (16).to_bytes(4, "little")
    silence += bytes((1, 0, 1, 0, 64, 31, 0, 0, 64, 31, 0, 0, 1, 0, 8, 0))
    silence += b"data" + (800).to_bytes(4, "little") + b"\x80" * 800
    return {
        "/": SHELL.page("Forty days in a garden", links(days[::-1]) + links(elsewhere)),
        "/about/": SHELL.page("About", text("One garden, one spade, one gardener.")),
        "/diary": redirect("/", 307),
        "/photos/rose.png": file(png(32, 32, (190, 60, 90)), "image/png"),
        "/photos/plan.pdf": file(
            pdf("Plan of the beds: beans, roses, more beans."), "application/pdf"
        ),
        "/seeds.csv": file(f"plant,packets\n{seeds}\n".encode(), "text/csv"),
        "/song.wav": file(silence, "audio/wav"),
    }
