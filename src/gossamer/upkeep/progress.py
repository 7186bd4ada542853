"""How upkeep reports its progress."""

from __future__ import annotations

from collections.abc import Callable

Tell = Callable[[str], None]  # receives one sentence for a person
