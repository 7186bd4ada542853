"""Loop over the pages of a site as they come, and look at what was kept.

python examples/iterate.py https://example.org
"""

from __future__ import annotations

import sys

import gossamer


def main(seed: str) -> None:
    with gossamer.Crawl(seed, collection="study", max_pages=50) as crawl:
        for page in crawl:
            print(page.status, page.url, page.title, len(page.links))
    reader = gossamer.open("study")
    print(reader.sql("select outcome, reason, count(*) as urls from pages group by all").to_arrow())


if __name__ == "__main__":
    main(sys.argv[1])
