"""What the parts of the frontier share: tables with their uncommitted changes, and the sums."""

from __future__ import annotations

from dataclasses import dataclass

from gossamer.frontier.captures import Captures
from gossamer.frontier.counts import Counts
from gossamer.frontier.duplicates.groups import DuplicateGroups
from gossamer.frontier.host_table import HostTable
from gossamer.frontier.known_urls import KnownUrls
from gossamer.frontier.pending import Pending
from gossamer.frontier.store import Store
from gossamer.frontier.tally import Tally
from gossamer.frontier.visits.changes import Changes


@dataclass(frozen=True, slots=True)
class State:
    """The state of one collection as the node sees it. Each part of the frontier changes it for
    its own job, from the same thread."""

    store: Store
    pending: Pending
    counts: Counts
    known: KnownUrls
    hosts: HostTable
    captures: Captures
    duplicates: DuplicateGroups
    tally: Tally
    changes: Changes
