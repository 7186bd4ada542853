"""How fast is a crawl, beside other crawlers on the same sites in the same hour?

    python -m bench.crawl            five rounds; what `make bench` runs
    python -m bench.crawl --quick    one round on one site

nginx serves real documentation sites on loopback. In each round every crawler crawls all of them
from nothing; the order turns from round to round, so that nobody always comes first. What workers
are worth is measured on more hosts, with and without them in turn. Pages are the
distinct HTML pages that the server's log says it gave; CPU is that of the crawler's whole process
tree. One line of JSON per figure on stdout, the table on stderr and in bench/out/table.md.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import platform
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bench.crawlers import HERE, OUT, Crawler, everyone, with_and_without_workers
from bench.figures import Figure, Run, cores_figure, rate_figures, ratio_figures, table
from bench.web import Site, Web, serving, warm
from run import SITES_SCRIPT, fetch_sites

ROUNDS: Final = 5
SITES: Final = "python,postgresql,cppreference"
MANY_SITES: Final = "python,postgresql,cppreference,apache,sqlite,git,handbook,linux"
QUICK_SITES: Final = "postgresql"
_LONGEST_S: Final = 1800
_STARTS: Final = 7
_ALIKE: Final = 0.97  # they differ in how they read odd links, not in more


def main() -> int:
    options = _options()
    # As an installer leaves it; this interpreter may be told not to keep what it compiles.
    compileall.compile_dir(HERE.parent / "src", quiet=2)
    runs = [
        *rounds_of(everyone(), sites_named(options.sites.split(",")), options.rounds),
        *rounds_of(
            with_and_without_workers(), sites_named(options.many.split(",")), options.rounds
        ),
    ]
    figures = [*ratio_figures(runs), cores_figure(runs), start_figure(), *rate_figures(runs)]
    for figure in figures:
        print(figure.as_json(), flush=True)
    text = f"{machine()}; {options.rounds} rounds on {options.sites}\n\n{table(figures)}\n"
    (OUT / "table.md").write_text(text, encoding="utf-8")
    print(f"\n{text}", file=sys.stderr)
    return 0


def rounds_of(crawlers: Sequence[Crawler], sites: Sequence[Site], rounds: int) -> list[Run]:
    """Each crawler on the same sites, in an order that turns."""
    warm(sites)
    runs: list[Run] = []
    with serving(sites) as web:
        for number in range(rounds):
            turn = number % len(crawlers)
            order = [*crawlers[turn:], *crawlers[:turn]]
            runs += [measured(one, number, web) for one in order]
            check_alike(runs)
    return runs


def measured(crawler: Crawler, number: int, web: Web) -> Run:
    """One crawl from nothing, in a directory that is deleted after it."""
    OUT.mkdir(exist_ok=True)
    web.take_pages()
    log = OUT / f"{crawler.name.replace(' ', '')}-{number}.log"
    with tempfile.TemporaryDirectory(prefix="bench-crawl-") as home:
        result = Path(home) / "cost.json"
        work = Path(home) / "work"
        work.mkdir()
        command = crawler.command(work, web.seeds)
        served_s = web.cpu_s()
        _run([sys.executable, "-m", "bench.tree", str(result), *command], Path(home), log)
        cost = json.loads(result.read_text(encoding="utf-8"))
    run = Run(
        crawler=crawler.name,
        round=number,
        pages=web.take_pages(),
        wall_s=cost["wall_s"],
        cpu_s=cost["cpu_s"],
        peak_mb=cost["peak_mb"],
        server_cpu_s=web.cpu_s() - served_s,
    )
    print(
        f"round {number + 1}: {crawler.name:<20} {run.pages:6} pages {run.wall_s:7.1f} s wall "
        f"{run.cpu_s:7.1f} s CPU, exit {cost['exit']}",
        file=sys.stderr,
        flush=True,
    )
    return run


def check_alike(runs: Sequence[Run]) -> None:
    """Stop when a crawler did another task than the rest: a rate over few pages says nothing."""
    most = max(run.pages for run in runs)
    for run in runs:
        if run.pages < _ALIKE * most:
            sys.exit(f"{run.crawler} found {run.pages} of {most} pages; see its log in {OUT}")


def _run(command: Sequence[str], home: Path, log: Path) -> None:
    """Run in a session of its own, with no settings of whoever runs us, and not for ever."""
    kept = {name: value for name, value in os.environ.items() if not _is_foreign(name)}
    with log.open("wb") as output:
        child = subprocess.Popen(
            command,
            cwd=HERE.parent,
            env={**kept, "HOME": str(home)},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            child.wait(_LONGEST_S)
        except BaseException:
            os.killpg(child.pid, signal.SIGKILL)
            raise


def _is_foreign(name: str) -> bool:
    return name.startswith(("GOSSAMER_", "XDG_", "PYTHONDONT")) or name.lower().endswith("_proxy")


def start_figure() -> Figure:
    """How long a person waits for `gossamer --help`, in ms."""
    times_ms = []
    with tempfile.TemporaryDirectory(prefix="bench-start-") as home:
        result, log = Path(home) / "cost.json", Path(home) / "log"
        help_of_ours = [sys.executable, "-m", "gossamer", "--help"]
        for _ in range(_STARTS):
            _run([sys.executable, "-m", "bench.tree", str(result), *help_of_ours], Path(home), log)
            times_ms.append(1000 * json.loads(result.read_text(encoding="utf-8"))["wall_s"])
    return Figure("start of gossamer --help in ms", tuple(times_ms), 200, 150, is_least=False)


def sites_named(names: Sequence[str]) -> list[Site]:
    """Sites of the shared script, fetched when they are missing."""
    home = fetch_sites(names)
    if home is None or shutil.which("nginx") is None:
        sys.exit("the bench needs real sites and nginx; on Debian: apt-get install nginx")
    rows = {row[0]: row for row in runpy.run_path(str(SITES_SCRIPT))["SITES"]}
    unknown = sorted(set(names) - rows.keys())
    if unknown:
        sys.exit(f"there is no site {unknown[0]}; there are {', '.join(rows)}")
    return [Site(name, home / rows[name][1] / rows[name][2], rows[name][3]) for name in names]


def machine() -> str:
    """Cores, processor and Python, as a reader of the figures wants to know them."""
    facts = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = [line.partition(":")[2].strip() for line in facts if line.startswith("model name")]
    model = models[0] if models else platform.machine()
    return f"{os.cpu_count()} cores, {model}, Python {platform.python_version()}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one round on one site")
    parser.add_argument("--rounds", type=int, help=f"default {ROUNDS}")
    parser.add_argument("--sites", help=f"default {SITES}")
    parser.add_argument("--many", help="sites for workers against none; default all that there are")
    options = parser.parse_args()
    options.rounds = options.rounds or (1 if options.quick else ROUNDS)
    options.sites = options.sites or (QUICK_SITES if options.quick else SITES)
    options.many = options.many or (QUICK_SITES if options.quick else MANY_SITES)
    return options


if __name__ == "__main__":
    sys.exit(main())
