"""Freshness and age of the copies of a crawl: figures, curves and sites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from starlette.responses import JSONResponse, Response

from gossamer.base.clock import iso_of
from gossamer.frontier.visits.freshness import Freshness
from gossamer.web.parameters import Parameters
from gossamer.web.render import duration_text
from gossamer.web.route import ViewContext
from gossamer.web.views.curves import Series, history_object
from gossamer.web.views.html import html

_DRAWN: Final = 400  # points of a curve; more are not visible


def freshness(context: ViewContext, parameters: Parameters) -> Response:
    """The figures and their history for programs."""
    name, fresh, series = _read(context, parameters)
    figures = fresh.as_json() if fresh is not None else None
    return JSONResponse({"schema": 1, "crawl": name, "freshness": figures, "series": series})


def freshness_page(context: ViewContext, parameters: Parameters) -> Response:
    _, fresh, series = _read(context, parameters)
    return html(
        context, parameters, "freshness.html",
        nav="changes", fresh=fresh, curves=curves_of(series), now_us=context.clock.wall_us(),
    )  # fmt: skip


def _read(context: ViewContext, parameters: Parameters) -> tuple[str, Freshness | None, Series]:
    name = parameters.text("c") or context.collections.first
    with context.collections.reader(name) as reader:
        fresh = reader.freshness()
    return name, fresh, history_object(context.collections.paths(name), name)["series"]


@dataclass(frozen=True, slots=True)
class Curve:
    """A drawing in a square of 100 by 100, with the texts at its sides."""

    title: str
    lines: tuple[tuple[str, str], ...]  # class of the line, and its points
    top: str
    bottom: str
    first: str
    last: str


def curves_of(series: Series) -> tuple[Curve, Curve]:
    """The curves of freshness and of age, each measured and predicted."""
    return (
        _curve("Freshness", series, "freshness", "predicted", is_share=True),
        _curve("Age", series, "age_s", "predicted_age_s", is_share=False),
    )


def _curve(title: str, series: Series, measured: str, predicted: str, *, is_share: bool) -> Curve:
    names = {"predicted": series[predicted], "measured": series[measured]}
    known = [value for values in names.values() for value in values if value is not None]
    places = [
        place
        for place in range(len(series["at_ms"]))
        if any(values[place] is not None for values in names.values())
    ]
    if len(places) < 2:
        return Curve(title, (), "", "", "", "")
    low, high = (_lowest(min(known)), 1.0) if is_share else (0.0, max(known) or 1.0)
    times = [series["at_ms"][place] for place in places]
    thin = places[:: max(1, len(places) // _DRAWN)]
    lines = tuple(
        (name, _points(thin, series["at_ms"], values, (times[0], times[-1]), (low, high)))
        for name, values in names.items()
    )
    top = f"{high:.0%}" if is_share else duration_text(high)
    bottom = f"{low:.0%}" if is_share else "0 s"
    return Curve(title, lines, top, bottom, _time(times[0]), _time(times[-1]))


def _lowest(share: float) -> float:
    """The lower end of an axis of shares: high values differ in their last percent."""
    return next((low for low in (0.9, 0.5) if share >= low), 0.0)


def _points(
    places: Sequence[int],
    times: Sequence[int],
    values: Sequence[float | None],
    ends: tuple[int, int],
    bounds: tuple[float, float],
) -> str:
    span_ms, height = max(1, ends[1] - ends[0]), bounds[1] - bounds[0]
    points = []
    for place in places:
        value: Any = values[place]
        if value is not None:
            x = (times[place] - ends[0]) / span_ms * 100
            y = 100 - (value - bounds[0]) / height * 100
            points.append(f"{x:.2f},{min(100.0, max(0.0, y)):.2f}")
    return " ".join(points)


def _time(at_ms: int) -> str:
    return iso_of(at_ms * 1000)[:16].replace("T", " ")
