"""What a process does with links to pages that another process owns.

firewall         it drops them
cross-over       it fetches such a page when it has no page of its own left
exchange         it sends each URL once to the owner
exchange-all     it sends every link
exchange-batch   it collects links, and sends each URL once per batch with the number of links
dynamic          a coordinator gives pieces of the web to the process with the least work, when
                 their first URL is found; each URL is sent once
independent      nobody owns anything, and nothing is sent
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final


class Sending(Enum):
    """How links to pages of others are sent."""

    NOTHING = "nothing"
    ONCE = "each URL once"
    ALL = "every link"
    BATCHES = "each URL once per batch"


@dataclass(frozen=True, slots=True)
class Mode:
    """A way to divide the work."""

    name: str
    assignment: str  # static, dynamic or independent
    sending: Sending = Sending.NOTHING
    fetches_foreign: bool = False  # pages of others, when there is no own page left

    @property
    def keeps_all(self) -> bool:
        """Whether each process has a list of known pages of its own, as it may fetch any."""
        return self.fetches_foreign or self.assignment == "independent"


FIREWALL: Final = Mode("firewall", "static")
CROSS_OVER: Final = Mode("cross-over", "static", fetches_foreign=True)
EXCHANGE: Final = Mode("exchange", "static", Sending.ONCE)
EXCHANGE_ALL: Final = Mode("exchange-all", "static", Sending.ALL)
EXCHANGE_BATCH: Final = Mode("exchange-batch", "static", Sending.BATCHES)
DYNAMIC: Final = Mode("dynamic", "dynamic", Sending.ONCE)
INDEPENDENT: Final = Mode("independent", "independent")

STATIC: Final = (FIREWALL, CROSS_OVER, EXCHANGE, EXCHANGE_ALL, EXCHANGE_BATCH)
MODES: Final = {mode.name: mode for mode in (*STATIC, DYNAMIC, INDEPENDENT)}
