"""What the operator allows beyond the settings, as the scheduler sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gossamer.fetch.guard import AddressGuard
from gossamer.policies.stop import Stop
from gossamer.urls.keys import Keys


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlRules:
    """How hosts and URLs of this collection are keyed, and which of them may be requested.

    `find_ban` is called for every URL before it is leased: a ban may be newer than the queue.
    `secret_origins` may be sent the operator's secrets.
    """

    keys: Keys
    guard: AddressGuard
    stop: Stop | None = None  # None: the limits of the settings
    typed_hosts: Iterable[str] = ()
    secret_origins: frozenset[str] = frozenset()
    find_ban: Callable[[str], str | None] | None = None
    may_request_sitemap: Callable[[str], bool] = bool
    is_in_scope: Callable[[str], bool] = bool
