"""Stop with a threshold: has the crawl found the pages that are worth a visit (Cho, 1998)?

A fetched page is *hot* if its importance is at least G. The crawl is over when no queued URL can be
expected to become hot: the importance of every queued URL is below G by all links that are known,
and the last `patience` pages that were fetched made no further page hot. The first condition alone
would stop too early: links of the next pages may raise a queued URL over G. The second one measures
whether they still do.

Pure: told counts and values.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Threshold:
    """The rule of one run."""

    least: float  # G
    patience: int  # pages in a row that made no page hot
    hot: int = 0  # fetched pages that are hot
    _seen_at: int = 0  # pages that were fetched when `hot` was larger than ever before

    def note(self, fetched: int, hot: int) -> None:
        """So many pages were fetched, and so many of them are hot now."""
        if hot > self.hot or fetched < self._seen_at:
            self._seen_at = fetched
        self.hot = hot

    def is_over(self, fetched: int, best_queued: float) -> bool:
        """Whether nothing more is to be expected. `best_queued` is the largest importance of a URL
        that is queued or in flight."""
        return best_queued < self.least and fetched - self._seen_at >= self.patience
