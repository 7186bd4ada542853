"""JSON schemas of the response keys, for the OpenAPI document.

A key means the same in every response, with three documented exceptions. Objects may have more keys
than are listed here: a later release may add some.
"""

from __future__ import annotations

from typing import Any, Final

Schema = dict[str, Any]

_TEXT: Final[Schema] = {"type": "string"}
_MAYBE_TEXT: Final[Schema] = {"type": ["string", "null"]}
_COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
_AMOUNT: Final[Schema] = {"type": "number", "minimum": 0}
_COUNTS: Final[Schema] = {"type": "object", "additionalProperties": _COUNT}
STATES: Final = ("none", "starting", "running", "paused", "stopping", "done", "stored", "failed")


def _object(**keys: Schema) -> Schema:
    """Return the schema of an object that has all of these keys."""
    return {"type": "object", "required": list(keys), "properties": keys}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


_OF_STATUS: Final[dict[str, Schema]] = {
    "fetched": _COUNT, "redirects": _COUNT, "failed": _COUNT, "refused": _COUNT, "queued": _COUNT,
    "bytes": _COUNT, "indexed": _COUNT, "refused_by": _COUNTS, "by_status": _COUNTS,
    "by_class": _COUNTS, "by_depth": {**_COUNTS, "type": ["object", "null"]},
    "unchanged": _COUNT, "duplicates": _COUNT, "dropped": _COUNT,
    "under_way": _COUNT, "hosts_waiting": _COUNT, "pages_per_s": _AMOUNT, "bytes_per_s": _AMOUNT,
    "wall_s": _AMOUNT, "ran_s": _AMOUNT,
    "memory_bytes": {"type": ["integer", "null"]}, "troubles": _list(_TEXT), "retrying": _COUNT,
    "retry_in_s": _AMOUNT, "said": _TEXT, "notified": {"type": "object"}, "visited": _COUNTS,
    "freshness": {"type": ["object", "null"]}, "hot": _COUNT, "evicted": _COUNT,
    "focus": {"type": ["object", "null"]},
}  # fmt: skip
_HOST: Final = _object(
    known=_COUNT, queued=_COUNT, waiting=_COUNT, fetched=_COUNT, failed=_COUNT, refused=_COUNT,
    bytes=_COUNT, site=_TEXT,
)  # fmt: skip

KEY_SCHEMAS: Final[dict[str, Schema]] = {
    "schema": {"type": "integer", "const": 1},
    "total": _COUNT,
    "words": _COUNT,
    "offset": _COUNT,
    "took_ms": _AMOUNT,
    "hits": _list(
        _object(
            url=_TEXT,
            title=_TEXT,
            snippet=_TEXT,
            marks=_list({"type": "array", "items": _COUNT, "minItems": 2, "maxItems": 2}),
            score={"type": "number"},
            copies=_COUNT,
            fetched_at=_TEXT,
            type=_MAYBE_TEXT,
            language=_MAYBE_TEXT,
        )
    ),
    "links": {"type": ["array", "integer"], "items": {"type": "object"}},  # a number in a status
    "known": {"type": ["boolean", "integer"]},  # a boolean for a URL; a number in a status
    "hosts": _list(_HOST),
    "crawls": _list(
        _object(
            crawl=_TEXT,
            state={"enum": list(STATES)},
            seeds=_list(_TEXT),
            changed_at=_MAYBE_TEXT,
            **_OF_STATUS,
        )
    ),
    "urls": _list(_object(url=_TEXT, is_in={"type": "boolean"}, because=_TEXT)),
    "anchors": _list(_object(anchor=_TEXT, pages=_COUNT, hosts=_COUNT, sites=_COUNT)),
    "anchors_total": _COUNT,
    "versions": _list(
        _object(at=_TEXT, status=_COUNT, type=_MAYBE_TEXT, bytes=_COUNT, digest=_MAYBE_TEXT)
    ),
    "duplicate_of": _MAYBE_TEXT,
    "copies": _COUNT,
    "story": _list(_TEXT),
    "page": {
        "type": ["object", "null"],
        "required": ["at", "status", "title", "text", "headers"],
        "properties": {
            "at": _TEXT,
            "status": _COUNT,
            "title": _TEXT,
            "text": _TEXT,
            "headers": _list({"type": "array", "items": _TEXT, "minItems": 2, "maxItems": 2}),
        },
    },
    "outcome": {"enum": ["queued", "fetched", "failed", "refused", None]},
    "reason": _MAYBE_TEXT,
    "by": _TEXT,
    "state": {"enum": list(STATES)},
    "url": _TEXT,
    "crawl": _TEXT,
    "first": _TEXT,
    "query": _TEXT,
    "suggestion": _MAYBE_TEXT,
    "hint": _MAYBE_TEXT,
    "status": {"type": ["string", "integer", "null"]},  # a number for a URL; "ok" for the server
    "version": _TEXT,
    "bans": _list(_TEXT),
    "trusted": _list(_TEXT),
    "traps": _list({"type": "object"}),
    "old": _TEXT,
    "new": _TEXT,
    "same_bytes": {"type": "boolean"},
    "lines": _list(_object(is_same={"type": "boolean"}, left_out=_COUNT, pieces=_list({}))),
    "words_added": _COUNT,
    "words_removed": _COUNT,
    "links_added": _list(_TEXT),
    "links_removed": _list(_TEXT),
    "noise": _COUNT,
    "facts": _list(_object(name=_TEXT, old={}, new={})),
    "added": _COUNT,
    "removed": _COUNT,
    "is_cut": {"type": "boolean"},
    "changes": _list(
        _object(kind=_TEXT)  # of a diff: parts of a text; else: changes that visits found
    ),
    "level": {"enum": ["page", "host", "site"]},
    "columns": _list(_TEXT),
    "pages": _list(_object(url=_TEXT)),
    "centre": _MAYBE_TEXT,
    "neighbours": _list(_object(name=_TEXT, links_in=_COUNT, links_out=_COUNT)),
    "between": _list(_object(source=_TEXT, target=_TEXT, links=_COUNT)),
    "series": _object(
        **{
            name: _list({"type": ["number", "null"]})
            for name in (
                "ran_s",
                "at_ms",
                "run",
                "fetched",
                "errors",
                "failed",
                "queued",
                "pages_per_s",
                "bytes_per_s",
                "memory_bytes",
                "freshness",
                "predicted",
                "age_s",
                "predicted_age_s",
            )
        }
    ),
    "exports": _list(
        _object(
            what=_TEXT, says=_TEXT, columns=_list(_TEXT), levels=_list(_TEXT), formats=_list(_TEXT)
        )
    ),
    "told": _list(_TEXT),
    "files": _list(
        _object(
            url=_TEXT,
            type=_TEXT,
            is_taken={"type": "boolean"},
            words=_list(_TEXT),
            pages=_list(_TEXT),
            pages_total=_COUNT,
            found_at=_TEXT,
        )
    ),
    "counts": _COUNTS,
    "counts_are_cut": {"type": "boolean"},
    "next": _MAYBE_TEXT,
    **_OF_STATUS,
}
