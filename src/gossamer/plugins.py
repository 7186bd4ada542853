"""Plug-ins: what other installed packages add, by entry points.

A package names an object in its metadata, in one of the groups below:

    [project.entry-points."gossamer.order"]
    short = "gossamer_short:ShortFirst"

The object is called without arguments and gives the plug-in. Nothing is imported until somebody
asks for a plug-in by its name. A plug-in that cannot be used is a `PluginError`: one sentence that
names the package that it came with. `docs/plugins.md` tells authors what each group expects.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final, Protocol

from gossamer.errors import PluginError

ORDER: Final = "gossamer.order"
REFRESH: Final = "gossamer.refresh"
CLASSIFIER: Final = "gossamer.classifier"
ANALYSIS: Final = "gossamer.analysis"
EXPORT: Final = "gossamer.export"
_WORDS: Final = {
    ORDER: "order",
    REFRESH: "refresh policy",
    CLASSIFIER: "classifier",
    ANALYSIS: "analysis",
    EXPORT: "export format",
}


class _Distribution(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...


class _EntryPoint(Protocol):
    """An entry point of `importlib.metadata`, as far as it is used here."""

    @property
    def name(self) -> str: ...

    @property
    def dist(self) -> _Distribution | None: ...

    def load(self) -> Any: ...


def _entry_points(group: str) -> list[_EntryPoint]:
    # Needed only where a plug-in is asked for, and takes 40 ms: 20 to import, 20 to look around.
    from importlib.metadata import entry_points

    return list(entry_points(group=group))


@dataclass(frozen=True, slots=True)
class Plugin:
    """A loaded plug-in and where it came from. `made` has all members that were asked for."""

    group: str
    name: str
    distribution: str  # name and version of the package
    made: Any

    def __str__(self) -> str:
        return f"the {_WORDS[self.group]} {self.name!r} of {self.distribution}"


def plugin_names(group: str) -> tuple[str, ...]:
    """The names that installed packages offer in a group. Imports none of them."""
    return tuple(sorted({point.name for point in _entry_points(group)}))


def load_plugin(group: str, name: str, members: Collection[str]) -> Plugin:
    """Import and make a plug-in, and check that it has `members`. Raises PluginError."""
    point = _find(group, name)
    plugin = Plugin(group, name, _distribution(point), None)
    try:
        made = point.load()()
    except (Exception, SystemExit) as fault:
        raise PluginError(
            f"{plugin} cannot be loaded ({_one_line(fault)}); update or uninstall it"
        ) from fault
    missing = [member for member in members if not hasattr(made, member)]
    if missing:
        raise PluginError(
            f"{plugin} is incomplete: it has no {', '.join(missing)}; update or uninstall it"
        )
    return Plugin(group, name, plugin.distribution, made)


def _find(group: str, name: str) -> _EntryPoint:
    points = [point for point in _entry_points(group) if point.name == name]
    found = {_distribution(point): point for point in points}
    if not found:
        names = ", ".join(plugin_names(group)) or "none"
        raise PluginError(f"no {_WORDS[group]} is called {name!r}; installed are: {names}")
    if len(found) > 1:
        packages = " and ".join(sorted(found))
        raise PluginError(
            f"the {_WORDS[group]} {name!r} is offered by {packages}; uninstall all but one"
        )
    return next(iter(found.values()))


def _distribution(point: _EntryPoint) -> str:
    if point.dist is None:
        return "an unknown package"
    return f"{point.dist.name} {point.dist.version}"


def plugin_fault(plugin: Plugin, what: str, fault: BaseException) -> PluginError:
    """The error for a plug-in that failed while it was used."""
    return PluginError(f"{plugin} failed {what} ({_one_line(fault)}); update or uninstall it")


def _one_line(fault: BaseException) -> str:
    text = " ".join(str(fault).split())
    return f"{type(fault).__name__}: {text}"[:300] if text else type(fault).__name__
