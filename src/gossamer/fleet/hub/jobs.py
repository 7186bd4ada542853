"""Jobs: made from what people type, checked, and moved from state to state. Pure.

unallocated -> allocated -> done
     ^             |     -> failed     after `max_tries` tries that failed
     +-------------+                   given back, stopped, or its unit was silent
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

import msgspec

from gossamer.errors import UsageError
from gossamer.fleet.hub.job_options import SCOPES, check_options
from gossamer.fleet.hub.rows import JobRow
from gossamer.fleet.protocol import (
    MAX_DEPTH,
    MAX_HOSTS,
    MAX_SEEDS,
    JobProgress,
    JobSpec,
    UnitPlace,
)
from gossamer.urls.canonical import NormalForm, host_of
from gossamer.urls.domains import domain_of
from gossamer.urls.patterns import pattern_of
from gossamer.urls.site import is_address, site_of

_FORM: Final = NormalForm()
_LONGEST_NAME: Final = 200
_MOST_HOLDERS: Final = 20


def check_spec(spec: JobSpec) -> JobSpec:
    """The specification with seeds in canonical form, a name and the scope of its kind. Raises
    UsageError."""
    seeds = tuple(dict.fromkeys(_seed(text) for text in spec.seeds))
    if not seeds:
        raise UsageError("a job needs at least one seed")
    if len(seeds) > MAX_SEEDS:
        raise UsageError(f"a job has {len(seeds):,} seeds; at most {MAX_SEEDS:,} are allowed")
    if spec.kind != "list" and len(seeds) > 1:
        raise UsageError(f"a job of the kind {spec.kind} has one seed; use the kind list")
    if not 0 <= spec.depth <= MAX_DEPTH:
        raise UsageError(f"the depth of a job is 0 to {MAX_DEPTH}, not {spec.depth}")
    if min(spec.max_pages, spec.max_bytes, spec.max_time_s) < 0:
        raise UsageError("a limit of a job is 0 (no limit) or more")
    for text in (*spec.filter.include, *spec.filter.exclude):
        pattern_of(text)
    options = {"scope": SCOPES[spec.kind], **spec.options}
    check_options(options)
    name = " ".join(spec.name.split())[:_LONGEST_NAME]
    checked = msgspec.structs.replace(
        spec, seeds=seeds, options=options, name=name or _name_of(spec.kind, seeds)
    )
    hosts_of(checked)
    return checked


def _seed(text: str) -> str:
    typed = text.strip()
    whole = typed if "://" in typed else f"https://{typed}"
    found = _FORM.find(whole)
    if found is None:
        raise UsageError(f"{typed[:200]!r} is not a URL: {_FORM.fault(whole) or 'it is empty'}")
    return found


def _name_of(kind: str, seeds: tuple[str, ...]) -> str:
    if kind == "page":
        return seeds[0][:_LONGEST_NAME]
    host = urlsplit(seeds[0]).netloc
    return host if len(seeds) == 1 else f"{host} and {len(seeds) - 1:,} more"


def hosts_of(spec: JobSpec) -> tuple[str, ...]:
    """The hosts that a job may request; `.example.org` means with all hosts below. Raises
    UsageError if they are too many."""
    hosts = {host_of(seed) for seed in spec.seeds}
    scope = spec.options.get("scope")
    if scope == "site":
        found = {_with_subdomains(site_of(host)) for host in hosts}
    elif scope == "list":
        domains = spec.options.get("scope.domains", ())
        named = domains.split(",") if isinstance(domains, str) else domains
        assert isinstance(named, Iterable)
        found = {_with_subdomains(domain) for text in named if (domain := domain_of(str(text)))}
        # A seed may lie outside the domains.
        found |= {host for host in hosts if not any(_is_below(host, wide) for wide in found)}
    else:
        found = hosts
    if len(found) > MAX_HOSTS:
        raise UsageError(f"a job has {len(found):,} hosts; at most {MAX_HOSTS:,} are allowed")
    return tuple(sorted(found))


def _with_subdomains(domain: str) -> str:
    return domain if is_address(domain) else f".{domain}"


def _is_below(host: str, wide: str) -> bool:
    return host == wide or host == wide[1:] or (wide.startswith(".") and host.endswith(wide))


def job_of(spec: JobSpec, number: int, now_us: int, priority: int = 0) -> JobRow:
    """The row of a new job."""
    hosts = hosts_of(spec)
    return JobRow(
        id=f"j{number}",
        number=number,
        name=spec.name,
        kind=spec.kind,
        returns=spec.returns,
        hosts=hosts,
        site=hosts[0],
        priority=priority,
        depth=spec.depth,
        place=None if spec.place == UnitPlace() else spec.place,
        seeds=len(spec.seeds),
        made_us=now_us,
    )


# -- transitions; each changes the row that it is given


def give(job: JobRow, unit: str, now_us: int) -> None:
    """Under a new fence. The same unit may get it again."""
    job.state = "allocated"
    job.fence += 1
    job.unit = unit
    job.holders = (*job.holders, unit)[-_MOST_HOLDERS:]
    job.has_started = False
    job.given_us = now_us
    job.reason = ""


def take_back(job: JobRow, reason: str, *, is_held: bool = False) -> None:
    """To be given out again: its unit was silent, gave it back, or a person stopped it."""
    job.state = "unallocated"
    job.is_held = is_held
    job.reason = reason


def note_progress(job: JobRow, told: JobProgress) -> None:
    """The newest figures of the unit that has the job."""
    job.fetched, job.failed, job.refused = told.fetched, told.failed, told.refused
    job.bytes, job.ran_s = told.bytes, told.ran_s


def finish(job: JobRow, now_us: int) -> None:
    job.state = "done"
    job.ended_us = now_us
    job.hosts = ()
    job.reason = ""


def fail(job: JobRow, reason: str, max_tries: int, now_us: int) -> bool:
    """A try has failed; return whether it was the last."""
    job.tries += 1
    job.reason = reason[:500]
    if job.tries < max_tries:
        job.state = "unallocated"
        return False
    job.state = "failed"
    job.ended_us = now_us
    return True


def reopen(job: JobRow, hosts: tuple[str, ...], reason: str = "") -> None:
    """Give a job that has ended out once more."""
    job.state = "unallocated"
    job.hosts = hosts
    job.ended_us = 0
    job.is_held = False
    job.reason = reason
