"""Where batches of changes are sent: a webhook, or a command on this machine.

Both are named by the operator, so a webhook may be at a private address. Neither is stored with the
collection or read from its settings file: a collection that comes from somewhere else cannot start
a program. Sending takes its time in a thread; the crawl continues meanwhile.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Protocol
from urllib.parse import urlsplit

from gossamer.base.processes import StillRunning, run_program
from gossamer.errors import SettingsError
from gossamer.fetch.post import post
from gossamer.node.notify.batch import Batch
from gossamer.settings import Watch


class Target(Protocol):
    """One receiver of batches."""

    @property
    def name(self) -> str:
        """Its name in the state: `webhook` or `command`."""

    def send(self, batch: Batch) -> str:
        """Send a batch and wait for the result: empty if it was accepted, else what went wrong."""

    def end(self) -> None:
        """The crawl ends: give up what is being sent, if that would take long."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """An HTTP address that takes batches as POST requests."""

    url: str
    secret: bytes
    time_s: float
    name: str = "webhook"

    def send(self, batch: Batch) -> str:
        return post(self.url, batch.body, batch.headers(self.secret), self.time_s)

    def end(self) -> None:
        """Nothing: a request ends after `time_s`."""


@dataclass(frozen=True, slots=True)
class Command:
    """A program that gets each batch on its stdin. No shell reads the words."""

    words: tuple[str, ...]
    collection: str
    time_s: float
    name: str = "command"
    _stop: Event = field(default_factory=Event)

    def send(self, batch: Batch) -> str:
        try:
            environment = self._environment(batch)
            ended = run_program(self.words, batch.body, environment, self.time_s, self._stop)
        except StillRunning:
            if self._stop.is_set():
                return f"{self.words[0]} was ended with the crawl; it runs again in the next one"
            return f"{self.words[0]} was ended after {self.time_s:g} seconds (watch.command_time_s)"
        except OSError as fault:
            return f"cannot start {self.words[0]}: {fault.strerror or fault}"
        if ended.code == 0:
            return ""
        said = f": {ended.error[:200]}" if ended.error else ""
        return f"{self.words[0]} ended with exit code {ended.code}{said}"

    def end(self) -> None:
        """Kill the program that runs."""
        self._stop.set()

    def _environment(self, batch: Batch) -> Mapping[str, str]:
        own = {
            "GOSSAMER_COLLECTION": self.collection,
            "GOSSAMER_BATCH": batch.id,
            "GOSSAMER_CHANGES": str(batch.count),
        }
        return {**os.environ, **own}


def targets_of(settings: Watch, collection: Path) -> tuple[Target, ...]:
    """The targets that the settings name. Raises SettingsError."""
    found: list[Target] = []
    if settings.webhook:
        url = _checked_url(settings.webhook)
        found.append(
            Webhook(url, _secret_in(settings.webhook_secret_file), settings.webhook_time_s)
        )
    elif settings.webhook_secret_file:
        raise SettingsError("watch.webhook_secret_file", "is set, but watch.webhook is not")
    if settings.command:
        words = _checked_words(settings.command)
        found.append(Command(words, str(collection.resolve()), settings.command_time_s))
    return tuple(found)


def shown_url(url: str) -> str:
    """A webhook for people, without its path, which is often a secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_url = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_url = False
    if not is_url or not url.isprintable() or " " in url:
        raise SettingsError("watch.webhook", "is not a URL (http:// or https:// expected)")
    return url


def _checked_words(command: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command))
    except ValueError:
        words = ()
    if not words:
        raise SettingsError("watch.command", f"is {command!r}; a quotation mark is not closed")
    if shutil.which(words[0]) is None:
        raise SettingsError(
            "watch.command", f"begins with {words[0]!r}, which is not a program on this machine"
        )
    return words


def _secret_in(file: str) -> bytes:
    if not file:
        return b""
    key = "watch.webhook_secret_file"
    try:
        secret = Path(file).read_bytes().strip()
    except OSError as fault:
        raise SettingsError(key, f"names {file}, which cannot be read: {fault.strerror}") from None
    if not secret:
        raise SettingsError(key, f"names {file}, which is empty")
    return secret
