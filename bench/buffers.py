"""Which way keeps duplicates out of the buffer of new URLs best? (Mission A5.)

    python -m bench.buffers                 the links of cnr-2000, a real crawl of 325,557 pages
    python -m bench.buffers --pages 20000   a random web of so many pages instead

`gossamer lab buffers` from page 0, with one line of JSON per way; the table is in
bench/out/buffers.md. The ways and the crawl are in `src/gossamer/lab/buffers/`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Final

from bench.crawl import machine
from bench.crawlers import OUT
from run import SITES_SCRIPT

from gossamer.lab.buffers.compare import BufferLab, figures_of, measure_ways, table_of
from gossamer.lab.buffers.measure import random_web
from gossamer.lab.graphs import read_graph

GRAPH: Final = SITES_SCRIPT.parent / "graphs" / "cnr-2000.tsv.gz"
ROUNDS: Final = 3


def main() -> int:
    options = _options()
    graph = random_web(options.pages) if options.pages else read_graph(Path(options.graph))
    runs = measure_ways(graph, [0], BufferLab(options.rounds), _tell)
    for own in runs.values():
        figure = {"figure": f"buffer: {own[0].way}", "gate": None, "aim": None, **figures_of(own)}
        print(json.dumps(figure), flush=True)
    table = table_of(runs)
    lines = [table.columns, ["---"] * len(table.columns), *table.rows]
    rows = [f"| {' | '.join(map(str, line))} |" for line in lines]
    text = f"{machine()}; {options.rounds} rounds\n\n" + "\n".join(rows) + "\n"
    OUT.mkdir(exist_ok=True)
    (OUT / "buffers.md").write_text(text, encoding="utf-8")
    print(f"\n{text}", file=sys.stderr)
    return 0


def _tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"default {ROUNDS}")
    parser.add_argument("--pages", type=int, default=0, help="a random web of so many instead")
    parser.add_argument("--graph", default=str(GRAPH), help="arcs, tab separated, gzipped")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
