"""The output of `gossamer search`: hits for people and for programs.

On a terminal the words of the query are bold; elsewhere there are no marks. Text from the web is
printed without control characters.
"""

from __future__ import annotations

import json
import os
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from gossamer.base.plurals import counted
from gossamer.search.engine import Engine
from gossamer.search.results import Hit, Request, Results

_INDENT: Final = "   "
_WIDTH: Final = 96  # of a line without a terminal


def run_search(folder: Path, request: Request, *, as_json: bool) -> None:
    """Search and print. Raises QueryError, NoCollection, StoreError or CorruptFile."""
    with panics_unheard():
        results = Engine(folder).search(request)
    if as_json:
        print(json.dumps(object_of(results), ensure_ascii=False))
        return
    print_hits(results, first=request.offset + 1)
    print(f"{counted(results.total, 'page')} in {results.took_ms:.1f} ms.", file=sys.stderr)
    print_hint(results)
    if results.suggestion:
        print(f"Did you mean: {results.suggestion}", file=sys.stderr)


@contextmanager
def panics_unheard() -> Iterator[None]:
    """Suppress what the index library prints to stderr for a damaged file, up to a page of text:
    the error that we raise says the same in one sentence."""
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def object_of(results: Results) -> dict[str, Any]:
    """Return the object that `--json` prints."""
    found: dict[str, Any] = {
        "schema": 1,
        "total": results.total,
        "took_ms": round(results.took_ms, 3),
        "hits": [_hit_object(hit) for hit in results],
    }
    if results.hint:
        found["hint"] = results.hint
    if results.suggestion:
        found["suggestion"] = results.suggestion
    return found


def print_hint(results: Results) -> None:
    """Print one line on how the query was read, if that may be a surprise."""
    if results.hint:
        print(f"Hint: {visible(results.hint)}", file=sys.stderr)


def print_hits(results: Results, first: int = 1) -> None:
    """Print each hit with its title, URL and passage."""
    show = _show_bold if sys.stdout.isatty() else _show_plain
    for number, hit in enumerate(results, first):
        show(number, hit)


def _hit_object(hit: Hit) -> dict[str, Any]:
    found: dict[str, Any] = {
        "url": hit.url,
        "title": hit.title,
        "snippet": hit.snippet,
        "score": hit.score,
        "fetched_at": hit.fetched_at,
        "copies": hit.copies,
    }
    if hit.parts:
        found["parts"] = {part.name: part.value for part in hit.parts}
    return found


def _show_plain(number: int, hit: Hit) -> None:
    lines = [f"{number}. {visible(hit.title) or '(no title)'}", f"{_INDENT}{visible(hit.url)}"]
    lines += textwrap.wrap(
        visible(hit.snippet), _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT
    )
    lines += [f"{_INDENT}{_copies_text(hit)}"] if hit.copies else []
    lines += [f"{_INDENT}{_parts_text(hit)}"] if hit.parts else []
    print("\n".join(lines), end="\n\n")


def _show_bold(number: int, hit: Hit) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(highlight=False)
    console.print(Text(f"{number}. ") + Text(visible(hit.title) or "(no title)", style="bold cyan"))
    passage = Text(visible(hit.snippet))
    for start, end in hit.passage.marks:
        passage.stylize("bold", start, end)
    lines = [Text(visible(hit.url), style="green", overflow="fold"), passage]
    lines += [Text(_copies_text(hit), style="dim")] if hit.copies else []
    lines += [Text(_parts_text(hit), style="dim")] if hit.parts else []
    for line in filter(None, lines):
        console.print(Padding(line, (0, 0, 0, len(_INDENT))))
    console.print()


def _copies_text(hit: Hit) -> str:
    copies = "1 copy" if hit.copies == 1 else f"{hit.copies:,} copies"
    return f"and {copies} (--copies shows all)"


def _parts_text(hit: Hit) -> str:
    parts = (f"{part.name} {part.value:g}" for part in hit.parts if part.value)
    return f"score {hit.score:g}: {', '.join(parts)}"


def visible(text: str) -> str:
    """Return text of the same length, with blanks for control characters."""
    return "".join(char if char.isprintable() else " " for char in text)
