"""What does one setting change, when all others are held? (A single-factor experiment.)

    python -m bench.vary                                  every factor below, three rounds
    python -m bench.vary --only fetch.connections         one of them
    python -m bench.vary --factor KEY=V1,V2,... [...]     any setting that is a number

`gossamer lab tune` on real sites that nginx serves, for several factors. One line of JSON per point
with every run; a curve with its spread per factor in bench/out/vary-KEY.svg.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Final

from bench.crawl import machine, sites_named
from bench.crawlers import OUT
from bench.plots import Axes, Curve, Point, drawn
from bench.web import serving, warm

from gossamer.errors import UsageError
from gossamer.lab.tune.compare import point_of, table_of
from gossamer.lab.tune.crawls import TuneRun, varied
from gossamer.lab.tune.factor import HELD, Factor, factor_in

ROUNDS: Final = 3
SITES: Final = "postgresql,sqlite,cppreference"

FACTORS: Final = (
    Factor("fetch.connections", ("1", "4", "16", "64", "256")),
    Factor("politeness.per_host", ("1", "2", "4", "16", "64")),
    Factor("node.workers", ("0", "1", "2", "3")),
    Factor("node.commit_every_s", ("0.1", "0.3", "1", "3", "10")),
    Factor("archive.gzip_level", ("0", "1", "2", "3")),
    Factor("parse.language_chars", ("0", "300", "1000", "3000")),
    Factor("frontier.memory_mb", ("16", "48", "96", "256")),
)


def main() -> int:
    options = _options()
    sites = sites_named(options.sites.split(","))
    warm(sites)
    OUT.mkdir(exist_ok=True)
    lines = [f"{machine()}; {options.rounds} rounds on {options.sites}", ""]
    with serving(sites) as web:
        for factor in options.factors:
            runs = varied(factor, web.seeds, HELD, options.rounds, _tell)
            for value in factor.values:
                print(json.dumps(_figure(factor, _of(runs, value))), flush=True)
            (OUT / f"vary-{factor.key}.svg").write_text(plot_of(factor, runs), encoding="utf-8")
            lines += [_markdown(factor, runs), ""]
    text = "\n".join(lines)
    (OUT / "vary.md").write_text(text, encoding="utf-8")
    print(f"\n{text}", file=sys.stderr)
    return 0


def _tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def _of(runs: Sequence[TuneRun], value: str) -> list[TuneRun]:
    return [run for run in runs if run.value == value]


def _figure(factor: Factor, runs: Sequence[TuneRun]) -> dict[str, object]:
    """One value of one factor, as JSON."""
    named = {"figure": f"{factor.key} = {runs[0].value}", "factor": factor.key}
    return {**named, "x": float(runs[0].value), **point_of(runs), "gate": None, "aim": None}


def plot_of(factor: Factor, runs: Sequence[TuneRun]) -> str:
    """Both rates over the values, which stand at even distances: they double rather than step."""
    wall, cpu = [], []
    for value in factor.values:
        own = _of(runs, value)
        wall.append(Point(float(value), tuple(run.per_s for run in own)))
        cpu.append(Point(float(value), tuple(run.per_cpu_s for run in own)))
    curves = [Curve("pages/s", tuple(wall)), Curve("pages per CPU-second", tuple(cpu))]
    title = f"What {factor.key} changes; all else held"
    return drawn(Axes(title, factor.key, "pages", is_even=True), curves)


def _markdown(factor: Factor, runs: Sequence[TuneRun]) -> str:
    table = table_of(factor, runs)
    lines = [table.columns, ["---"] * len(table.columns), *table.rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _number_factor(text: str) -> Factor:
    """`KEY=V1,V2` as a factor whose values can be drawn."""
    try:
        factor = factor_in(text)
        for value in factor.values:
            float(value)
    except (UsageError, ValueError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return factor


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=[factor.key for factor in FACTORS])
    parser.add_argument("--factor", nargs="+", type=_number_factor, metavar="KEY=V1,V2")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"default {ROUNDS}")
    parser.add_argument("--sites", default=SITES, help=f"default {SITES}")
    options = parser.parse_args()
    wanted = [factor for factor in FACTORS if options.only and factor.key in options.only]
    options.factors = options.factor or wanted or FACTORS
    return options


if __name__ == "__main__":
    sys.exit(main())
