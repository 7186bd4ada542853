"""Check a crawl that was requested in the web interface, before it creates anything.

    texts -> URLs (`node/bare_names.py`) -> addresses: known? allowed? -> contact -> folder, disk

A user of the web interface need not be the operator of the machine. So its crawls may access
private networks only if the server allows it (`web.allow_private`). The crawl has the same rule
(`fetch.typed_private`), so a name that changes its address later gains nothing.

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
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.request import user_agent
from gossamer.fetch.resolve import ResolvedHost, Resolver
from gossamer.node.bare_names import Chosen, choose_urls
from gossamer.settings import Settings
from gossamer.urls.canonical import host_of
from gossamer.urls.site import is_public_name

CONTACT: Final = "user_agent_contact"  # the field of the form
_AT_ONCE: Final = 20


class WrongContact(UsageError):
    """The contact is missing or invalid."""


class NoContact(WrongContact):
    """A crawl of public sites needs a contact."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"{host} is a public site: its owner must be able to contact you. Enter your mail "
            "address or the URL of a page about your crawl in “Your contact”, and start again."
        )


class Outside(Protocol):
    """Access to the network: DNS and servers."""

    def choose(self, texts: Sequence[str], guard: AddressGuard) -> list[Chosen]:
        """Return the URL for each seed; connect only to addresses that `guard` allows."""

    def resolve(self, hosts: Sequence[str]) -> Mapping[str, ResolvedHost]:
        """Return the addresses of hosts."""


class RealOutside:
    """Uses the system's resolver and connects to servers. Blocks, so it runs in a thread."""

    def choose(self, texts: Sequence[str], guard: AddressGuard) -> list[Chosen]:
        return asyncio.run(choose_urls(texts, guard, is_trusted=False))

    def resolve(self, hosts: Sequence[str]) -> Mapping[str, ResolvedHost]:
        return asyncio.run(_resolve(hosts))


async def _resolve(hosts: Sequence[str]) -> dict[str, ResolvedHost]:
    resolver, turns = Resolver(SystemClock(), 60.0), asyncio.Semaphore(_AT_ONCE)

    async def one(host: str) -> ResolvedHost:
        async with turns:
            return await resolver.resolve(host)

    try:
        return dict(zip(hosts, await asyncio.gather(*map(one, hosts)), strict=True))
    finally:
        resolver.close()


@dataclass(frozen=True, slots=True)
class Checker:
    """The checks before a server starts a crawl. `environment` names the user's own file."""

    outside: Outside
    allow_private: tuple[str, ...] = ()
    environment: Mapping[str, str] | None = None

    @property
    def guard(self) -> AddressGuard:
        return AddressGuard(self.allow_private, typed_private=False)

    def contact(self, collection: Path) -> str:
        """Return the stored contact; empty if the settings cannot be read."""
        try:
            return configure(collection, {}, self.environment).settings.fetch.contact
        except UsageError:
            return ""

    def settings(self, collection: Path, flags: Mapping[str, object]) -> Settings:
        """Return all settings of the new crawl. Raises UsageError."""
        return configure(collection, flags, self.environment).settings

    def choose(self, texts: Sequence[str], settings: Settings) -> list[Chosen]:
        """Return the URL for each seed. Behind a proxy it makes no connections."""
        if settings.fetch.proxy:
            return asyncio.run(choose_urls(texts, probe=False))
        return self.outside.choose(texts, self.guard)

    def remember(self, contact: str, collection: Path) -> None:
        """Store a typed contact for later crawls, as the terminal does."""
        is_plain = contact.isprintable() and not set(contact) & set('"\\')
        if contact and is_plain and contact != self.contact(collection):
            env = os.environ if self.environment is None else self.environment
            with suppress(OSError, ValueError):  # this crawl has the contact anyway
                remember_contact(contact, env)

    def check_hosts(self, settings: Settings, seeds: Sequence[str]) -> None:
        """Raise UsageError if a host is unknown or private, or a contact is missing."""
        hosts = list(dict.fromkeys(map(host_of, seeds)))
        proxy = urlsplit(settings.fetch.proxy).hostname if settings.fetch.proxy else None
        found = self.outside.resolve([*hosts, *([proxy] if proxy else [])])
        has_contact = bool(settings.fetch.contact)
        if not any(found[host].addresses for host in hosts):
            if not has_contact and is_public_name(hosts[0]):
                raise NoContact(hosts[0])
            raise UsageError(
                f"the host {hosts[0]} cannot be resolved ({found[hosts[0]].fault}); check the name "
                "and the network"
            )
        public = self._public(found)
        if public and not has_contact:
            raise NoContact(public)

    def _public(self, found: Mapping[str, ResolvedHost]) -> str:
        """Return a public host, or an empty text. Raises for a private one."""
        everybody, guard, public = AddressGuard(), self.guard, ""
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
        way_out = f" To allow this one, run `gossamer serve --allow-private {network}`."
    return UsageError(
        f"{host} cannot be crawled from here: {refusal}. Crawls of this server may access private "
        f"networks only if it allows them.{way_out}"
    )


def check_contact(contact: str) -> None:
    """Raise WrongContact for an invalid contact."""
    try:
        user_agent(contact)
    except SettingsError as fault:
        said = str(fault).removeprefix(f"{fault.key} ")
        raise WrongContact(f"Your contact {said}") from None


def check_place(collection: Path, min_free_bytes: int) -> None:
    """Raise UsageError if a new collection cannot be written."""
    if collection.exists() and (not collection.is_dir() or any(collection.iterdir())):
        raise UsageError(
            f"{collection.name!r} cannot be used: {collection} exists and is not a collection; "
            "choose another name"
        )
    nearest = next(path for path in _upwards(collection) if path.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        raise UsageError(
            f"no crawl can be stored in {collection.parent}: {nearest} is not writable; start "
            "`gossamer serve` with another folder: --crawls DIR"
        )
    free = shutil.disk_usage(nearest).free
    if free < min_free_bytes:
        raise UsageError(
            f"the disk is nearly full: {size_text(free)} are free in {nearest}, but a crawl stops "
            f"below {size_text(min_free_bytes)}; free some space, or change node.min_free_bytes"
        )


def _upwards(path: Path) -> Iterable[Path]:
    whole = path.resolve()
    return (whole, *whole.parents)
