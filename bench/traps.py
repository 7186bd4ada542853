"""How many requests does a crawl need for 99 % of a real site that is full of traps?

    python -m bench.traps SITES                all set-ups
    python -m bench.traps SITES --each         each kind of trap alone
    python -m bench.traps SITES --free         trap-free sites, with verdicts and without

SITES is the folder into which `sites.py` unpacks real sites. A set-up is a site, as it is or as a
deep tree of the same pages, with traps of five kinds, under patterns of their own or hidden. The
figure is the number of requests until 99 % of the real pages were requested, divided by the
requests of a crawl of the same site without traps.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from bench.trap_site import KINDS, MORE_KINDS, TrapSite, served

ROOTS: Final = {
    "python": ("python3.11-doc/usr/share/doc/python3.11/html", "index.html"),
    "postgresql": ("postgresql-doc-15/usr/share/doc/postgresql-doc-15/html", "index.html"),
    "sqlite": ("sqlite3-doc/usr/share/doc/sqlite3", "index.html"),
    "git": ("git-doc/usr/share/doc/git-doc", "index.html"),
    "apache": ("apache2-doc/usr/share/doc/apache2-doc/manual", "en/index.html"),
}
_SHARE: Final = 0.99
_MOST: Final = 4.0  # times the requests without traps


class Crawled(NamedTuple):
    """What a crawl requested, in order, and why it ended."""

    asked: list[str]
    stopped: str
    cpu_s: float


def crawl(site: TrapSite, max_pages: int, *more: str) -> Crawled:
    with tempfile.TemporaryDirectory() as home, served(site) as url:
        command = [
            sys.executable, "-m", "gossamer", "crawl", url, "-c", f"{home}/c", "--delay", "0",
            "--per-host", "8", "--json", "--max-pages", str(max_pages), *more,
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        raise SystemExit(done.stderr)
    asked = [target for target in site.asked if target != "/robots.txt"]
    return Crawled(asked, json.loads(lines[-1]).get("stopped", "?"), 0.0)


def at_share(asked: list[str], real: set[str]) -> int | None:
    """The number of requests until most of the real pages were requested."""
    left = len(real) - int(len(real) * _SHARE + 0.999)
    missing = set(real)
    for number, target in enumerate(asked, 1):
        missing.discard(target)
        if len(missing) <= left:
            return number
    return None


def measure(
    home: Path, name: str, *, kinds: tuple[str, ...], is_deep: bool, every: int
) -> Iterator[str]:
    folder, start = ROOTS[name]
    free = crawl(TrapSite(home / folder, start, is_deep=is_deep), 0)
    real = set(free.asked)
    for is_hidden in (False, True):
        site = TrapSite(
            home / folder, start, kinds=kinds, is_hidden=is_hidden, is_deep=is_deep, every=every
        )
        done = crawl(site, int(_MOST * len(free.asked)))
        number = at_share(done.asked, real)
        figure = f"{number / len(free.asked):.2f}" if number else "not reached"
        got = len(real & set(done.asked)) / len(real)
        yield (
            f"| {name}{', deep' if is_deep else ''} | {'hidden' if is_hidden else 'own patterns'} "
            f"| {', '.join(kinds)} | {len(free.asked)} | {figure} | {got:.3f} "
            f"| {len(done.asked) / len(free.asked):.2f} | {done.stopped} |"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sites", type=Path)
    parser.add_argument("--each", action="store_true", help="each kind of trap alone")
    parser.add_argument("--free", action="store_true", help="trap-free sites")
    parser.add_argument("--every", type=int, default=4, help="one in so many pages links to a trap")
    parser.add_argument("--site", default="python,sqlite", help="the second one as a deep tree")
    args = parser.parse_args()
    if args.free:
        for name in args.site.split(","):
            print(free_row(args.sites, name), flush=True)
        return 0
    first, second = args.site.split(",")[:2]
    print("| site | traps | kinds | requests without traps | to 99 % | real pages | in all | end |")
    print("|---|---|---|---|---|---|---|---|")
    for name, is_deep in ((first, False), (second, True)):
        for kinds in [(kind,) for kind in (*KINDS, *MORE_KINDS)] if args.each else [KINDS]:
            for row in measure(args.sites, name, kinds=kinds, is_deep=is_deep, every=args.every):
                print(row, flush=True)
    return 0


def free_row(home: Path, name: str) -> str:
    """The requests of a crawl of a site without traps: with verdicts, and without."""
    folder, start = ROOTS[name]
    ways = ((), ("--set", "frontier.trap_budget=0"))
    asked = [crawl(TrapSite(home / folder, start), 0, *way).asked for way in ways]
    same = "the same" if set(asked[0]) == set(asked[1]) else "others"
    return f"| {name} | {len(asked[0])} | {len(asked[1])} | {same} |"


if __name__ == "__main__":
    sys.exit(main())
