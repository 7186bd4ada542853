"""The callback by which upkeep reports its progress."""

from __future__ import annotations

from collections.abc import Callable

Notify = Callable[[str], None]  # receives one sentence for a person
