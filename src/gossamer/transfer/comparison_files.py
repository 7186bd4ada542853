"""Write the differences of a comparison to a file: .csv, .jsonl, .parquet or .html.

Rows are written as they are found; memory holds some of them. Text from the web is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any, Final

from gossamer.graph.arrow import pa
from gossamer.transfer.comparison import Difference
from gossamer.transfer.export_files import check_name, write_batches, writing_to

_BATCH: Final = 1_000
_NUMBERS: Final = frozenset(
    ("status_before", "status", "words_added", "words_removed", "links_added", "links_removed")
)
_NAMES: Final = (
    "kind", "url", "status_before", "status", "words_added", "words_removed", "links_added",
    "links_removed", "title_before", "title", "target", "at",
)  # fmt: skip
_STYLE: Final = """body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:70em;
padding:0 1em;color-scheme:light dark}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3em
.6em;border-bottom:1px solid #8884;vertical-align:top;overflow-wrap:anywhere}td.n{text-align:right}
.new{color:#1a7f37}.gone{color:#cf222e}.moved{color:#8250df}.changed{color:#9a6700}"""


def check_comparison_file(path: Path) -> None:
    """Raise UsageError if a file cannot be written in the format of its name."""
    check_name(path, (".html",))


def write_comparison(path: Path, heading: str, found: Iterable[Difference]) -> int:
    """Write all differences; how many. Raises UsageError or DiskFault."""
    if path.suffix.lower() == ".html":
        return _write_page(path, heading, found)
    return write_batches(path, _schema(), _batches(iter(found)))


def _schema() -> Any:
    return pa.schema([(name, pa.int64() if name in _NUMBERS else pa.string()) for name in _NAMES])


def _batches(found: Iterator[Difference]) -> Iterator[Any]:
    while rows := list(islice(found, _BATCH)):
        yield pa.RecordBatch.from_pylist([row.as_json() for row in rows], schema=_schema())


def _write_page(path: Path, heading: str, found: Iterable[Difference]) -> int:
    count = 0
    with writing_to(path) as file:
        title = escape(heading)
        file.write(
            f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
            f"<meta name=viewport content='width=device-width'><style>{_STYLE}</style>"
            f"<h1>{title}</h1><table><tr><th>Kind<th>URL<th>Status<th>Words<th>Links<th>Title\n".encode()
        )
        for one in found:
            file.write(_line(one).encode("utf-8", "replace"))
            count += 1
        file.write(f"</table><p>{count:,} differences</html>\n".encode())
    return count


def _line(one: Difference) -> str:
    status = f"{one.status_before or '-'} → {one.status or '-'}"
    words = f"+{one.words_added} -{one.words_removed}" if one.kind == "changed" else ""
    links = f"+{one.links_added} -{one.links_removed}" if one.kind == "changed" else ""
    title = f"{one.title_before} → {one.title}" if one.title_before else one.title
    target = f"<br>→ {_link(one.target)}" if one.target else ""
    return (
        f"<tr><td class={one.kind}>{one.kind}<td>{_link(one.url)}{target}<td>{status}"
        f"<td class=n>{words}<td class=n>{links}<td>{_shown(title)}\n"
    )


def _link(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        return _shown(url)
    return f'<a rel="nofollow noreferrer" href="{escape(url)}">{_shown(url)}</a>'


def _shown(text: str) -> str:
    return escape("".join(char if char.isprintable() else " " for char in text))
