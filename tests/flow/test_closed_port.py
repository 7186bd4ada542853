"""A link to a closed port must not keep a crawl alive."""

from __future__ import annotations

import asyncio
import socket
from contextlib import ExitStack
from pathlib import Path

from gossamer.base.clock import SystemClock
from gossamer.cli.run.progress_lines import plain_line
from gossamer.collection.directory import CollectionPaths
from gossamer.node.build import open_node
from gossamer.node.figures.moment import CrawlMoment
from gossamer.node.figures.progress import Progress
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.story_text import story_sentences
from gossamer.settings import Limits, Settings, with_values
from support.a_crawl import QUICK, crawl
from support.a_site import Pages, page, reset, site_in_thread


def a_closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def story_of(collection: Path, url: str) -> str:
    with CollectionReader.open(collection) as reader:
        return "\n".join(story_sentences(reader.story(url), SystemClock().wall_us()))


def test_four_pages_and_a_link_to_a_closed_port_are_done_in_seconds(collection: Path) -> None:
    dead = f"http://127.0.0.1:{a_closed_port()}/x"
    links = f"<a href=/1>1</a><a href=/2>2</a><a href=/3>3</a><a href={dead}>dead</a>"
    pages: Pages = {"/": page(links), "/1": page("1"), "/2": page("2"), "/3": page("3")}

    with site_in_thread(pages) as site:
        summary = crawl(collection, [site.url()], scope__kind="any", limits__max_time_s=60.0)

    assert (summary.stopped, summary.fetched, summary.failed) == ("done", 4, 1)
    assert summary.wall_s < 20
    story = story_of(collection, dead)
    assert "is failed" in story
    assert "Connection refused" in story
    assert "only retries were left" in story


def test_why_counts_the_tries_of_a_url_and_progress_tells_of_them(collection: Path) -> None:
    seen: list[Progress] = []
    pages: Pages = {"/": page("<a href=/bad>x</a>"), "/bad": reset()}

    with site_in_thread(pages) as site:
        asyncio.run(_watched(collection, site.url(), seen))

    assert "after 3 tries" in story_of(collection, f"{site.root}/bad")
    told = [progress for progress in seen if progress.retrying]
    assert told
    assert {progress.retrying for progress in told} == {1}
    assert any(0 < progress.retry_in_s <= 3.0 for progress in told)
    assert any(
        "retrying 1 URL in " in plain_line(CrawlMoment(progress, Limits())) for progress in told
    )


async def _watched(collection: Path, seed: str, seen: list[Progress]) -> None:
    values = {**QUICK, "politeness.idle_retry_wait_s": 3.0, "limits.max_time_s": 60.0}
    settings = with_values(Settings(), values)
    with ExitStack() as stack:
        node = open_node(
            CollectionPaths(collection), lambda _: settings, [seed], SystemClock(), stack
        ).node

        async def watch() -> None:
            while True:
                seen.append(node.progress())
                await asyncio.sleep(0.05)

        watching = asyncio.create_task(watch())
        try:
            await node.run()
        finally:
            watching.cancel()
            await node.aclose()
