"""The columns of every export, with their types, in the order of docs/formats/exports.md.

Times are timestamps in UTC, to the microsecond. Text formats show seconds (`export_files.py`);
`CAPTURES_AS_TEXT` shows more digits where two captures have the same second.
"""

from __future__ import annotations

from typing import Any, Final

from gossamer.graph.arrow import pa

MOMENT: Final = pa.timestamp("us", tz="UTC")
_TYPES: Final = {"s": pa.string(), "i": pa.int64(), "f": pa.float64(), "t": MOMENT, "b": pa.bool_()}


def _schema(columns: str) -> Any:
    """Build a schema from `name:s count:i`: texts, integers, floats, times and booleans."""
    parted = (column.split(":") for column in columns.split())
    return pa.schema([(name, _TYPES[kind]) for name, kind in parted])


SCHEMAS: Final = {
    "pages": _schema(
        "url:s status:i outcome:s reason:s type:s bytes:i title:s language:s depth:i fetched_at:t "
        "modified_at:t digest:s duplicate_of:s in_links:i out_links:i rank:f "
        "h1:s description:s canonical:s words:i took_ms:f redirect_to:s importance:f"
    ),
    "links": _schema("source:s target:s anchor:s rel:s place:s first_seen:t last_seen:t"),
    "anchors": _schema("target:s anchor:s sites:i hosts:i pages:i links:i"),
    "graph": _schema("source:s target:s pages:i links:i"),
    "hosts": _schema(
        "host:s site:s known:i queued:i fetched:i failed:i refused:i bytes:i trouble:s "
        "crawl_delay_s:f"
    ),
    "importance": _schema(
        "url:s title:s depth:i in_links:i rank:f out_links:i forward_rank:f similarity:f "
        "relevance:f location:f visits:f importance:f"
    ),
    "refused": _schema("url:s reason:s detail:s depth:i via:s first_seen:t"),
    "files": _schema(
        "url:s type:s bytes:i taken:b title:s words:s pages:i linked_from:s found_at:t"
    ),
    "text": _schema("url:s title:s language:s text:s"),
    "captures": _schema(
        "url:s fetched_at:t status:i type:s bytes:i digest:s file:s offset:i length:i"
    ),
}
CAPTURES_AS_TEXT: Final = SCHEMAS["captures"].set(1, pa.field("fetched_at", pa.string()))
PLACES: Final = _schema("url:s file:s start:i")
LISTED: Final = _schema("url:s at:s title:s depth:i")
# Columns of pages that only the archive has: pages are read again for them.
FACTS: Final = _schema("url:s h1:s description:s canonical:s words:i")
READ_AGAIN: Final = tuple(FACTS.names[1:])

# Columns of pages that are computed only when they are named (`page_importance.py`).
SIMILARITY: Final = _schema("url:s similarity:f")
SCORES: Final = _schema("url:s relevance:f location:f visits:f")
MEASURED: Final = ("forward_rank", "similarity", *SCORES.names[1:])
MEASURED_PAGES: Final = pa.schema(
    [*SCHEMAS["pages"], *(field for field in SCHEMAS["importance"] if field.name in MEASURED)]
)
