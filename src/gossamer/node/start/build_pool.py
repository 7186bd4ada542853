"""Build the workers of a crawl: in this process, or in others."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gossamer.archive.padding import SALT_FIELD
from gossamer.base.clock import Clock
from gossamer.collection.cookies_file import CookiesFile
from gossamer.collection.directory import CollectionPaths
from gossamer.node.start.assemble import StoredCrawl
from gossamer.settings import Settings, values_of
from gossamer.urls.canonical import host_of
from gossamer.version import __version__
from gossamer.workers.build_worker import (
    WorkerContext,
    build_gatherer,
    build_processor,
    build_worker,
    with_shared_memory,
    without_requests,
)
from gossamer.workers.pool import LocalPool, WorkerPool
from gossamer.workers.process import PageProcessor
from gossamer.workers.process_pool import Orders, ProcessPool
from gossamer.workers.worker import LinkGatherer, Worker

_MANY_HOSTS: Final = 50  # at a page a second each, one process does it with ease


@dataclass(frozen=True, slots=True)
class Workers:
    """The pool of a node, and what the node itself uses to read pages that are archived."""

    context: WorkerContext
    processor: PageProcessor
    gatherer: LinkGatherer
    pool: WorkerPool
    local: Worker | None  # the worker in this process; None if others do the work


def build_workers(
    paths: CollectionPaths,
    crawl: StoredCrawl,
    settings: Settings,
    clock: Clock,
    *,
    is_import: bool,
    counts_links: bool = False,
) -> Workers:
    """The workers of a crawl. An import sends no request, and its one worker is in this process.

    `counts_links`: the order of the crawl counts links, also repeated ones.
    """
    used = without_requests(settings) if is_import else settings
    salt = crawl.keys.salt
    info = _info(settings, crawl.all_seeds, salt)
    context = WorkerContext(paths.path, "0", f"{clock.wall_us() // 1000:x}", info)
    processor = build_processor(
        settings, crawl.keys, crawl.forgotten, counts_links=counts_links, archive=paths.archive
    )
    gatherer = build_gatherer(settings, context, clock)
    cookies = CookiesFile(paths.cookies, used.fetch, clock)
    count = 0 if is_import else workers_for(settings, crawl.all_seeds)
    if count:
        shared = with_shared_memory(settings, count)
        values = {key: value for key, value in values_of(shared).items() if value != ()}
        orders = Orders(values, salt, dict(info), context.run, count, settings.node, counts_links)
        pool = ProcessPool(paths, orders, processor, clock, cookies)
        return Workers(context, processor, gatherer, pool, None)
    worker = build_worker(used, context, processor, gatherer, clock, cookies.jar)
    return Workers(context, processor, gatherer, LocalPool(worker, cookies), worker)


def workers_for(settings: Settings, seeds: Sequence[str]) -> int:
    """How many worker processes: as many as cores, but none for a crawl that mostly waits."""
    if settings.node.workers >= 0:
        return 0 if sys.platform == "win32" else settings.node.workers
    hosts = len(set(map(host_of, seeds)))
    is_bounded = settings.scope.kind in ("page", "prefix", "host") and hosts < _MANY_HOSTS
    if sys.platform == "win32" or (settings.politeness.host_delay_s and is_bounded):
        return 0
    return os.cpu_count() or 1


def _info(settings: Settings, seeds: Sequence[str], salt: bytes) -> dict[str, str]:
    """The settings in force and the salt of keys, for the first record of every file; without
    credentials. With them the state can be made again (`operator_inputs.py`)."""
    default = values_of(Settings())
    kept = {
        key: repr(value)
        for key, value in values_of(settings).items()
        if value != default[key] and key != "fetch.headers"
    }
    return {
        "software": f"gossamer/{__version__}",
        "format": "WARC File Format 1.1",
        "robots": "obey",
        "seeds": " ".join(seeds[:20]),
        SALT_FIELD: salt.hex(),
        **kept,
    }
