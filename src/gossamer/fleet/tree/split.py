"""Split a job of a relay among the units below it.

All seeds of one site stay together, so no two units request the same host and no URL is fetched
twice. A relay below gets about as many sites as each of its neighbours. A unit that crawls itself
gets one site at a time: a unit that has finished takes the next, so a large site delays no other.

Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gossamer.fleet.protocol import JobSpec
from gossamer.urls.canonical import host_of
from gossamer.urls.site import site_of


def split_job(spec: JobSpec, units: int) -> list[JobSpec]:
    """The parts of a job for `units` units below, each with a depth that is one less.

    The limits of pages, bytes and time hold for the whole: pages and bytes are shared in proportion
    to the seeds, with at least one page each.
    """
    groups = sites_of(spec.seeds)
    if spec.depth > 1:
        groups = dealt(groups, units)
    depth = max(0, spec.depth - 1)
    total = len(spec.seeds)
    parts = []
    for seeds in groups:
        share = len(seeds) / total
        parts.append(
            msgspec.structs.replace(
                spec,
                seeds=seeds,
                name=name_of(seeds),
                depth=depth,
                max_pages=_shared(spec.max_pages, share),
                max_bytes=_shared(spec.max_bytes, share),
            )
        )
    return parts


def sites_of(seeds: Sequence[str]) -> list[tuple[str, ...]]:
    """The seeds of each site, in the order in which the sites are named."""
    found: dict[str, list[str]] = {}
    for seed in dict.fromkeys(seeds):
        found.setdefault(site_of(host_of(seed)), []).append(seed)
    return [tuple(group) for group in found.values()]


def dealt(groups: Sequence[tuple[str, ...]], units: int) -> list[tuple[str, ...]]:
    """The groups in at most `units` parts of about equal size, the largest group first."""
    count = max(1, min(units, len(groups)))
    parts: list[list[str]] = [[] for _ in range(count)]
    for group in sorted(groups, key=len, reverse=True):
        min(parts, key=len).extend(group)
    return [tuple(part) for part in parts]


def name_of(seeds: Sequence[str]) -> str:
    """For people: the first site, and how many others."""
    sites = list(dict.fromkeys(site_of(host_of(seed)) for seed in seeds))
    more = f" and {len(sites) - 1} more" if len(sites) > 1 else ""
    return f"{sites[0]}{more}" if sites else ""


def _shared(limit: int, share: float) -> int:
    """A part of a limit; 0 means no limit, so a part is at least 1."""
    return max(1, int(limit * share)) if limit else 0
