"""The level of a URL as its queue entry has it."""

from __future__ import annotations

from typing import NamedTuple


class Level(NamedTuple):
    """How much later than others a URL is queued, and why."""

    run: int
    number: int
    is_first: bool = False  # of the new URLs of its page
    is_trial: bool = False  # it is requested in the place of level 0
