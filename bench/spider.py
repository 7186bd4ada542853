"""Scrapy as its users write it: follow the links of some hosts, and note URL and title.

    python bench/spider.py ITEMS.jsonl URL...

Run by an interpreter that has Scrapy. Tuned as far as settings go: no delay, as many requests at
once as ours has, nothing that the task does not need. robots.txt is asked, as by all here.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor

SETTINGS: Final = {
    "ROBOTSTXT_OBEY": True,
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    "DOWNLOAD_DELAY": 0,
    "COOKIES_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "ERROR",
}


class Pages(scrapy.Spider):  # type: ignore[misc, unused-ignore]  # Any where Scrapy is not there
    """Follows links within the hosts of its seeds."""

    name = "pages"

    def __init__(self, seeds: Sequence[str]) -> None:
        super().__init__()
        self.seeds = seeds
        # Told to the extractor, links that lead away cost no request object. It compares with the
        # port, unlike `allowed_domains`.
        self.links = LinkExtractor(allow_domains=[urlsplit(seed).netloc for seed in seeds])

    async def start(self) -> AsyncIterator[Any]:
        for seed in self.seeds:
            yield scrapy.Request(seed)

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        if not isinstance(response, HtmlResponse):
            return
        yield {"url": response.url, "title": response.css("title::text").get()}
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url)


if __name__ == "__main__":
    feeds = {sys.argv[1]: {"format": "jsonlines"}}
    crawling = CrawlerProcess({**SETTINGS, "FEEDS": feeds})
    crawling.crawl(Pages, seeds=sys.argv[2:])
    crawling.start()
