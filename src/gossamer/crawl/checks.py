"""Is a collection whole? Reads everything, believes nothing, changes nothing.

Beside a running crawl it looks at one moment, and leaves out what that moment had not committed.
Every problem comes with what to do about it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gossamer.crawl.check_archive import archive_problems
from gossamer.crawl.check_forgotten import forgotten_problems
from gossamer.crawl.check_graph import graph_problems, read_manifest
from gossamer.crawl.check_index import index_problems
from gossamer.crawl.check_state import Checked, Problem, state_problems
from gossamer.crawl.home import Home
from gossamer.crawl.study import Study

__all__ = ["Checked", "Problem", "verify"]


def verify(home: Home | Path, checked: Checked | None = None) -> Iterator[Problem]:
    """Every problem, as it is found; `checked` counts what was looked at.

    Raises NoCollection, WrongVersion, or CorruptFile when the state cannot be opened at all.
    """
    home = home if isinstance(home, Home) else Home(home)
    checked = checked if checked is not None else Checked()
    yield from forgotten_problems(home)
    manifest = read_manifest(home.graph)  # before the state: what it covers is committed there
    with Study.open(home.path) as study:
        yield from state_problems(study, checked)
        yield from archive_problems(study, checked)
        if isinstance(manifest, Problem):
            yield manifest
        else:
            yield from graph_problems(study, manifest, checked)
        yield from index_problems(study, checked)
