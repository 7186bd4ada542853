"""`gossamer verify`: is the collection whole?"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from gossamer.cli.printable import printable
from gossamer.crawl.checks import Checked, verify


def run_verify(path: Path, *, as_json: bool) -> int:
    """Print every problem and what to do; 1 when there is any. Raises NoCollection."""
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
            f"{checked.files} archive files with {checked.exchanges} exchanges, {checked.urls} "
            f"URLs of {checked.hosts} hosts, {checked.captures} captures, {checked.parts} parts "
            f"of the graph, {checked.entries} entries of the index"
        )
        found = f"{len(problems)} problems" if len(problems) != 1 else "1 problem"
        print(f"Checked {looked}: {found if problems else 'all is well'}.", file=sys.stderr)
    return 1 if problems else 0
