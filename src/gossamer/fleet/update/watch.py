"""The part of a running unit that sees to updates.

    watch.polled(answer.offers)   after each answer of the hub
    watch.look()                  in each turn; the sentence that is new for the log, if any
    watch.is_ready                between jobs: end with the exit code SWITCH

A process beside the unit fetches, verifies and tries a new version (`fetch_main.py`). Meanwhile the
unit works. It ends only between jobs; the launcher then starts the new version (`launcher.py`). If
an attempt fails, the next one follows after a while, at once if another version is offered.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import msgspec

from gossamer.base.clock import Clock
from gossamer.base.processes import NULL, PIPE, Started, end, single_file, start
from gossamer.fleet.update.connection import HubConnection, UpdateResult
from gossamer.fleet.update.launcher import LAUNCHED, SWITCH
from gossamer.fleet.update.running import running_version
from gossamer.fleet.update.targets import is_newer
from gossamer.fleet.update.versions import UpdateFolder

__all__ = ["SWITCH", "UpdateWatch"]

_FETCH: Final = "gossamer.fleet.update.fetch_main"
_AGAIN_S: Final = 600.0  # after an attempt that failed
_RESULT_BYTES: Final = 65_536


class UpdateWatch:
    """Of one running unit. Not for several threads."""

    def __init__(self, connection: HubConnection, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock
        self._folder = UpdateFolder(Path(connection.directory))
        self._process: Started | None = None
        self._tried = ""  # version on offer at the last attempt
        self._next_s = 0.0
        self._must_confirm = self._folder.read().is_trial
        self._can_switch = single_file() is not None and LAUNCHED in os.environ
        self.version = running_version()
        self.is_ready = False

    def polled(self, offers: str) -> None:
        """The hub has answered, and offers this version."""
        if self._must_confirm:
            self._must_confirm = False
            self._folder.write(self._folder.read().confirmed())
            self._folder.tidy(single_file())
        if is_newer(offers, self.version):
            self._attempt(offers)

    def must_update(self) -> None:
        """The hub speaks only with newer versions."""
        self._attempt("any")

    def check_now(self) -> str:
        """The operator orders an update: do not wait after an attempt that failed. A note if the
        unit cannot update itself.
        """
        self._tried = ""
        return "" if self._can_switch else "an installed package is not updated by the hub"

    def _attempt(self, offers: str) -> None:
        if not self._can_switch or self.is_ready or self._process is not None:
            return
        if offers != self._tried or self._clock.now_s() >= self._next_s:
            self._tried = offers
            self._begin()

    def _begin(self) -> None:
        self._next_s = self._clock.now_s() + _AGAIN_S
        try:
            process = start(_FETCH, stdin=PIPE, stdout=PIPE, stderr=NULL)
        except OSError:
            return
        self._process = process
        assert process.stdin is not None, "it is a pipe"
        try:
            # A few kilobytes, which the pipe takes at once.
            process.stdin.write(msgspec.json.encode(self._connection))
            process.stdin.close()
        except OSError:
            pass  # it has ended; `look` says so

    def look(self) -> str:
        """Take the result of an attempt, if there is one; a sentence for the log, or nothing."""
        process = self._process
        if process is None or process.poll() is None:
            return ""
        assert process.stdout is not None, "it is a pipe"
        try:
            result = msgspec.json.decode(process.stdout.read(_RESULT_BYTES), type=UpdateResult)
        except (OSError, msgspec.MsgspecError):
            result = UpdateResult(later="the process that fetches updates failed")
        self.close()
        if result.staged:
            self.is_ready = True
            return f"version {result.staged} is ready; it starts after this job"
        return result.refused or result.later

    def close(self) -> None:
        """End the attempt. What is downloaded is kept."""
        if self._process is not None:
            end(self._process)
            self._process = None
