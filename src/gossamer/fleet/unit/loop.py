"""The unit: poll the hub, run its jobs, obey its orders and the owner's.

    each half second   commands of the owner, processes of jobs, conditions of the machine
    each poll          progress and endings out; leases, orders, bans, pace and a job in

A job that has ended is told in the same poll as the wish for the next. Its folder stays until the
hub has answered, so that a unit that is killed at any time tells it again. `jobs.py` has the life
of the jobs, `poller.py` the requests.
"""

from __future__ import annotations

import os
import threading
from datetime import UTC, datetime
from typing import Final, Literal

from gossamer.base.clock import Clock
from gossamer.errors import HubAway, HubError, HubRefusal, HubUntrusted
from gossamer.fleet.protocol import (
    Poll,
    PollAnswer,
    UnitOrder,
    UnitState,
)
from gossamer.fleet.settings import UnitSettings
from gossamer.fleet.unit.banned import BannedList
from gossamer.fleet.unit.folder import UnitFolder, UnitIdentity, write_json
from gossamer.fleet.unit.idle.conditions import JobAction, MachineState, WorkConditions, WorkVerdict
from gossamer.fleet.unit.idle.probes import Probe, process_tree
from gossamer.fleet.unit.jobs import UnitJobs
from gossamer.fleet.unit.machine import free_bytes, machine_facts
from gossamer.fleet.unit.orders import LocalCommand, OrderBook, take_command
from gossamer.fleet.unit.poller import Polled, Poller
from gossamer.fleet.unit.round_trips import RoundTrips
from gossamer.fleet.unit.status import UnitStatus
from gossamer.fleet.unit.unit_log import UnitLog
from gossamer.fleet.unit.waiting import Backoff
from gossamer.fleet.update.watch import UpdateWatch

UnitEnding = Literal["stopped", "deleted", "revoked", "update"]

_STEP_S: Final = 0.25
_PROBE_EVERY_S: Final = 2.0
_DISK_EVERY_S: Final = 30.0
_LAST_POLL_S: Final = 15.0  # for the last word to the hub
_LEAST_POLL_S: Final = 0.5
_LEASE_POLLS: Final = 4.0  # polls in a lease, at least


