"""How an answer of the demo web looks: status, headers and bytes; and the shell of its pages."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final


@dataclass(frozen=True, slots=True)
class DemoAnswer:
    """What the server says to one path."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


HostPages = dict[str, DemoAnswer]

STYLE: Final = (
    ":root{color-scheme:light dark}"
    "body{font:1.05rem/1.6 Georgia,serif;max-width:44rem;margin:2rem auto;padding:0 1rem;"
    "background:light-dark(#fbfaf6,#16191c);color:light-dark(#24292d,#e2e0d8)}"
    "header,footer{font-family:system-ui,sans-serif;font-size:.9rem}"
    "nav a{margin-right:1rem}a{color:light-dark(#0b6070,#7cc9d6)}"
    "h1{line-height:1.2}footer{margin-top:3rem;opacity:.75}"
    "figure{margin:1rem 0}table{border-collapse:collapse}td,th{padding:.2rem .7rem;text-align:left}"
)


@dataclass(frozen=True, slots=True)
class Shell:
    """What all pages of a host share."""

    name: str
    language: str
    menu: tuple[tuple[str, str], ...]  # href, words
    footer: str  # HTML

    def page(
        self,
        title: str,
        main: str,
        *,
        head: str = "",
        headers: Mapping[str, str] | None = None,
        status: int = 200,
    ) -> DemoAnswer:
        """An HTML page in UTF-8; `main` and `head` are HTML, `title` is text."""
        return html(self.source(title, main, head), headers=headers, status=status)

    def source(self, title: str, main: str, head: str = "") -> str:
        """The page's HTML before it is encoded."""
        menu = " ".join(f"<a href='{href}'>{escape(words)}</a>" for href, words in self.menu)
        return (
            f"<!doctype html>\n<html lang='{self.language}'>\n<head>\n"
            f"<title>{escape(title)} – {escape(self.name)}</title>\n"
            "<meta name='viewport' content='width=device-width'>\n"
            f"{head}<style>{STYLE}</style>\n</head>\n<body>\n"
            f"<header><strong>{escape(self.name)}</strong><nav>{menu}</nav></header>\n"
            f"<main>\n<h1>{escape(title)}</h1>\n{main}\n</main>\n"
            f"<footer>{self.footer}</footer>\n</body>\n</html>\n"
        )


def html(
    source: str,
    *,
    charset: str = "utf-8",
    headers: Mapping[str, str] | None = None,
    status: int = 200,
) -> DemoAnswer:
    """HTML in a charset, which the header names."""
    named = {"content-type": f"text/html; charset={charset}", **(headers or {})}
    return DemoAnswer(status, tuple(named.items()), source.encode(charset))


def file(body: bytes, mime: str) -> DemoAnswer:
    return DemoAnswer(200, (("content-type", mime),), body)


def redirect(to: str, status: int = 301) -> DemoAnswer:
    body = f"<title>Moved</title><p>This page is now <a href='{escape(to)}'>here</a>.</p>"
    headers = (("location", to), ("content-type", "text/html; charset=utf-8"))
    return DemoAnswer(status, headers, body.encode())


def robots(*lines: str) -> DemoAnswer:
    return file("".join(f"{line}\n" for line in lines).encode(), "text/plain; charset=utf-8")


def link(href: str, words: str, rel: str = "") -> str:
    mark = f" rel='{rel}'" if rel else ""
    return f"<a href='{escape(href)}'{mark}>{escape(words)}</a>"


def links(items: Iterable[tuple[str, str]]) -> str:
    """A list of links: (href, words)."""
    return "<ul>" + "".join(f"<li>{link(href, words)}</li>" for href, words in items) + "</ul>"


def text(*paragraphs: str) -> str:
    """Plain paragraphs as HTML."""
    return "\n".join(f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs)


def table(rows: Iterable[Sequence[str]]) -> str:
    """Rows of two or more cells of HTML; the first of each is its heading."""
    lines = (
        f"<tr><th>{first}</th>{''.join(f'<td>{cell}</td>' for cell in rest)}</tr>"
        for first, *rest in rows
    )
    return f"<table>{''.join(lines)}</table>"


def png(width: int, height: int, colour: tuple[int, int, int]) -> bytes:
    """A picture of one colour."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + check

    rows = (b"\0" + bytes(colour) * width) * height
    start = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", start)
        + chunk(b"IDAT", zlib.compress(rows, 9))
        + chunk(b"IEND", b"")
    )


def pdf(line: str) -> bytes:
    """A PDF of one page with one line of plain text."""
    shown = f"BT /F1 18 Tf 60 760 Td ({line}) Tj ET".encode("latin-1")
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources 6 0 R >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(shown), shown),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman >>",
        b"<< /Font << /F1 5 0 R >> >>",
    )
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table_at = len(out)
    out += b"xref\n0 7\n0000000000 65535 f \n"
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size 7 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % table_at
    return bytes(out)
