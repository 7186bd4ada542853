"""Run a watch in the terminal: changes on stdout, a view of the crawl on a terminal, Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import sys

from gossamer.base.plurals import counted
from gossamer.cli.run.change_lines import ChangePrinter
from gossamer.cli.run.progress_lines import ProgressReporter
from gossamer.cli.run.run_crawl import exit_code, greet, heed_signals, run_planned
from gossamer.node.figures.progress import Summary
from gossamer.node.node import Node
from gossamer.node.session import CrawlPlan, opened


def run_watch(plan: CrawlPlan, *, as_json: bool = False) -> int:
    """Crawl, print changes, and return the exit code."""

    async def watch(plan: CrawlPlan) -> Summary:
        return await _watch(plan, as_json=as_json)

    return exit_code(run_planned(plan, watch))


async def _watch(plan: CrawlPlan, *, as_json: bool) -> Summary:
    async with opened(plan) as opening:
        greet(plan, opening)
        talker = ProgressReporter()
        heed_signals(opening.node, talker)
        printer = ChangePrinter(plan.collection, talker.emit, as_json=as_json)
        try:
            following = [asyncio.create_task(_print_changes(printer, opening.node))]
            if sys.stderr.isatty():
                following.append(asyncio.create_task(talker.follow(opening.node.moment)))
            try:
                summary = await opening.node.run()
            finally:
                for task in following:
                    task.cancel()
                await asyncio.gather(*following, return_exceptions=True)
            with contextlib.suppress(BrokenPipeError):  # nobody reads the last changes
                printer.print_new()
        finally:
            printer.close()
        if summary.fetched:
            talker.say(_closing(summary, printer.told, is_first=opening.is_new))
        else:
            talker.say(f"Nothing was fetched. {opening.node.why_nothing}".rstrip())
        return summary


async def _print_changes(printer: ChangePrinter, node: Node) -> None:
    """Print changes until cancelled. If nobody reads them any more (`| head`), stop the crawl."""
    try:
        await printer.follow()
    except BrokenPipeError:
        node.stop("signal")


def _closing(summary: Summary, told: int, *, is_first: bool) -> str:
    pages = counted(summary.fetched, "page")
    if is_first and not told:
        return f"{pages} fetched. Changes are printed from the second visit on."
    return f"{counted(told, 'change')} seen; {pages} in the collection."
