"""`gossamer verify`: check all files of a collection."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from gossamer.base.plurals import counted
from gossamer.cli.show.printable import printable
from gossamer.upkeep.verify import Checked, verify


def run_verify(path: Path, *, as_json: bool) -> int:
    """Print every problem and what to do; return 1 if there is any. Raises NoCollection."""
    checked = Checked()
    problems = []
    for problem in verify(path, checked):
        problems.append(asdict(problem))
        if not as_json:
            print(printable(f"{problem.where}: {problem.what}; {problem.todo}."), flush=True)
    if as_json:
        print(json.dumps({"schema": 1, "checked": asdict(checked), "problems": problems}))
    else:
        looked = (
            f"{counted(checked.files, 'archive file')} with "
            f"{counted(checked.exchanges, 'exchange')}, {counted(checked.urls, 'URL')} of "
            f"{counted(checked.hosts, 'host')}, {counted(checked.captures, 'capture')}, "
            f"{counted(checked.parts, 'graph part')}, "
            f"{counted(checked.entries, 'index entry', 'index entries')}, "
            f"{counted(checked.sums, 'checksum')} of files"
        )
        for unsure in checked.unsure:
            print(printable(f"Not checked: {unsure}."), file=sys.stderr)
        found = counted(len(problems), "problem")
        print(f"Checked {looked}: {found if problems else 'no problems'}.", file=sys.stderr)
    return 1 if problems else 0
