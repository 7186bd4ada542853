"""What does a setting or an order cost, on a machine that others use at the same time?

    python -m bench.pairs                                     the trap check and three orders
    python -m bench.pairs --base "" "--order opic" "--order best"
    python -m bench.pairs --program OTHER/.venv/bin/python    the same flags, by another version

Two crawls of the same sites run at the same time on the same core: one with the flags of `--base`,
one with other flags. So what else runs disturbs both alike, and the ratio of their CPU times varies
by 2 % where single crawls vary by 30 %. One line of JSON for each pair of flags.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bench.crawl import sites_named
from bench.crawlers import HERE, ours
from bench.web import serving, warm

SITES: Final = "python,postgresql,sqlite"
FLAGS: Final = ("--set frontier.trap_budget=0", "--order pagerank", "--order opic")


def start(
    program: str, flags: str, seeds: Sequence[str], home: Path, core: str
) -> subprocess.Popen[bytes]:
    """Start a crawl from nothing on one core."""
    home.mkdir()
    crawl = ours("pair", "--workers", "0", *shlex.split(flags)).command(home, seeds)
    command = [sys.executable, "-m", "bench.tree", str(home / "cost.json")]
    with (home / "log").open("wb") as log:
        return subprocess.Popen(
            [*command, "taskset", "-c", core, program, *crawl[1:]],
            cwd=HERE.parent,
            env={**os.environ, "HOME": str(home)},
            stdout=log,
            stderr=subprocess.STDOUT,
        )


def ratio(options: argparse.Namespace, flags: str, number: int, seeds: Sequence[str]) -> float:
    """The CPU time of a crawl with these flags, divided by that of the base beside it."""
    with tempfile.TemporaryDirectory(prefix="bench-pairs-") as folder:
        homes = {"base": Path(folder) / "base", "other": Path(folder) / "other"}
        facts = {"base": (sys.executable, options.base), "other": (options.program, flags)}
        names = ["base", "other"] if number % 2 else ["other", "base"]
        running = [start(*facts[name], seeds, homes[name], options.core) for name in names]
        for one in running:
            one.wait()
        costs = {
            name: json.loads((home / "cost.json").read_text(encoding="utf-8"))
            for name, home in homes.items()
        }
    if any(cost["exit"] for cost in costs.values()):
        sys.exit(f"a crawl failed: {flags or options.program}")
    return float(costs["other"]["cpu_s"] / costs["base"]["cpu_s"])


def main() -> int:
    options = _options()
    sites = sites_named(options.sites.split(","))
    warm(sites)
    with serving(sites) as web:
        for flags in options.flags or FLAGS:
            ratios = [ratio(options, flags, turn, web.seeds) for turn in range(options.rounds)]
            figure = {
                "flags": flags,
                "base": options.base,
                "cpu_ratio": round(statistics.median(ratios), 3),
                "rounds": [round(one, 3) for one in ratios],
            }
            print(json.dumps(figure), flush=True)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("flags", nargs="*", help="flags of a crawl, quoted, one text for each")
    parser.add_argument("--base", default="", help="flags of the crawl to compare with")
    parser.add_argument("--program", default=sys.executable, help="the Python of the other crawl")
    parser.add_argument("--sites", default=SITES)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--core", default="0")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
