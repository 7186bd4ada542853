"""Can a crawl that somebody asked for on the page be started? Told before anything is made.

    texts -> URLs (`node/bare_names.py`) -> addresses: known? allowed? -> contact -> folder, disk

Whoever uses the page need not be the operator of the machine. So a crawl from here goes to a
private network only where the server allows it (`web.allow_private`); the crawl itself is told
the same (`fetch.typed_private`), so that a name that changes its address later gains nothing.

Every fault is a UsageError of one sentence: what is wrong, and what to do.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import urlsplit

from gossamer.base.clock import SystemClock
from gossamer.base.sizes import size_text
from gossamer.collection.configure import configure, remember_contact
from gossamer.errors import SettingsError, UsageError
from gossamer.fetch.guard import Guard
from gossamer.fetch.request import user_agent
from gossamer.fetch.resolve import Resolved, Resolver
from gossamer.node.bare_names import Chosen, choose_urls
from gossamer.settings import Settings
from gossamer.urls.canonical import host_of
from gossamer.urls.site import is_public_name

CONTACT: Final = "user_agent_contact"  # the field of the form
_AT_ONCE: Final = 20


class WrongContact(UsageError):
    """The contact is missing, or nobody can be reached by it."""


class NoContact(WrongContact):
    """Other people's sites are crawled only by somebody whom they can reach."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"{host} is somebody's site: its owner must be able to reach you. Type your mail "
            "address or the URL of a page about your crawl into “Your contact”, and start again."
        )


class Outside(Protocol):
    """What the network says about names."""

    def choose(self, texts: Sequence[str], guard: Guard) -> list[Chosen]:
        """The URL for each typed seed; only addresses that `guard` allows are connected to."""

    def resolve(self, hosts: Sequence[str]) -> Mapping[str, Resolved]:
        """The addresses of hosts."""


class RealOutside:
    """Asks the system's resolver and connects to servers. Blocks, so it runs in a thread."""

    def choose(self, texts: Sequence[str], guard: Guard) -> list[Chosen]:
        return asyncio.run(choose_urls(texts, guard, is_trusted=False))

    def resolve(self, hosts: Sequence[str]) -> Mapping[str, Resolved]:
        return asyncio.run(_resolve(hosts))


async def _resolve(hosts: Sequence[str]) -> dict[str, Resolved]:
    resolver, turns = Resolver(SystemClock(), 60.0), asyncio.Semaphore(_AT_ONCE)

    async def one(host: str) -> Resolved:
        async with turns:
            return await resolver.resolve(host)

    try:
        return dict(zip(hosts, await asyncio.gather(*map(one, hosts)), strict=True))
    finally:
        resolver.close()


@dataclass(frozen=True, slots=True)
class Checker:
    """What a server checks before it starts a crawl. `environment` names the user's own file."""

    outside: Outside
    allow_private: tuple[str, ...] = ()
    environment: Mapping[str, str] | None = None

    @property
    def guard(self) -> Guard:
        return Guard(self.allow_private, typed_private=False)

    def contact(self, collection: Path) -> str:
        """The contact that is remembered; empty where the settings cannot be read."""
        try:
            return configure(collection, {}, self.environment).settings.fetch.contact
        except UsageError:
            return ""

    def settings(self, collection: Path, flags: Mapping[str, object]) -> Settings:
        """All settings that the crawl will have. Raises UsageError."""
        return configure(collection, flags, self.environment).settings

    def choose(self, texts: Sequence[str], settings: Settings) -> list[Chosen]:
        """The URL for each typed seed. Behind a proxy nobody is connected to from here."""
        if settings.fetch.proxy:
            return asyncio.run(choose_urls(texts, probe=False))
        return self.outside.choose(texts, self.guard)

    def remember(self, contact: str, collection: Path) -> None:
        """Keep a contact that was typed for later crawls, as the terminal does."""
        is_plain = contact.isprintable() and not set(contact) & set('"\\')
        if contact and is_plain and contact != self.contact(collection):
            env = os.environ if self.environment is None else self.environment
            with suppress(OSError, ValueError):  # this crawl has it all the same
                remember_contact(contact, env)

    def check_hosts(self, settings: Settings, seeds: Sequence[str]) -> None:
        """Raise UsageError where no host is known, one is private, or a contact is missing."""
        hosts = list(dict.fromkeys(map(host_of, seeds)))
        proxy = urlsplit(settings.fetch.proxy).hostname if settings.fetch.proxy else None
        found = self.outside.resolve([*hosts, *([proxy] if proxy else [])])
        has_contact = bool(settings.fetch.contact)
        if not any(found[host].addresses for host in hosts):
            if not has_contact and is_public_name(hosts[0]):
                raise NoContact(hosts[0])
            raise UsageError(
                f"the host {hosts[0]} is not known ({found[hosts[0]].fault}); check the name and "
                "the network"
            )
        public = self._public(found)
        if public and not has_contact:
            raise NoContact(public)

    def _public(self, found: Mapping[str, Resolved]) -> str:
        """A host that is other people's, or nothing. Raises for one that is private."""
        everybody, guard, public = Guard(), self.guard, ""
        for host, answer in found.items():
            refusals = [guard.forbids(address, is_trusted=True) for address in answer.addresses]
            if refusals and None not in refusals:
                raise _private(host, answer.addresses[0], refusals[0] or "")
            if any(everybody.forbids(a, is_trusted=False) is None for a in answer.addresses):
                public = public or host
        return public


def _private(host: str, address: str, refusal: str) -> UsageError:
    if "cloud metadata" in refusal or "link-local" in refusal:
        way_out = ""
    else:
        network = f"{address}/{128 if ':' in address else 32}"
        way_out = f" Start it with `gossamer serve --allow-private {network}` to allow this one."
    return UsageError(
        f"{host} cannot be crawled from here: {refusal}. Crawls that this server starts go to "
        f"private networks only where it was told to allow them.{way_out}"
    )


def check_contact(contact: str) -> None:
    """Raise WrongContact for a contact that nobody can be reached by."""
    try:
        user_agent(contact)
    except SettingsError as fault:
        said = str(fault).removeprefix(f"{fault.key} ")
        raise WrongContact(f"Your contact {said}") from None


def check_place(collection: Path, min_free_bytes: int) -> None:
    """Raise UsageError where a new collection cannot be written."""
    if collection.exists() and (not collection.is_dir() or any(collection.iterdir())):
        raise UsageError(
            f"{collection.name!r} cannot be used: {collection} exists and is no collection; "
            "choose another name"
        )
    nearest = next(path for path in _upwards(collection) if path.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        raise UsageError(
            f"no crawl can be kept in {collection.parent}: {nearest} cannot be written to; give "
            "`gossamer serve` another folder with --crawls DIR"
        )
    free = shutil.disk_usage(nearest).free
    if free < min_free_bytes:
        raise UsageError(
            f"the disk is nearly full: {size_text(free)} are free in {nearest}, and a crawl stops "
            f"below {size_text(min_free_bytes)}; make room, or change node.min_free_bytes"
        )


def _upwards(path: Path) -> Iterable[Path]:
    whole = path.resolve()
    return (whole, *whole.parents)
