"""A small real crawl for tests: the whole node, in this process, against a server of the test.

    with site_in_thread({"/": page("<a href=/b>b</a>")}) as site:
        summary = crawl(collection, [site.url()])

Settings are named with two underscores for the dot: `scope__depth=1`. Delays of hosts are off
unless a test sets them, and everything runs in one process; the other settings have their defaults.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from gossamer.base.clock import Clock, SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.node.build import open_node
from gossamer.node.figures.progress import Summary
from gossamer.node.node import Node
from gossamer.node.visits.revisit_filter import RevisitFilter
from gossamer.policies.policies import Policies
from gossamer.settings import KEYS, Settings, with_values
from gossamer.urls.canonical import NormalForm

QUICK: dict[str, object] = {
    "politeness.host_delay_s": 0,
    "politeness.per_host": 4,
    "frontier.memory_mb": 16,
    "node.min_free_bytes": 0,
    "node.workers": 0,
}


def crawl(collection: Path, seeds: Sequence[str], **settings: object) -> Summary:
    """Start a crawl in `collection`, or resume one, and run it to its end."""
    return asyncio.run(crawl_in_loop(collection, seeds, settings))


def crawl_again(
    collection: Path,
    chosen: RevisitFilter | None = None,
    until: Callable[[], bool] | None = None,
    clock: Clock | None = None,
    **settings: object,
) -> Summary:
    """Visit the known pages of a collection once more."""
    wanted = chosen or RevisitFilter()
    crawling = crawl_in_loop(collection, [], settings, revisit=wanted, until=until, clock=clock)
    return asyncio.run(crawling)


def crawl_until(
    collection: Path, seeds: Sequence[str], is_so: Callable[[], bool], **settings: object
) -> Summary:
    """The same for a crawl that would wait: it is stopped when the condition holds.

    Requests in flight complete. A time limit would depend on the speed of the machine.
    """
    named = {"limits__max_time_s": 90.0, **settings}
    return asyncio.run(crawl_in_loop(collection, seeds, named, until=is_so))


def crawl_forever(
    collection: Path, seeds: Sequence[str], is_so: Callable[[], bool], **settings: object
) -> Summary:
    """A crawl without end, until the condition holds. Pages may be visited again at once."""
    named = {"limits__max_time_s": 90.0, "refresh__min_interval_s": 0.0, **settings}
    return asyncio.run(crawl_in_loop(collection, seeds, named, until=is_so, is_forever=True))


async def crawl_in_loop(
    collection: Path,
    seeds: Sequence[str],
    settings: Mapping[str, object] | None = None,
    *,
    clock: Clock | None = None,
    may_change: bool = False,
    until: Callable[[], bool] | None = None,
    policies: Policies | None = None,
    is_forever: bool = False,
    revisit: RevisitFilter | None = None,
) -> Summary:
    """The same inside a running event loop, for tests that share it with `a_site`."""
    named = {key.replace("__", "."): value for key, value in (settings or {}).items()}
    quick = {key: value for key, value in QUICK.items() if key in KEYS}
    chosen = with_values(Settings(), {**quick, **named})
    form = NormalForm(chosen.urls.query, chosen.urls.session_parameters)
    canonical = [form.find(seed) or seed for seed in seeds]
    with ExitStack() as stack:
        opened = open_node(
            CollectionPaths(collection),
            lambda _stored: chosen,
            canonical,
            clock or SystemClock(),
            stack,
            may_change=may_change,
            policies=policies,
            is_forever=is_forever,
            revisit=revisit,
        )
        is_so = until or (lambda: False)
        opened.node.on_processed = lambda _: opened.node.stop("max-time") if is_so() else None
        watching = asyncio.ensure_future(_stop_when(opened.node, is_so))
        try:
            return await opened.node.run()
        finally:
            watching.cancel()
            await opened.node.aclose()


async def _stop_when(node: Node, is_so: Callable[[], bool]) -> None:
    """For a condition that holds while no page arrives. With each page it is checked at once: a
    fast crawl would be over before the next look."""
    while not is_so():  # noqa: ASYNC110  # what it looks at is another thread's
        await asyncio.sleep(0.005)
    node.stop("max-time")
