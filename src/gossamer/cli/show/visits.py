"""The lines of `gossamer status` about visits: what they found, freshness, and who was told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gossamer.base.durations import UNITS_S
from gossamer.base.plurals import counted

_FOUND: Final = ("unchanged", "changed", "gone", "back", "moved", "missed")


def visit_lines(facts: Mapping[str, Any], now_us: int) -> Iterator[str]:
    """Yield the lines of a snapshot that has anything to say."""
    if line := visits_text(facts.get("visited", {})):
        yield line
    if fresh := facts.get("freshness"):
        yield freshness_text(fresh, now_us)
    for target, told in facts.get("notified", {}).items():
        yield notified_text(target, told)


def visits_text(visited: Mapping[str, int]) -> str:
    """`visits: 120 of known pages: 100 unchanged, 20 changed; 3 pages wait for one`; empty if no
    page was visited again and none is to be.
    """
    if not visited.get("visits") and not visited.get("revisits"):
        return ""
    found = [f"{visited[name]:,} {name}" for name in _FOUND if visited.get(name)]
    text = f"visits of known pages: {visited['visits']:,}"
    if found:
        text += f" ({', '.join(found)})"
    if waiting := visited["revisits"]:
        text += f"; {counted(waiting, 'page')} waiting for a visit"
    return text


def freshness_text(fresh: Mapping[str, Any], now_us: int) -> str:
    """`freshness: 93.6 % measured, 94.1 % predicted; ...`."""
    parts = [
        (
            f"freshness: {_percent(fresh['measured'])} measured, "
            f"{_percent(fresh['predicted'])} predicted"
        ),
        f"age: {_long(fresh['age_s'])} measured, {_long(fresh['predicted_age_s'])} predicted",
    ]
    if fresh["next_us"]:
        in_s = (fresh["next_us"] - now_us) / 1e6
        parts.append(f"next visit {'now' if in_s < 1 else f'in {_long(in_s)}'}")
    parts.append(f"{counted(fresh['due_hour'], 'page')} due within an hour")
    return "; ".join(parts)


def _percent(share: float | None) -> str:
    return "not yet" if share is None else f"{share:.1%}"


def _long(seconds: float | None) -> str:
    """A duration in its largest fitting unit: `3.2 d`."""
    if seconds is None:
        return "not yet"
    if seconds < 1:
        return "below 1 s"
    unit, length_s = next(
        ((unit, length) for unit, length in reversed(UNITS_S.items()) if seconds >= length),
        ("s", 1.0),
    )
    return f"{seconds / length_s:.3g} {unit}"


def notified_text(target: str, told: Mapping[str, Any]) -> str:
    """`webhook: 12 changes delivered, 3 waiting`, and what went wrong last."""
    parts = [f"{counted(told['delivered'], 'change')} delivered", f"{told['waiting']:,} waiting"]
    if told["skipped"]:
        parts.append(f"{told['skipped']:,} skipped")
    text = f"{target}: {', '.join(parts)}"
    if told["fault"]:
        text += f"; {counted(told['failures'], 'failed attempt')}, the last: {told['fault']}"
    return text
