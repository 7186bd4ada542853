"""Let a crawl visit known pages once more, because its operator says so or an earlier run did."""

from __future__ import annotations

from gossamer.frontier.store import Store
from gossamer.node.parts import Parts
from gossamer.node.visits.revisit_filter import RevisitFilter
from gossamer.node.visits.revisit_run import revisit_run


def add_revisit(parts: Parts, store: Store, wanted: RevisitFilter | None) -> None:
    """Begin the revisit that is wanted, or resume one that did not end. A commit must follow."""
    run = revisit_run(parts.frontier, store, parts.admission, parts.clock, wanted)
    if run is not None:
        parts.revisit_run = run
        parts.background = (*parts.background, run.keep_up)
