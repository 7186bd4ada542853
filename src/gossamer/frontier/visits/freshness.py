"""The freshness of a collection, as the last commit of a crawl that visits pages again knows it.

One row of the table META. `status`, `why`, the web page and metrics read it, beside the running
crawl or after it.
"""

from __future__ import annotations

from msgspec import Struct, structs

from gossamer.base.packing import pack, unpacker


class SiteFreshness(Struct, array_like=True, frozen=True):
    """The figures of one host."""

    host: str
    pages: int
    predicted: float  # share of copies that should be up to date, by the policy
    predicted_age_s: float
    measured: float | None  # share of time in which copies were up to date; None: no visit yet
    age_s: float | None
    next_us: int  # about when one of its pages is visited next; 0: unknown


class Freshness(Struct, array_like=True, frozen=True):
    """The figures of all pages, and of the hosts with most pages."""

    at_us: int
    policy: str
    pages: int
    predicted: float
    predicted_age_s: float
    measured: float | None
    age_s: float | None
    visits_per_s: float
    next_us: int
    due_hour: int  # pages that are due within an hour
    due_day: int
    given_up: int  # pages that change too fast for the budget
    sums: tuple[float, float, float]  # what `measured` and `age_s` are made from
    sites: tuple[SiteFreshness, ...] = ()
    policy_figures: dict[str, float] = {}  # what the policy keeps (msgspec copies the default)

    def encode(self) -> bytes:
        return pack(self)

    @classmethod
    def decode(cls, row: bytes) -> Freshness:
        """Raises ValueError when these are no bytes of `encode`."""
        return _unpack(row)

    def as_json(self) -> dict[str, object]:
        """For `status --json` and the API."""
        figures = structs.asdict(self)
        del figures["sums"], figures["policy_figures"]
        return {**figures, "sites": [structs.asdict(site) for site in self.sites]}


_unpack = unpacker(Freshness)
