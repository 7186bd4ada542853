"""museum.localhost: rooms, objects and their makers; an image map, frames and old addresses."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Final

from gossamer.demo.pages import (
    HostPages,
    Shell,
    file,
    html,
    link,
    links,
    pdf,
    png,
    redirect,
    robots,
    table,
    text,
)
from gossamer.demo.prose import number, paragraphs, pick, slug, tell
from gossamer.demo.valley import PEOPLE, VALLEY, VILLAGES

ROOMS: Final = {
    "The River Room": ("ferry bell", "eel trap", "oar", "tide table", "lantern", "rope hook"),
    "The Mill Room": ("millstone pick", "flour scoop", "grain sack", "balance", "sieve", "cog"),
    "The Kitchen": ("butter churn", "jelly mould", "bread peel", "kettle", "salt box", "ladle"),
    "The Schoolroom": ("slate", "globe", "abacus", "inkwell", "hand bell", "spelling card"),
    "The Workshop": ("plane", "anvil", "lathe", "cobbler's last", "auger", "bellows"),
    "The Music Loft": ("fiddle", "serpent", "hand organ", "hymn board", "drum", "flute"),
}
MAKERS: Final = PEOPLE[:12]

GRAMMAR: Final = {
    **VALLEY,
    "material": ("ash wood", "pewter", "brass", "river clay", "oak", "tin", "horn", "wrought iron"),
    "look": ("plain", "handsome", "much mended", "surprisingly light", "neat", "heavy", "elegant"),
    "trace": (
        "a row of small notches",
        "the initials of three owners",
        "a burn on its underside",
        "a mark like a swallow",
        "traces of green paint",
        "a repair in copper wire",
    ),
    "use": (
        "was carried to market every Thursday",
        "hung beside the door of the ferry house",
        "served four generations of one family",
        "was used until the mill fell silent",
        "was lent from house to house each winter",
    ),
    "finder": (
        "a child who was looking for newts",
        "the sexton",
        "two sisters clearing an attic",
        "a diver from the bridge works",
        "the baker's apprentice",
    ),
}
OBJECT_LINES: Final = (
    "It is a {look} piece of {material}, and it bears {trace}.",
    "For many years it {use}.",
    "It was found near {water} by {finder} {weather}.",
    "Look closely and you will see {trace}, which no one has been able to explain.",
    "The book of gifts says only that it {use}, and that it cost {number} shillings.",
    "Visitors often ask whether it still works; it does, and on the feast day we show it.",
    "A second one, less {look}, is kept by a family in {village}.",
)
MAKER_LINES: Final = (
    "{name} was born in {village} and learned the trade by watching.",
    "Most of the work was done {weather}, with the door open to {water}.",
    "In letters from {village} the workshop is praised for its {food} as much as for its tools.",
    "After the great flood {name} rebuilt the workshop in {number} weeks.",
    "Nobody knows how many pieces there are; we have {number}, and the valley has the rest.",
)
ROOM_LINES: Final = (
    "Start at the window, from which you can see {water}.",
    "The room smells a little of {food}, and we have never found out why.",
    "Everything here came from {village} and the farms around it.",
    "On quiet days {bird} can be heard through the wall.",
    "The cases were built by {person}, who would not be paid.",
)

SHELL: Final = Shell(
    "Orrel Valley Museum",
    "en",
    (("/", "Museum"), ("/rooms/", "Rooms"), ("/people/", "Makers"), ("/visit.html", "Visit")),
    "Open every day but Monday. <a href='mailto:desk@museum.localhost'>Write to us</a>. "
    "<a href='/staff/rota.html'>Staff</a>",
)


def museum(roots: Mapping[str, str]) -> HostPages:
    """All pages of the host; `roots` has the address of every host."""
    pages: HostPages = {"/robots.txt": robots("User-agent: *", "Disallow: /staff/")}
    made_by: dict[str, list[tuple[str, str]]] = {maker: [] for maker in MAKERS}
    for room, kinds in ROOMS.items():
        pages |= _room(room, kinds, made_by)
    pages |= _people(made_by)
    pages |= _front(roots) | _files() | _tour() | _old_addresses()
    return pages


def _room(
    room: str, kinds: tuple[str, ...], made_by: dict[str, list[tuple[str, str]]]
) -> HostPages:
    pages: HostPages = {}
    shown: list[tuple[str, str]] = []
    home = f"/rooms/{slug(room)}/"
    for at, kind in enumerate(kind for kind in kinds for _ in range(2)):
        key = f"museum/{room}/{at}"
        maker, village = pick(MAKERS, key), pick(VILLAGES, key)
        title = f"{kind.capitalize()} from {village}, {1690 + number(key, 220)}"
        path = f"/objects/{slug(title)}.html"
        shown.append((path, title))
        made_by[maker].append((path, title))
        main = (
            f"<p><img src='/pictures/{slug(room)}.png' alt='A {escape(kind)}' width=48></p>"
            + text(*paragraphs(OBJECT_LINES, (3, 2), GRAMMAR, key))
            + f"<p>Made by {link(f'/people/{slug(maker)}.html', maker)}; "
            + f"shown in {link(home, room)}.</p>"
        )
        pages[path] = SHELL.page(title, main)
    room_page = SHELL.page(
        room, text(*paragraphs(ROOM_LINES, (2, 2), GRAMMAR, room)) + links(shown)
    )
    pages[home] = room_page
    pages[f"/pictures/{slug(room)}.png"] = file(_picture(room), "image/png")
    pages[f"/print{home}"] = room_page  # the same bytes under a second address
    return pages


def _picture(room: str) -> bytes:
    return png(24, 24, (90 + number(room, 120), 80 + number(room + "g", 90), 60))


def _people(made_by: Mapping[str, list[tuple[str, str]]]) -> HostPages:
    pages: HostPages = {}
    for maker, pieces in made_by.items():
        told = paragraphs(MAKER_LINES, (3, 1), GRAMMAR, maker, {"name": maker.split()[0]})
        pages[f"/people/{slug(maker)}.html"] = SHELL.page(maker, text(*told) + links(pieces))
    listed = links((f"/people/{slug(maker)}.html", maker) for maker in made_by)
    pages["/people/"] = SHELL.page("The makers", listed)
    return pages


def _front(roots: Mapping[str, str]) -> HostPages:
    rooms = [(f"/rooms/{slug(room)}/", room) for room in ROOMS]
    welcome = tell(
        "Six rooms, {number} stairs and one very old cat. The house stands beside {water}, where "
        "people have met {weather} for as long as there have been houses here.",
        GRAMMAR,
        "museum/welcome",
    )
    elsewhere = (
        (roots["library.localhost"] + "/", "The valley library, for the books about our objects"),
        (roots["news.localhost"] + "/topics/museum/", "The Courier on the museum"),
        (roots["stadt.localhost"] + "/museum.html", "Our sister museum in Lindwehr"),
        ("/tour/", "A tour for old browsers"),
        ("/leaflet.pdf", "The leaflet"),
        ("/objects/lost-crown.html", "The lost crown"),
        ("/old/collection", "The collection as it was"),
        ("/shop", "The shop"),
        ("/store-list.html", "What is in the store"),
    )
    return {
        "/": SHELL.page("Welcome", text(welcome) + _plan(rooms) + links(rooms) + links(elsewhere)),
        "/rooms/": SHELL.page("Rooms", links([*rooms, ("/print/rooms/the-kitchen/", "Print")])),
        "/visit.html": SHELL.page("Your visit", _visit(roots)),
        "/staff/rota.html": SHELL.page("Rota", text("For the staff.")),
        "/store-list.html": SHELL.page(
            "In the store",
            text("A working list, which search engines are asked to leave out.")
            + link("/objects/only-from-the-store.html", "A crate"),
            head="<meta name='robots' content='noindex, nofollow'>\n",
        ),
    }


def _plan(rooms: list[tuple[str, str]]) -> str:
    """The house as an image map: one area for each room."""
    areas = "".join(
        f"<area shape='rect' coords='{48 * at},0,{48 * at + 47},48' href='{href}' alt='{room}'>"
        for at, (href, room) in enumerate(rooms)
    )
    image = "<img src='/pictures/plan.png' usemap='#plan' alt='Plan of the house' width=288>"
    return f"<figure>{image}<map name='plan'>{areas}</map></figure>"


def _visit(roots: Mapping[str, str]) -> str:
    hours = table((("Summer", "10 to 6"), ("Winter", "11 to 4"), ("Feast day", "all night")))
    return (
        hours
        + text("The ferry stops at the foot of the garden. Dogs may come as far as the kitchen.")
        + link(roots["garden.localhost"] + "/", "The gardener keeps a diary")
    )


def _files() -> HostPages:
    return {
        "/pictures/plan.png": file(png(288, 48, (120, 140, 150)), "image/png"),
        "/leaflet.pdf": file(
            pdf("Orrel Valley Museum. Six rooms beside the river."), "application/pdf"
        ),
        "/favicon.ico": file(png(16, 16, (11, 96, 112)), "image/x-icon"),
    }


def _tour() -> HostPages:
    """Two frames, as sites were built once."""
    frames = (
        "<!doctype html><html lang='en'><head><title>A tour</title></head>"
        "<frameset cols='30%,70%'><frame src='menu.html' title='Stops'>"
        "<frame src='stop.html' name='stop' title='Where you are'>"
        "<noframes><body><a href='stop.html'>Begin the tour</a></body></noframes></frameset></html>"
    )
    stops = links((f"/rooms/{slug(room)}/", f"Stop in {room}") for room in ROOMS)
    return {
        "/tour/": html(frames),
        "/tour/menu.html": SHELL.page("Stops", stops),
        "/tour/stop.html": SHELL.page(
            "The hall", text("You are standing in the hall. Choose a stop.")
        ),
    }


def _old_addresses() -> HostPages:
    """A chain of three permanent redirects, and a temporary one."""
    return {
        "/old/collection": redirect("/old/catalogue"),
        "/old/catalogue": redirect("/catalogue/", 308),
        "/catalogue/": redirect("/rooms/"),
        "/shop": redirect("/visit.html", 302),
    }
