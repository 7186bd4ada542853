"""Start a watch from the parsed arguments of `gossamer watch`: a crawl without end that prints
changes, or one round of visits."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Final

from gossamer.base.durations import seconds_of
from gossamer.base.garbage import search_later, search_seldom
from gossamer.cli.collection import collection_at
from gossamer.cli.plain import plain_values
from gossamer.errors import UsageError
from gossamer.settings import Refresh

AUTO: Final = "auto"
_OWN: Final = ("every", "once")  # flags that `crawl` does not have


def begin_watch(given: Mapping[str, Any]) -> int:
    """Watch with the given flags, by their names, and return the exit code."""
    search_later()
    from gossamer.cli.run.planned import named_as_typed, planned
    from gossamer.cli.run.run_watch import run_watch
    from gossamer.collection.directory import CollectionPaths

    search_seldom()
    values = crawl_values(given)
    is_known = CollectionPaths(collection_at(given["collection"])).exists
    values["revisit"] = given["once"] and is_known
    values["forever"] = not given["once"]
    plan = planned(values)
    with named_as_typed(plan.typed_as):
        code = run_watch(plan, as_json=given["json"])
    sys.stdout.flush()
    return code


def crawl_values(given: Mapping[str, Any]) -> dict[str, Any]:
    """The same command as one of `gossamer crawl`. Raises UsageError."""
    values = plain_values(()) or {}
    values.update((name, value) for name, value in given.items() if name not in _OWN)
    settings = [f"{key}={value}" for key, value in _timing(given["every"]).items()]
    values["set_"] = [*settings, *(given["set_"] or ())]
    return values


def _timing(every: str) -> dict[str, object]:
    """The settings for `--every`."""
    if every == AUTO:
        usual = Refresh()  # an earlier watch may have stored others
        return {
            "refresh.policy": "optimal",
            "refresh.min_interval_s": usual.min_interval_s,
            "refresh.lists_every_s": usual.lists_every_s,
        }
    try:
        seconds = seconds_of(every)
    except ValueError as fault:
        raise UsageError(f"--every {every}: {fault}, or auto") from fault
    return {
        "refresh.policy": "uniform",
        "refresh.min_interval_s": seconds,
        "refresh.lists_every_s": seconds,  # a new page may be in the sitemap only
    }
