"""Render templates. Every value is escaped; nothing is ever marked safe.

`mark` creates the only markup that depends on text from outside, a passage with highlighted words,
and escapes each part itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from gossamer.base.answer_class import class_of, status_text
from gossamer.base.clock import iso_of
from gossamer.base.sizes import size_text
from gossamer.search.snippets import Snippet

_DAYS_FROM_H: Final = 48  # below it hours are easier to grasp
FOLDER: Final = Path(__file__).parent


def mark(passage: Snippet) -> Markup:
    """Return a passage with the query's words in `<mark>`."""
    return Markup(passage.marked("<mark>", "</mark>", lambda text: str(escape(plain(text)))))  # noqa: S704  # every piece is escaped


def plain(text: str) -> str:
    """Return text from outside without characters that change how the following text is shown.

    Control characters become blanks. Direction marks (bidi overrides) are dropped, so that a title
    cannot reverse its URL.
    """
    kept = (char for char in text if char not in _DIRECTIONS)
    return "".join(char if char.isprintable() or char in "\n\t" else " " for char in kept)


_DIRECTIONS: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def outward(url: str) -> str:
    """Return a URL that may become a link: http or https; otherwise an empty text."""
    return url if url.startswith(("http://", "https://")) else "#"


def here(path: str, **values: object) -> str:
    """Return a link within the server, with the parameters that have a value."""
    kept = {name: value for name, value in values.items() if value not in ("", None, 0, False)}
    return f"{path}?{urlencode(kept)}" if kept else path


class Renderer:
    """The templates of one server."""

    def __init__(self) -> None:
        self._pages = Environment(
            loader=FileSystemLoader(FOLDER / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._pages.filters.update(
            size=size_text, mark=mark, plain=plain, outward=outward, thousands=_thousands,
            moment=_moment, duration=duration_text, answer_class=class_of, status_text=status_text,
        )  # fmt: skip
        self._pages.globals["here"] = here

    def page(self, template: str, **names: Any) -> str:
        return self._pages.get_template(template).render(**names)


def _moment(at_ms: int) -> str:
    """`2026-01-31 12:00:00`."""
    return iso_of(at_ms * 1000)[:-1].replace("T", " ")


def duration_text(seconds: float) -> str:
    """`3 d 5 h`, `1 h 2 min`, `2 min 5 s`, `3.5 s`."""
    hours, rest = divmod(int(seconds), 3600)
    if hours >= _DAYS_FROM_H:
        return f"{hours // 24} d {hours % 24} h"
    minutes = rest // 60
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest % 60} s" if minutes else f"{seconds:.3g} s"


def _thousands(number: float) -> str:
    return f"{number:,.0f}"
