"""From runs to figures: ratios within a round, their median, and how far the rounds lie apart.

Pure. A ratio is taken between runs of one round, which a noisy machine disturbs alike; a figure's
value is the median over the rounds, and its spread is (largest - smallest) / median.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl by one crawler."""

    crawler: str
    round: int
    pages: int
    wall_s: float
    cpu_s: float
    peak_mb: float
    server_cpu_s: float = 0.0

    @property
    def cores(self) -> float:
        """Cores kept busy by crawler and server together."""
        return (self.cpu_s + self.server_cpu_s) / self.wall_s

    @property
    def per_cpu_s(self) -> float:
        return self.pages / self.cpu_s

    @property
    def per_s(self) -> float:
        return self.pages / self.wall_s


@dataclass(frozen=True, slots=True)
class Figure:
    """What was measured, a value per round, and what is wanted."""

    name: str
    runs: tuple[float, ...]
    gate: float | None = None
    aim: float | None = None
    is_least: bool = True  # gate and aim are least values; else they are most

    @property
    def value(self) -> float:
        return median(self.runs)

    @property
    def spread(self) -> float:
        return (max(self.runs) - min(self.runs)) / (self.value or 1.0)

    @property
    def verdict(self) -> str:
        if self.gate is None or self.aim is None:
            return ""
        if self._reaches(self.aim):
            return "aim"
        return "gate" if self._reaches(self.gate) else "missed"

    def _reaches(self, wanted: float) -> bool:
        return self.value >= wanted if self.is_least else self.value <= wanted

    def as_json(self) -> str:
        return json.dumps({
            "figure": self.name,
            "value": _rounded(self.value),
            "gate": self.gate,
            "aim": self.aim,
            "better": "more" if self.is_least else "less",
            "reached": self.verdict,
            "runs": [_rounded(run) for run in self.runs],
            "spread": _rounded(self.spread),
        })  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ratio:
    """A figure of DESIGN: `rate` of one crawler against that of another."""

    name: str
    crawler: str
    against: str
    rate: Callable[[Run], float]
    gate: float | None = None
    aim: float | None = None
    is_least: bool = True


ALL: Final = "gossamer"
BARE: Final = "gossamer --no-index --no-graph"
MANY: Final = "gossamer, many hosts"
ALONE: Final = "gossamer --workers 0, many hosts"
RATIOS: Final = (
    Ratio(
        "pages per CPU-second, everything on, against Scrapy", ALL, "Scrapy",
        lambda run: run.per_cpu_s, gate=12, aim=15,
    ),
    Ratio(
        "pages per CPU-second, fetch and archive only, against wget2 -r", BARE, "wget2 -r",
        lambda run: run.per_cpu_s, gate=0.5, aim=0.7,
    ),
    Ratio(
        "pages/s wall, everything on, against wget2 -r", ALL, "wget2 -r",
        lambda run: run.per_s, gate=0.4, aim=0.75,
    ),
    Ratio(
        "pages/s wall, fetch and archive only, against wget2 -r", BARE, "wget2 -r",
        lambda run: run.per_s, gate=0.4, aim=0.75,
    ),
    Ratio(
        "pages per CPU-second, workers on all cores against none", MANY, ALONE,
        lambda run: run.per_cpu_s, gate=0.85, aim=0.95,
    ),
    Ratio(
        "CPU per page, everything on, against fetch and archive only", ALL, BARE,
        lambda run: 1 / run.per_cpu_s, gate=1.8, aim=1.4, is_least=False,
    ),
    Ratio("pages per CPU-second, everything on, against wget2 -r", ALL, "wget2 -r",
          lambda run: run.per_cpu_s),
    Ratio("pages per CPU-second, everything on, against HTTrack", ALL, "HTTrack",
          lambda run: run.per_cpu_s),
)  # fmt: skip


def ratio_figures(runs: Sequence[Run]) -> list[Figure]:
    """The ratios whose crawlers both ran."""
    found = {(run.crawler, run.round): run for run in runs}
    rounds = sorted({run.round for run in runs})
    figures = []
    for ratio in RATIOS:
        pairs = [(found.get((ratio.crawler, n)), found.get((ratio.against, n))) for n in rounds]
        values = tuple(ratio.rate(one) / ratio.rate(two) for one, two in pairs if one and two)
        if values:
            figures.append(Figure(ratio.name, values, ratio.gate, ratio.aim, ratio.is_least))
    return figures


def cores_figure(runs: Sequence[Run]) -> Figure:
    """On two cores; a machine with more has another gate."""
    own = tuple(run.cores for run in runs if run.crawler == MANY)
    return Figure("cores kept busy by crawler and server, workers on all", own, 1.8, 1.9)


def rate_figures(runs: Sequence[Run]) -> list[Figure]:
    """What each crawler did, with nothing to compare."""
    figures = []
    for crawler in dict.fromkeys(run.crawler for run in runs):
        own = [run for run in runs if run.crawler == crawler]
        figures += [
            Figure(f"pages, {crawler}", tuple(run.pages for run in own)),
            Figure(f"pages per CPU-second, {crawler}", tuple(run.per_cpu_s for run in own)),
            Figure(f"pages/s wall, {crawler}", tuple(run.per_s for run in own)),
            Figure(f"largest process in MB, {crawler}", tuple(run.peak_mb for run in own)),
        ]
    return figures


def table(figures: Iterable[Figure]) -> str:
    """Figures as Markdown."""
    lines = ["| figure | value | gate | aim | reached | spread |", "|---|---|---|---|---|---|"]
    for figure in figures:
        sign = ">=" if figure.is_least else "<="
        wanted = [f"{sign} {n:g}" if n is not None else "" for n in (figure.gate, figure.aim)]
        cells = [figure.name, f"{_rounded(figure.value):g}", *wanted, figure.verdict]
        lines.append(f"| {' | '.join(cells)} | {figure.spread:.0%} |")
    return "\n".join(lines)


def _rounded(value: float) -> float:
    """Three digits say what such a measurement knows."""
    return float(f"{value:.3g}") if value < 1000 else round(value)
