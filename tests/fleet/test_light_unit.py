"""A unit works without the libraries that its single file does not have."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gossamer.fleet.update.light import ABSENT
from support.a_pdf import a_pdf
from support.a_site import answer, page, site_in_thread

PAGES = {
    "/": page("<title>t</title><a href=/b>b</a> <a href=/c.pdf>c</a>"),
    "/b": page("<p>text <a href=/>back</a>"),
    "/c.pdf": answer(a_pdf([("words", "")]), headers={"Content-Type": "application/pdf"}),
}
EVERY_MODULE_OF_A_UNIT = """
import importlib, pkgutil
import gossamer.fleet.unit, gossamer.fleet.protocol
for found in pkgutil.walk_packages(gossamer.fleet.unit.__path__, "gossamer.fleet.unit."):
    importlib.import_module(found.name)
"""
# Python loads it at the start of every process.
SITECUSTOMIZE = """
import sys

class Without:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, path=None, target=None):
        is_absent = name.partition(".")[0] in {absent}
        return None if is_absent else self.finder.find_spec(name, path, target)
    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path[:] = map(Without, sys.meta_path)
"""


@pytest.fixture
def without_libraries(tmp_path: Path) -> dict[str, str]:
    """An environment in which no process can import the absent libraries."""
    folder = tmp_path / "absent"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(SITECUSTOMIZE.format(absent=ABSENT))
    return {**os.environ, "PYTHONPATH": str(folder)}


@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_unit_crawls_without_the_libraries_of_the_hub(
    tmp_path: Path, without_libraries: dict[str, str], workers: str
) -> None:
    with site_in_thread(PAGES) as site:
        words = f"crawl http://127.0.0.1:{site.port}/ --no-index --no-graph --delay 0 --json"
        where = ["--type", "html,pdf", "--workers", workers, "-c", str(tmp_path / "c")]
        done = subprocess.run(
            [sys.executable, "-P", "-m", "gossamer", *words.split(), *where],
            env=without_libraries,
            capture_output=True,
            check=False,
        )

    assert done.returncode == 0, done.stderr.decode()
    summary = json.loads(done.stdout)
    assert (summary["fetched"], summary["failed"]) == (3, 0)


def test_every_module_of_a_unit_loads_without_them(without_libraries: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", EVERY_MODULE_OF_A_UNIT],
        env=without_libraries,
        capture_output=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr.decode()
