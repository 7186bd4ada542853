"""What does the state know of an exchange that came from another archive?

Its captures are the URL's as any other; beside them the name of each imported exchange
(`Lease.source`), so that it is taken once, however often and out of whichever file it comes. The
node and a rebuild both note it here.
"""

from __future__ import annotations

from gossamer.frontier.frontier import Frontier
from gossamer.frontier.meta_keys import IMPORT_PREFIX
from gossamer.frontier.store import Table
from gossamer.records import Purpose, Report


def is_imported(frontier: Frontier, source: str) -> bool:
    """Whether an exchange of that name is in the archive already."""
    return frontier.pending.find(Table.META, IMPORT_PREFIX + bytes.fromhex(source)) is not None


def note_imported(frontier: Frontier, report: Report) -> bool:
    """Take an imported exchange; whether it is now the last that is known of its URL."""
    source = report.lease.source
    frontier.pending.put(Table.META, IMPORT_PREFIX + bytes.fromhex(source), b"1")
    if report.lease.purpose is Purpose.KEPT:
        return False
    if report.lease.purpose is not Purpose.PAGE:
        frontier.admit(report.found, report.at_us)
        return False
    is_last = frontier.bring(report)
    if is_last:
        frontier.admit(report.found, report.at_us)
    frontier.take_shallower()  # nobody is asked before the next start
    return is_last
