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
from support.updates import UpdateLab

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
FETCH_AN_UPDATE = """
import sys
from pathlib import Path
from support.update_source import FolderSource
from gossamer.base.clock import SystemClock
from gossamer.fleet.update.client import UpdateClient
from gossamer.fleet.update.start_file import this_python
from gossamer.fleet.update.versions import UpdateFolder

hub, unit, root = map(Path, sys.argv[1:])
source, here = FolderSource(hub), this_python()
for version in ("1.0", "1.2"):
    client = UpdateClient(
        UpdateFolder(unit), root.read_text(), source, SystemClock(), here, version
    )
    try:
        print(client.stage().version)
    except Exception as fault:
        print(fault)
genuine = source.fetch_update("metadata/timestamp.json", 10**6)
source.changed["metadata/timestamp.json"] = genuine.replace(b'"version": 2', b'"version": 3')
try:
    client.stage()
except Exception as fault:
    print(fault)
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


def test_a_unit_verifies_updates_without_them(
    tmp_path: Path, without_libraries: dict[str, str]
) -> None:
    lab = UpdateLab(tmp_path)
    lab.offer("1.1")
    (tmp_path / "root.json").write_text(lab.root)
    path = f"{without_libraries['PYTHONPATH']}:{Path(__file__).parents[1]}"
    done = subprocess.run(
        [
            sys.executable,
            "-P",
            "-c",
            FETCH_AN_UPDATE,
            lab.hub,
            lab.unit.path,
            tmp_path / "root.json",
        ],
        env={**without_libraries, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )

    newer, older, forged = done.stdout.splitlines()
    assert newer == "1.1", done.stderr
    assert older.endswith("it does not go back")
    assert "it is not signed with the keys of the hub" in forged
