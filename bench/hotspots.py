"""Where does the time of a crawl go?

    python -m bench.hotspots [--sites postgresql] [--sort tottime|cumtime] [FLAG...]

Crawls the sites once under cProfile, which makes Python about twice as slow and sees only one
process, and prints the 40 dearest functions; further flags go to `gossamer crawl`. The whole
profile stays in bench/out/crawl.prof, for snakeviz and its like.

A profile that costs nothing and sees C code and all processes: py-spy, installed apart, while a
crawl runs (PID is in COLLECTION/run/lock):

    py-spy record --native --subprocesses --rate 200 --duration 20 -o crawl.svg --pid PID
    py-spy top --subprocesses --pid PID
"""

from __future__ import annotations

import argparse
import pstats
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from bench.crawl import sites_named
from bench.crawlers import HERE, OUT, ours
from bench.web import serving, warm

TOP: Final = 40


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sites", default="postgresql")
    parser.add_argument("--sort", choices=("tottime", "cumtime"), default="tottime")
    options, flags = parser.parse_known_args()
    sites = sites_named(options.sites.split(","))
    warm(sites)
    OUT.mkdir(exist_ok=True)
    profile = OUT / "crawl.prof"
    with serving(sites) as web, tempfile.TemporaryDirectory(prefix="bench-crawl-") as home:
        python, *program = ours("gossamer", *flags).command(Path(home), web.seeds)
        under = [python, "-m", "cProfile", "-o", str(profile), *program]
        subprocess.run(under, check=True, cwd=HERE.parent)
    pstats.Stats(str(profile)).sort_stats(options.sort).print_stats(TOP)
    return 0


if __name__ == "__main__":
    sys.exit(main())
