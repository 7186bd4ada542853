"""The settings of a job's crawl: what the hub may choose, and what the owner of the unit decides.

The hub chooses by a list of options (`hub/job_options.py`), which is checked here again. Files,
headers, logins, proxies and private networks are the owner's (unit.toml), and so is the least
delay. The hosts of the assignment are the limit of everything.
"""

from __future__ import annotations

from typing import Any, Final

from gossamer.errors import UsageError
from gossamer.fleet.hub.job_options import SCOPES, check_options
from gossamer.fleet.protocol import MAX_HOSTS, MAX_SEEDS, Assignment
from gossamer.fleet.settings import UnitSettings
from gossamer.fleet.unit.folder import UnitFolder
from gossamer.fleet.unit.job_folder import JobFolder
from gossamer.settings import Settings
from gossamer.urls.canonical import host_of
from gossamer.urls.host_limit import HostLimit

_DEFAULT: Final = Settings()
_STOP_GRACE_S: Final = 3.0  # for requests in flight: the owner waits


def job_settings(
    assignment: Assignment, owner: UnitSettings, folder: UnitFolder, job: JobFolder
) -> dict[str, Any]:
    """The settings by key. Raises UsageError for a job that this unit refuses."""
    spec = assignment.spec
    if len(spec.seeds) > MAX_SEEDS or len(assignment.hosts) > MAX_HOSTS or not assignment.hosts:
        raise UsageError("the job has no hosts, or too many seeds or hosts")
    values = check_options(spec.options)
    values.setdefault("scope.kind", SCOPES[spec.kind])
    delay_s = values.get("politeness.host_delay_s", _DEFAULT.politeness.host_delay_s)
    values |= {
        "scope.hosts": assignment.hosts,
        "politeness.host_delay_s": max(delay_s, owner.min_delay_s),
        "limits.max_pages": spec.max_pages,
        "limits.max_bytes": spec.max_bytes,
        "node.index": False,
        "node.graph": False,
        "node.workers": owner.workers,
        "node.min_free_bytes": owner.min_free_bytes,
        "node.stop_grace_s": _STOP_GRACE_S,
        "fetch.connections": min(
            values.get("fetch.connections", owner.connections), owner.connections
        ),
        "fetch.permit_file": str(job.permit.resolve()),
        "fetch.typed_private": False,
        "fetch.allow_private": owner.allow_private,
        "fetch.proxy": owner.crawl_proxy,
        "fetch.headers": (),
        "fetch.headers_file": "",
        "fetch.logins_file": "",
        "fetch.cookies_file": "",
        "fetch.client_certificate": "",
        "watch.command": "",
        "watch.webhook": "",
    }
    if owner.contact:
        values["fetch.contact"] = owner.contact
    if owner.max_rate_bytes:
        wanted = values.get("fetch.max_rate_bytes") or owner.max_rate_bytes
        values["fetch.max_rate_bytes"] = min(wanted, owner.max_rate_bytes)
    if folder.bans_text.is_file():
        values["scope.ban_files"] = (str(folder.bans_text.resolve()),)
    return values


def seeds_within(seeds: list[str], hosts: tuple[str, ...]) -> list[str]:
    """The seeds that are on the hosts of the assignment."""
    limit = HostLimit(hosts)
    return [seed for seed in seeds if limit.allows(host_of(seed))]
