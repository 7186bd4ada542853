"""A small real crawl for tests: the whole node, in this process, against a server of the test.

    with site_in_thread({"/": page("<a href=/b>b</a>")}) as site:
        summary = crawl(collection, [site.url()])

Settings are named with two underscores for the dot: `scope__depth=1`. The rests of hosts are off
unless a test sets them, and all happens in one process; the rest is as people have it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from gossamer.base.clock import Clock, SystemClock
from gossamer.crawl.build import open_node
from gossamer.crawl.home import Home
from gossamer.crawl.progress import Summary
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
    """Begin a crawl in `collection`, or go on with one, to its end."""
    return asyncio.run(crawl_in_loop(collection, seeds, settings))


async def crawl_in_loop(
    collection: Path,
    seeds: Sequence[str],
    settings: Mapping[str, object] | None = None,
    *,
    clock: Clock | None = None,
    may_change: bool = False,
) -> Summary:
    """The same inside a loop that runs already, for tests that share it with `a_site`."""
    named = {key.replace("__", "."): value for key, value in (settings or {}).items()}
    quick = {key: value for key, value in QUICK.items() if key in KEYS}
    chosen = with_values(Settings(), {**quick, **named})
    form = NormalForm(chosen.urls.query, chosen.urls.session_parameters)
    canonical = [form.find(seed) or seed for seed in seeds]
    with ExitStack() as stack:
        opened = open_node(
            Home(collection),
            lambda _stored: chosen,
            canonical,
            clock or SystemClock(),
            stack,
            may_change=may_change,
        )
        try:
            return await opened.node.run()
        finally:
            await opened.node.aclose()
