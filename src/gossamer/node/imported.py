"""What the state stores about an imported exchange.

Its captures are stored as all others. In addition the state has the name of each imported exchange
(`Lease.source`), so that it is imported once, from whichever file and however often. Both the node
and a rebuild use this module.
"""

from __future__ import annotations

from gossamer.frontier.frontier import Frontier
from gossamer.frontier.link_exchange import LinkExchange
from gossamer.frontier.meta_keys import IMPORT_PREFIX
from gossamer.frontier.store import StateTable
from gossamer.records import Purpose, Report


def is_imported(frontier: Frontier, source: str) -> bool:
    """Whether an exchange of that name is in the archive."""
    return frontier.pending.find(StateTable.META, IMPORT_PREFIX + bytes.fromhex(source)) is not None


def note_imported(frontier: Frontier, exchange: LinkExchange, report: Report) -> bool:
    """Store an imported exchange. Return whether it is now the newest one of its URL."""
    source = report.lease.source
    frontier.pending.put(StateTable.META, IMPORT_PREFIX + bytes.fromhex(source), b"1")
    if report.lease.purpose is Purpose.KEPT:
        return False
    if report.lease.purpose is not Purpose.PAGE:
        exchange.offer(report.found, report.at_us)
        return False
    is_last = frontier.bring(report)
    if is_last:
        exchange.offer(report.found, report.at_us)
    frontier.take_shallower()  # no URL is requested before the next start
    return is_last
