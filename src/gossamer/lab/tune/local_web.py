"""What is crawled again and again: the demo web, a folder, or URLs of this machine.

Other sites are refused: they would get many requests without delays, for an experiment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from gossamer.demo.folder_site import folder_site
from gossamer.demo.pages import DemoAnswer
from gossamer.demo.server import Responder, serve
from gossamer.demo.web import SETTINGS
from gossamer.errors import UsageError
from gossamer.node.seeds import read_seeds
from gossamer.urls.canonical import NormalForm, host_of

_HOST = "folder.localhost"


@dataclass(frozen=True, slots=True)
class LocalWeb:
    """What to crawl, and what such a crawl has to be told."""

    name: str
    seeds: tuple[str, ...]
    settings: Mapping[str, str] = field(default_factory=dict)


@contextmanager
def local_web(urls: Sequence[str], folder: Path | None) -> Iterator[LocalWeb]:
    """The web to crawl, served until the block ends. Raises UsageError."""
    if urls and folder is not None:
        raise UsageError("give either --url or --folder")
    if urls:
        yield LocalWeb(" ".join(urls), _on_this_machine(urls))
        return
    if folder is None:
        with serve() as web:
            settings = {key: str(value) for key, value in SETTINGS.items()}
            yield LocalWeb("the demo web", web.seeds, settings)
        return
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder")
    with serve(0, lambda port: _pages_in(folder, port)) as web:
        yield LocalWeb(str(folder), (f"http://{_HOST}:{web.port}/",))


def _on_this_machine(urls: Sequence[str]) -> tuple[str, ...]:
    seeds = tuple(read_seeds(urls, NormalForm()))
    for url in seeds:
        if not _is_loopback(host_of(url)):
            raise UsageError(
                f"{url} is not on this machine; lab tune requests pages again and again, without "
                "delays. Use http://localhost or http://127.0.0.1"
            )
    return seeds


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _pages_in(folder: Path, port: int) -> Responder:
    """The files of a folder as one site."""
    found = folder.resolve()
    respond = folder_site(found.parent, port)

    def at(_host: str, target: str, headers: Mapping[str, str]) -> DemoAnswer:
        return respond(found.name, target, headers)

    return at
