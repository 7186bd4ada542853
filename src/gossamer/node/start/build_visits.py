"""Build what visits pages again in a crawl that runs without end."""

from __future__ import annotations

from gossamer.collection.directory import CollectionPaths
from gossamer.frontier.rows import UrlRow
from gossamer.frontier.store import Store
from gossamer.graph.ranks.reader import RankReader
from gossamer.node.parts import Parts
from gossamer.node.visits.lists import ListReader
from gossamer.node.visits.refresher import Refresher, WeightOf
from gossamer.node.visits.running_completion import RunningCompletion
from gossamer.policies.refresh.named import refresh_named


def add_visits(parts: Parts, store: Store) -> None:
    """Make a crawl one that runs without end. It knows what earlier runs know of the pages."""
    refresh = parts.settings.refresh
    refresher = _refresher(parts)
    refresher.restore(store)
    lists = ListReader(parts.frontier, parts.scheduler, store, parts.clock, refresh.lists_every_s)
    completion = RunningCompletion(parts, refresh.complete_every_s)
    parts.revisits = refresher
    parts.background += (refresher.keep_up, lists.keep_up, completion.keep_up)


def _refresher(parts: Parts) -> Refresher:
    settings, refresh = parts.settings, parts.settings.refresh
    refresher = Refresher(
        parts.frontier,
        refresh_named(refresh.policy, is_random=refresh.order == "random"),
        refresh,
        settings.fetch.requests_per_s,
        parts.clock,
        _weights(parts.paths, refresh.importance),
    )
    parts.frontier.visits.new_share = refresh.new_share
    return refresher


def _weights(paths: CollectionPaths, importance: str) -> WeightOf:
    match importance:
        case "depth":
            return lambda row: 1 / (1 + row.depth)
        case "links":
            ranks = RankReader(paths.graph)

            def by_rank(row: UrlRow) -> float:
                """1 is average; a page without a rank is below it."""
                return max(ranks.of([row.url])[0], 0.1) if ranks.pages else 1.0

            return by_rank
    return lambda _row: 1.0
