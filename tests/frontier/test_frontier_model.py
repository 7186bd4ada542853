"""The frontier against its model, through admissions, leases, commits and crashes."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from frontier.frontier_model import (
    KEYS,
    Known,
    Model,
    ShiftingOrder,
    found,
    judge,
    lease_of,
    report_of,
)
from gossamer.frontier.frontier import HOST_BYTES, Frontier
from gossamer.frontier.rescoring import ALL_HOSTS
from gossamer.frontier.rocks import RocksStore
from gossamer.frontier.rows import QueueEntry
from gossamer.frontier.store import MemoryStore, StateTable, Store, TableChanges
from gossamer.policies.order import ORDERS
from gossamer.policies.policies import Policies
from gossamer.records import Found, Outcome, Reason
from gossamer.settings import Frontier as FrontierSettings
from gossamer.urls.canonical import host_of

HOSTS = ("a.example", "b.example")
PATHS = [*(f"/{number}" for number in range(40)), "/out/1", "/out/2"]
URLS = st.builds(
    lambda host, path: f"http://{host}{path}", st.sampled_from(HOSTS), st.sampled_from(PATHS)
)
FOUND = st.builds(
    found,
    URLS,
    st.integers(0, 5),
    redirects=st.integers(0, 2),
    is_nofollow=st.sampled_from([False, False, False, True]),
)
PICK = st.integers(0, 10**6)
SCOPES = st.sampled_from([*((host,) for host in HOSTS), HOSTS])


class FrontierMachine(RuleBasedStateMachine):
    """`host_buffer` is 4, and a host has up to 40 URLs: queues are longer than buffers."""

    open_store: Callable[[], Store]

    @initialize(order=st.sampled_from(["breadth", "depth"]))
    def begin(self, order: str) -> None:
        self.settings = FrontierSettings(order=order, host_buffer=4)
        self.store = self.open_store()
        self.model = Model(ShiftingOrder(ORDERS[order]()))
        self.exempt: set[bytes] = set()  # URLs that may have an old score
        self.on_disk = self.model.copy()
        self.writing: tuple[TableChanges, Model] | None = None
        self.now_us = 1_000_000
        self.frontier = self.opened()

    def opened(self) -> Frontier:
        policies = Policies(order=self.model.order)
        return Frontier(self.store, self.settings, judge, watch_depth=True, policies=policies)

    # -- admitting and handing out

    @rule(batch=st.lists(FOUND, min_size=1, max_size=12))
    def admit_some(self, batch: list[Found]) -> None:
        self.admit(batch)

    def admit(self, batch: list[Found]) -> None:
        new = len({one.key for one in batch} - self.model.urls.keys())

        assert self.frontier.admit(batch, self.now_us) == new

        for one in batch:
            self.model.admit(one)

    @rule(host=st.sampled_from(HOSTS), depth=st.integers(0, 3))
    def admit_a_whole_site(self, host: str, depth: int) -> None:
        """More than the buffer holds, at once."""
        self.admit([found(f"http://{host}{path}", depth) for path in PATHS])

    @rule(host=st.sampled_from(HOSTS), times=st.integers(1, 9))
    def take(self, host: str, times: int) -> None:
        for _ in range(times):
            is_visit = self.model.is_visit_next(host)
            free = self.model.free(host, visits=is_visit)
            first = self.frontier.peek(KEYS.host(host))
            assert (first and first[0]) == (free[0][0] if free else None)
            if first is None:
                return
            assert first[1] == entry_of(self.model.urls[free[0][1]], first[1])
            assert first[1].is_visit == is_visit
            self.frontier.take(KEYS.host(host))
            self.model.take(host)
            self.exempt.add(free[0][1])  # what is leased keeps its place, and may come back to it

    @rule(host=st.sampled_from(HOSTS), times=st.integers(1, 9))
    def visit_a_site_again(self, host: str, times: int) -> None:
        """Pages are fetched and wait for a visit, beside URLs that are new."""
        self.admit([found(f"http://{host}{path}", 1) for path in PATHS])
        for at in range(times):
            self.take(host, 1)
            if self.has_leases():
                self.report_fetched(at, is_redirect=False, status=200)
        for key in sorted(self.model.urls):
            assert self.frontier.visit_again(key) == self.model.visit_again(key)
        self.take(host, times)

    @rule(pick=PICK, times=st.integers(1, 20))
    def visit_again(self, pick: int, times: int) -> None:
        keys = sorted(self.model.urls)
        for at in range(times if keys else 0):
            key = keys[(pick + at) % len(keys)]
            assert self.frontier.visit_again(key) == self.model.visit_again(key)

    def leased(self, pick: int) -> bytes:
        keys = sorted(key for key, known in self.model.urls.items() if known.is_leased)
        return keys[pick % len(keys)]

    def has_leases(self) -> bool:
        return any(known.is_leased for known in self.model.urls.values())

    @precondition(has_leases)
    @rule(pick=PICK)
    def give_back(self, pick: int) -> None:
        key = self.leased(pick)
        known = self.model.urls[key]
        known.is_leased = False

        self.frontier.give_back(
            QueueEntry(key, known.url, known.depth, known.tries, known.redirects)
        )

    # -- outcomes

    @precondition(has_leases)
    @rule(pick=PICK, is_redirect=st.booleans(), status=st.sampled_from([200, 200, 404, 500]))
    def report_fetched(self, pick: int, is_redirect: bool, status: int) -> None:
        key = self.leased(pick)
        known = self.model.urls[key]
        self.now_us += 1
        lease = lease_of(known.url, depth=known.depth, tries=known.tries)
        redirect = "http://a.example/elsewhere" if is_redirect else ""
        status = 301 if redirect else status
        report = report_of(lease, Outcome.FETCHED, self.now_us, redirect=redirect, status=status)
        is_missed = known.outcome is Outcome.FETCHED and status == 500 > known.status

        assert self.frontier.report(report)
        assert not self.frontier.report(report), "a replay changes nothing"

        if is_missed:
            self.model.leave_queue(key)
            known.missed += 1
        else:
            self.model.settle(key, Outcome.FETCHED)
            known.is_redirect, known.status = is_redirect, status
            known.at_us, known.missed = self.now_us, 0
        capture = self.frontier.last_capture(key)
        assert capture is not None
        assert capture.offset == known.at_us

    @precondition(has_leases)
    @rule(pick=PICK)
    def report_unchanged(self, pick: int) -> None:
        key = self.leased(pick)
        known = self.model.urls[key]
        if known.outcome is not Outcome.FETCHED:
            return
        self.now_us += 1
        lease = lease_of(known.url, depth=known.depth, tries=known.tries)
        report = report_of(lease, Outcome.FETCHED, self.now_us, status=304, is_unchanged=True)

        assert self.frontier.report(report)
        assert not self.frontier.report(report), "a replay changes nothing"

        self.model.leave_queue(key)
        known.missed = 0
        previous = self.frontier.previous(key)
        assert previous is not None
        assert previous.at_us == known.at_us

    @precondition(has_leases)
    @rule(pick=PICK, refused=st.booleans())
    def report_ended(self, pick: int, refused: bool) -> None:
        key = self.leased(pick)
        known = self.model.urls[key]
        self.now_us += 1
        outcome, reason = (
            (Outcome.REFUSED, Reason.TYPE) if refused else (Outcome.FAILED, Reason.TIMEOUT)
        )
        lease = lease_of(known.url, depth=known.depth, tries=known.tries)

        assert self.frontier.report(report_of(lease, outcome, self.now_us, reason=reason))

        if known.outcome is Outcome.FETCHED and not refused:
            self.model.leave_queue(key)
            known.missed += 1
        else:
            self.model.settle(key, outcome, reason)
            known.is_redirect = False

    @precondition(has_leases)
    @rule(pick=PICK, wait_us=st.integers(0, 50))
    def report_to_be_tried_again(self, pick: int, wait_us: int) -> None:
        key = self.leased(pick)
        known = self.model.urls[key]
        self.now_us += 1
        due_us = self.now_us + wait_us
        lease = lease_of(known.url, depth=known.depth, tries=known.tries, redirects=known.redirects)
        report = report_of(lease, Outcome.FAILED, self.now_us, reason=Reason.RESET)

        assert self.frontier.report(report, due_us)
        assert not self.frontier.report(report, due_us), "a replay changes nothing"

        self.model.wait(key, due_us)

    @precondition(has_leases)
    @rule(pick=PICK, is_refused=st.booleans())
    def decide_without_asking(self, pick: int, is_refused: bool) -> None:
        key = self.leased(pick)
        if is_refused:
            self.frontier.refuse(key, Reason.ROBOTS, "", self.now_us)
            self.model.settle(key, Outcome.REFUSED, "robots")
            self.model.urls[key].is_redirect = False
        else:
            self.frontier.fail(key, Reason.DNS, "", self.now_us)
            self.give_up(key, Reason.DNS)

    def give_up(self, key: bytes, reason: Reason) -> None:
        """A URL has failed for good; a page that was fetched only misses a visit."""
        known = self.model.urls[key]
        if known.outcome is Outcome.FETCHED:
            self.model.leave_queue(key)
            known.missed += 1
        else:
            self.model.settle(key, Outcome.FAILED, reason)

    @precondition(has_leases)
    @rule(pick=PICK)
    def ban_it(self, pick: int) -> None:
        key = self.leased(pick)
        self.frontier.refuse(key, Reason.BANNED, "", self.now_us)
        if self.model.urls[key].outcome is Outcome.FETCHED:
            self.model.leave_queue(key)
        else:
            self.model.settle(key, Outcome.REFUSED, "banned")

    @precondition(lambda self: len(self.model.urls) > 70)
    @rule(host=st.sampled_from(HOSTS))
    def drain(self, host: str) -> None:
        drained, expected = [], []
        for entry in self.frontier.drain(KEYS.host(host)):
            is_visit = self.model.is_visit_next(host)
            expected.append(self.model.free(host, visits=is_visit)[0][1])
            self.model.take(host)
            self.frontier.fail(entry.key, Reason.CONNECT, "", self.now_us)
            self.give_up(entry.key, Reason.CONNECT)
            drained.append(entry.key)

        assert drained == expected
        assert not self.model.free(host)
        assert not self.model.free(host, visits=True)

    @rule(pass_us=st.integers(0, 60))
    def wake(self, pass_us: int) -> None:
        self.now_us += pass_us
        due = sorted(
            (known.due_us, key)
            for key, known in self.model.urls.items()
            if known.due_us and known.due_us <= self.now_us and self.is_committed_due(key)
        )

        assert self.frontier.wake_due(self.now_us) == len(due)

        for _, key in due:
            self.model.wake(key)

    def is_committed_due(self, key: bytes) -> bool:
        """Waiting is seen by `wake_due` when it is on disk."""
        stored = self.store.scan(StateTable.DUE, b"", None, 10_000)
        return any(
            due[8:] == key and int.from_bytes(due[:8], "big") == self.model.urls[key].due_us
            for due, _ in stored
        )

    # -- scores that change

    @precondition(lambda self: not self.frontier.rescoring.is_running)
    @rule(hosts=SCOPES, shift=st.integers(1, 50), slice_size=st.integers(1, 30))
    def rescore(self, hosts: tuple[str, ...], shift: int, slice_size: int) -> None:
        self.change_scores(hosts, shift)
        free = [self.model.urls[key] for host in hosts for _, key in self.model.free(host)]
        expected = 0
        for known in free:
            new = self.model.rescored(known)
            expected += new != known.place
            known.place = new

        moved = 0
        while self.frontier.rescoring.is_running:
            moved += self.frontier.rescoring.step(slice_size)

        assert moved == expected

    @rule(hosts=SCOPES, shift=st.integers(1, 50))
    def change_scores(self, hosts: tuple[str, ...], shift: int) -> None:
        if not self.frontier.rescoring.is_running:
            self.exempt = set()
        self.exempt |= {key for key, known in self.model.urls.items() if known.is_leased}
        for host in hosts:
            self.model.order.shifts[host] = shift

        self.frontier.rescoring.start(KEYS.host(hosts[0]) if len(hosts) == 1 else ALL_HOSTS)

    @precondition(lambda self: self.frontier.rescoring.is_running)
    @rule(slice_size=st.integers(1, 30))
    def rescore_some(self, slice_size: int) -> None:
        before = {key: known.place for key, known in self.model.urls.items() if known.place}

        moved = self.frontier.rescoring.step(slice_size)

        changed = 0
        for key, place in before.items():
            known, row = self.model.urls[key], self.frontier.find(key)
            assert row is not None
            if row.place != place:
                assert row.place == self.model.rescored(known)
                assert not known.is_leased
                known.place = row.place
                changed += 1
        assert changed == moved <= slice_size

    @invariant()
    def when_all_are_scored_again_none_has_an_old_score(self) -> None:
        if self.frontier.rescoring.is_running:
            return
        for key, known in self.model.urls.items():
            if known.waits_for_visit:
                continue  # visits are not scored again
            is_shifted = self.model.order.shifts.get(host_of(known.url), 0)
            if known.place and is_shifted and not known.is_leased and key not in self.exempt:
                assert known.place == self.model.rescored(known)

    # -- committing and crashing

    @precondition(lambda self: self.writing is None)
    @rule()
    def begin_commit(self) -> None:
        self.writing = (self.frontier.begin_commit(), self.model.copy())

    @precondition(lambda self: self.writing is not None)
    @rule()
    def end_commit(self) -> None:
        assert self.writing is not None
        changes, self.on_disk = self.writing
        self.store.write(changes)
        self.frontier.end_commit(changes)
        self.writing = None

    @precondition(lambda self: self.writing is not None)
    @rule()
    def write_and_crash(self) -> None:
        assert self.writing is not None
        self.store.write(self.writing[0])
        self.on_disk = self.writing[1]
        self.crash()

    @rule()
    def crash(self) -> None:
        self.writing = None
        self.model = self.on_disk.copy()
        self.frontier = self.opened()

    # -- what always holds

    @invariant()
    def counts_are_exact(self) -> None:
        counts = self.frontier.counts
        sums = self.model.sums()
        assert counts.known == sums["known"]
        assert counts.queued == sums.get("queued", 0)
        assert counts.fetched == sums.get("fetched", 0)
        assert counts.redirects == sums.get("redirects", 0)
        assert counts.failed == sums.get("failed", 0)
        assert counts.refused == sums.get("refused", 0)
        assert counts.revisits == sums.get("revisits", 0)
        parts = (counts.queued, counts.fetched, counts.redirects, counts.failed, counts.refused)
        assert counts.known == sum(parts)

    @invariant()
    def hosts_are_exact(self) -> None:
        for name in HOSTS:
            host = self.frontier.host(KEYS.host(name))
            mine = [known for known in self.model.urls.values() if host_of(known.url) == name]
            assert host.known == len(mine)
            queued = [known for known in mine if known.place]
            assert host.visits == sum(1 for known in queued if known.waits_for_visit)
            assert host.queued == len(queued) - host.visits
            assert host.waiting == sum(1 for known in mine if known.due_us)
            assert host.fetched == sum(1 for known in mine if known.outcome is Outcome.FETCHED)
            assert host.redirects == sum(1 for known in mine if known.is_redirect)

    @invariant()
    def every_url_stands_where_the_model_says(self) -> None:
        for key, known in self.model.urls.items():
            row = self.frontier.find(key)
            assert row is not None
            assert (row.outcome, row.reason if known.reason else "") == (
                known.outcome,
                known.reason,
            )
            assert (row.depth, row.place, row.due_us) == (known.depth, known.place, known.due_us)
            if known.outcome is Outcome.FETCHED:
                assert (row.status, row.missed) == (known.status, known.missed)

    @invariant()
    def nearer_pages_are_told_once(self) -> None:
        assert sorted(self.frontier.take_shallower()) == sorted(self.model.shallower)
        self.model.shallower.clear()

    def teardown(self) -> None:
        """After a last commit and a restart everything queued is handed out once, in order."""
        if not hasattr(self, "frontier"):
            return
        if self.writing is not None:
            self.end_commit()
        self.begin_commit()
        self.end_commit()
        self.crash()
        self.every_url_stands_where_the_model_says()
        for host in HOSTS:
            self.take(host, len(PATHS) + 1)
        self.counts_are_exact()
        for table, is_visit in ((StateTable.QUEUE, False), (StateTable.VISIT, True)):
            queue = self.store.scan(table, b"", None, 10_000)
            assert {key[HOST_BYTES:] for key, _ in queue} == {
                known.place
                for known in self.model.urls.values()
                if known.place and known.waits_for_visit == is_visit
            }
        self.store.close()


def entry_of(known: Known, given: QueueEntry) -> QueueEntry:
    """The entry that the model expects; the depth of one that was leased may be older."""
    return QueueEntry(
        KEYS.of(known.url),
        known.url,
        max(known.depth, given.depth),
        known.tries,
        given.redirects,
        given.via,
        is_visit=given.is_visit,
    )


def test_the_frontier_does_what_its_model_does() -> None:
    class InMemory(FrontierMachine):
        open_store = staticmethod(MemoryStore)

    run_state_machine_as_test(InMemory, settings=settings(stateful_step_count=60))


@pytest.mark.slow
def test_the_frontier_does_the_same_on_disk() -> None:
    folders: list[Path] = []

    def open_store() -> Store:
        folders.append(Path(tempfile.mkdtemp(prefix="gossamer-test-")))
        return RocksStore.open(folders[-1], 16)

    class OnDisk(FrontierMachine):
        pass

    OnDisk.open_store = staticmethod(open_store)
    try:
        run_state_machine_as_test(
            OnDisk, settings=settings(max_examples=15, stateful_step_count=40, deadline=None)
        )
    finally:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
