"""Many units behind firewalls, with faults: is each job done once, and nothing lost?

    python -m bench.fleet_faults [--units 10 --jobs 200 --sites 40 --seconds 600]

Units are killed, frozen past their lease, cut off and brought back at random while they work. At
the end the central collection is compared with that of one conventional crawl of the same sites:
pages, links, and the ten best hits of fifty queries. The log of the sites shows whether a host was
requested faster than its delay. One line of JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench.fleet_bed import BedUnit, FleetBed, fleet_bed
from bench.fleet_network import SITES, unit_network, why_not
from bench.fleet_sites import FleetWeb, fleet_sites, generated, words_of

import gossamer
from gossamer.collection.directory import CollectionPaths, is_in_use

DELAY_S = 0.2
LEASE_S = 6.0
HUB = {"poll_s": 0.5, "wait_s": 1.0, "lease_s": LEASE_S, "own_unit_s": 5.0, "good_jobs": 0,
       "host_delay_s": DELAY_S}  # fmt: skip
UNIT = {"when": "always", "page_port": 0, "max_cpu_share": 0.0, "allow_private": ["0.0.0.0/0"],
        "min_free_bytes": 0}  # fmt: skip


def main(words: Sequence[str]) -> int:
    options = read_options(words)
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fleet-faults-")))
        missing = why_not()
        network = None if missing else stack.enter_context(unit_network(options.units))
        if missing:
            print(f"without namespaces: {missing}", file=sys.stderr)
        specs = [generated(options.pages) for _ in range(options.sites)]
        where = {"network": SITES, "within": network.of_hub} if network else {}
        web = stack.enter_context(fleet_sites(specs, **where))  # type: ignore[arg-type]
        bed = stack.enter_context(fleet_bed(home, network, hub=HUB, unit=UNIT))
        result = run(bed, web, options)
    print(json.dumps({"bench": "fleet_faults", **result}))
    return 0 if result["ok"] else 1


def read_options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.fleet_faults")
    parser.add_argument("--units", type=int, default=10)
    parser.add_argument("--sites", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--pages", type=int, default=30, help="of each site")
    parser.add_argument("--seconds", type=float, default=900, help="at most")
    parser.add_argument("--faults", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(words)


def run(bed: FleetBed, web: FleetWeb, options: argparse.Namespace) -> dict[str, Any]:
    bed.add_units(options.units)
    began_s = time.monotonic()
    add_jobs(bed, web, options)
    faults = hurt(bed, options)
    bed.until(lambda: open_jobs(bed) == 0, options.seconds, "end of all jobs")
    jobs_s = time.monotonic() - began_s
    bed.until(lambda: is_merged(bed), options.seconds, "merging")
    states = bed.ask("jobs", "--limit", "10000")["jobs"]
    asked = web.requests()
    with tempfile.TemporaryDirectory(prefix="fleet-one-") as folder:
        one = Path(folder) / "one"
        conventional(one, web, bed)
        same = compare(bed.hub_home / "collection", one)
    fast = too_fast(asked)
    done = sum(job["state"] == "done" for job in states)
    return {
        "units": options.units,
        "jobs": len(states),
        "done": done,
        "faults": faults,
        "wall_s": round(jobs_s, 1),
        "too_fast": fast,
        **same,
        "ok": done == len(states) and not fast and all(value == 0 for value in same.values()),
    }


def add_jobs(bed: FleetBed, web: FleetWeb, options: argparse.Namespace) -> None:
    """A job for each site, and jobs for single pages up to the wanted number."""
    chosen = random.Random(options.seed)
    flags = ("--set", f"delay={DELAY_S}")
    bed.add_jobs(web.seeds, *flags)
    singles = max(0, options.jobs - len(web.seeds))
    pages = [
        f"{chosen.choice(web.seeds)}p{chosen.randrange(options.pages)}.html" for _ in range(singles)
    ]
    if pages:
        bed.add_jobs(pages, "--kind", "page", *flags)


def open_jobs(bed: FleetBed) -> int:
    found = bed.ask("status")
    counted = found["jobs"]
    return int(counted["unallocated"] + counted["allocated"])


def is_merged(bed: FleetBed) -> bool:
    """Everything is in the central collection, and its ranks are computed."""
    if int(bed.ask("status")["packages_waiting"]):
        return False
    return not is_in_use(CollectionPaths(bed.hub_home / "collection"))


def hurt(bed: FleetBed, options: argparse.Namespace) -> dict[str, int]:
    """Kill, freeze and cut off units at random; each is brought back."""
    chosen = random.Random(options.seed)
    counted: dict[str, int] = defaultdict(int)
    for _ in range(options.faults):
        if open_jobs(bed) == 0:
            break
        unit = chosen.choice(bed.units)
        kind = chosen.choice(["kill", "freeze", "cut"] if bed.network else ["kill", "freeze"])
        counted[kind] += 1
        hurt_one(bed, unit, kind, chosen)
    for unit in bed.units:
        if unit.process is None or unit.process.poll() is not None:
            unit.start()
    return dict(counted)


def hurt_one(bed: FleetBed, unit: BedUnit, kind: str, chosen: random.Random) -> None:
    """One fault, for less or more than a lease."""
    away_s = chosen.uniform(0.2, 2.0) * LEASE_S
    if kind == "kill":
        unit.kill()
        time.sleep(away_s / 4)
        unit.start()
    elif kind == "freeze":
        unit.freeze()
        time.sleep(away_s)
        unit.thaw()
    else:
        assert bed.network is not None
        bed.network.cut(unit.number)
        time.sleep(away_s)
        bed.network.join(unit.number)


def conventional(collection: Path, web: FleetWeb, bed: FleetBed) -> None:
    """One crawl of all sites."""
    within = bed.network.of_hub if bed.network else []
    words = [*within, sys.executable, "-m", "gossamer", "crawl", *web.seeds, "-c", str(collection),
             "--scope", "host", "--delay", "0", "--per-host", "4", "--json"]  # fmt: skip
    subprocess.run(words, check=True, capture_output=True)


def compare(one: Path, other: Path) -> dict[str, int]:
    """How many pages, links and best hits differ. Both indexes are rebuilt first: an index counts
    texts that were replaced in its statistics, and the two have replaced different ones."""
    for collection in (one, other):
        words = [sys.executable, "-m", "gossamer", "rebuild", "index", "-c", str(collection)]
        subprocess.run(words, check=True, capture_output=True)
    left, right = gossamer.open(one), gossamer.open(other)
    queries = [words_of(f"{n} {n} title", 2) for n in range(50)]
    hits = sum(best(left, query) != best(right, query) for query in queries)
    return {
        "pages_missing": len(pages_of(right) - pages_of(left)),
        "pages_more": len(pages_of(left) - pages_of(right)),
        "links_differ": len(links_of(left) ^ links_of(right)),
        "queries_differ": hits,
    }


def pages_of(study: Any) -> set[tuple[str, int, str]]:
    rows = study.pages.to_arrow().to_pylist()
    return {(r["url"], r["status"], r["digest"]) for r in rows if r["outcome"] == "fetched"}


def links_of(study: Any) -> set[tuple[str, str, str]]:
    rows = study.links.to_arrow().to_pylist()
    return {(row["source"], row["target"], row["anchor"]) for row in rows}


def best(study: Any, query: str) -> list[str]:
    """The ten best hits; those with the same score come in the order of their URLs."""
    hits = sorted(study.search(query, limit=30), key=lambda hit: (-round(hit.score, 3), hit.url))
    return [hit.url for hit in hits[:10]]


def too_fast(asked: Sequence[Any]) -> int:
    """Requests that came sooner after the one before, of the same host, than its delay allows."""
    by_host: dict[str, list[float]] = defaultdict(list)
    for one in asked:
        by_host[one.address].append(one.at_s)
    return sum(
        later - earlier < 0.95 * DELAY_S
        for times in by_host.values()
        for earlier, later in zip(sorted(times), sorted(times)[1:], strict=False)
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
