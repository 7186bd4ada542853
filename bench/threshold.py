"""How many of the hot pages of a site has a crawl fetched when its threshold ends it?

    python -m bench.threshold [--site cppreference] [--least 500] [--orders breadth,backlinks]

nginx serves a real site on loopback. It is crawled as a whole, which says which pages are hot:
those to which at least so many pages link. Then it is crawled with `--threshold`, in several
orders. One line of JSON for each order on stdout. The patience is that of the settings.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from bench.crawl import sites_named
from bench.keep_best import is_page, page_rows, run_crawl
from bench.web import serving


def main() -> int:
    options = _options()
    with serving(sites_named([options.site])) as web, tempfile.TemporaryDirectory() as name:
        home, seed = Path(name), web.seeds[0]
        run_crawl(home / "whole", seed)
        whole = [row for row in page_rows(home / "whole") if is_page(row)]
        hot = {row["url"] for row in whole if row["in_links"] >= options.least}
        for order in options.orders.split(","):
            flags = ("--threshold", str(options.least), "--order", order)
            summary = run_crawl(home / order, seed, *flags)
            fetched = {row["url"] for row in page_rows(home / order) if is_page(row)}
            figure = {
                "figure": f"hot pages fetched at the threshold, {order}, {options.site}",
                "gate": None, "aim": 1.0, "value": round(len(hot & fetched) / len(hot), 4),
                "least": options.least, "hot": len(hot), "told": summary["hot"],
                "fetched": len(fetched), "pages": len(whole), "stopped": summary["stopped"],
            }  # fmt: skip
            print(json.dumps(figure), flush=True)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--site", default="cppreference")
    parser.add_argument("--least", type=int, default=500, help="backlinks of a hot page")
    parser.add_argument("--orders", default="breadth,backlinks,best")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