class Unit:
    """A running unit."""

    def __init__(
        self,
        folder: UnitFolder,
        identity: UnitIdentity,
        settings: UnitSettings,
        poller: Poller,
        probe: Probe,
        clock: Clock,
        log: UnitLog,
        updates: UpdateWatch,
    ) -> None:
        self._folder = folder
        self._identity = identity
        self._settings = settings
        self._poller = poller
        self._probe = probe
        self._clock = clock
        self._log = log
        self._updates = updates
        self._conditions = WorkConditions(settings)
        self._verdict = WorkVerdict(False, JobAction.RUN, "the unit is starting")
        self._jobs = UnitJobs(folder, settings, clock, log)
        self._bans = BannedList(folder)
        self._orders = OrderBook()
        self._trips = RoundTrips(settings.allow_private, clock)
        self._backoff = Backoff()
        self._wake = threading.Event()
        self._next_poll_s = 0.0
        self._next_probe_s = 0.0
        self._next_disk_s = 0.0
        self._disk_bytes = 0
        self._is_draining = False
        self._is_last_job = False  # stop when no job is left
        self._command: LocalCommand | None = None
        self._ending: UnitEnding | None = None
        self._trouble = ""
        self._answered_us = 0
        self._had_pace = False
        self.page_url = ""

    # -- commands of the owner, from other threads

    def command(self, command: LocalCommand) -> None:
        """Do as the owner says; returns at once."""
        self._command = command
        self._wake.set()

    # -- the main loop

    def run(self) -> UnitEnding:
        """Work until the owner or the hub ends it."""
        self._log.say(f"The unit {self._identity.unit} works for {self._identity.hub_url}.")
        self._jobs.restore()
        while self._ending is None:
            self._step()
            if self._ending is None:
                self._wake.wait(_STEP_S)
                self._wake.clear()
        self._close()
        return self._ending

    def _step(self) -> None:
        self._obey(self._command or take_command(self._folder))
        self._command = None
        self._look_at_machine()
        if self._jobs.step():
            self._next_poll_s = min(self._next_poll_s, self._clock.now_s())
        polled = self._poller.take()
        if polled is not None:
            self._take(polled)
        if self._ending is not None:
            return
        if not self._poller.is_busy and self._clock.now_s() >= self._next_poll_s:
            self._poller.ask(self._poll())
        self._tell_status()
        if said := self._updates.look():
            self._log.say(f"{said[:1].upper()}{said[1:]}.")
        if self._is_last_job and not self._jobs.count:
            self._end("stopped", "The unit stops: its last job is done.")
        elif self._updates.is_ready and not self._jobs.count:
            self._end("update", "The unit changes to the version that the hub offers.")

    def _obey(self, command: LocalCommand | None) -> None:
        if command == "stop":
            self._end("stopped", "The unit is stopped by its owner.")
        elif command == "delete":
            self._end("deleted", "The unit is deleted by its owner.")
        elif command == "stop-after":
            self._is_last_job = True
            self._log.say("The unit stops after this job.")

    def _end(self, ending: UnitEnding, why: str) -> None:
        if self._ending is None:
            self._ending = ending
            self._log.say(why)

    def _close(self) -> None:
        """Stop the jobs, tell the hub if it answers soon, and leave the rest for the next start."""
        pending = self._poller.wait(_LAST_POLL_S) if self._poller.is_busy else None
        if pending is not None and pending.answer is not None:
            self._acknowledge(pending)
        self._jobs.give_back_all("the unit was stopped")
        if self._ending != "revoked" and not self._poller.is_busy:
            self._poller.ask(self._poll(is_last=True))
            polled = self._poller.wait(_LAST_POLL_S)
            if polled is not None and polled.answer is not None:
                self._acknowledge(polled)
        self._jobs.close()
        self._updates.close()
        self._poller.close()

    # -- the machine

    def _look_at_machine(self) -> None:
        now_s = self._clock.now_s()
        if now_s < self._next_probe_s:
            return
        self._next_probe_s = now_s + _PROBE_EVERY_S
        if now_s >= self._next_disk_s:
            self._next_disk_s = now_s + _DISK_EVERY_S
            self._disk_bytes = self._jobs.make_room()
        self._verdict = self._conditions.judge(self._state(), now_s)
        self._jobs.apply(self._verdict)
        self._log.say_once(f"The unit waits: {self._verdict.why}." if self._verdict.why else "")

    def _state(self) -> MachineState:
        now = datetime.fromtimestamp(self._clock.wall_us() / 1e6, UTC).astimezone()
        return MachineState(
            input_idle_s=self._probe.input_idle_s(),
            other_cpu=self._probe.other_cpu(process_tree(os.getpid())),
            is_on_battery=self._probe.is_on_battery(),
            weekday=now.weekday(),
            minute=now.hour * 60 + now.minute,
            free_bytes=free_bytes(self._folder.path),
            used_bytes=self._disk_bytes,
            month_bytes=self._jobs.traffic.month_bytes,
        )

    # -- polling

    @property
    def _unit_state(self) -> UnitState:
        if self._ending is not None:
            return "stopped"
        if self._is_draining or self._is_last_job or self._updates.is_ready:
            return "draining"
        if self._verdict.work is not JobAction.RUN:
            return "waiting"
        if self._jobs.is_working:
            return "working"
        return "idle" if self._verdict.may_start else "waiting"

    @property
    def _wants_job(self) -> bool:
        is_ending = self._is_draining or self._is_last_job or self._updates.is_ready
        return self._verdict.may_start and not is_ending and self._jobs.has_room

    def _poll(self, *, is_last: bool = False) -> Poll:
        machine = machine_facts(self._folder.path, self._settings)
        return Poll(
            state="stopped" if is_last else self._unit_state,
            wants_job=self._wants_job and not is_last,
            progress=self._jobs.progress(),
            orders_done=self._orders.to_tell(),
            bans_version=self._bans.version,
            version=self._updates.version,
            why=self._verdict.why,
            round_trips=self._trips.take(),
            robots=self._jobs.new_robots(),
            machine=machine,
        )

    def _take(self, polled: Polled) -> None:
        """A poll has ended."""
        now_s = self._clock.now_s()
        if polled.answer is None:
            self._trips.give_back(polled.asked.round_trips)
            self._next_poll_s = now_s + self._take_error(polled.error)
            return
        if self._trouble:
            self._log.say("The hub answers again.")
        self._trouble, self._answered_us = "", self._clock.wall_us()
        self._backoff.succeeded()
        self._acknowledge(polled)
        wait_s = self._backoff.spread(polled.answer.wait_s)
        lease_s = self._jobs.shortest_lease_s
        if lease_s is not None:
            wait_s = min(wait_s, lease_s / _LEASE_POLLS)
        self._next_poll_s = now_s + max(_LEAST_POLL_S, wait_s)
        self._updates.polled(polled.answer.offers)
        self._obey_hub(polled.answer)
        if self._jobs.has_news:
            self._next_poll_s = now_s + _LEAST_POLL_S

    def _acknowledge(self, polled: Polled) -> None:
        """The hub has got what the poll told; take what it says about jobs."""
        answer = polled.answer
        assert answer is not None, "checked before"
        self._orders.told(polled.asked.orders_done)
        self._jobs.acknowledge(polled.asked, answer, polled.asked_ns)
        if polled.bans is not None:
            change = self._bans.replace(polled.bans)
            self._jobs.ban(change.added, change.lifted)
            self._log.say(
                f"The banned list has changed: {len(change.added)} lines more, "
                f"{len(change.lifted)} less."
            )

    def _take_error(self, error: HubError | None) -> float:
        """Seconds until the next try. A unit that is not known any more ends."""
        at_least_s = 0.0
        if isinstance(error, HubRefusal):
            if error.status == 401:
                self._end("revoked", f"The unit stops: {error}")
                return 0.0
            if error.status == 426:
                self._updates.must_update()
            at_least_s = error.retry_s
        elif not isinstance(error, HubAway | HubUntrusted):
            at_least_s = 1.0
        text = str(error)
        if text != self._trouble:
            self._trouble = text
            self._log.say(f"{text[:1].upper()}{text[1:]}. The unit tries again.")
        return self._backoff.next_s(at_least_s)

    def _obey_hub(self, answer: PollAnswer) -> None:
        for order in self._orders.new(answer.orders):
            self._carry_out(order)
        if answer.pace or self._had_pace:
            self._had_pace = bool(answer.pace)
            self._jobs.set_pace({pace.address: pace.factor for pace in answer.pace})
        self._trips.measure(answer.probe)

    def _carry_out(self, order: UnitOrder) -> None:
        note = ""
        match order.kind:
            case "report":
                self._next_poll_s = 0.0
            case "stop_job":
                note = "" if self._jobs.stop_job(order.job) else "no such job"
            case "stop_after_job":
                self._is_last_job = True
            case "drain":
                self._is_draining = True
            case "resume":
                self._is_draining = self._is_last_job = False
            case "delete":
                self._end("deleted", "The unit is deleted by order of the hub.")
            case "update":
                note = self._updates.check_now()
        self._log.say(f"Order of the hub: {order.kind} {order.job}".rstrip() + ".")
        self._orders.done(order, note)

    # -- telling

    def _tell_status(self) -> None:
        write_json(self._folder.status, self.status())

    def status(self) -> UnitStatus:
        """What the unit does now."""
        return UnitStatus(
            hub=self._identity.hub_url,
            unit=self._identity.unit,
            name=machine_facts(self._folder.path, self._settings).name,
            version=self._updates.version,
            state=self._unit_state,
            why=self._verdict.why,
            trouble=self._trouble,
            pid=os.getpid(),
            at_us=self._clock.wall_us(),
            answered_us=self._answered_us,
            jobs=self._jobs.status(),
            jobs_done=self._jobs.done,
            month_bytes=self._jobs.traffic.month_bytes,
            disk_bytes=self._disk_bytes,
            is_stopping_after=self._is_last_job,
            page=self.page_url,
        )
