"""Does a crawl without end keep its copies as fresh as it says, whenever it is killed?

    python -m bench.forever                          ten minutes, 1,000 pages
    python -m bench.forever --minutes 1 --pages 300  a short form

A site changes as the shared trace says, with time sped up (`bench/changing_site.py`). It is crawled
with `--forever`, and the crawl is killed now and then with SIGKILL and started again. The figures:

    truth          mean share of copies that were up to date in the last two thirds, by the server
    predicted      the same as the crawl predicted it (history.jsonl), and as its visits measured it
    unchanged      bytes that were sent for pages that the crawler had, of all bytes
    versions       of all versions that were delivered, those that the archive gives at their time,
                   and those of the others that were in flight at a kill
    changes        of all changes that were noted, those with the right number of changed words
    verify         faults that `gossamer verify` finds
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from bench.changing_site import TraceSite, served, statuses

from gossamer.base.clock import exact_iso_of
from gossamer.collection.history import read_history
from gossamer.errors import NotKnown
from gossamer.reader.changes import changes_of
from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import ChangeKind
from gossamer.upkeep.verify import verify

TRACE: Final = Path(
    os.environ.get("TEST_DATA", Path(__file__).parents[2] / "shared" / "data")
) / "trace/php_doc_en.csv.gz"  # fmt: skip
_VERSION: Final = re.compile(rb'data-version="(\d+)"')
_GRACE_S: Final = 60.0
_IN_FLIGHT_S: Final = 1.0  # a request that began so long before a kill may not have ended
_SOME: Final = 10  # one answer without a body in so many is looked up


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured."""

    policy: str
    pages: int
    lasts_s: float
    kills: int
    visits: int
    by_status: dict[int, int]
    truth: float
    predicted: float
    measured: float
    unchanged_share: float
    versions: int
    versions_right: int
    versions_in_flight: int
    changes: int
    changes_right: int
    verify_faults: int
    crawler_cpu_s: float


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--minutes", type=float, default=10.0)
    options.add_argument("--pages", type=int, default=1000)
    options.add_argument("--rate", type=float, default=40.0)
    options.add_argument("--policy", default="optimal")
    options.add_argument("--kills", type=int, default=5)
    options.add_argument("--keep", type=Path, help="folder for the collection")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = run(
            given.keep or Path(folder) / "c", pages=given.pages, lasts_s=given.minutes * 60,
            rate=given.rate, policy=given.policy, kills=given.kills,
        )  # fmt: skip
    print(json.dumps(asdict(figures)))
    return 0


def run(
    collection: Path, *, pages: int, lasts_s: float, rate: float, policy: str, kills: int
) -> Figures:
    """Crawl for so long, then look at everything."""
    site = TraceSite.from_trace(TRACE, pages, lasts_s)
    chance = random.Random(5)
    with served(site) as url:
        end_s = site.began_s + lasts_s
        moments = sorted(site.began_s + lasts_s * chance.uniform(0.1, 0.9) for _ in range(kills))
        cpu_s = 0.0
        for moment_s in [*moments, end_s]:
            is_last = moment_s == end_s
            cpu_s += _crawl_until(collection, url, rate, policy, moment_s, is_last=is_last)
    return _figures(site, collection, url, policy, lasts_s, moments, cpu_s)


def _crawl_until(
    collection: Path, url: str, rate: float, policy: str, moment_s: float, *, is_last: bool
) -> float:
    """Run the crawl until a moment of wall time, and kill it, or stop it; its CPU seconds."""
    command = [
        sys.executable, "-m", "gossamer", "crawl", url, "-c", str(collection), "--forever",
        "--refresh", policy, "--rate", f"{rate}/s", "--delay", "0", "--per-host", "8",
        "--workers", "0", "--set", "refresh.min_interval_s=0",
        "--set", "refresh.complete_every_s=60", "--set", "refresh.new_share=0.9",
    ]  # fmt: skip
    before = os.times()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            process.wait(max(0.0, moment_s - time.time()))
            error = process.stderr.read().decode() if process.stderr else ""
            raise RuntimeError(f"the crawl ended by itself ({process.returncode}): {error[-800:]}")
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT if is_last else signal.SIGKILL)
            process.wait(_GRACE_S)
    after = os.times()
    return (
        after.children_user + after.children_system - before.children_user - before.children_system
    )


def _figures(
    site: TraceSite,
    collection: Path,
    url: str,
    policy: str,
    lasts_s: float,
    kills: Sequence[float],
    cpu_s: float,
) -> Figures:
    begin_s, end_s = site.began_s + lasts_s / 3, site.began_s + lasts_s
    samples = [one for one in read_history(collection / "history.jsonl")
               if begin_s <= one.at_ms / 1000 <= end_s]  # fmt: skip
    predicted = [one.predicted for one in samples if one.predicted is not None]
    measured = [one.freshness for one in samples if one.freshness is not None]
    versions, right, in_flight = _check_versions(site, collection, url, kills)
    changes, changes_right = _check_changes(site, collection, url)
    return Figures(
        policy=policy,
        pages=len(site.truth.last),
        lasts_s=lasts_s,
        kills=len(kills),
        visits=len(site.truth.given),
        by_status=dict(statuses(site)),
        truth=site.truth.freshness(begin_s, end_s),
        predicted=sum(predicted) / max(1, len(predicted)),
        measured=sum(measured) / max(1, len(measured)),
        unchanged_share=site.truth.unchanged_share(),
        versions=versions,
        versions_right=right,
        versions_in_flight=in_flight,
        changes=changes,
        changes_right=changes_right,
        verify_faults=sum(1 for _ in verify(collection)),
        crawler_cpu_s=round(cpu_s, 1),
    )


def _check_versions(
    site: TraceSite, collection: Path, url: str, kills: Sequence[float]
) -> tuple[int, int, int]:
    """Answers that were delivered, all with a body and some without; how many of them the archive
    gives at their time; how many of the others were in flight at a kill."""
    wanted = [one for one in site.truth.given if one.status == 200]
    wanted += [one for one in site.truth.given if one.status == 304][::_SOME]
    right = in_flight = 0
    with CollectionReader.open(collection) as reader:
        for one in wanted:
            at = exact_iso_of(round(one.at_s * 1e6))
            try:
                told = _VERSION.search(reader.page(url.rstrip("/") + one.path, at).body)
            except NotKnown:
                told = None
            if told is not None and int(told[1]) == one.version:
                right += 1
            elif any(0.0 <= kill_s - one.at_s <= _IN_FLIGHT_S for kill_s in kills):
                in_flight += 1
            else:
                print(f"not at its time: {one}", file=sys.stderr)
    return len(wanted), right, in_flight


def _check_changes(site: TraceSite, collection: Path, url: str) -> tuple[int, int]:
    """Changes that were noted between two versions of a page, and how many have the right number of
    words."""
    changes = right = 0
    with CollectionReader.open(collection) as reader:
        for path in {one.path for one in site.truth.given if site.is_page(one.path)}:
            seen = changes_of(reader, url.rstrip("/") + path)
            for at_us, change in seen.items():
                if change.kind is not ChangeKind.CHANGED:
                    continue
                versions = [_version(reader, change.url, us) for us in (change.before_us, at_us)]
                changes += 1
                right += change.words_added == site.changed_words(path, *versions)
    return changes, right


def _version(reader: CollectionReader, url: str, at_us: int) -> int:
    told = _VERSION.search(reader.page(url, exact_iso_of(at_us)).body)
    return int(told[1]) if told else 0


if __name__ == "__main__":
    sys.exit(main())
