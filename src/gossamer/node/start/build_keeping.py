"""Build what acts on the importance of pages, where a threshold or a limited size is set."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from gossamer.base.clock import Clock
from gossamer.collection.directory import CollectionPaths
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.rows import UrlRow
from gossamer.frontier.store import Store
from gossamer.node.link_files import LinkFiles
from gossamer.settings import Settings
from gossamer.urls.keys import Keys

if TYPE_CHECKING:  # it loads NumPy
    from gossamer.node.keeping.keeping import Keeping

_SEED: Final = 0  # of metrics with chance, of which there is none


def uses_importance(settings: Settings) -> bool:
    """Whether a crawl measures the importance of its pages."""
    return bool(settings.limits.keep_best or settings.limits.threshold)


def build_keeping(
    paths: CollectionPaths,
    settings: Settings,
    frontier: Frontier,
    links: LinkFiles,
    on_left: Callable[[UrlRow], None],
    clock: Clock,
) -> Keeping | None:
    """None where neither is set. `restore_keeping` must follow."""
    if not uses_importance(settings):
        return None
    from gossamer.node.keeping.hot_pages import HotPages
    from gossamer.node.keeping.importance import LiveImportance
    from gossamer.node.keeping.keeper import Keeper
    from gossamer.node.keeping.keeping import Keeping
    from gossamer.node.keeping.left_pages import LeftPages
    from gossamer.policies.keep_best import KeepBest
    from gossamer.policies.orders.named import LINK_ORDERS
    from gossamer.policies.threshold import Threshold

    limits = settings.limits
    metric = LINK_ORDERS[limits.importance](_SEED)
    importance = LiveImportance(metric, settings.frontier.scored_urls)
    keeper = hot = None
    if limits.keep_best:
        left = None
        if settings.node.graph:
            left = LeftPages(paths.graph, links, clock, settings.node.part_every_s)
        keeper = Keeper(
            frontier, importance, KeepBest(limits.keep_best), limits.importance, left, on_left,
            clock,
        )  # fmt: skip
    if limits.threshold:
        threshold = Threshold(limits.threshold, limits.threshold_patience)
        hot = HotPages(frontier, importance, threshold)
    return Keeping(importance, keeper, hot)


def restore_keeping(
    keeping: Keeping | None, paths: CollectionPaths, store: Store, keys: Keys
) -> None:
    """Read what earlier runs learned: all of it is committed. Raises CorruptFile."""
    if keeping is not None:
        from gossamer.node.keeping.restore import restore

        restore(keeping.importance, keeping.keeper, paths.graph, store, keys)
        keeping.is_ready = True
