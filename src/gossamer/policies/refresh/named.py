"""The refresh policies by their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gossamer.policies.refresh.optimal import Optimal
from gossamer.policies.refresh.policy import RefreshPolicy
from gossamer.policies.refresh.proportional import Proportional
from gossamer.policies.refresh.random_order import RandomProportional, RandomUniform
from gossamer.policies.refresh.uniform import Uniform

# The setting `refresh.policy` (`settings.py`) lists the same names.
REFRESH_POLICIES: Final[dict[str, Callable[[], RefreshPolicy]]] = {
    "uniform": Uniform,
    "proportional": Proportional,
    "optimal": Optimal,
}
_IN_RANDOM_ORDER: Final[dict[str, Callable[..., RefreshPolicy]]] = {
    "uniform": RandomUniform,
    "proportional": RandomProportional,
}


def refresh_named(name: str, *, is_random: bool = False, seed: int = 0) -> RefreshPolicy:
    """A new policy of this name. Raises KeyError for a name that does not exist.

    `is_random`: each round in a new order; `optimal` has no rounds, and stays as it is.
    """
    if is_random and name in _IN_RANDOM_ORDER:
        return _IN_RANDOM_ORDER[name](seed=seed)
    return REFRESH_POLICIES[name]()
