"""What is installed is what is here: no page, script or picture is left behind, no source in C."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from shutil import copy, copytree, ignore_patterns

import pytest

ROOT = Path(__file__).parents[2]
VENDOR = Path("src/gossamer/web/static/vendor")
NOT_FOR_WHEELS = {".c", ".h", ".so", ".pyd", ".pyc"}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package alone, with a compiled file that another Python left in it."""
    home = tmp_path_factory.mktemp("clone")
    copytree(ROOT / "src", home / "src", ignore=ignore_patterns("__pycache__", "*.so", "*-info"))
    copytree(ROOT / "assets", home / "assets", ignore=ignore_patterns("__pycache__"))
    shutil.rmtree(home / VENDOR, ignore_errors=True)  # as on a machine that cannot reach npm
    for name in ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE"):
        copy(ROOT / name, home)
    (home / "src" / "gossamer" / "native" / "_page.cpython-37-other.so").write_bytes(b"old")
    return home


def built(clone: Path, what: str, **more: str) -> Path:
    """`sdist` or `wheel`, by the backend that pip would ask, without the network."""
    for left in (clone / "out", *clone.glob("build/lib*"), *clone.glob("build/bdist*")):
        shutil.rmtree(left, ignore_errors=True)  # an earlier test must not leak into this one
    code = f"import gossamer_backend as made; made.build_{what}('out')"
    command = [sys.executable, "-W", "ignore", "-c", code]
    env = {**os.environ, "PYTHONPATH": "assets", "GOSSAMER_NO_NPM": "1", **more}
    ended = subprocess.run(command, cwd=clone, env=env, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    if what == "wheel" and not (clone / VENDOR).exists():
        assert "will have no curves: GOSSAMER_NO_NPM is set." in ended.stderr
    (found,) = (clone / "out").glob("*.whl" if what == "wheel" else "*.tar.gz")
    return found


def files_of(clone: Path, without: set[str]) -> set[str]:
    source = clone / "src"
    found = (path for path in (source / "gossamer").rglob("*") if path.is_file())
    return {str(path.relative_to(source)) for path in found if path.suffix not in without}


def test_a_wheel_holds_every_file_and_no_source_in_c(clone: Path) -> None:
    expected = files_of(clone, NOT_FOR_WHEELS)
    with zipfile.ZipFile(built(clone, "wheel")) as wheel:
        held = {name for name in wheel.namelist() if name.startswith("gossamer/")}

    assert expected - held == set()
    assert {Path(name).suffix for name in held - expected} <= {".so", ".pyd"}
    assert not [name for name in held if "other" in name]


def test_a_source_archive_holds_what_is_compiled_and_nothing_compiled(clone: Path) -> None:
    expected = files_of(clone, {".so", ".pyd", ".pyc"})
    with tarfile.open(built(clone, "sdist")) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    held = {name.removeprefix("src/") for name in names if name.startswith("src/gossamer/")}

    assert expected - held == set()
    assert not [name for name in held if name.endswith((".so", ".pyd", ".pyc"))]
    assert "assets/package-lock.json" in names
    assert "assets/gossamer_backend.py" in names


def test_a_wheel_holds_what_was_fetched_from_npm(clone: Path) -> None:
    (clone / VENDOR).mkdir()
    (clone / VENDOR / "uPlot.iife.min.js").write_text("var uPlot;")
    try:
        with zipfile.ZipFile(built(clone, "wheel", CC="false")) as wheel:  # no need to compile
            held = set(wheel.namelist())
    finally:
        shutil.rmtree(clone / VENDOR)

    assert "gossamer/web/static/vendor/uPlot.iife.min.js" in held
