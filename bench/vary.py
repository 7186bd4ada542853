"""What does one setting change, when all others are held? (A single-factor experiment.)

    python -m bench.vary                                  every factor below, three rounds
    python -m bench.vary --only fetch.connections         one of them
    python -m bench.vary --factor KEY=V1,V2,... [...]     any setting that is a number

For each factor the same sites are crawled from nothing with each of its values; the order turns
from round to round, so that what the surroundings do falls on all values alike. One line of JSON
per point with every run; a curve with its spread per factor in bench/out/vary-KEY.svg.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from bench.crawl import machine, sites_named
from bench.crawlers import OUT
from bench.plots import Axes, Curve, Point, drawn
from bench.processes import Crawled, crawl
from bench.web import serving, warm

ROUNDS: Final = 3
SITES: Final = "postgresql,sqlite,cppreference"
HELD: Final = {
    "politeness.host_delay_s": "0",
    "politeness.per_host": "16",
    "fetch.connections": "64",
}


@dataclass(frozen=True, slots=True)
class Factor:
    """A setting and the values that it is given in turn."""

    key: str
    values: tuple[str, ...]


FACTORS: Final = (
    Factor("fetch.connections", ("1", "4", "16", "64", "256")),
    Factor("politeness.per_host", ("1", "2", "4", "16", "64")),
    Factor("node.workers", ("0", "1", "2", "3")),
    Factor("node.commit_every_s", ("0.1", "0.3", "1", "3", "10")),
    Factor("archive.gzip_level", ("0", "1", "2", "3")),
    Factor("parse.language_chars", ("0", "300", "1000", "3000")),
    Factor("frontier.memory_mb", ("16", "48", "96", "256")),
)


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl with one value."""

    value: str
    pages: int
    crawled: Crawled

    @property
    def per_s(self) -> float:
        return self.pages / float(self.crawled.summary["wall_s"])

    @property
    def per_cpu_s(self) -> float:
        return self.pages / self.crawled.cpu_s


def main() -> int:
    options = _options()
    sites = sites_named(options.sites.split(","))
    warm(sites)
    OUT.mkdir(exist_ok=True)
    lines = [f"{machine()}; {options.rounds} rounds on {options.sites}", ""]
    with serving(sites) as web:
        for factor in options.factors:
            runs = varied(factor, web.seeds, options.rounds)
            for value in factor.values:
                print(json.dumps(point_of(factor, _of(runs, value))), flush=True)
            (OUT / f"vary-{factor.key}.svg").write_text(plot_of(factor, runs), encoding="utf-8")
            lines += [table_of(factor, runs), ""]
    text = "\n".join(lines)
    (OUT / "vary.md").write_text(text, encoding="utf-8")
    print(f"\n{text}", file=sys.stderr)
    return 0


def varied(factor: Factor, seeds: Sequence[str], rounds: int) -> list[Run]:
    """Crawl with each value in each round, another one first each time."""
    runs: list[Run] = []
    for number in range(rounds):
        turn = number % len(factor.values)
        for value in factor.values[turn:] + factor.values[:turn]:
            runs.append(_run(factor, value, seeds))
            print(
                f"round {number + 1}: {factor.key} = {value}: {runs[-1].per_s:.0f} pages/s, "
                f"{runs[-1].per_cpu_s:.0f} per CPU-second",
                file=sys.stderr,
                flush=True,
            )
    return runs


def _run(factor: Factor, value: str, seeds: Sequence[str]) -> Run:
    settings = {**HELD, factor.key: value}
    flags = [word for key, text in settings.items() for word in ("--set", f"{key}={text}")]
    with tempfile.TemporaryDirectory(prefix="bench-vary-") as home:
        log = OUT / f"vary-{factor.key}.log"
        crawled = crawl([*seeds, "-c", str(Path(home) / "collection"), *flags], log)
    return Run(value, int(crawled.summary["fetched"]), crawled)


def _of(runs: Sequence[Run], value: str) -> list[Run]:
    return [run for run in runs if run.value == value]


def point_of(factor: Factor, runs: Sequence[Run]) -> dict[str, object]:
    """One value of one factor, as JSON."""
    return {
        "figure": f"{factor.key} = {runs[0].value}",
        "factor": factor.key,
        "x": float(runs[0].value),
        "pages": runs[0].pages,
        "pages_per_s": round(median(run.per_s for run in runs), 1),
        "pages_per_cpu_s": round(median(run.per_cpu_s for run in runs), 1),
        "peak_mb": round(median(run.crawled.peak_mb for run in runs), 1),
        "runs_per_s": [round(run.per_s, 1) for run in runs],
        "runs_per_cpu_s": [round(run.per_cpu_s, 1) for run in runs],
        "gate": None,
        "aim": None,
    }


def plot_of(factor: Factor, runs: Sequence[Run]) -> str:
    """Both rates over the values, which stand at even distances: they double rather than step."""
    wall, cpu = [], []
    for value in factor.values:
        own = _of(runs, value)
        wall.append(Point(float(value), tuple(run.per_s for run in own)))
        cpu.append(Point(float(value), tuple(run.per_cpu_s for run in own)))
    curves = [Curve("pages/s", tuple(wall)), Curve("pages per CPU-second", tuple(cpu))]
    title = f"What {factor.key} changes; all else held"
    return drawn(Axes(title, factor.key, "pages", is_even=True), curves)


def table_of(factor: Factor, runs: Sequence[Run]) -> str:
    """The factor as Markdown; the spread is (largest - smallest) / median."""
    lines = [
        f"| {factor.key} | pages/s | spread | pages per CPU-second | spread | node, MB |",
        "|---|---|---|---|---|---|",
    ]
    for value in factor.values:
        own = _of(runs, value)
        wall, cpu = [run.per_s for run in own], [run.per_cpu_s for run in own]
        peak_mb = median(run.crawled.peak_mb for run in own)
        lines.append(
            f"| {value} | {median(wall):.0f} | {_spread(wall):.0%} | {median(cpu):.0f} "
            f"| {_spread(cpu):.0%} | {peak_mb:.0f} |"
        )
    return "\n".join(lines)


def _spread(values: Sequence[float]) -> float:
    return (max(values) - min(values)) / median(values)


def factor_in(text: str) -> Factor:
    """`KEY=V1,V2` as a factor; the crawl itself says when there is no such setting."""
    key, _, values = text.partition("=")
    chosen = tuple(value.strip() for value in values.split(",") if value.strip())
    if not chosen:
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE,VALUE")
    for value in chosen:
        try:
            float(value)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{value!r} in {text!r} is no number") from None
    return Factor(key, chosen)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=[factor.key for factor in FACTORS])
    parser.add_argument("--factor", nargs="+", type=factor_in, metavar="KEY=V1,V2")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"default {ROUNDS}")
    parser.add_argument("--sites", default=SITES, help=f"default {SITES}")
    options = parser.parse_args()
    wanted = [factor for factor in FACTORS if options.only and factor.key in options.only]
    options.factors = options.factor or wanted or FACTORS
    return options


if __name__ == "__main__":
    sys.exit(main())
