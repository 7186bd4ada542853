"""stadt.localhost: the twin town Lindwehr, in German; two old charsets and umlauts in addresses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from gossamer.demo.pages import (
    DemoAnswer,
    HostPages,
    Shell,
    html,
    link,
    links,
    redirect,
    robots,
    table,
    text,
)
from gossamer.demo.prose import number, paragraphs, pick, slug, tell

STREETS: Final = (
    "Mühlgasse",
    "Große Brückenstraße",
    "Am Lindenwehr",
    "Färberwinkel",
    "Kirchsteig",
    "Uferweg",
    "Töpfermarkt",
    "Schäferhöhe",
)
CLUBS: Final = (
    "Ruderverein",
    "Bienenfreunde",
    "Singkreis",
    "Feuerwehr",
    "Heimatkundler",
    "Schachklub",
    "Gartenverein",
    "Wanderbund",
)
OFFICES: Final = ("Bürgeramt", "Standesamt", "Bauamt", "Forstamt", "Fundbüro", "Stadtarchiv")
NEWS: Final = 36

GRAMMAR: Final = {
    "straße": STREETS,
    "verein": CLUBS,
    "amt": OFFICES,
    "ort": (
        "am Wehr",
        "im Rathaussaal",
        "unter den Linden",
        "auf dem Marktplatz",
        "an der alten Mühle",
    ),
    "zeit": ("am Samstag", "in der Nacht zum Montag", "kurz vor Mittag", "nach der Schneeschmelze"),
    "wetter": ("bei leichtem Regen", "im schönsten Sonnenschein", "trotz des Nebels", "bei Frost"),
    "zahl": ("drei", "sieben", "zwölf", "vierzig", "hundert"),
    "tier": ("ein Graureiher", "ein Biber", "die Rathauskatze", "ein Schwarm Stare"),
    "speise": ("Zwiebelkuchen", "Pflaumenmus", "Kartoffelsuppe", "Honigbrot"),
    "titel": (
        "{straße} wieder offen",
        "{verein} feiert {ort}",
        "Neues aus dem {amt}",
        "{tier} legt Verkehr lahm",
        "Fest {ort}",
        "{zahl} neue Linden",
    ),
}
NEWS_LINES: Final = (
    "{Zeit} trafen sich {zahl} Bürgerinnen und Bürger {ort}.",
    "{Wetter} dauerten die Arbeiten länger als gedacht, doch nun ist alles fertig.",
    "Der Verein {verein} sorgte für {speise}, und niemand ging hungrig nach Hause.",
    "Wie das {amt} mitteilt, wird das Pflaster „{straße}“ in der nächsten Woche gereinigt.",
    "Zum Schluss zeigte sich noch {tier}, was die Kinder sehr freute.",
    "Die Bürgermeisterin dankte allen, die geholfen haben, und lud für das nächste Jahr ein.",
)
CLUB_LINES: Final = (
    "Wir treffen uns jeden Donnerstag {ort}.",
    "Gäste sind willkommen; wer {speise} mitbringt, wird Ehrenmitglied.",
    "Der Verein hat {zahl} Mitglieder und ein Boot.",
    "Im Winter arbeiten wir {wetter} draußen, sonst im Vereinshaus.",
)

SHELL: Final = Shell(
    "Stadt Lindwehr",
    "de",
    (("/", "Start"), ("/meldungen/", "Meldungen"), ("/aemter/", "Ämter"), ("/vereine/", "Vereine")),
    "<a href='/impressum.html'>Impressum</a> <a href='mailto:rathaus@stadt.localhost'>Post</a>",
)


def stadt(roots: Mapping[str, str]) -> HostPages:
    """All pages of the host; `roots` has the address of every host."""
    pages: HostPages = {
        "/robots.txt": robots(
            "User-agent: gossamer", "Disallow: /intern/", "", "User-agent: *", "Disallow:"
        )
    }
    return pages | _news() | _offices() | _clubs() | _streets() | _old_pages() | _front(roots)


def _news() -> HostPages:
    pages: HostPages = {}
    listed: list[tuple[str, str]] = []
    for at in range(1, NEWS + 1):
        key = f"stadt/{at}"
        title = tell("{Titel}", GRAMMAR, key)
        path = f"/meldungen/{at:03}-{slug(title)}.html"
        club, office = pick(CLUBS, key), pick(OFFICES, key)
        main = (
            text(*paragraphs(NEWS_LINES, (2, 3), GRAMMAR, key))
            + f"<p>Mehr beim {link(f'/aemter/{slug(office)}.html', office)} und beim Verein "
            + f"{link(f'/vereine/{slug(club)}/', club)}.</p>"
        )
        if listed:
            main += f"<p>Vorige Meldung: {link(*listed[-1])}</p>"
        listed.append((path, title))
        pages[path] = SHELL.page(title, main)
    pages["/meldungen/"] = SHELL.page("Meldungen", links(listed[::-1]))
    return pages


def _offices() -> HostPages:
    pages: HostPages = {}
    for office in OFFICES:
        street = pick(STREETS, office)
        rows = (
            ("Straße", link(_street(street), f"{street} {1 + number(office, 30)}")),
            ("Offen", "Montag bis Freitag, 8 bis 12 Uhr"),
            ("Leitung", f"Zimmer {100 + number(office, 40)}"),
        )
        pages[f"/aemter/{slug(office)}.html"] = SHELL.page(office, table(rows))
    listed = links((f"{slug(office)}.html", office) for office in OFFICES)
    pages["/aemter/"] = SHELL.page("Ämter", listed)
    return pages


def _clubs() -> HostPages:
    pages: HostPages = {}
    for club in CLUBS:
        told = text(*paragraphs(CLUB_LINES, (2, 1), GRAMMAR, club))
        near = links((("../", "Alle Vereine"), ("satzung.html", "Satzung")))
        pages[f"/vereine/{slug(club)}/"] = SHELL.page(club, told + near)
        # One text for all: pages that differ in nothing but their address.
        pages[f"/vereine/{slug(club)}/satzung.html"] = SHELL.page("Satzung", text(*STATUTES))
    pages["/vereine/"] = SHELL.page("Vereine", links((f"{slug(club)}/", club) for club in CLUBS))
    return pages


STATUTES: Final = (
    "Der Verein dient der Freude seiner Mitglieder und dem Wohl der Stadt.",
    "Mitglied ist, wer kommt. Wer zweimal fehlt, bringt beim dritten Mal Kuchen mit.",
    "Die Versammlung entscheidet mit der Mehrheit der Wachen.",
)


def _street(street: str) -> str:
    return f"/{quote('straßen')}/{quote(street)}"


def _streets() -> HostPages:
    """Addresses with umlauts, percent-encoded as browsers send them."""
    return {
        _street(street): SHELL.page(
            street, text(tell("{Wetter} ist es hier am schönsten.", GRAMMAR, street))
        )
        for street in STREETS
    }


def _old_pages() -> HostPages:
    """One charset named by the header, one by the page alone, and one page that names none."""
    history = SHELL.source(
        "Geschichte",
        text(
            "Die Straße über den Fluß war schön, aber schmal; Müller und Färber grüßten sich.",
            "Im Jahre 1488 fiel die Brücke, und die Bürger bauten für zwölf Gulden eine größere.",
        )
        + links((("/museum.html", "Das Museum über dem Fluß"), ("/chronik.html", "Chronik"))),
    )
    chronicle = SHELL.source(
        "Chronik",
        text("„Überall Wasser“, schrieb der Küster – und er hatte trockene Füße."),
        "<meta http-equiv='content-type' content='text/html; charset=windows-1252'>\n",
    )
    bare = SHELL.source("Grüße", text("Schöne Grüße aus der Mühlgasse!"))
    plain = (("content-type", "text/html"),)
    return {
        "/geschichte.html": html(history.replace("–", "-"), charset="iso-8859-1"),
        "/chronik.html": DemoAnswer(200, plain, chronicle.encode("windows-1252")),
        "/gruesse.html": DemoAnswer(200, plain, bare.encode("windows-1252")),
    }


def _front(roots: Mapping[str, str]) -> HostPages:
    listed = [(_street(street), street) for street in STREETS]
    raw = "<p>Auch so geschrieben: <a href='/straßen/Mühlgasse'>Mühlgasse</a></p>"
    elsewhere = (
        ("/geschichte.html", "Geschichte der Stadt"),
        ("/chronik.html", "Die Chronik"),
        ("/gruesse.html", "Grüße"),
        ("/museum.html", "Stadtmuseum"),
        ("/intern/haushalt.html", "Haushalt"),
        ("/rathaus", "Das Rathaus"),
        (roots["news.localhost"] + "/", "Die Zeitung unserer Partnerstadt (englisch)"),
    )
    museum = text("Zwei Zimmer, eine Brücke aus Zündhölzern und der Hut der Müllerin.")
    sister = link(roots["museum.localhost"] + "/", "Das Schwestermuseum am Orrel", "external")
    return {
        "/": SHELL.page("Willkommen in Lindwehr", links(elsewhere) + links(listed) + raw),
        "/museum.html": SHELL.page("Stadtmuseum", museum + sister),
        "/impressum.html": SHELL.page("Impressum", text("Stadt Lindwehr, Am Lindenwehr 1.")),
        "/intern/haushalt.html": SHELL.page("Haushalt", text("Nicht für Suchmaschinen.")),
        "/rathaus": redirect("/aemter/"),
    }
