"""Check an installed Gossamer: run the demo crawl, search it, and look for missing parts.

    python .ci/check_install.py

Run it with the Python of an environment into which a wheel was installed. The package is taken from
that environment, never from this clone. The release workflow does this for every wheel, and the
Containerfile does it for the image. Nothing is sent beyond this machine: the demo serves its own
pages. The exit code is 0 when everything works.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

TIMEOUT_S = 300  # of each command; the demo takes about 3 s


def main() -> int:
    folder = installed_folder()
    problems = [*missing_extensions(), *missing_assets(folder)]
    with tempfile.TemporaryDirectory(prefix="gossamer-check-") as scratch:
        problems += failed_commands(Path(scratch))
    for problem in problems:
        print(f"check_install: {problem}", file=sys.stderr)
    if not problems:
        print(f"check_install: {folder} works")
    return 1 if problems else 0


def installed_folder() -> Path:
    """The folder of the package. Ends the program if that is not in this environment."""
    import gossamer

    folder = Path(gossamer.__file__).resolve().parent
    if not folder.is_relative_to(Path(sysconfig.get_path("platlib")).resolve()):
        sys.exit(f"check_install: {folder} is not installed in this environment; install the wheel")
    return folder


def missing_extensions() -> list[str]:
    """Extensions are optional in a build, so a wheel without them would not fail by itself."""
    from gossamer.native.extensions import EXTENSIONS, Form, look

    return [f"{name} is not compiled" for name in EXTENSIONS if look(name)[0] is not Form.COMPILED]


def missing_assets(folder: Path) -> list[str]:
    """A build without npm leaves out what draws the curves."""
    vendor = folder / "web" / "static" / "vendor"
    return [] if any(vendor.glob("*.js")) else [f"{vendor} holds no script for the curves"]


def failed_commands(scratch: Path) -> list[str]:
    """What a new user does first: the version, a crawl, a search."""
    collection = str(scratch / "demo")
    commands = (
        ["--version"],
        ["doctor", "-c", collection],
        ["demo", "-c", collection],
        ["verify", "-c", collection],
    )
    for words in commands:
        ended = run(words, scratch)
        if ended.returncode:
            return [f"`gossamer {' '.join(words)}` failed ({ended.returncode}): {ended.stderr}"]
    found = run(["search", "river garden", "-c", collection, "--json"], scratch)
    if found.returncode or not json.loads(found.stdout)["hits"]:
        return [f"the search found nothing in the demo: {found.stdout}{found.stderr}"]
    return []


def run(words: list[str], scratch: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "gossamer", *words],
        cwd=scratch,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


if __name__ == "__main__":
    sys.exit(main())
