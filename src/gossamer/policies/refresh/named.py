"""The refresh policies by their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gossamer.policies.refresh.policy import RefreshPolicy
from gossamer.policies.refresh.uniform import Uniform

# The setting `refresh.policy` (`settings.py`) lists the same names.
REFRESH_POLICIES: Final[dict[str, Callable[[], RefreshPolicy]]] = {"uniform": Uniform}


def refresh_named(name: str) -> RefreshPolicy:
    """A new policy of this name. Raises KeyError for a name that does not exist."""
    return REFRESH_POLICIES[name]()
