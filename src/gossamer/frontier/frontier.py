"""The frontier: which URLs are known, what has become of each, and which comes next.

The life of a URL, with the file where each step happens:

    admit --> queued --> take --> (a lease is out) --> report --> fetched --+
      |          ^                       ^                |  |--> failed    | visit_again
      |          +------ due, when its time has come <----+  +--> refused   |
      +--> refused, by a rule            +----------------------------------+

    admit, found again       admitting.py      hand out, give back    url_queues.py
    reports, refusals        outcomes.py       wait for a time        retry_queue.py
    rules have changed       rejudging.py      scores have changed    rescoring.py
    rows of URLs             known_urls.py     rows of hosts          host_table.py
    another visit            visits/           orders by value        selection/
    what brings nothing      levels/

A URL is admitted once, however often it is found; a refusal that depends on the path by which
it was found (`rows.LIFTABLE`) is judged again when it is found by another. Its queue entry stays
on disk until its outcome is committed, so nothing is lost with a lease.

All of it happens in memory (`pending.py`) until `begin_commit` hands over one batch, and
`end_commit` says that it is on disk. Only the node calls this, from one thread. It waits for
nothing and reads no clock: when a host may be requested is decided by the scheduler.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gossamer.frontier.admitting import AdmissionCheck, Admitting, OnRefused, Refusal, Rules
from gossamer.frontier.captures import Captures
from gossamer.frontier.counts import Counts
from gossamer.frontier.duplicates.groups import DuplicateGroups
from gossamer.frontier.host_budget import HostBudget
from gossamer.frontier.host_table import HOST_BYTES, HostTable
from gossamer.frontier.known_urls import KnownUrls
from gossamer.frontier.levels.demoting import Demoting
from gossamer.frontier.levels.guard import TrapGuard
from gossamer.frontier.meta_keys import COUNTS_KEY
from gossamer.frontier.outcomes import Outcomes
from gossamer.frontier.pending import Pending
from gossamer.frontier.rejudging import Rejudging
from gossamer.frontier.rescoring import Rescoring
from gossamer.frontier.retry_queue import RetryQueue
from gossamer.frontier.state import State
from gossamer.frontier.store import StateTable, Store, TableChanges
from gossamer.frontier.tally import Tally
from gossamer.frontier.url_queues import UrlQueues
from gossamer.frontier.visits.changes import Changes
from gossamer.frontier.visits.evicting import Evicting
from gossamer.frontier.visits.results import OnVisit
from gossamer.frontier.visits.visits import Visits
from gossamer.policies.named_order import order_named, values_named
from gossamer.policies.policies import Policies
from gossamer.settings import Frontier as FrontierSettings
from gossamer.urls.bans import BanList

if TYPE_CHECKING:  # it loads NumPy
    from gossamer.frontier.selection.selection import Selection

__all__ = ["HOST_BYTES", "AdmissionCheck", "Frontier", "Refusal"]

_FEW_KNOWN: Final = 100_000  # whose keys are held in memory, at 100 bytes each


class Frontier:
    """All known URLs of one collection. Its methods are those of its parts (`_join`), and the two
    halves of a commit."""

    def __init__(
        self,
        store: Store,
        settings: FrontierSettings,
        judge: AdmissionCheck,
        *,
        watch_depth: bool = False,
        on_refused: OnRefused | None = None,
        policies: Policies | None = None,
        few_known: int = _FEW_KNOWN,
        trusted: BanList | None = None,
    ) -> None:
        """`watch_depth`: a depth limit holds, so a shorter path to a known URL matters.
        `on_refused` hears of all URLs that are refused when they are found. Without `policies` the
        order is the one that the settings name. Of a new collection the first `few_known` keys are
        held in memory. URLs that are `trusted` are no traps.
        """
        if policies is None:
            order, values = order_named(settings.order), values_named(settings)
            policies = Policies(order=order, values=values)
        pending = Pending(store)
        counts = Counts.decode(store.find(StateTable.META, COUNTS_KEY))
        hosts = HostTable(store, pending, settings.host_buffer)
        budget = HostBudget(settings, hosts.all_rows)
        hosts.load(budget.note_stored)
        known = KnownUrls(store, pending, few_known)
        self.state = State(
            store=store,
            pending=pending,
            counts=counts,
            known=known,
            hosts=hosts,
            captures=Captures(store, pending),
            duplicates=DuplicateGroups(
                store, pending, counts, policies.duplicates, is_empty=known.is_empty
            ),
            tally=Tally(counts, hosts),
            changes=Changes(pending, known),
        )
        self.pending = pending
        self.counts = counts
        self.selection = _selection_for(policies, settings, is_new=known.is_empty)
        self.queues = UrlQueues(self.state, policies.order, self.selection)
        self.visits = self.queues.visits
        self.retries = RetryQueue(self.state, self.queues)
        self.guard = TrapGuard(
            store,
            pending,
            settings.trap_budget,
            trusted or BanList(),
            per_site=settings.trap_budget_per_site,
        )
        self._join(Rules(judge, budget, settings.urls_per_host, watch_depth, on_refused))

    def _join(self, rules: Rules) -> None:
        """Make the other parts, and offer the methods of all under one roof. They are bound, not
        wrapped: a call costs no more than one of the part itself."""
        state, queues, retries = self.state, self.queues, self.retries
        known, hosts, captures = state.known, state.hosts, state.captures
        self.find, self.url_of, self.rows = known.find, known.url_of, known.rows
        self.via_of, self.run_of = known.via_of, known.run_of
        self.host, self.touch = hosts.row, hosts.touch
        self.troubled_hosts, self.held_hosts = hosts.troubled, hosts.held
        self.capture_at, self.captures = captures.find, captures.since
        self.duplicates = state.duplicates

        self.demoting = Demoting(state, queues, self.guard)
        self.hold_back, self.come_back = self.demoting.hold_back, self.demoting.come_back
        admitting = Admitting(state, queues, rules, self.demoting)
        self.take_fresh = admitting.take_fresh
        self.admit, self.admit_listed = admitting.admit, admitting.admit_listed
        self.retry, self.take_shallower = admitting.retry, admitting.take_shallower
        self.lift = admitting.lift

        note_shallower = admitting.note_shallower if rules.watch_depth else None
        outcomes = Outcomes(state, queues, retries, note_shallower)
        self.report, self.bring = outcomes.report, outcomes.bring
        self.refuse, self.fail, self.put_off = outcomes.refuse, outcomes.fail, outcomes.put_off
        self.last_capture, self.miss = outcomes.last_capture, outcomes.miss
        self._outcomes = outcomes

        evicting = Evicting(state, queues, retries)
        self.evict, self.readmit = evicting.evict, evicting.readmit

        self.take_awake, self.first_place = queues.take_awake, queues.first_place
        self.peek, self.take, self.drain = queues.peek, queues.take, queues.drain
        self.give_back = queues.give_back
        self.wake_due, self.next_due_us = retries.wake_due, retries.next_due_us
        self.waiting_urls, self.wait_until = retries.urls, retries.wait_until
        visits = Visits(state, queues)
        self.visit_again, self.previous = visits.visit_again, visits.previous
        self.locate = visits.locate

        rejudging = Rejudging(state, queues, admitting, outcomes, rules, self.guard)
        self.judge_again, self.judge_some = rejudging.all, rejudging.some
        self.judge_host = rejudging.of_host
        self.judge_pending = rejudging.uncommitted
        self.rescoring, self.take_moved = Rescoring(state, queues), queues.take_moved
        self.count_links, self.note_link_texts = queues.count_links, queues.note_link_texts

    def tell_visits(self, on_visit: OnVisit) -> None:
        """From now on `on_visit` hears of every outcome of a URL."""
        self._outcomes.on_visit = on_visit

    @property
    def to_do(self) -> int:
        """URLs that are to be requested: new ones, if they may be, and visits."""
        return self.counts.revisits + (0 if self.visits.is_visits_only else self.counts.queued)

    @property
    def waiting(self) -> int:
        """Those of them that wait for their time."""
        return self.retries.visits + (0 if self.visits.is_visits_only else self.retries.new)

    # -- committing

    def begin_commit(self) -> TableChanges:
        """Everything decided since the last time, as one batch to be written."""
        state = self.state
        state.known.limit_keys()
        state.hosts.begin()
        self.guard.begin()
        self.pending.put(StateTable.META, COUNTS_KEY, self.counts.encode())
        self.queues.begin()
        state.captures.begin()
        return self.pending.begin()

    def end_commit(self, changes: TableChanges) -> None:
        """What `begin_commit` gave is on disk."""
        self.pending.end()
        self.state.captures.end()
        self.state.hosts.end(changes, self.queues.awake)

    def committed_counts(self) -> Counts:
        """The sums as they are on disk."""
        return Counts.decode(self.state.store.find(StateTable.META, COUNTS_KEY))


def _selection_for(
    policies: Policies, settings: FrontierSettings, *, is_new: bool
) -> Selection | None:
    """What an order by value needs; None for another order."""
    if policies.values is None:
        return None
    from gossamer.frontier.selection.selection import Selection  # loads NumPy

    return Selection(policies.values, settings.scored_urls, is_new=is_new)
