"""`gossamer status`: figures of a running or stored crawl."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from gossamer.cli.options import CollectionOption, Json, collection_at

_MOST_TRAPS: Final = 10


def status(collection: CollectionOption = None, json: Json = False) -> None:
    """Show the figures of a running or stored crawl."""
    import json as jsons

    from gossamer.cli.show.colours import has_colours
    from gossamer.collection.directory import CollectionPaths
    from gossamer.node.snapshot import crawl_figures, disk_figures, trap_figures

    paths = CollectionPaths(collection_at(collection))
    facts = {**crawl_figures(paths), "disk": disk_figures(paths), "traps": trap_figures(paths)}
    if json:
        print(jsons.dumps(facts))
        return
    for line in status_lines(paths.path, facts, is_coloured=has_colours(sys.stdout)):
        print(line)


def status_lines(path: Path, facts: Mapping[str, Any], *, is_coloured: bool) -> Iterator[str]:
    """Yield the figures of a snapshot for people."""
    from gossamer.base.answer_class import status_text
    from gossamer.base.clock import SystemClock
    from gossamer.base.plurals import counted
    from gossamer.base.sizes import size_text
    from gossamer.cli.show.importance import importance_figures
    from gossamer.cli.show.printable import printable
    from gossamer.cli.show.text import answers_text, harvest_text, reasons_text, retry_text
    from gossamer.cli.show.visits import visit_lines

    yield f"{path}: {facts['state']}"
    yield (
        f"  {counted(facts['fetched'], 'page')} fetched ({size_text(facts['bytes'])}), "
        f"{counted(facts['redirects'], 'redirect')}, {facts['failed']:,} failed, "
        f"{facts['refused']:,} refused, {facts['queued']:,} queued, "
        f"{counted(facts['known'], 'URL')} known, {counted(facts['links'], 'link')}"
    )
    if facts.get("focus"):
        yield f"  {harvest_text(facts['focus'])}"
    if facts["by_status"]:
        yield f"  responses: {answers_text(facts['by_class'], is_coloured=is_coloured)}"
        ordered = sorted(facts["by_status"].items(), key=lambda pair: -pair[1])
        counts = (f"{status_text(int(status))}: {count:,}" for status, count in ordered)
        yield f"  statuses: {', '.join(counts)}"
    if facts["refused_by"]:
        yield f"  failed or refused: {reasons_text(facts['refused_by'])}"
    if figures := importance_figures(facts["hot"], facts["evicted"]):
        yield f"  {figures}"
    yield from (printable(f"  {line}") for line in visit_lines(facts, SystemClock().wall_us()))
    for verdict in facts.get("traps", ())[:_MOST_TRAPS]:
        yield printable(f"  trap: {verdict['sentence']}")
    if len(facts.get("traps", ())) > _MOST_TRAPS:
        yield f"  and {len(facts['traps']) - _MOST_TRAPS} more verdicts; --json has all"
    yield from _disk_lines(facts["disk"])
    if "under_way" not in facts:
        return
    yield (
        f"  {counted(facts['under_way'], 'request')} in flight, "
        f"{counted(facts['hosts_waiting'], 'host')} waiting, "
        f"{facts['pages_per_s']} pages/s, {size_text(facts['bytes_per_s'])}/s"
    )
    if facts.get("retrying"):
        yield f"  {retry_text(facts['retrying'], facts['retry_in_s'])}; no other URL is queued"
    for trouble in facts["troubles"]:
        yield printable(f"  {trouble}")


def _disk_lines(disk: Mapping[str, Any]) -> Iterator[str]:
    from gossamer.base.plurals import counted
    from gossamer.base.sizes import size_text

    names = ("archive", "index", "graph", "state", "log")
    parts = ", ".join(f"{name} {size_text(disk[name])}" for name in names if disk[name])
    budget = f" of a budget of {size_text(disk['budget'])}" if disk["budget"] else ""
    yield f"  disk: {size_text(disk['total'])}{budget} ({parts})"
    if disk["pruned_captures"]:
        captures = counted(disk["pruned_captures"], "old capture")
        yield f"  deleted by the rule {disk['keep']!r}: {captures}"
