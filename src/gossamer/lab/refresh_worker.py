"""One budget of `refresh.py`, as a process: TRACE DAYS MAX_FILES; prints one JSON object."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from gossamer.base.processes import die_with_parent
from gossamer.lab.refresh import measure
from gossamer.lab.traces import read_trace


def main(words: list[str]) -> None:
    """Read the trace, replay it, and print what each policy has reached."""
    die_with_parent()
    path, budget_days, max_files = words
    row = measure(read_trace(Path(path), int(max_files)), float(budget_days))
    print(json.dumps({name: asdict(reached) for name, reached in row.items()}))


if __name__ == "__main__":
    main(sys.argv[1:])
