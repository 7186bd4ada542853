"""`gossamer crawl --dry-run`: print the first requests that a crawl would send."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gossamer.base.clock import SystemClock
from gossamer.base.plurals import counted
from gossamer.cli.show.printable import printable
from gossamer.cli.show.text import change_text
from gossamer.node.dry_run import Forecast, HostForecast, as_json, make_forecast
from gossamer.node.session import CrawlPlan
from gossamer.settings import Settings, values_of


def show_forecast(plan: CrawlPlan, *, is_json: bool) -> None:
    """Print the forecast. Raises what the crawl would raise before it begins."""
    forecast = make_forecast(plan, SystemClock())
    if is_json:
        print(json.dumps(as_json(forecast)))
    else:
        print(printable("\n".join(_lines(plan, forecast))))


def _lines(plan: CrawlPlan, forecast: Forecast) -> Iterator[str]:
    yield "Dry run: no request was sent, and nothing was written."
    if forecast.is_new:
        yield f"A new collection would be created in {forecast.collection}."
    else:
        yield (
            f"The crawl in {forecast.collection} would resume: "
            f"{counted(forecast.fetched, 'page')} fetched, "
            f"{counted(forecast.queued, 'URL')} queued"
            + (f", {forecast.revisits:,} to visit again." if forecast.revisits else ".")
        )
    yield from _block("Settings that differ from their default", _settings(forecast))
    changed = (change_text(plan, key, *values) for key, values in forecast.changed.items())
    yield from _block("Changed since the last run", list(changed))
    yield from _block("Seeds", _some(forecast.seeds))
    first = (f"{a.in_s:9.1f} s  {a.purpose:<7}  {a.url}{_score(a.score)}" for a in forecast.first)
    yield from _block("First requests, with the earliest time", list(first))
    left = forecast.not_asked_count - len(forecast.not_asked)
    not_asked = [f"{n.url}  {n.reason}: {n.detail}" for n in forecast.not_asked]
    yield from _block("Not requested", not_asked + ([f"and {left} more"] if left else []))
    yield from _block("Hosts", list(map(_host, forecast.hosts)))
    yield from _block("Notes", list(forecast.remarks))


def _block(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"\n{title}:"
        yield from (f"  {line}" for line in lines)


def _settings(forecast: Forecast) -> list[str]:
    default = values_of(Settings())
    return [
        f"{key} = {json.dumps(value, ensure_ascii=False)}  # {forecast.origin.get(key, 'default')}"
        for key, value in forecast.settings.items()
        if value != default[key]
    ]


def _some(seeds: Sequence[str], at_most: int = 20) -> list[str]:
    left = len(seeds) - at_most
    return [*seeds[:at_most], *([f"and {left} more"] if left > 0 else [])]


def _host(host: HostForecast) -> str:
    robots = {
        "known": "robots.txt is known",
        "asked first": "robots.txt is requested first",
        "not asked": "own host, robots.txt is not requested",
    }[host.robots]
    return (
        f"{host.host}: {host.queued} queued, {counted(host.at_once, 'request')} at a time, "
        f"{host.delay_s:g} s delay after each; {robots}"
    )


def _score(parts: Mapping[str, Any] | None) -> str:
    """The score of a URL and the parts of a mix, in brackets."""
    if parts is None:
        return ""
    if parts["is_seed"]:
        return "  (seed)"
    shares = [f"{one['order']} {one['value']:.3g}" for one in parts["parts"]]
    told = f"; {', '.join(shares)}" if len(shares) > 1 else ""
    return f"  ({parts['among_sites']:.3g}{told}; {parts['links']} links)"
