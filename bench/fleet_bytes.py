"""Bytes that a unit sends to its hub, as a share of the bytes that it crawled, on real sites.

For each site: the first visit, and a second one after 5 % of its pages changed; as pages, as index
entries and as a summary; beside gzip of each record, which a conventional archive sends. The pages
are merged, so that the second visit is answered by a real central collection, and every package is
checked as a hub does.

    python -m bench.fleet_bytes [--sites FOLDER] [--pages N]

FOLDER has `table.tsv`: name, folder, path of its pages, first page. Nothing leaves this machine.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec
from bench.figures import Figure

from gossamer.fleet.hub.merging import Merger
from gossamer.fleet.merging.known_bodies import KnownBodies
from gossamer.fleet.packages.build import build_package
from gossamer.fleet.packages.check import check_package
from gossamer.fleet.packages.format import BuiltPackage, PackageLimits
from gossamer.fleet.protocol import Assignment, JobReturns, JobSpec

_CHANGED: Final = 0.05
_ADDED: Final = (
    b"<p>This section was revised. The limits that it names hold for the present release, and the "
    b"examples were run again with the new defaults; older values are in the appendix.</p>"
)


@dataclass(slots=True)
class Served:
    """A site on loopback. With `is_changed` a twentieth of its pages have another paragraph."""

    root: Path
    is_changed: bool = False
    port: int = 0

    def changes(self, path: str) -> bool:
        draw = int.from_bytes(hashlib.sha256(path.encode()).digest()[:4], "big") / 2**32
        return self.is_changed and path.endswith(".html") and draw < _CHANGED


@contextmanager
def served(root: Path) -> Iterator[Served]:
    """Serve a folder until the block ends."""
    site = Served(root)

    class Handler(SimpleHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def __init__(self, *args: Any) -> None:
            super().__init__(*args, directory=str(root))

        def log_message(self, *_: object) -> None:
            """No log."""

        def send_head(self) -> BytesIO | BinaryIO | None:
            path = Path(self.translate_path(self.path))
            if not site.changes(self.path) or not path.is_file():
                return super().send_head()
            body = path.read_bytes()
            middle = body.find(b"<p", len(body) // 2)
            at = middle if middle >= 0 else len(body) // 2
            body = body[:at] + _ADDED + body[at:]
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            return BytesIO(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass(slots=True)
class Measured:
    """Bytes of one site."""

    name: str
    pages: int = 0
    crawled: dict[str, int] = field(default_factory=dict)
    sent: dict[str, int] = field(default_factory=dict)
    pack_cpu_s: float = 0.0

    def ratio(self, what: str) -> float:
        return self.sent[what] / self.crawled[what]


def crawl(collection: Path, seed: str, max_pages: int) -> None:
    """Crawl as a unit does, without graph and index."""
    words = ["crawl", seed, "-c", str(collection), "--delay", "0", "--no-index", "--no-graph"]
    limit = ["--max-pages", str(max_pages)] if max_pages else []
    subprocess.run(
        [sys.executable, "-m", "gossamer", *words, *limit, "--workers", "1"],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def measure(name: str, root: Path, start: str, folder: Path, max_pages: int) -> Measured:
    """Visit a site twice."""
    measured, hub = Measured(name), folder / "hub"
    merger = Merger(hub / "collection")
    merger.prepare()
    known = KnownBodies(hub / "collection")
    with served(root) as site:
        seed = f"http://127.0.0.1:{site.port}/{start}"
        for visit in ("first", "second"):
            site.is_changed = visit == "second"
            collection = folder / visit
            crawl(collection, seed, max_pages)
            kinds: tuple[JobReturns, ...] = ("pages", "index", "summary")
            for kind in kinds if visit == "first" else ("pages",):
                spec = JobSpec(kind="site", seeds=(seed,), returns=kind)
                job = Assignment(
                    job=f"{visit}-{kind}", fence=1, spec=spec, lease_s=60, hosts=("127.0.0.1",),
                    salt=known.salt(), has_earlier=visit == "second",
                )  # fmt: skip
                built = pack(measured, collection, job, known, folder)
                if kind == "pages":
                    merge(merger, built, job)
            archive = collection / "archive"
            packed = sum(one.stat().st_size for one in archive.glob("*.warc.gz"))
            measured.sent[f"{visit} gzip"] = packed
            measured.crawled[f"{visit} gzip"] = measured.crawled[f"{visit} pages"]
    merger.stop()
    known.close()
    return measured


def pack(
    measured: Measured, collection: Path, job: Assignment, known: KnownBodies, folder: Path
) -> BuiltPackage:
    """Build a package, and note its bytes."""
    name, began_s = job.job.replace("-", " "), time.process_time()
    earlier = folder / "earlier.sqlite" if job.spec.returns == "pages" else None
    built = build_package(
        collection,
        job,
        lambda names: known.missing(job.hosts, names),
        folder / f"{name}.wacz",
        earlier=earlier,
    )
    if name == "first pages":
        measured.pack_cpu_s, measured.pages = time.process_time() - began_s, built.pages
    measured.sent[name], measured.crawled[name] = built.size, built.crawled_bytes
    return built


def merge(merger: Merger, built: BuiltPackage, job: Assignment) -> None:
    """Check a package and merge it, as a hub does."""
    checked = check_package(
        built.path, job.spec, job.hosts, PackageLimits(), job=job.job, fence=1, salt=job.salt
    )
    merger.submit(checked)
    while not merger.is_idle:
        time.sleep(0.05)
        merger.tick()
    for result in merger.take_results():
        if result.error or result.lost:
            sys.exit(f"merging failed: {msgspec.json.encode(result).decode()}")


def figures(sites: list[Measured]) -> Iterator[Figure]:
    """Ratios over all sites together."""
    wanted = {
        "first pages": (0.17, 0.08),
        "second pages": (0.05, None),
        "first index": (None, None),
        "first summary": (None, None),
        "first gzip": (None, None),
    }
    for what, (gate, aim) in wanted.items():
        sent = sum(one.sent[what] for one in sites)
        share = sent / sum(one.crawled[what] for one in sites)
        yield Figure(f"bytes sent of bytes crawled: {what}", (share,), gate, aim, is_least=False)


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    home = os.environ.get("TEST_SITES", "/var/cache/gossamer-sites")
    parser.add_argument("--sites", type=Path, default=Path(home))
    parser.add_argument("--pages", type=int, default=0, help="at most so many pages of each")
    options = parser.parse_args()
    table = (options.sites / "table.tsv").read_text().splitlines()
    measured = []
    for line in table:
        name, folder, pages, start = line.split("\t")
        with tempfile.TemporaryDirectory() as scratch:
            root = options.sites / folder / pages
            one = measure(name, root, start, Path(scratch), options.pages)
        shares = {what: round(one.ratio(what), 4) for what in one.sent}
        told = {"site": name, "pages": one.pages, "pack_cpu_s": round(one.pack_cpu_s, 1), **shares}
        print(msgspec.json.encode(told).decode(), flush=True)
        measured.append(one)
    for figure in figures(measured):
        print(figure.as_json(), flush=True)


if __name__ == "__main__":
    main()
