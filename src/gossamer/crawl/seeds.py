"""Where does a crawl begin? Seeds as typed, checked before anything is made or asked."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gossamer.base.clock import Clock
from gossamer.errors import GossamerError, UsageError
from gossamer.fetch.guard import Guard
from gossamer.fetch.resolve import Resolver
from gossamer.urls.canonical import NormalForm, host_of


class UnknownHost(GossamerError):
    """No seed's host can be resolved: nothing would be fetched."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class Ground:
    """What is known of the seeds' hosts before anybody is asked."""

    public_hosts: tuple[str, ...]


def read_seeds(texts: Iterable[str], form: NormalForm, where: str = "") -> list[str]:
    """Seeds in canonical form. Raises UsageError for the first that is no URL."""
    seeds: dict[str, None] = {}
    for number, text in enumerate(texts, 1):
        typed = text.strip()
        if not typed or (where and typed.startswith("#")):
            continue
        seed = form.find(typed)
        if seed is None:
            place = f"{where}, line {number}: " if where else ""
            raise UsageError(f"{place}{typed[:200]!r} is no URL{_hint(typed, form)}")
        seeds[seed] = None
    return list(seeds)


def _hint(typed: str, form: NormalForm) -> str:
    fault = form.fault(typed)
    if (
        "://" not in typed
        and "." in typed.split("/", maxsplit=1)[0]
        and form.find(f"https://{typed}")
    ):
        return f"; did you mean https://{typed}?"
    return f": {fault}" if fault else "; a seed begins with http:// or https://"


def read_seed_file(path: Path, form: NormalForm) -> list[str]:
    """Seeds from a file, one a line, `#` begins a comment. Raises UsageError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as fault:
        problem = getattr(fault, "strerror", None) or "it is no text in UTF-8"
        raise UsageError(f"cannot read the seeds in {path}: {problem}") from fault
    return read_seeds(text.splitlines(), form, str(path))


async def survey(seeds: Sequence[str], clock: Clock) -> Ground:
    """Resolve the seeds' hosts. Raises UnknownHost when not one of them is known.

    Only a few are looked up: this is to spare people a typing error, not to know all.
    """
    hosts = list(dict.fromkeys(map(host_of, seeds)))[:20]
    resolver = Resolver(clock, 60.0)
    try:
        answers = await asyncio.gather(*map(resolver.resolve, hosts))
    finally:
        resolver.close()
    if hosts and not any(answer.addresses for answer in answers):
        raise UnknownHost(
            f"the host {hosts[0]} is not known ({answers[0].fault}); check the name and the network"
        )
    guard = Guard()
    public = [
        host
        for host, answer in zip(hosts, answers, strict=True)
        if any(guard.forbids(a, is_trusted=False) is None for a in answer.addresses)
    ]
    return Ground(tuple(public))
