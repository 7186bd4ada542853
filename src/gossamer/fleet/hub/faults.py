"""Why a request of a unit was refused."""

from __future__ import annotations

from gossamer.errors import GossamerError
from gossamer.fleet.protocol import FleetFault


class UnitRefusal(GossamerError):
    """A request of a unit is not answered; `status` is one of `protocol.FAULTS`."""

    def __init__(self, status: int, error: str, reason: str = "", retry_s: float = 0.0) -> None:
        super().__init__(error)
        self.status = status
        self.fault = FleetFault(error=error, reason=reason, retry_s=retry_s)
