"""When to compute values of all URLs again: at fixed growth, so that the cost of all times together
is a constant times the cost of the last."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Growth:
    """Due when a count is `share` larger than at the last time, and at least `least` larger.

    With a growth of 10 % all times together cost at most eleven times as much as the last one:
    1 + 1/1.1 + 1/1.1^2 + ...
    """

    share: float = 0.1
    least: int = 100  # an early crawl grows by 10 % with every page
    last: int = 0

    def is_due(self, count: int) -> bool:
        """Whether it is time; if so the next time counts from here."""
        if count - self.last < max(self.least, self.share * self.last):
            return False
        self.last = count
        return True
