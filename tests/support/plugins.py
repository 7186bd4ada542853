"""Plug-ins for tests, installed in the simplest way: a module and its metadata on a path.

with installed(folder, "a-package", {"gossamer.order": {"short": "module:Name"}}): ...
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

EXAMPLE: Final = Path(__file__).parents[2] / "examples" / "gossamer-example-plugins"


def write_metadata(
    folder: Path, package: str, groups: Mapping[str, Mapping[str, str]], version: str = "1.0"
) -> None:
    """What an installer writes of a package: its name, version and entry points."""
    info = folder / f"{package.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    lines = [
        line
        for group, points in groups.items()
        for line in (f"[{group}]", *(f"{name} = {target}" for name, target in points.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


@contextmanager
def installed(
    folder: Path, package: str, groups: Mapping[str, Mapping[str, str]], module: str = ""
) -> Iterator[None]:
    """A package whose only module has the source `module`; its name is that of the package."""
    name = package.replace("-", "_")
    write_metadata(folder, package, groups)
    (folder / f"{name}.py").write_text(module)
    with on_path(folder):
        yield
    sys.modules.pop(name, None)


@contextmanager
def example_installed(folder: Path) -> Iterator[None]:
    """The package of `examples/`."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    write_metadata(folder, project["name"], project["entry-points"], project["version"])
    with on_path(folder), on_path(EXAMPLE):
        yield
    sys.modules.pop("gossamer_example_plugins", None)


@contextmanager
def on_path(folder: Path) -> Iterator[None]:
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        importlib.invalidate_caches()


def run_gossamer(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, with the packages in `folder` and the example's module
    on its path."""
    paths = os.pathsep.join([str(folder), str(EXAMPLE)])
    return subprocess.run(
        [sys.executable, "-m", "gossamer", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "PYTHONPATH": paths, "NO_COLOR": "1"},
    )
