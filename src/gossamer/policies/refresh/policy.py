"""What a refresh policy is asked and told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Slots = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
NO_GROUP = -1


class KnownPage(NamedTuple):
    """What is known of a page, and what a collection stores of it: `shape` and `scale`."""

    last_s: float  # the last visit that was answered
    shape: float = 0.0  # changes seen; old ones count less
    scale: float = 0.0  # seconds in which they were seen; old ones count less
    weight: float = 1.0  # how much it matters that the copy is fresh
    group: int = NO_GROUP  # pages that change together, such as those of one directory
    modified_s: float = float("nan")  # the last change that is known; NaN: the page has none


class RefreshPolicy(Protocol):
    """Says which pages to visit next, and learns from each visit.

    Pure: it reads no clock, and randomness is seeded. `slot` is an integer from 0; slots that are
    removed may be used again. Where a method says "slots", one slot or an array is given, and the
    other arguments are single values or arrays of the same length.
    """

    def add(self, slot: int, now_s: float, *, weight: float = 1.0, group: int = NO_GROUP) -> None:
        """A page was fetched for the first time."""
        ...

    def restore(self, slot: int, page: KnownPage) -> None:
        """A page that an earlier run has left."""
        ...

    def remove(self, slot: int) -> None:
        """The page is not visited any more."""
        ...

    def visited(
        self,
        slots: int | Slots,
        now_s: float,
        is_changed: bool | Flags,
        modified_s: float | Floats | None = None,
    ) -> None:
        """The pages were visited now. `modified_s` is the time of the last change as the server
        gives it (Last-Modified); None or NaN where it gives none."""
        ...

    def missed(self, slots: int | Slots, until_s: float) -> None:
        """The visits failed. The pages are not chosen again before `until_s`."""
        ...

    def hint(self, slots: int | Slots, modified_s: float | Floats) -> None:
        """A sitemap or a feed says that the pages were changed then."""
        ...

    def choose(self, now_s: float, count: int) -> Slots:
        """The pages to visit next, the most urgent first; at most `count`.

        A page that was chosen is not chosen again until `visited` or `missed` tells its end.
        """
        ...

    def rate(self, slot: int) -> float:
        """How often the page changes, in changes per second, as far as is known."""
        ...

    def due_s(self, slot: int, visits_per_s: float) -> float:
        """About when the page is visited next; infinity for a page that was given up."""
        ...

    def freshness(self, now_s: float, slots: Slots | None = None) -> float:
        """The share of copies that are expected to be up to date; of all pages without `slots`."""
        ...

    def age_s(self, now_s: float, slots: Slots | None = None) -> float:
        """For how long copies are expected to be out of date, on average; 0 for a fresh one."""
        ...

    def known(self, slot: int) -> KnownPage:
        """What to store of a page, for `restore`."""
        ...

    def figures(self) -> dict[str, float]:
        """What to store of the policy as a whole, some numbers, for `restore_figures`."""
        ...

    def restore_figures(self, figures: Mapping[str, float]) -> None:
        """Take over the figures of an earlier run; call it before `restore`. Unknown names are
        ignored, missing ones have their defaults."""
        ...


def as_slots(slots: int | Slots) -> Slots:
    """One slot or many as an array."""
    return np.atleast_1d(np.asarray(slots, dtype=np.int64))


def as_array(value: Any, slots: Slots, kind: type[np.generic]) -> NDArray[Any]:
    """A single value or an array as an array of the length of `slots`."""
    return np.broadcast_to(np.asarray(value, dtype=kind), slots.shape)
