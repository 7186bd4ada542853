"""Read how often people requested pages: an access log of their server, or a table.

    203.0.113.7 - - [10/Oct/2025:13:55:36 +0200] "GET /a HTTP/1.1" 200 2326 "..." "Mozilla/5.0"
    https://example.org/a<TAB>17

Common and combined log format, also with host and port in front; gzip by the name. Requests that
are not GET, answers that are not 200 or 304, and robots do not count. A log that does not tell the
host is read as that of every host.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gossamer.errors import UsageError
from gossamer.settings import Settings
from gossamer.urls.canonical import NormalForm, target_of

_MOST: Final = 1_000_000  # URLs, at 200 bytes each; further ones are not counted
_REQUEST: Final = re.compile(
    r'(?:(?P<host>[\w.-]+):\d+ )?\S+ \S+ .*?\[[^\]]*\] "(?P<verb>[A-Z]+) '
    r'(?P<target>\S+)[^"]*" (?P<status>\d{3}) \S+(?: "[^"]*" "(?P<agent>[^"]*)")?'
)
_ROBOT: Final = re.compile("bot|crawl|spider|slurp|archiver", re.IGNORECASE)
_SEEN: Final = ("200", "304")


def read_visits(settings: Settings) -> dict[str, float]:
    """Visits by canonical URL, by `//host/path?query` or by `/path?query`.

    Raises UsageError for a file that cannot be used, or if the order needs one and none is named.
    """
    if "visits" not in settings.frontier.order:
        return {}
    if not settings.frontier.visits_file:
        raise UsageError("--order visits needs the visits; add --visits FILE")
    return read_visit_file(settings)


def read_visit_file(settings: Settings) -> dict[str, float]:
    """The same of the file that the settings name. Raises UsageError."""
    form, path = NormalForm(settings.urls.query), Path(settings.frontier.visits_file)
    visits: dict[str, float] = {}
    lines = 0
    try:
        for line in _lines(path):
            lines += 1
            read = _table_row(line, form) if "\t" in line else _logged(line, form)
            if read is not None and (read[0] in visits or len(visits) < _MOST):
                visits[read[0]] = visits.get(read[0], 0.0) + read[1]
    except (OSError, EOFError) as error:
        raise UsageError(f"cannot read the visits: {error}") from error
    if lines and not visits:
        raise UsageError(
            f"{path} has no visit: it must be an access log in common or combined format, or have "
            "lines of URL, tab and number"
        )
    return visits


def _lines(path: Path) -> Iterator[str]:
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8", errors="replace") as packed:
            yield from packed
    else:
        with path.open(encoding="utf-8", errors="replace") as file:
            yield from file


def _table_row(line: str, form: NormalForm) -> tuple[str, float] | None:
    written, _, number = line.rstrip("\n").partition("\t")
    url = form.find(written.strip())
    try:
        count = float(number)
    except ValueError:
        return None
    return (url, count) if url and 0 < count < float("inf") else None


def _logged(line: str, form: NormalForm) -> tuple[str, float] | None:
    match = _REQUEST.match(line)
    if match is None or match["verb"] != "GET" or match["status"] not in _SEEN:
        return None
    if _ROBOT.search(match["agent"] or ""):
        return None
    target, host = match["target"], match["host"]
    if target[:1] != "/":
        url = form.find(target)
        return (url, 1.0) if url else None
    url = form.find(f"http://{host or 'example.org'}{target}")
    return ((f"//{host}" if host else "") + target_of(url), 1.0) if url else None
