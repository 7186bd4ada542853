"""Run a crawl in the terminal: progress, Ctrl-C, and the closing message."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from gossamer.base.clock import iso_of
from gossamer.base.garbage import allocate_large_separately, search_all, search_seldom
from gossamer.base.plurals import counted
from gossamer.base.processes import use_one_blas_thread
from gossamer.base.sizes import size_text
from gossamer.cli.run.closing import Closing, limit_text
from gossamer.cli.run.progress_lines import ProgressReporter, print_closing
from gossamer.cli.show.colours import has_colours
from gossamer.cli.show.printable import printable
from gossamer.cli.show.text import change_text
from gossamer.cli.typed_seeds import SeedSources, typed_seeds
from gossamer.collection.configure import configure, remember_contact
from gossamer.errors import CAN_GO_ON, UsageError
from gossamer.fetch.network import can_others_read, secret_files
from gossamer.fetch.request import user_agent
from gossamer.native.extensions import PAGE, load
from gossamer.node.build import Opened
from gossamer.node.figures.progress import Summary
from gossamer.node.new_sites import NewSite
from gossamer.node.node import Node
from gossamer.node.seeds import NeedsContact
from gossamer.node.session import CrawlPlan, opened
from gossamer.node.start.build_pool import workers_for
from gossamer.workers.spawn import end_unused, fork_ahead

NOTHING_FETCHED: Final = 3
BY_FORCE: Final = 13


def plan_of(
    collection: Path, sources: SeedSources, flags: Mapping[str, object], *, may_probe: bool = True
) -> CrawlPlan:
    """Parse and check what was typed. Raises UsageError.

    With `may_probe` it connects to servers of names without a scheme, to choose https or http.
    """
    settings = configure(collection, flags).settings
    seeds = typed_seeds(collection, settings, sources, _say, may_probe=may_probe)
    for file in secret_files(settings.fetch):
        if can_others_read(file):
            _say(f"Other users can read {file}, which contains secrets. Run `chmod 600 {file}`.")
    return CrawlPlan(collection, seeds, flags)


def run_crawl(plan: CrawlPlan, *, as_json: bool = False) -> int:
    """Crawl, print messages, and return the exit code."""
    summary = run_planned(plan, _crawl)
    if as_json:
        print(json.dumps(summary.as_json()))
    return exit_code(summary)


def run_planned(plan: CrawlPlan, crawl: Callable[[CrawlPlan], Awaitable[Summary]]) -> Summary:
    """Prepare the process for a crawl, and run it."""
    allocate_large_separately()
    search_seldom()
    settings = configure(plan.collection, plan.flags).settings
    use_one_blas_thread(os.environ)
    links = ("pyarrow.parquet", "gossamer.graph.part_table") if settings.node.graph else ()
    loads = ("uvloop", "gossamer.workers.worker_main", *links)
    if workers := workers_for(settings, plan.seeds):
        _get_ready()
    fork_ahead(workers, loads)
    try:
        return _run_asking(plan, crawl)
    finally:
        end_unused()
        search_all()


def _run_asking(plan: CrawlPlan, crawl: Callable[[CrawlPlan], Awaitable[Summary]]) -> Summary:
    """Crawl. Ask for missing decisions on a terminal; a script must give them as flags."""
    while True:
        try:
            return _run(crawl(plan))
        except NeedsContact as fault:
            if not sys.stdin.isatty():
                raise
            _ask_contact(fault)
        except NewSite as fault:
            if not sys.stdin.isatty():
                raise
            _ask_to_add(fault)
            plan = replace(plan, may_add=True)


def _ask_to_add(fault: NewSite) -> None:
    """Ask whether a new site may join the collection. Raises UsageError if not."""
    _say(f"{fault.announced}.")
    print("Crawl it into the same collection? [y/N] ", end="", file=sys.stderr, flush=True)
    if input().strip().lower() not in ("y", "yes"):
        raise UsageError("nothing was crawled; choose another collection with -c DIR")


def _get_ready() -> None:
    """Prepare once what every process of the crawl would prepare."""
    load(PAGE)


def _run(crawling: object) -> Summary:
    if sys.platform == "win32":
        # libcurl's sockets need a selector, which is not the default there.
        with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
            return runner.run(crawling)  # type: ignore[arg-type]
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(crawling)  # type: ignore[arg-type]


def _ask_contact(fault: NeedsContact) -> None:
    """Ask for a contact once on a terminal, and store it for all collections."""
    _say(f"{fault.host} is a public site. Its owner must be able to contact you.")
    print(
        "Your mail address, or a web page about your crawl: ", end="", file=sys.stderr, flush=True
    )
    contact = input().strip()
    if not contact or any(c in contact for c in '"\\\r\n'):
        raise fault
    user_agent(contact)  # raises for an invalid contact
    path = remember_contact(contact, os.environ)
    print(f"Saved in {path}.", file=sys.stderr)


async def _crawl(plan: CrawlPlan) -> Summary:
    given = configure(plan.collection, plan.flags)
    async with opened(plan) as opening:
        greet(plan, opening)
        talker = ProgressReporter()
        heed_signals(opening.node, talker)
        before = opening.node.progress().fetched
        talking = asyncio.create_task(talker.follow(opening.node.moment))
        try:
            summary = await opening.node.run()
        finally:
            talking.cancel()
            await asyncio.gather(talking, return_exceptions=True)
        limit = limit_text(summary.stopped, opening.settings, plan, given.origin)
        node = opening.node
        closing = Closing(
            summary,
            plan.collection,
            before,
            limit,
            node.why_nothing,
            node.revisit_found,
            opening.settings.duplicates.mode,
            opening.settings.limits,
        )
        lines = closing.lines(is_coloured=has_colours(sys.stderr))
        print_closing(lines, is_terminal=sys.stderr.isatty())
        return summary


def _say(text: str) -> None:
    print(printable(text), file=sys.stderr, flush=True)


def greet(plan: CrawlPlan, opening: Opened) -> None:
    recovered = opening.recovered
    if recovered.exchanges or recovered.cut_bytes:
        _say(
            f"The last run was interrupted: {counted(recovered.exchanges, 'response')} read again "
            f"from the archive, {size_text(recovered.cut_bytes)} of incomplete records removed."
        )
    for key, (old, new) in opening.changed.items():
        _say(f"Changed since the last run: {change_text(plan, key, old, new)}.")
    for site in opening.new_sites:
        _say(f"New site in this collection: {site}.")
    for seed in opening.forgotten_seeds:
        _say(f"{seed} was deleted by `forget`; `gossamer forget --undo` allows it again.")
    progress = opening.node.progress()
    if opening.is_new:
        count = len(plan.seeds)
        _say(f"New collection in {plan.collection}, {counted(count, 'seed')}.")
    else:
        _say(
            f"Resuming {plan.collection}: {counted(progress.fetched, 'page')} fetched, "
            f"{counted(progress.queued, 'URL')} queued."
        )
    if opening.revisit_since:
        _say(
            f"Resuming the revisit that began {iso_of(opening.revisit_since)[:16]}: pages visited "
            "since then are not visited again."
        )


def heed_signals(node: Node, talker: ProgressReporter) -> None:
    """Stop cleanly on the first signal, by force on the second."""
    heard = 0

    def hear() -> None:
        nonlocal heard
        heard += 1
        if heard > 1:
            talker.end()
            talker.say("Stopped by force. Archived pages are safe, and the crawl can be resumed.")
            os._exit(BY_FORCE)
        node.stop("signal")
        talker.say("Stopping: waiting for requests in flight. Ctrl-C again stops by force.")

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        if sys.platform == "win32":
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(hear))
        else:
            loop.add_signal_handler(number, hear)


def exit_code(summary: Summary) -> int:
    if summary.stopped in ("signal", "disk-full", "disk-budget", "disk-read-only"):
        return CAN_GO_ON
    if not summary.fetched:
        return NOTHING_FETCHED
    return 0
