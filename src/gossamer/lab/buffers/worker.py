"""One way of `compare.py`, as a process: WAY FOLDER REACHABLE START...; prints one JSON object."""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from gossamer.base.processes import die_with_parent
from gossamer.lab.buffers.measure import measure_way, read_links


def main(words: list[str]) -> None:
    """Read the links, crawl with the way, and print what it took."""
    die_with_parent()
    way, folder, reachable, *start = words
    links_of = read_links(Path(folder))
    with tempfile.TemporaryDirectory(prefix="gossamer-buffer-") as home:
        measured = measure_way(way, Path(home), links_of, list(map(int, start)), int(reachable))
    print(json.dumps(asdict(measured)))


if __name__ == "__main__":
    main(sys.argv[1:])
