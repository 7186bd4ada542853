"""Serve the files of a folder as sites, a sub-folder for each host.

Last-Modified and ETag come from the file, and conditional requests get 304. `/sitemap.xml` and
`/feed.xml` are made from the files, so that they show what was added, changed and deleted.
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from html import escape, unescape
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import quote, unquote

from gossamer.demo.pages import DemoAnswer, file, text
from gossamer.demo.server import Responder
from gossamer.demo.web import LOST

_FEED_ENTRIES: Final = 20
_TITLE: Final = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)


def folder_site(folder: Path, port: int) -> Responder:
    """The responder for the hosts in a folder."""
    root = folder.resolve()

    def respond(host: str, target: str, headers: Mapping[str, str]) -> DemoAnswer:
        path = unquote(target.partition("?")[0])
        site = root / host
        if site.parent != root or not site.is_dir():
            return _not_found()
        origin = f"http://{host}:{port}"
        match path:
            case "/sitemap.xml":
                return file(_sitemap(site, origin).encode(), "application/xml")
            case "/feed.xml":
                return file(_feed(site, origin).encode(), "application/atom+xml")
        found = _file_at(site, path)
        return _not_found() if found is None else _answer(found, headers)

    return respond


def _not_found() -> DemoAnswer:
    return LOST.page("Not found", text("There is no such page."), status=404)


def _file_at(site: Path, path: str) -> Path | None:
    """The file of a path; none outside the site, and no hidden file."""
    parts = PurePosixPath(path).parts[1:]
    if not path.startswith("/") or "\0" in path or any(part.startswith(".") for part in parts):
        return None
    found = site.joinpath(*parts)
    if path.endswith("/"):
        found /= "index.html"
    is_inside = found.resolve().is_relative_to(site)
    return found if is_inside and found.is_file() else None


def _answer(path: Path, headers: Mapping[str, str]) -> DemoAnswer:
    try:
        seen, body = path.stat(), path.read_bytes()
    except OSError:  # deleted at this moment
        return _not_found()
    tag = f'"{seen.st_mtime_ns:x}-{seen.st_size:x}"'
    modified = datetime.fromtimestamp(int(seen.st_mtime), UTC)
    validators = (("etag", tag), ("last-modified", format_datetime(modified, usegmt=True)))
    if _is_unchanged(headers, tag, modified):
        return DemoAnswer(304, validators, b"")
    return DemoAnswer(200, (("content-type", _type_of(path, body)), *validators), body)


def _is_unchanged(headers: Mapping[str, str], tag: str, modified: datetime) -> bool:
    """As RFC 9110 says, 13.2.2: the date counts only if no tag is given."""
    if tags := headers.get("if-none-match"):
        return tag in [one.strip().removeprefix("W/") for one in tags.split(",")] or tags == "*"
    try:
        return modified <= parsedate_to_datetime(headers.get("if-modified-since", ""))
    except (ValueError, TypeError):  # no date, or one without a time zone
        return False


def _type_of(path: Path, body: bytes) -> str:
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    if not kind.startswith("text/"):
        return kind
    try:
        body.decode()
    except UnicodeDecodeError:
        return kind  # the page names its charset
    return f"{kind}; charset=utf-8"


def _pages(site: Path) -> Iterator[tuple[str, Path, float]]:
    """The path, the file and the date of each HTML page of a site."""
    for found in sorted(site.rglob("*.html")):
        parts = found.relative_to(site).parts
        if any(part.startswith(".") for part in parts):
            continue
        name = "/" + "/".join(parts)
        try:
            changed_s = found.stat().st_mtime
        except OSError:
            continue
        yield (
            name.removesuffix("index.html") if parts[-1] == "index.html" else name,
            found,
            changed_s,
        )


def _stamp(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _sitemap(site: Path, origin: str) -> str:
    entries = "".join(
        f"<url><loc>{escape(origin + quote(path))}</loc>"
        f"<lastmod>{_stamp(changed_s)}</lastmod></url>\n"
        for path, _, changed_s in _pages(site)
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{entries}</urlset>\n'
    )


def _feed(site: Path, origin: str) -> str:
    """The pages that changed last."""
    newest = sorted(_pages(site), key=lambda page: (-page[2], page[0]))[:_FEED_ENTRIES]
    entries = "".join(
        f"<entry><title>{escape(_title_of(found) or path)}</title>"
        f"<link href='{escape(origin + quote(path))}'/><id>{escape(origin + quote(path))}</id>"
        f"<updated>{_stamp(changed_s)}</updated></entry>\n"
        for path, found, changed_s in newest
    )
    updated = _stamp(max((changed_s for _, _, changed_s in newest), default=0))
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f"<title>Latest changes</title><id>{origin}/</id><updated>{updated}</updated>\n"
        f"<author><name>{escape(site.name)}</name></author>\n{entries}</feed>\n"
    )


def _title_of(path: Path) -> str:
    try:
        found = _TITLE.search(path.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return ""
    return " ".join(unescape(found[1]).split()) if found else ""
