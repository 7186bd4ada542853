"""What to do after a failed fetch: one row per reason.

The waits suit a crawl that a person watches: a temporary fault (a restart, a lost packet) passes
within minutes, and a permanent one must not delay the end of the crawl for hours. The host's own
delay and its Retry-After are added (pace.py). `politeness.retries`, `busy_retries` and
`retry_wait_s` scale the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gossamer.records import Reason
from gossamer.settings import Politeness


@dataclass(frozen=True, slots=True)
class RetryRule:
    """Wait `times` `politeness.retry_wait_s`, doubling, for `tries` retries. Then the URL has
    failed.
    """

    times: float
    tries: int


RETRY: Final[dict[Reason, RetryRule]] = {
    Reason.DNS: RetryRule(times=2, tries=2),
    Reason.CONNECT: RetryRule(times=1, tries=100),
    Reason.TLS: RetryRule(times=2, tries=1),  # a certificate stays bad, a handshake may succeed
    Reason.TIMEOUT: RetryRule(times=2, tries=2),
    Reason.RESET: RetryRule(times=1 / 3, tries=100),
    Reason.PROTOCOL: RetryRule(times=1, tries=1),
    Reason.ENCODING: RetryRule(times=0, tries=0),  # the same bytes would come again
    Reason.BUSY: RetryRule(times=2, tries=100),
    # it is in the archive; another request would not help
    Reason.CRASH: RetryRule(times=0, tries=0),
}


def retries_of(reason: Reason, politeness: Politeness) -> int:
    """How often a URL is requested again after such a failure.

    A refusal has no row, because our rule would refuse again.
    """
    rule = RETRY.get(reason)
    if rule is None:
        return 0
    return min(rule.tries, politeness.busy_retries if reason is Reason.BUSY else politeness.retries)


def wait_before_retry(reason: Reason, tries: int, politeness: Politeness) -> float | None:
    """Seconds to wait after the `tries`-th failure (from 0), or None to give up."""
    if tries >= retries_of(reason, politeness):
        return None
    doublings = min(tries, 20)
    return round(RETRY[reason].times * politeness.retry_wait_s, 3) * 2.0**doublings
