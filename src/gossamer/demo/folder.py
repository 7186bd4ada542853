"""Write the demo web into a folder, as files that a person can edit.

    DIR/garden.localhost/days/3.html    is    http://garden.localhost:PORT/days/3.html

Only what can be a file is written: no redirects, errors, queries and traps. Addresses get the
ending of their file, and links to them too. Files keep the date of their page.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Final
from urllib.parse import urljoin, urlsplit

from gossamer.demo.pages import DemoAnswer
from gossamer.demo.web import DemoSites, build_web
from gossamer.errors import UsageError

PORT: Final = 8801  # links between the hosts have it, so it stays the same
_PORT_FILE: Final = ".port"
_ENDLESS: Final = "trap.localhost"
_LINK: Final = re.compile(r"(?<=href=')([^']*)(?=')")
_DATE: Final = datetime(2025, 12, 31, 12, tzinfo=UTC)  # of pages without one
_MADE: Final = ("/sitemap.xml", "/feed.xml")  # from the files, when they are requested


def port_for(folder: Path, port: int | None) -> int:
    """The port for which a folder is, or will be written. Raises UsageError for another port."""
    written = _port_of(folder)
    if written is not None and port not in (None, written):
        raise UsageError(
            f"the pages in {folder} link to port {written}; use that port, or name a new folder"
        )
    return written or port or PORT


def prepare_folder(folder: Path, port: int | None) -> int:
    """Write the demo web, unless it is there already, and return the port for which it is.

    Raises UsageError for a folder with something else in it, and for another port.
    """
    wanted = port_for(folder, port)
    if _port_of(folder) is None:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageError(f"{folder} is not empty; name a new folder")
        _write(folder, wanted)
    return wanted


def hosts_in(folder: Path) -> list[str]:
    """The hosts of the demo web in a folder, by name."""
    return sorted(path.name for path in folder.iterdir() if path.name.endswith(".localhost"))


def _port_of(folder: Path) -> int | None:
    try:
        return int((folder / _PORT_FILE).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _write(folder: Path, port: int) -> None:
    web = build_web(port)
    for host, pages in web.items():
        if host == _ENDLESS:
            continue
        for target, answer in pages.items():
            if _is_file(target, answer):
                body = _body(web, f"http://{host}:{port}{target}", answer)
                _write_file(folder / host / file_name(target, answer).lstrip("/"), body, answer)
        robots = folder / host / "robots.txt"
        with robots.open("a", encoding="utf-8") as lines:
            lines.write(f"Sitemap: http://{host}:{port}/sitemap.xml\n")
    (folder / _PORT_FILE).write_text(f"{port}\n", encoding="ascii")  # last: now it is complete


def _is_file(target: str, answer: DemoAnswer) -> bool:
    return answer.status == 200 and "?" not in target and target not in _MADE


def file_name(target: str, answer: DemoAnswer) -> str:
    """The path of a page as a file: `/days/3` is `/days/3.html`, `/tags/` is `/tags/index.html`."""
    if target.endswith("/"):
        return f"{target}index.html"
    has_ending = "." in target.rpartition("/")[2]
    return target if has_ending or not _is_html(answer) else f"{target}.html"


def _is_html(answer: DemoAnswer) -> bool:
    return dict(answer.headers).get("content-type", "").startswith("text/html")


def _body(web: DemoSites, url: str, answer: DemoAnswer) -> bytes:
    """The bytes of a file: HTML in UTF-8, unless the page itself names another charset."""
    kind = dict(answer.headers).get("content-type", "")
    if kind.startswith("text/plain"):
        lines = answer.body.decode().splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith("Sitemap:")).encode()
    if not kind.startswith("text/html"):
        return answer.body
    charset = kind.partition("charset=")[2]
    source = answer.body.decode(charset or "latin-1")
    source = _LINK.sub(lambda link: _linked(web, url, link[0]), source)
    return source.encode("utf-8" if charset else "latin-1")


def _linked(web: DemoSites, url: str, href: str) -> str:
    """A link with the ending of its file; other links stay."""
    try:
        whole = urlsplit(urljoin(url, href))
    except ValueError:  # some links of the demo are wrong on purpose
        return href
    answer = web.get(whole.hostname or "", {}).get(whole.path)
    if answer is None or whole.query or whole.path.endswith("/"):
        return href
    name = file_name(whole.path, answer)
    is_same = name == whole.path or not _is_file(whole.path, answer)
    return href if is_same else href.replace(whole.path, name)


def _write_file(path: Path, body: bytes, answer: DemoAnswer) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
    stated = dict(answer.headers).get("last-modified")
    date = parsedate_to_datetime(stated) if stated else _DATE
    os.utime(path, (date.timestamp(), date.timestamp()))


def examples(folder: Path) -> Iterator[str]:
    """What a person may do to the files, as one line each."""
    garden = folder / "garden.localhost"
    yield f"edit     {garden / 'days' / '3.html'} and {garden / 'about' / 'index.html'}"
    yield f"add      {garden / 'days' / '41.html'}"
    yield f"delete   {garden / 'days' / '7.html'}"
