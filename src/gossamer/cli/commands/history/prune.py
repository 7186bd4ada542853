"""`gossamer prune`: delete old captures by a rule, and free their disk space."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gossamer.cli.options import CollectionOption, Json, collection_at

if TYPE_CHECKING:
    from gossamer.collection.directory import CollectionPaths


def prune(
    keep: Annotated[
        str | None,
        typer.Option(
            "--keep",
            metavar="RULE",
            help="What to keep: `versions`, `last 3`, `90 days`, `one a month after a year`, or "
            "several joined by ` or `. Default: the setting archive.keep.",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show how much would be deleted; change nothing.")
    ] = False,
    json: Json = False,
    collection: CollectionOption = None,
) -> None:
    """Delete old captures that a rule does not keep, and free their disk space.

    The newest version of each page always stays, and so does the version before its last change.
    Works while a crawl is running, too.
    """
    from gossamer.base.clock import SystemClock
    from gossamer.collection.directory import CollectionPaths
    from gossamer.upkeep.retention.prune import survey

    paths = CollectionPaths(collection_at(collection))
    if dry_run:
        size = survey(paths, keep, SystemClock())
        _say(size.as_json(), _would(size.as_json()), as_json=json)
        return
    done = _run(paths, keep)
    for problem in done["problems"]:
        print(f"gossamer: an archive file was not rewritten: {problem}", file=sys.stderr)
    _say(done, _told(done), as_json=json)


def _run(paths: CollectionPaths, keep: str | None) -> Mapping[str, Any]:
    """Prune here, or in the crawl that is running."""
    from gossamer.base.clock import SystemClock
    from gossamer.errors import CollectionInUse
    from gossamer.node.control import NotRunning
    from gossamer.upkeep.retention.prune import prune as delete
    from gossamer.upkeep.retention.prune import prune_running

    try:
        return delete(paths, keep, SystemClock(), _tell).as_json()
    except CollectionInUse as fault:
        try:
            return prune_running(paths, keep, SystemClock())
        except NotRunning:
            raise fault from None


def _would(size: Mapping[str, Any]) -> str:
    from gossamer.base.plurals import counted
    from gossamer.base.sizes import size_text

    if not size["captures"]:
        return f"Nothing to delete: the rule {size['rule']!r} keeps every capture."
    return (
        f"Would delete {counted(size['captures'], 'capture')} of {counted(size['urls'], 'page')} "
        f"({size_text(size['capture_bytes'])} of the archive)."
    )


def _told(done: Mapping[str, Any]) -> str:
    from gossamer.base.plurals import counted
    from gossamer.base.sizes import size_text

    if not done["captures"] and not done["files"]:
        return f"Nothing to delete: the rule {done['rule']!r} keeps every capture."
    return (
        f"Deleted {counted(done['captures'], 'capture')} "
        f"({size_text(done['capture_bytes'])}); rewrote {counted(done['files'], 'archive file')}, "
        f"which freed {size_text(done['freed_bytes'])}."
    )


def _tell(text: str) -> None:
    print(f"{text}...", file=sys.stderr, flush=True)


def _say(facts: Mapping[str, Any], text: str, *, as_json: bool) -> None:
    if as_json:
        from json import dumps

        print(dumps(facts))
    else:
        print(text, file=sys.stderr)
