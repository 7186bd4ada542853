"""Bring state, graph and index up to the archive, before a node sends its first request.

`node/recovery.py` reads the exchanges that one of the three does not know; here each gets its own.
"""

from __future__ import annotations

from dataclasses import replace

from gossamer.collection.archive_ends import known_ends
from gossamer.collection.archive_list import update_manifest
from gossamer.node.keeping.left_pages import LeftPages
from gossamer.node.node import Node
from gossamer.node.parts import Parts
from gossamer.node.recovery import Recovered, recover
from gossamer.node.start.assemble import StoredCrawl
from gossamer.node.start.build_pool import Workers
from gossamer.node.start.decided_urls import drop_lost_entries
from gossamer.records import Reason
from gossamer.workers.crash_marker import CrashMarker, delete_markers, read_deadly
from gossamer.workers.process import ProcessedPage


class CatchUp:
    """One recovery. Call `run`, commit, then `done`."""

    def __init__(self, node: Node, parts: Parts, workers: Workers, crawl: StoredCrawl) -> None:
        self._node = node
        self._parts = parts
        self._workers = workers
        self._salt = crawl.keys.salt
        self._store, self._is_unclean = crawl.store, crawl.is_unclean
        self._has_graph = parts.settings.node.graph
        index = parts.index
        self._known = dict(known_ends(crawl.store))
        self._linked = dict(parts.links.manifest.covered) if self._has_graph else self._known
        self._indexed = dict(index.covered) if index is not None else self._known
        self._deadly = read_deadly(parts.paths.run)
        self._marker = CrashMarker(replace(workers.context, name="start").marker)

    def run(self) -> Recovered:
        """Read what the archive holds beyond state, graph or index. Raises as `recover` does."""
        archive, gatherer = self._parts.paths.archive, self._workers.gatherer
        linked, indexed = self._linked, self._indexed
        recovered = recover(
            archive,
            self._known,
            {file: min(linked.get(file, 0), indexed.get(file, 0)) for file in self._known},
            self._workers.processor,
            self._take,
            deadly=self._deadly,
            marker=self._marker,
            locate=self._parts.frontier.locate,
        )
        if self._is_unclean and self._parts.index is not None:
            drop_lost_entries(self._store, self._parts.index)
        part = gatherer.write_now()
        if part is not None:
            self._parts.links.note(part)
        if self._is_unclean and self._has_graph:
            self._tell_graph_who_left()
        update_manifest(archive, self._salt, self._known)
        return recovered

    def _tell_graph_who_left(self) -> None:
        """The graph may still have links of pages that have left the collection."""
        parts = self._parts
        if parts.frontier.counts.by_reason.get(Reason.EVICTED):
            left = LeftPages(parts.paths.graph, parts.links, parts.clock, 0.0)
            left.add_stored(self._store)
            left.write(is_last=True)

    def done(self) -> None:
        """All of it is committed: the pages that killed earlier processes are no longer needed."""
        self._marker.close()
        delete_markers(self._parts.paths.run, but=self._workers.context.run)

    def _take(self, processed: ProcessedPage, to_state: bool) -> None:
        node, index, gatherer = self._node, self._parts.index, self._workers.gatherer
        file, start = processed.report.stored.file, processed.report.stored.start
        if to_state:
            node.replay(processed)  # the index gets it, too
        elif index is not None and start >= self._indexed.get(file, 0):
            row = node.current_row(processed.report)
            changed_us = row.changed_us if row is not None else 0
            index.take(processed, is_current=row is not None, changed_us=changed_us)
        if self._has_graph and start >= self._linked.get(file, 0):
            gatherer.add(processed)
        # A whole archive may be read here, and memory is bounded.
        if gatherer.is_due and (due := gatherer.write_now()) is not None:
            self._parts.links.note(due)
        if (index is not None and index.is_behind) or node.is_full:
            self._parts.committer.commit_now()
