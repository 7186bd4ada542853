"""Check seeds as typed, before anything is written or requested."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from gossamer.base.clock import Clock
from gossamer.errors import GossamerError, UsageError
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.request import without_userinfo
from gossamer.fetch.resolve import Resolver
from gossamer.settings import Settings
from gossamer.urls.canonical import NormalForm, host_of
from gossamer.urls.site import is_public_name

_HOSTS_AT_ONCE: Final = 20


class UnknownHost(GossamerError):
    """The host of no seed can be resolved, so nothing would be fetched."""

    exit_code = 3


class NeedsContact(UsageError):
    """Public sites may be crawled only with a contact address."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"a contact is needed to crawl {host}: add --user-agent-contact MAIL or URL, or "
            "`contact` under [fetch] in gossamer.toml"
        )
        self.host = host


def form_of(settings: Settings) -> NormalForm:
    """The form in which a crawl knows URLs."""
    return NormalForm(settings.urls.query, settings.urls.session_parameters)


def read_seeds(texts: Iterable[str], form: NormalForm, where: str = "") -> list[str]:
    """Seeds in canonical form. In a file (`where`) `#` begins a comment. Raises UsageError for the
    first that is not a URL.
    """
    seeds: dict[str, None] = {}
    for number, text in enumerate(texts, 1):
        typed = text.strip()
        if not typed or (where and typed.startswith("#")):
            continue
        seed = form.find(typed)
        if seed is None:
            place = f"{where}, line {number}: " if where else ""
            raise UsageError(place + not_a_url(typed, form))
        seeds[seed] = None
    return list(seeds)


def not_a_url(typed: str, form: NormalForm) -> str:
    """The message about a text that is not a URL."""
    shown = without_userinfo(typed)[:200]
    fault = form.fault(typed)
    if fault and "://" in typed:
        return f"{shown!r} is not a URL: {fault}"
    return f"{shown!r} is not a URL (http:// or https:// expected)"


def seed_lines(path: Path) -> list[str]:
    """The lines of a file of seeds. Raises UsageError."""
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeError) as fault:
        problem = getattr(fault, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"cannot read the seeds in {path}: {problem}") from fault


async def survey(seeds: Sequence[str], clock: Clock, *, has_contact: bool) -> str:
    """Resolve the hosts of the seeds. Return a public host that needs a contact, or an empty
    string.

    Raises UnknownHost if none of the first hosts can be resolved, which is mostly a typing error.
    With a contact no further hosts are looked up. A name below a public suffix has an owner even if
    it cannot be resolved now, so the contact is checked first.
    """
    hosts = list(dict.fromkeys(map(host_of, seeds)))
    resolver, guard = Resolver(clock, 60.0), AddressGuard()
    try:
        for start in range(0, len(hosts), _HOSTS_AT_ONCE):
            some = hosts[start : start + _HOSTS_AT_ONCE]
            answers = await asyncio.gather(*map(resolver.resolve, some))
            if not start and not any(answer.addresses for answer in answers):
                if not has_contact and is_public_name(some[0]):
                    return some[0]
                raise UnknownHost(
                    f"the host {some[0]} cannot be resolved ({answers[0].fault}); check the name "
                    "and the network"
                )
            if has_contact:
                break
            for host, answer in zip(some, answers, strict=True):
                if any(guard.forbids(a, is_trusted=False) is None for a in answer.addresses):
                    return host
    finally:
        resolver.close()
    return ""
