"""One browser for each file of tests, and one crawl of the demo web for all of them.

Not one browser for the whole session: while Playwright is open no other test could run a loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from browser.a_person import Person, a_chromium, a_person
from gossamer.demo.server import serve
from support.a_server import Server, serving
from support.killing import gossamer


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A browser is never quick."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.slow)


@dataclass(frozen=True)
class Demo:
    """The demo web, up, and a crawl of most of it that is being served."""

    seeds: tuple[str, ...]
    server: Server

    def root_of(self, host: str) -> str:
        """`http://museum.localhost:8080` of `museum`."""
        return next(seed.rstrip("/") for seed in self.seeds if f"//{host}." in seed)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    collection = tmp_path_factory.mktemp("demo") / "valley"
    with serve() as web:
        seeds = web.seeds[:5]  # without the trap
        ended = gossamer("crawl", "-c", collection, "--delay", "0", "--max-pages", "200", *seeds)
        assert ended.code == 0, ended.err
        with serving(collection) as server:
            yield Demo(seeds, server)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with a_chromium() as browser:
        yield browser


@pytest.fixture
def person(chromium: Browser, demo: Demo) -> Iterator[Person]:
    """Somebody who looks at the demo crawl; nothing strange may have happened by the end."""
    with a_person(chromium, demo.server.root) as somebody:
        yield somebody
        assert somebody.strange == []
