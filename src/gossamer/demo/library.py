"""library.localhost: books by shelf and author; pages of a list, a base address, soft 404s."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gossamer.demo.pages import DemoAnswer, HostPages, Shell, link, links, redirect, robots, text
from gossamer.demo.prose import number, paragraphs, pick, slug, tell
from gossamer.demo.valley import PEOPLE, VALLEY

SHELVES: Final = (
    "Rivers",
    "Bees and Orchards",
    "Bridges",
    "Night Skies",
    "Cookery",
    "Walking",
    "Ghost Stories",
    "Trains",
)
BOOKS_ON_A_SHELF: Final = 8
BOOKS_ON_A_PAGE: Final = 5
AUTHORS: Final = PEOPLE[4:]

GRAMMAR: Final = {
    **VALLEY,
    "thing": ("Lantern", "Ferry", "Almanac", "Orchard", "Ladder", "Map", "Kettle", "Owl", "Signal"),
    "quality": ("Silent", "Patient", "Crooked", "Borrowed", "Last", "Green", "Second", "Winter"),
    "study": ("A History of", "Notes on", "The Pleasures of", "In Praise of", "Letters about"),
    "reader": ("a careful reader", "our youngest member", "the ferryman", "a retired teacher"),
    "verdict": (
        "worth the whole shelf",
        "best read by a window",
        "too short by half",
        "wrong about the weir, and right about everything else",
        "a book to lend and never see again",
    ),
}
BOOK_LINES: Final = (
    "The story begins {weather}, beside {water}.",
    "In the third chapter {bird} appears, and from there on nothing is as it was.",
    "{Reader} calls it {verdict}.",
    "There are {number} maps, drawn by {person}.",
    "Our copy has a stain of {food} on page {number}.",
    "The author walked from {village} to {village} to check every distance.",
    "It has been out on loan {number} times this year.",
)
AUTHOR_LINES: Final = (
    "{name} lives in {village} and writes before breakfast.",
    "The first book was refused by {number} publishers.",
    "{name} reads aloud in the library {weather}, and there is always {food} afterwards.",
    "A desk by the north window is kept free; please do not move the ink.",
)

SHELL: Final = Shell(
    "Valley Library",
    "en",
    (("/", "Library"), ("/shelves/", "Shelves"), ("/authors/", "Authors"), ("/desk", "My desk")),
    "Silence is welcome, and so are you. <a href='/rules.html'>Rules</a>",
)


def library(roots: Mapping[str, str]) -> HostPages:
    """All pages of the host; `roots` has the address of every host."""
    pages: HostPages = {
        "/robots.txt": robots(
            "User-agent: *",
            "Crawl-delay: 0",
            "Disallow: /readers/*/loans",
            "Allow: /readers/",
            f"Sitemap: {roots['library.localhost']}/sitemap.xml",
        )
    }
    written: dict[str, list[tuple[str, str]]] = {author: [] for author in AUTHORS}
    for shelf in SHELVES:
        pages |= _collections(shelf, written)
    pages |= _authors(written) | _front(roots) | _desk()
    return pages


def _title(shelf: str, at: int) -> str:
    form = ("The {quality} {thing}", f"{{study}} {shelf}", "A {thing} for {village}")[at % 3]
    return tell(form, GRAMMAR, f"library/{shelf}/{at}")


def _collections(shelf: str, written: dict[str, list[tuple[str, str]]]) -> HostPages:
    pages: HostPages = {}
    books: list[tuple[str, str]] = []
    home = f"/shelves/{slug(shelf)}/"
    for at in range(BOOKS_ON_A_SHELF):
        key, title = f"library/{shelf}/{at}", _title(shelf, at)
        author, path = pick(AUTHORS, key), f"/books/{slug(shelf)}-{at + 1}-{slug(title)}"
        books.append((path, title))
        written[author].append((path, title))
        main = (
            text(*paragraphs(BOOK_LINES, (3, 2), GRAMMAR, key))
            + f"<p>By {link(f'/authors/{slug(author)}', author)}, {1921 + number(key, 95)}. "
            + f"On the shelf {link(home, shelf)}.</p>"
        )
        canonical = f"<link rel='canonical' href='{path}'>\n"
        pages[path] = SHELL.page(title, main, head=canonical)
    pages[f"{books[0][0]}?from=shelf"] = pages[books[0][0]]  # a copy that names its original
    pages |= _list(shelf, home, [(f"{books[0][0]}?from=shelf", books[0][1]), *books])
    return pages


def _list(shelf: str, home: str, books: list[tuple[str, str]]) -> HostPages:
    """A shelf in pages of a few books, joined by next and back."""
    pages: HostPages = {}
    parts = [books[at : at + BOOKS_ON_A_PAGE] for at in range(0, len(books), BOOKS_ON_A_PAGE)]
    addresses = [home, *(f"{home}?page={at}" for at in range(2, len(parts) + 1))]
    for at, part in enumerate(parts):
        near = [(addresses[at + 1], "Next page")] if at + 1 < len(parts) else []
        near += [(addresses[at - 1], "Page before")] if at else []
        pages[addresses[at]] = SHELL.page(f"{shelf}, page {at + 1}", links(part) + links(near))
    return pages


def _authors(written: Mapping[str, list[tuple[str, str]]]) -> HostPages:
    pages: HostPages = {}
    for author, books in written.items():
        told = paragraphs(AUTHOR_LINES, (2, 1), GRAMMAR, author, {"name": author.split()[0]})
        pages[f"/authors/{slug(author)}"] = SHELL.page(author, text(*told) + links(books))
    # Links here are relative to a base that the page names, not to the page.
    based = links((slug(author), author) for author in written)
    pages["/authors/"] = SHELL.page("Authors", based, head="<base href='/authors/'>\n")
    pages["/about/authors.html"] = pages["/authors/"]
    return pages


def _front(roots: Mapping[str, str]) -> HostPages:
    shelves = [(f"/shelves/{slug(shelf)}/", shelf) for shelf in SHELVES]
    elsewhere = links(
        (
            (roots["museum.localhost"] + "/rooms/the-mill-room/", "The mill, in the museum"),
            (roots["news.localhost"] + "/topics/books/", "Reviews in the Courier"),
            (roots["garden.localhost"] + "/", "A gardener's diary"),
            ("/about/authors.html", "About our authors"),
            ("/lost-cards/9-lives.html", "The card that nobody can find"),
            ("/open-stacks", "Open stacks"),
            ("/readers/ada/", "Ada's reading list"),
        )
    )
    sitemap_urls = "".join(
        f"<url><loc>{roots['library.localhost']}{path}</loc></url>" for path, _ in shelves
    )
    sitemap = f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{sitemap_urls}</urlset>"
    sitemap_type = {"content-type": "application/xml"}
    loans = link("/readers/ada/loans", "What Ada has on loan")
    return {
        "/": SHELL.page("Eight shelves", links(shelves) + elsewhere),
        "/shelves/": SHELL.page("Shelves", links(shelves)),
        "/rules.html": SHELL.page("Rules", text("Return what you can. Read what you cannot.")),
        "/open-stacks": redirect("/shelves/", 303),
        "/readers/ada/": SHELL.page("Ada reads", loans),
        "/readers/ada/loans": SHELL.page("Loans", text("Nobody's business.")),
        "/sitemap.xml": _xml(sitemap, sitemap_type),
        # A page that is not there and says so with the status of one that is.
        "/lost-cards/9-lives.html": SHELL.page("Sorry", text("We could not find that card.")),
    }


def _xml(source: str, headers: Mapping[str, str]) -> DemoAnswer:
    return DemoAnswer(200, tuple(headers.items()), b"<?xml version='1.0'?>\n" + source.encode())


def _desk() -> HostPages:
    """The desk gives every visitor a number in the address: the same page under many names."""
    pages: HostPages = {"/desk": redirect("/desk?sid=1001", 302)}
    for at in range(1001, 1005):
        main = text("Nothing on your desk today.") + link(f"/desk?sid={at + 1}", "Look again")
        pages[f"/desk?sid={at}"] = SHELL.page("My desk", main)
    last = text("Nothing on your desk today.") + link("/logout", "Log out")
    pages["/desk?sid=1005"] = SHELL.page("My desk", last)
    pages["/logout"] = SHELL.page("Good bye", text("You should not have come here."))
    return pages
