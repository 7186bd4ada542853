"""Gather what the single file of a unit holds: our package, and the light dependencies.

For this machine the installed files are copied, so nothing is downloaded. For another platform pip
downloads wheels of the same versions; our own compiled forms are left out there, and their Python
versions do the work.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path, PurePath, PurePosixPath
from typing import Final

import gossamer
from gossamer.base.processes import StillRunning, run_program
from gossamer.errors import UsageError
from gossamer.fleet.update.light import DISTRIBUTIONS, LEFT_OUT, is_wanted, is_wanted_of_ours

_DOWNLOAD_S: Final = 600.0
_COMPILED: Final = frozenset({".so", ".pyd"})


def collect(folder: Path, platform: str | None = None, python: str | None = None) -> None:
    """Fill `folder` as a site-packages folder. `platform` is a tag of wheels, such as
    `manylinux_2_28_aarch64` or `win_amd64`; by default it is this machine's. Raises UsageError.
    """
    distributions = list(light_distributions())
    if platform is None and python is None:
        for one in distributions:
            _copy_installed(one, folder)
    else:
        _download(distributions, folder, platform, python)
    _copy_own(folder / "gossamer", is_compiled=platform is None and python is None)


def light_distributions() -> Iterator[metadata.Distribution]:
    """The distributions of the file, each once, as they are installed here. Raises UsageError."""
    from packaging.requirements import Requirement

    waiting = [Requirement(line) for line in DISTRIBUTIONS]
    seen = set(LEFT_OUT)
    while waiting:
        wanted = waiting.pop()
        name = re.sub(r"[-_.]+", "-", wanted.name).lower()
        is_needed = wanted.marker is None or wanted.marker.evaluate({"extra": ""})
        if name in seen or not is_needed:
            continue
        seen.add(name)
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            raise UsageError(
                f"the file of a unit needs {name}, which is not installed; run "
                "`pip install gossamer[fleet]`"
            ) from None
        waiting += map(Requirement, found.requires or ())
        yield found


def _copy_installed(distribution: metadata.Distribution, folder: Path) -> None:
    for file in distribution.files or ():
        if is_wanted(PurePath(file)):
            _put(Path(str(distribution.locate_file(file))).read_bytes(), folder / file)


def _copy_own(folder: Path, *, is_compiled: bool) -> None:
    source = Path(gossamer.__path__[0])
    for path in sorted(source.rglob("*")):
        inner = path.relative_to(source)
        is_usable = is_compiled or path.suffix not in _COMPILED
        if path.is_file() and is_usable and is_wanted_of_ours(inner):
            _put(path.read_bytes(), folder / inner)


def _put(content: bytes, path: Path) -> None:
    """The same mode everywhere: the file is to be the same whoever builds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(0o644)


def _download(
    distributions: list[metadata.Distribution],
    folder: Path,
    platform: str | None,
    python: str | None,
) -> None:
    """Unpack wheels for another platform or Python. Raises UsageError."""
    wheels = folder.parent / "wheels"
    wheels.mkdir()
    for_what = [f"--platform={platform}"] if platform else []
    for_what += [f"--python-version={python}"] if python else []
    names = [f"{one.name}=={one.version}" for one in distributions]
    if platform and platform.startswith("win"):
        names = [name for name in names if not name.startswith("uvloop==")]
    command = [
        sys.executable, "-P", "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
        "--no-deps", "--only-binary=:all:", *for_what, "--dest", str(wheels), *names,
    ]  # fmt: skip
    try:
        done = run_program(command, b"", os.environ, _DOWNLOAD_S)
        problem = done.error if done.code else ""
    except (OSError, StillRunning) as fault:
        problem = str(fault)
    if problem:
        raise UsageError(
            f"pip cannot download the parts for {platform or 'this platform'} with Python "
            f"{python or 'of this version'} ({problem}); build the file on such a machine instead"
        )
    for wheel in sorted(wheels.glob("*.whl")):
        _unpack(wheel, folder)
    shutil.rmtree(wheels)


def _unpack(wheel: Path, folder: Path) -> None:
    """Files of a wheel, also those in its folders `X.data/purelib` and `X.data/platlib`."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            path = PurePosixPath(name)
            if path.parts[0].endswith(".data"):
                if path.parts[1] not in ("purelib", "platlib"):
                    continue
                path = PurePosixPath(*path.parts[2:])
            if not name.endswith("/") and not path.is_absolute() and is_wanted(path):
                _put(archive.read(name), folder / path)
