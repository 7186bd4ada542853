"""Delete the captures that a retention rule does not keep, without a running crawl.

The work is that of a crawl (`node/retention/pruner.py`), in a node that sends no request. Files
that were replaced are deleted at the end, because the operator wants the disk space now; a reader
that needs one of them looks up the capture again (`reader/collection_reader.py`).
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any, Final

from gossamer.base.clock import Clock
from gossamer.collection.directory import CollectionPaths, open_to_read
from gossamer.collection.stored_settings import stored_settings
from gossamer.errors import UsageError
from gossamer.node.build import open_node
from gossamer.node.control import send
from gossamer.node.retention.captures_to_drop import captures_to_drop
from gossamer.node.retention.files_to_join import deleted_bytes
from gossamer.node.retention.pruner import Pruned
from gossamer.policies.retention import RetentionRule
from gossamer.settings import Settings
from gossamer.upkeep.progress import Notify

_POLL_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class PruneSize:
    """How much a rule would delete."""

    rule: str
    urls: int = 0
    captures: int = 0
    capture_bytes: int = 0  # in the archive, about
    waiting_bytes: int = 0  # of captures that were deleted before, in files not yet rewritten

    def as_json(self) -> dict[str, object]:
        return {"schema": 1, **asdict(self)}


def survey(paths: CollectionPaths, keep: str | None, clock: Clock) -> PruneSize:
    """Return how much `prune` would delete. Reads only, also beside a crawl.

    Raises SettingsError for an invalid rule, NoCollection, CorruptFile.
    """
    given = RetentionRule.read(keep) if keep is not None else None
    store = open_to_read(paths)
    try:
        store.refresh()
        rule = given or RetentionRule.read((stored_settings(store) or Settings()).archive.keep)
        urls = captures = size_bytes = 0
        for dropped in captures_to_drop(store, paths.archive, rule, clock.wall_us()):
            urls += 1
            captures += len(dropped.rows)
            size_bytes += dropped.size_bytes
        waiting = sum(deleted_bytes(store).values())
        return PruneSize(rule.text, urls, captures, size_bytes, waiting)
    finally:
        store.close()


def prune(paths: CollectionPaths, keep: str | None, clock: Clock, notify: Notify) -> Pruned:
    """Delete what the rule does not keep; without a rule, that of the settings.

    Raises SettingsError for an invalid rule, NoCollection, CollectionInUse, CorruptFile, DiskFault.
    """
    given = RetentionRule.read(keep) if keep is not None else None
    if not paths.exists:
        raise paths.missing()
    return asyncio.run(_prune(paths, given, clock, notify))


async def _prune(
    paths: CollectionPaths, given: RetentionRule | None, clock: Clock, notify: Notify
) -> Pruned:
    with ExitStack() as stack:
        opened = open_node(
            paths, lambda stored: stored or Settings(), (), clock, stack, is_import=True
        )
        try:
            rule = given or RetentionRule.read(opened.settings.archive.keep)
            notify(f"deleting what the rule `{rule.text}` does not keep")
            pruned = await opened.node.pruner.run(rule)
            await opened.node.settle(is_whole=False)
            opened.node.pruner.delete_replaced(keep_s=0.0)
        finally:
            await opened.node.aclose()
    return pruned


def prune_running(paths: CollectionPaths, keep: str | None, clock: Clock) -> dict[str, Any]:
    """Let the crawl that is running apply the rule, and wait for it. Return what it has done.

    Raises NotRunning if no crawl is running, UsageError for an invalid rule.
    """
    rule = keep if keep is not None else survey(paths, None, clock).rule
    reply = send(paths, "prune", keep=rule)
    while reply.get("is_busy"):
        asyncio.run(clock.sleep_until(clock.now_s() + _POLL_S))
        reply = send(paths, "prune")
    if "error" in reply:
        raise UsageError(str(reply["error"]))
    return {name: value for name, value in reply.items() if name != "is_busy"}
