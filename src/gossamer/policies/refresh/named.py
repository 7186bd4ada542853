"""The refresh policies by their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

from gossamer.plugins import REFRESH, Plugin, load_plugin, plugin_fault
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


_MEMBERS: Final = (
    "add", "restore", "remove", "visited", "missed", "hint", "choose", "rate", "due_s", "freshness",
    "age_s", "known", "figures", "restore_figures",
)  # fmt: skip


def refresh_named(name: str, *, is_random: bool = False, seed: int = 0) -> RefreshPolicy:
    """A new policy of this name, ours or a plug-in. Raises PluginError for one that cannot be used.

    `is_random`: each round in a new order; `optimal` has no rounds, and stays as it is.
    """
    if is_random and name in _IN_RANDOM_ORDER:
        return _IN_RANDOM_ORDER[name](seed=seed)
    ours = REFRESH_POLICIES.get(name)
    if ours is not None:
        return ours()
    return cast("RefreshPolicy", PluginRefresh(load_plugin(REFRESH, name, _MEMBERS)))


class PluginRefresh:
    """A policy of another package, whose failures are errors of ours."""

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._plugin.made, name)
        if not callable(method):
            return method

        def guarded(*values: Any, **named: Any) -> Any:
            try:
                return method(*values, **named)
            except KeyError:  # a slot without a page, as the protocol has it
                raise
            except Exception as fault:
                raise plugin_fault(self._plugin, f"in {name}", fault) from fault

        return guarded
