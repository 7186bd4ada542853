"""What the web page takes from npm: fetched at build time, by its hashes, or done without.

The registry of these tests is on loopback; it has one package, made for the test.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import re
import runpy
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.a_site import Pages, Site, answer, site_in_thread
from support.need import need_program

ROOT = Path(__file__).parents[2]
ASSETS = ROOT / "assets"
SCRIPT = ASSETS / "gossamer_assets.py"
JSON = {"content-type": "application/json"}


def packed(script: bytes) -> bytes:
    """A package as npm packs it."""
    files = {
        "package.json": json.dumps({"name": "uplot", "version": "1.0.0"}).encode(),
        "dist/uPlot.iife.min.js": script,
        "dist/uPlot.min.css": b".u {}",
        "LICENSE": b"MIT",
    }
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return held.getvalue()


PACKAGE = packed(b"var uPlot = 1;")
INTEGRITY = "sha512-" + base64.b64encode(hashlib.sha512(PACKAGE).digest()).decode()


@pytest.fixture
def registry() -> Iterator[Site]:
    need_program("npm")
    with site_in_thread() as site:
        about = {
            "name": "uplot",
            "dist-tags": {"latest": "1.0.0"},
            "versions": {
                "1.0.0": {
                    "name": "uplot",
                    "version": "1.0.0",
                    "dist": {"tarball": site.url("/uplot/-/uplot-1.0.0.tgz")},
                }
            },
        }
        pages: Pages = {
            "/uplot": answer(json.dumps(about).encode(), headers=JSON),
            "/uplot/-/uplot-1.0.0.tgz": answer(PACKAGE),
        }
        site.pages = pages
        yield site


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A lock file for that package."""
    folder = tmp_path / "assets"
    folder.mkdir()
    needs = {"name": "a", "dependencies": {"uplot": "1.0.0"}}
    package = {"version": "1.0.0", "integrity": INTEGRITY}
    packages = {"": needs, "node_modules/uplot": package}
    lock = {"name": "a", "lockfileVersion": 3, "requires": True, "packages": packages}
    (folder / "package.json").write_text(json.dumps(needs))
    (folder / "package-lock.json").write_text(json.dumps(lock))
    (folder / ".npmrc").write_bytes((ASSETS / ".npmrc").read_bytes())
    return folder


def fetch(source: Path, vendor: Path, registry: str, **more: str) -> str:
    """The sentence that `fetch` gives, in a process with settings of its own for npm."""
    code = (
        "import sys, pathlib; import gossamer_assets as assets; "
        "print(assets.fetch(*map(pathlib.Path, sys.argv[1:])))"
    )
    env = {
        **os.environ,
        "PYTHONPATH": str(ASSETS),
        "npm_config_registry": registry,
        "npm_config_cache": str(source / "cache"),
        "npm_config_userconfig": str(source / "none"),
        "npm_config_fetch_retries": "0",
        **more,
    }
    command = [sys.executable, "-c", code, str(source), str(vendor)]
    ended = subprocess.run(command, env=env, capture_output=True, text=True, check=True, timeout=90)
    return ended.stdout.strip()


@pytest.mark.slow
def test_files_are_fetched_once_for_a_lock_file(
    registry: Site, source: Path, tmp_path: Path
) -> None:
    vendor = tmp_path / "static" / "vendor"

    assert fetch(source, vendor, registry.url()) == ""
    asked = len(registry.log)
    assert fetch(source, vendor, registry.url()) == ""

    assert asked > 0
    assert len(registry.log) == asked
    assert (vendor / "uPlot.iife.min.js").read_text() == "var uPlot = 1;"
    assert (vendor / "uPlot.LICENSE.txt").read_text() == "MIT"
    assert json.loads((vendor / "stamp.json").read_text())["packages"] == {"uplot": "1.0.0"}
    assert [path.name for path in vendor.parent.iterdir()] == ["vendor"]


@pytest.mark.slow
def test_a_file_that_does_not_match_its_hash_is_refused(
    registry: Site, source: Path, tmp_path: Path
) -> None:
    changed = answer(packed(b"var uPlot = evil;"))
    registry.pages = {**registry.pages, "/uplot/-/uplot-1.0.0.tgz": changed}

    said = fetch(source, tmp_path / "vendor", registry.url())

    assert said.startswith("npm failed: ")
    assert "integrity" in said.lower()
    assert not (tmp_path / "vendor").exists()


@pytest.mark.slow
def test_a_registry_that_cannot_be_reached_is_told_and_leaves_nothing(
    source: Path, tmp_path: Path
) -> None:
    need_program("npm")
    with site_in_thread() as site:
        root = site.url()

    assert fetch(source, tmp_path / "vendor", root).startswith("npm failed: ")
    assert not (tmp_path / "vendor").exists()


def test_without_npm_nothing_is_fetched(source: Path, tmp_path: Path) -> None:
    nowhere = "http://127.0.0.1:9/"

    assert fetch(source, tmp_path / "vendor", nowhere, PATH=str(tmp_path)) in (
        "there is no npm on this machine",
        "npm failed: no reason told",  # the package that brings npm is installed
    )
    said = fetch(source, tmp_path / "vendor", nowhere, GOSSAMER_NO_NPM="1")
    assert said == "GOSSAMER_NO_NPM is set"


def test_the_lock_file_has_hashes_and_names_no_registry() -> None:
    lock = json.loads((ASSETS / "package-lock.json").read_text())
    needs = json.loads((ASSETS / "package.json").read_text())["dependencies"]

    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in needs.values())
    assert lock["packages"][""]["dependencies"] == needs
    for path, package in lock["packages"].items():
        if path:
            assert package["integrity"].startswith("sha512-"), path
            assert "resolved" not in package, path


def test_nothing_from_npm_is_committed() -> None:
    command = ["git", "ls-files", "src/gossamer/web/static", "assets"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if ended.returncode:
        pytest.skip("this is no clone")

    assert not [name for name in ended.stdout.split() if "vendor" in name or "node_modules" in name]


def program(home: Path) -> dict[str, Any]:
    """`run.py` in a folder of its own."""
    (home / "run.py").write_bytes((ROOT / "run.py").read_bytes())
    return runpy.run_path(str(home / "run.py"))


def test_run_asks_npm_once_for_the_same_files(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / ".venv").mkdir()
    (tmp_path / "assets").mkdir()
    script = "from pathlib import Path\nwith Path('asked').open('a') as file: file.write('x')\n"
    (tmp_path / "assets" / "gossamer_assets.py").write_text(script)
    run = program(tmp_path)
    run["PYTHON"].parent.mkdir()
    run["PYTHON"].symlink_to(sys.executable)

    run["bring_assets"]()
    run["bring_assets"]()
    assert (tmp_path / "asked").read_text() == "x"

    (tmp_path / "assets" / "package-lock.json").write_text("{}")
    run["bring_assets"]()
    assert (tmp_path / "asked").read_text() == "xx"

    run["VENDOR"].mkdir(parents=True)
    (run["VENDOR"] / "stamp.json").write_text("{}")
    run["TRIED"].unlink()
    run["bring_assets"]()
    assert (tmp_path / "asked").read_text() == "xx"
