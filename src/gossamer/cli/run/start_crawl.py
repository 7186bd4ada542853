"""Start or resume a crawl from the parsed arguments of `gossamer crawl`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from gossamer.base.garbage import search_later, search_seldom


def begin(given: Mapping[str, Any]) -> int:
    """Crawl with the given flags, by their names, and return the exit code."""
    search_later()
    from gossamer.cli.run.planned import named_as_typed, planned
    from gossamer.cli.run.run_crawl import run_crawl

    search_seldom()
    plan = planned(given)
    with named_as_typed(plan.typed_as):
        if given["dry_run"]:
            from gossamer.cli.run.dry_run import show_forecast

            show_forecast(plan, is_json=given["json"])
            return 0
        code = run_crawl(plan, as_json=given["json"])
    sys.stdout.flush()
    return code
