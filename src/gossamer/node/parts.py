"""The parts of a node, as one value."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gossamer.base.clock import Clock
from gossamer.collection.crawl_log import CrawlLog
from gossamer.collection.directory import CollectionPaths
from gossamer.fetch.resolve import Resolver
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.link_exchange import LinkExchange
from gossamer.node.bans import LiveBans
from gossamer.node.commit import Committer
from gossamer.node.duplicates.background import LiveComparing
from gossamer.node.indexing import IndexFeed
from gossamer.node.learning import RereadPage
from gossamer.node.link_files import LinkFiles
from gossamer.node.notify.notifier import Notifier
from gossamer.node.rescoring import LiveScores
from gossamer.node.visits.revisit_run import RevisitRun
from gossamer.node.visits.revisits import Revisits
from gossamer.policies.policies import Policies
from gossamer.schedule.admission import Admission
from gossamer.schedule.matches import IsMatch
from gossamer.schedule.scheduler import Scheduler
from gossamer.settings import Settings
from gossamer.workers.pool import WorkerPool

if TYPE_CHECKING:  # it loads NumPy
    from gossamer.node.focus.live_focus import LiveFocus
    from gossamer.node.keeping.keeping import Keeping

# Work without end. It is given a function that wakes the main loop, and is cancelled at the end.
BackgroundWork = Callable[[Callable[[], None]], Awaitable[None]]


@dataclass(slots=True)
class Parts:
    """Everything that a node uses. `build.py` makes them."""

    paths: CollectionPaths
    settings: Settings
    clock: Clock
    policies: Policies
    admission: Admission
    frontier: Frontier
    exchange: LinkExchange
    scheduler: Scheduler
    resolver: Resolver
    pool: WorkerPool
    reread: RereadPage
    committer: Committer
    crawl_log: CrawlLog
    links: LinkFiles
    index: IndexFeed | None
    is_match: IsMatch
    bans: LiveBans
    scores: LiveScores
    notifier: Notifier | None
    comparing: LiveComparing | None  # of pages, where the mode of duplicates needs it
    tidy_store: Callable[[], None]
    close_store: Callable[[], None]
    revisits: Revisits | None = None  # of a crawl that runs without end
    revisit_run: RevisitRun | None = None  # visits all known pages once more
    focus: LiveFocus | None = None  # of a crawl for a topic
    background: tuple[BackgroundWork, ...] = ()  # that runs beside the main loop
    keeping: Keeping | None = None  # of a crawl with a threshold or a limited size
