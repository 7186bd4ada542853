"""CPU time of a focused crawl beside breadth first, on a site of this machine.

    python bench/focus_cost.py http://127.0.0.1:8000/index.html EXAMPLES [ROUNDS]

EXAMPLES is a file or folder for `--like`. The orders take turns.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path


def crawled(url: str, examples: str, order: str) -> tuple[float, int]:
    """CPU seconds of one crawl, and its pages."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *(sys.executable, "-m", "gossamer", "crawl", url, "-c", str(Path(folder) / "c")),
            *("--order", order, "--like", examples, "--delay", "0", "--per-host", "4", "--json"),
        ]
        ended = subprocess.run(command, capture_output=True, check=True, text=True)
    summary = json.loads(ended.stdout)
    return summary["cpu_s"], summary["fetched"]


def main() -> None:
    url, examples = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 2
    for _ in range(rounds):
        for order in ("breadth", "backlinks", "focus"):
            cpu_s, pages = crawled(url, examples, order)
            print(
                f"{order:10} {cpu_s:7.2f} s  {pages:6,} pages  {1000 * cpu_s / pages:.2f} ms/page"
            )


if __name__ == "__main__":
    main()
