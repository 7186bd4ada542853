"""Every address that a row of the table of routes gives, so that a new page is tested, too."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

from gossamer.web.parameters import Param
from gossamer.web.route import Route

CHOSEN = ("view", "level")  # parameters whose every choice is another page


def addresses(route: Route, crawl: str, url: str, words: str) -> Iterator[str]:
    """The addresses of a row about one crawl, one URL and some words; a choice is tried in full."""
    values = {"q": words, "url": url, "of": url, "seeds": url, "explain": "1"}
    known = {param.name: values[param.name] for param in route.params if param.name in values}
    for param in route.params:
        if param.is_needed and param.choices and param.place == "query":
            known[param.name] = param.choices[0]
        elif param.is_needed and param.place == "query":
            assert param.name in known, f"say in this file what {param.name} may be"
    path = route.path.format(name=crawl)
    for choice in _choices(route.params):
        yield f"{path}?{urlencode({**known, **choice})}"


def _choices(params: tuple[Param, ...]) -> Iterator[dict[str, str]]:
    found = [param for param in params if param.name in CHOSEN]
    for param in found:
        yield from ({param.name: choice} for choice in param.choices)
    if not found:
        yield {}
