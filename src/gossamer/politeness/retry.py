"""What to do after a failed fetch: one row per reason to fail.

The waits are those of a crawl that a person watches: a fault that passes (a restart, a lost
packet) passes within minutes, and one that stays must not keep the crawl from ending for hours.
The host's own rest, and its Retry-After, come on top (pace.py).
"""

from __future__ import annotations

from typing import Final

from gossamer.base.values import dataclass
from gossamer.records import Reason


@dataclass(frozen=True, slots=True)
class RetryRule:
    """Wait `first_wait_s`, doubling, for `tries` tries; then the URL has failed."""

    first_wait_s: float
    tries: int


RETRY: Final[dict[Reason, RetryRule]] = {
    Reason.DNS: RetryRule(first_wait_s=60, tries=2),
    Reason.CONNECT: RetryRule(first_wait_s=30, tries=3),
    Reason.TLS: RetryRule(first_wait_s=60, tries=1),  # a certificate does not heal, a handshake may
    Reason.TIMEOUT: RetryRule(first_wait_s=60, tries=2),
    Reason.RESET: RetryRule(first_wait_s=10, tries=3),
    Reason.PROTOCOL: RetryRule(first_wait_s=30, tries=1),
    Reason.ENCODING: RetryRule(first_wait_s=0, tries=0),  # the same bytes would come again
    Reason.BUSY: RetryRule(first_wait_s=60, tries=5),
    Reason.CRASH: RetryRule(first_wait_s=0, tries=0),  # the archive has it; asking would not help
}


def wait_before_retry(reason: Reason, tries: int) -> float | None:
    """Seconds to wait after the `tries`-th failure (from 0), or None to give up.

    A refusal has no row: our rule would say no again.
    """
    rule = RETRY.get(reason)
    if rule is None or tries >= rule.tries:
        return None
    return rule.first_wait_s * 2.0**tries
