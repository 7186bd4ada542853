"""How near do the pages that `--keep-best` keeps come to the best that were fetched?

    python -m bench.keep_best [--site python] [--share 0.1] [--importance backlinks]

nginx serves a real site on loopback. It is crawled once as a whole, and once with room for a share
of its pages. The importance of a page is that in the whole crawl, by its export: the number of
pages that link to it, or its rank. Both crawls fetch every page, so it is final for both. The
figure is the sum over the kept pages, divided by the sum over as many of the best. One line of JSON
on stdout.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from bench.crawl import sites_named
from bench.web import serving

from gossamer.reader.collection_reader import CollectionReader
from gossamer.transfer.export_choice import Choice
from gossamer.transfer.exports import batches
from gossamer.upkeep.verify import verify

_COLUMNS: Final = ("url", "outcome", "status", "redirect_to", "in_links", "rank")
_FLAGS: Final = ("--workers", "0", "--delay", "0", "--per-host", "4", "--json")


def main() -> int:
    options = _options()
    with serving(sites_named([options.site])) as web, tempfile.TemporaryDirectory() as name:
        home, seed = Path(name), web.seeds[0]
        whole = run_crawl(home / "whole", seed)
        rows = page_rows(home / "whole")
        column = "rank" if options.importance == "pagerank" else "in_links"
        worth = {row["url"]: row[column] or 0 for row in rows if is_page(row)}
        room = round(options.share * len(worth))
        metric = ("--importance", options.importance)
        best = run_crawl(home / "best", seed, "--keep-best", str(room), *metric)
        kept = [row["url"] for row in page_rows(home / "best") if is_page(row)]
        problems = list(verify(home / "best"))
    ideal = sum(sorted(worth.values(), reverse=True)[:room])
    reached = sum(worth.get(url, 0) for url in kept)
    pages = best["fetched"] + best["evicted"]
    figure = {
        "figure": f"importance kept of the best {room} pages of {options.site}",
        "gate": 0.95, "aim": 1.0, "value": round(reached / ideal, 4),
        "importance": options.importance, "pages": len(worth), "room": room, "kept": len(kept),
        "evictions": best["evicted"], "fetches_a_page": round(pages / whole["fetched"], 3),
        "problems": len(problems), "cpu_s": round(best["cpu_s"], 1),
        "cpu_s_whole": round(whole["cpu_s"], 1),
    }  # fmt: skip
    print(json.dumps(figure))
    return 0


def run_crawl(collection: Path, seed: str, *flags: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "gossamer", "crawl", "-c", str(collection), seed]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GOSSAMER_")}
    ended = subprocess.run(
        [*command, *_FLAGS, *flags], capture_output=True, text=True, check=False, env=kept
    )
    if ended.returncode:
        sys.exit(ended.stderr)
    summary: dict[str, Any] = json.loads(ended.stdout)
    return summary


def page_rows(collection: Path) -> list[dict[str, Any]]:
    with CollectionReader.open(collection) as reader:
        found = batches(reader, "pages", choice=Choice(columns=_COLUMNS))
        return [row for batch in found for row in batch.to_pylist()]


def is_page(row: dict[str, Any]) -> bool:
    is_there = row["outcome"] == "fetched" and row["status"] < 400
    return is_there and not row["redirect_to"]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--site", default="python")
    parser.add_argument("--share", type=float, default=0.1, help="of the pages that there is room")
    parser.add_argument("--importance", default="backlinks", choices=("backlinks", "pagerank"))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
