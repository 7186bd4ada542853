"""Build the single file of a unit, with shiv (`docs/adr/0019-unit-file-and-updates.md`).

The same sources and dependencies give the same bytes. The file is

    __main__.py, start_file.py, built_for.json    the first code (`start_file.py`)
    _bootstrap/, environment.json                 shiv's: unpacks once, then starts
    site-packages/                                our package and the light dependencies
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
import zipfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

from gossamer.base.files import replace_file
from gossamer.errors import UsageError
from gossamer.fleet.update import start_file
from gossamer.fleet.update.collect import collect
from gossamer.fleet.update.light import MAX_BYTES
from gossamer.fleet.update.targets import version_key
from gossamer.version import __version__

_BUILT_AT: Final = "1980-01-01 00:00:00"  # the earliest time that a ZIP file can express
_SHEBANG: Final = "/usr/bin/env python3"
_ENTRY: Final = "gossamer.__main__:start_single_file"
# Tags of wheels, and the names that Python has for these platforms.
_PLATFORMS: Final = (
    (re.compile(r"manylinux\w*?_(x86_64|aarch64)"), r"linux-\1"),
    (re.compile(r"win_(amd64|arm64)"), r"win-\1"),
)


@dataclass(frozen=True, slots=True)
class UnitFile:
    """A built file."""

    path: Path
    version: str
    size: int
    sha256: str
    python: str
    platform: str


def build_unit_file(
    path: Path,
    platform: str | None = None,
    python: str | None = None,
    version: str = __version__,
) -> UnitFile:
    """Build the file for this machine, or for another platform and Python. `version` is the one by
    which units tell files apart. Raises UsageError.
    """
    version_key(version)
    facts = _facts(platform, python) | {"version": version}
    with tempfile.TemporaryDirectory(prefix="gossamer-bundle-") as scratch:
        site = Path(scratch) / "site-packages"
        site.mkdir()
        collect(site, platform, python)
        built = Path(scratch) / "unit.pyz"
        _pack(site, built, facts)
        content = built.read_bytes()
    if len(content) > MAX_BYTES:
        raise UsageError(
            f"the file would have {len(content):,} bytes, and at most {MAX_BYTES:,} are allowed; "
            "a dependency has grown"
        )
    replace_file(path, content, 0o755)
    digest = hashlib.sha256(content).hexdigest()
    return UnitFile(path, version, len(content), digest, facts["python"], facts["platform"])


def read_facts(file: Path) -> dict[str, str]:
    """The version of a built file, and what it was built for. Raises UsageError."""
    try:
        with zipfile.ZipFile(file) as archive:
            facts = json.loads(archive.read(start_file.FACTS))
        return {key: str(facts[key]) for key in ("version", "python", "platform")}
    except OSError as fault:
        raise UsageError(f"cannot read {file}: {fault.strerror}") from fault
    except (zipfile.BadZipFile, ValueError, KeyError, TypeError):
        raise UsageError(f"{file} is not a file of `gossamer hub bundle`") from None


def _facts(platform: str | None, python: str | None) -> dict[str, str]:
    facts = start_file.this_python()
    if python is not None:
        if not re.fullmatch(r"3\.\d{1,2}", python):
            raise UsageError(f"{python!r} is not a version of Python; write it as 3.12")
        facts["python"] = python
    if platform is not None:
        for pattern, name in _PLATFORMS:
            if found := pattern.fullmatch(platform):
                facts["platform"] = found.expand(name)
                return facts
        raise UsageError(
            f"{platform!r} is not a known platform; use a tag of wheels such as "
            "manylinux_2_28_aarch64 or win_amd64"
        )
    return facts


def _pack(site: Path, target: Path, facts: dict[str, str]) -> None:
    try:
        from shiv.bootstrap.environment import Environment
        from shiv.builder import create_archive
    except ImportError:
        raise UsageError("shiv is not installed; run `pip install gossamer[fleet]`") from None

    environment = Environment(
        built_at=_BUILT_AT,
        shiv_version=metadata.version("shiv"),
        entry_point=_ENTRY,
        compile_pyc=False,  # Python compiles what is used; all of it would take 3 s more
        reproducible=True,
    )
    main = f"{start_file.__name__.rpartition('.')[2]}:{start_file.start.__name__}"
    create_archive([site], target, _SHEBANG, main, environment)
    with zipfile.ZipFile(target, "a", zipfile.ZIP_DEFLATED) as archive:
        source = Path(start_file.__file__).read_bytes()
        for name, content in (
            ("start_file.py", source),
            (start_file.FACTS, json.dumps(facts, sort_keys=True).encode()),
        ):
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
