#!/usr/bin/env python3
"""Run the demo, crawl a site, or run all checks. Needs only Python 3.11 or newer.

    python3 run.py               crawl a small web that comes with Gossamer, and show the result
    python3 run.py URL [FLAG...] crawl a site into ./gossamer, show the result, and search it
    python3 run.py test [ARG...] run all checks: format, lint, types, unit tests, slow tests

Creates `.venv` next to this file if it is missing, and installs the package there. Later runs skip
this: a stamp in `.venv` records for which `pyproject.toml` and C files it was made. Without a C
compiler, Python code replaces the C code; a compiler that is installed later is detected. The
build downloads the chart library of the web page from npm; without npm the page shows tables.
"""

from __future__ import annotations

import hashlib
import os
import runpy
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Sequence
from pathlib import Path

OLDEST = (3, 11)
HOME = Path(__file__).resolve().parent
VENV = HOME / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
SUFFIX = ".exe" if os.name == "nt" else ""
PYTHON = BIN / f"python{SUFFIX}"
GOSSAMER = BIN / f"gossamer{SUFFIX}"
STAMP = VENV / "gossamer-stamp"
TRIED = VENV / "gossamer-assets"  # for which files npm was asked
SOURCES = HOME / "src"
ASSETS = HOME / "assets"
VENDOR = SOURCES / "gossamer" / "web" / "static" / "vendor"

# Programs that some tests run, and the Debian package that brings each.
NEEDED = {
    "gcc": "build-essential",
    "nginx": "nginx",
    "wget": "wget",
    "wget2": "wget2",
    "strace": "strace",
    "openssl": "openssl",
    "tinyproxy": "tinyproxy-bin",
    "microsocks": "microsocks",
    "ip": "iproute2",
    "fish": "fish",
    "zsh": "zsh",
    "chromium": "chromium",
    "pg_ctl": "postgresql",
    "ssh": "openssh-client",
    "sshd": "openssh-server",
}
# Folders beside those of PATH that hold some of them: Debian keeps PostgreSQL's apart by version.
PLACES = ("/usr/lib/postgresql/*/bin", "/usr/local/sbin", "/usr/sbin")

RETRY = "`python3 assets/gossamer_assets.py` tries again"

# What compiling takes on Debian: the first has the headers of C, the other those of Python.
BUILD = ("build-essential", f"python{sys.version_info[0]}.{sys.version_info[1]}-dev")

# Real sites that slow tests crawl: the shared script fetches them from Debian's packages.
SITES_SCRIPT = Path(os.environ.get("TEST_DATA", HOME.parent / "shared" / "data")) / "sites.py"
SITES = ["postgresql", "sqlite", "python", "apache", "handbook"]
if os.environ.get("EIGHT_SITES"):
    SITES += ["cppreference", "git", "linux"]

# One process for each file: its tests share crawls and servers. The longest first (conftest.py).
BY_FILE = ("--dist", "loadfile", "--no-loadscope-reorder")

# Each check: its name, its command after `python -m`, and exit codes that are also good.
# pytest says 5 when there was nothing to run.
CHECKS = (
    ("format", ["ruff", "format", "--check", "."], ()),
    ("lint", ["ruff", "check", "."], ()),
    ("types", ["mypy"], ()),
    ("unit tests", ["pytest", "-n", "auto", "--dist", "worksteal", "-m", "not slow"], ()),
    ("slow tests", ["pytest", "-n", "auto", *BY_FILE, "-m", "slow"], (5,)),
)


def main(arguments: list[str]) -> int:
    """Do what was asked; the exit code is that of what ran."""
    if sys.version_info < OLDEST:
        found = ".".join(map(str, sys.version_info[:2]))
        say(f"Gossamer needs Python 3.11 or newer, and this is {found}: {sys.executable}")
        return 2
    if arguments[:1] in (["-h"], ["--help"]):
        say(__doc__.strip())
        return 0
    if arguments[:1] == ["test"]:
        return test(arguments[1:])
    if not install("-e", "."):
        return 1
    if not arguments:
        return run([GOSSAMER, "demo"], cwd=Path.cwd())
    code = run([GOSSAMER, "crawl", *arguments], cwd=Path.cwd())
    if code == 0:
        run([PYTHON, "-m", "gossamer.cli.run.tour", collection_of(arguments)], cwd=Path.cwd())
    return code


def test(arguments: list[str]) -> int:
    """Run every check, also after one has failed; the first bad exit code, or 0.

    Further arguments go to pytest.
    """
    install_programs()  # first: the compiler is one of them
    if not install("-e", ".[dev]"):
        return 1
    keep_bytecode()
    # Three of four processes that collect the tests find them compiled: 7 s of CPU time each.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    fetch_sites(SITES)
    results = []
    for name, command, also_good in CHECKS:
        more = arguments if command[0] == "pytest" else []
        began_s = time.monotonic()
        code = run([PYTHON, "-m", *command, *more])
        results.append((name, 0 if code in also_good else code, time.monotonic() - began_s))
    for name, code, took_s in results:
        say(f"{'ok    ' if code == 0 else 'FAILED'}  {name:<12} {took_s:6.1f} s")
    return next((code for _, code, _ in results if code), 0)


def collection_of(arguments: list[str]) -> str:
    """The directory that a crawl with these arguments goes to."""
    for at, word in enumerate(arguments[:-1]):
        if word in ("-c", "--collection"):
            return arguments[at + 1]
    return os.environ.get("GOSSAMER_COLLECTION", "gossamer")


def install(*what: str) -> bool:
    """Bring the package into `.venv`, unless the stamp says that it is there; whether it is."""
    if is_installed(what[-1]):
        bring_assets()
        return True
    if not runs(PYTHON):
        say("making .venv ...")
        if run([sys.executable, "-m", "venv", "--clear", VENV]) != 0:
            say("Python has no venv here; on Debian: apt-get install python3-venv")
            return False
    say("installing the package and what it needs (once, about a minute) ...")
    pip: list[str | Path] = [
        PYTHON,
        "-m",
        "pip",
        "install",
        "-qq",
        "--disable-pip-version-check",
    ]
    for old in compiled().values():
        old.unlink(missing_ok=True)  # where it cannot be built again, it must not stay as it was
    if run([*pip, *what]) != 0 and not install_without_npm([*pip, *what]):
        say("the installation failed; the lines above say why. Run this command again to go on.")
        return False
    TRIED.write_text(fingerprint(), encoding="utf-8")
    STAMP.write_text(f"{fingerprint()} {what[-1]} {can_compile():d}\n", encoding="utf-8")
    keep_bytecode()
    if not is_compiled():
        say(f"not all parts in C were built, so crawls take longer: {why_not_compiled()}")
    if not has_assets():
        say(f"npm could not be reached, so the web page shows tables, no curves: {RETRY}")
    return True


def install_without_npm(pip: list[str | Path]) -> bool:
    """Once more for a machine without npm, on which the package that brings it cannot be had."""
    if shutil.which("npm") is not None or os.environ.get("GOSSAMER_NO_NPM"):
        return False
    os.environ["GOSSAMER_NO_NPM"] = "1"
    return run(pip) == 0


def has_assets() -> bool:
    """Whether the files from npm are there; which they should be is the script's to say."""
    return (VENDOR / "stamp.json").exists()


def bring_assets() -> None:
    """Fetch the files from npm where they are missing; once for the same files, not each time."""
    if has_assets() or (TRIED.exists() and TRIED.read_text(encoding="utf-8") == fingerprint()):
        return
    TRIED.write_text(fingerprint(), encoding="utf-8")
    run([PYTHON, ASSETS / "gossamer_assets.py"])


def keep_bytecode() -> None:
    """Compile the sources, as an installer does with packages: where Python is told not to keep
    what it compiles (`PYTHONDONTWRITEBYTECODE`), each start would take twice as long."""
    run([PYTHON, "-m", "compileall", "-qq", SOURCES])


def is_installed(what: str) -> bool:
    """Whether `.venv` holds `what`, or more, for these files; `.[dev]` holds `.`.

    A compiler that has come since then is a reason to install again; one that failed is none.
    """
    if not STAMP.exists() or not runs(PYTHON):
        return False
    match STAMP.read_text(encoding="utf-8").split():
        case [stamped, installed, could]:
            is_same = stamped == fingerprint() and installed.startswith(what)
            return is_same and (could == "1" or is_compiled() or not can_compile())
        case _:  # half written, or by an older version
            return False


def fingerprint() -> str:
    """Changes when the dependencies (of npm, too), the C files or the interpreter do, or the
    folder has moved."""
    files = [HOME / "pyproject.toml", *sorted(SOURCES.rglob("*.[ch]"))]
    files += sorted(ASSETS.glob("package*.json"))
    given = [file.read_bytes() for file in files]
    return hashlib.sha256(b"\0".join([*given, f"{sys.version} {HOME}".encode()])).hexdigest()


def compiled() -> dict[Path, Path]:
    """For each part in C, where its compiled form lies when it is built for this interpreter."""
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    return {source: source.with_suffix(suffix) for source in sorted(SOURCES.rglob("_*.c"))}


def is_compiled() -> bool:
    """Whether all of them are built."""
    return all(built.exists() for built in compiled().values())


def can_compile() -> bool:
    """Whether there seem to be a C compiler and Python's headers; trying is setuptools' work."""
    named = os.environ.get("CC") or next(filter(shutil.which, ("cc", "gcc", "clang", "cl")), None)
    return named is not None and has_headers()


def has_headers() -> bool:
    return (Path(sysconfig.get_path("include")) / "Python.h").exists()


def why_not_compiled() -> str:
    """What to do about it, in one line."""
    if can_compile():
        return f"the compiler failed; `{PYTHON} -m pip install -v -e .` shows its words"
    return f"there is no C compiler, or no Python.h; on Debian: apt-get install {' '.join(BUILD)}"


def runs(python: Path) -> bool:
    """Whether a Python is there and works; one in a copied or half-made .venv does not."""
    if not python.exists():
        return False
    tried = subprocess.run([python, "-c", "import pip"], capture_output=True, check=False)
    return tried.returncode == 0


def install_programs() -> None:
    """Programs for the tests, where we may; without them their tests skip and say so."""
    packages = [package for name, package in NEEDED.items() if not is_program(name)]
    if sys.executable.startswith("/usr/bin/") and not has_headers():
        packages.append(BUILD[1])  # Debian parts them from its Python; others bring them along
    if not packages:
        return
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if not is_root or shutil.which("apt-get") is None:
        say(f"some tests will be skipped; on Debian: sudo apt-get install {' '.join(packages)}")
        return
    quiet = ["apt-get", "-qq", "-o", "Dpkg::Use-Pty=0"]
    os.environ.setdefault("DEBIAN_FRONTEND", "noninteractive")
    run([*quiet, "update"])
    run([*quiet, "install", "-y", "--no-install-recommends", *packages], silent=True)


def is_program(name: str) -> bool:
    """Whether a program is there, on PATH or where Debian puts it; `tests/support/need.py` looks
    in the same places."""
    places = [str(place) for pattern in PLACES for place in Path("/").glob(pattern[1:])]
    return (
        shutil.which(name) is not None
        or shutil.which(name, path=os.pathsep.join(places)) is not None
    )


def fetch_sites(names: Sequence[str]) -> Path | None:
    """Have real sites in `$TEST_SITES`; None where they cannot be had, and their tests skip.

    Not under /root when we are root: nginx drops its rights and could not read them there.
    """
    if not SITES_SCRIPT.exists() or shutil.which("apt-get") is None:
        say("no real sites: they need Debian's apt-get, and sites.py in $TEST_DATA")
        return None
    is_root = os.geteuid() == 0
    cache = Path("/var/cache") if is_root else Path.home() / ".cache"
    home = Path(os.environ.setdefault("TEST_SITES", str(cache / "gossamer-sites")))
    home.mkdir(parents=True, exist_ok=True)
    table = home / "table.tsv"
    rows = [row for row in runpy.run_path(str(SITES_SCRIPT))["SITES"] if row[0] in names]
    table.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    fetch: list[str | Path] = [sys.executable, SITES_SCRIPT, "fetch", home, "--table", table]
    if all((home / package / root).is_dir() for _, package, root, _ in rows) or run(fetch) == 0:
        return home
    # A machine that has never asked for the lists of packages knows none.
    if is_root and run(["apt-get", "-qq", "update"]) == 0 and run(fetch) == 0:
        return home
    return None


def run(command: list[str | Path], *, silent: bool = False, cwd: Path = HOME) -> int:
    """Run a program here, say which and for how long, and return its exit code.

    Ctrl-C reaches the program too, which then ends in its own time; we wait for it.
    """
    words = [str(word) for word in command]
    say(f"> {' '.join([Path(words[0]).stem, *words[1:]])}")
    began_s = time.monotonic()
    child = subprocess.Popen(words, cwd=cwd, stdout=subprocess.DEVNULL if silent else None)
    before = signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    try:
        while child.poll() is None:
            try:
                child.wait()
            except KeyboardInterrupt:
                continue
    finally:
        signal.signal(signal.SIGTERM, before)
    say(f"  {time.monotonic() - began_s:.1f} s, exit {child.returncode}")
    return child.returncode


def say(line: str) -> None:
    """Talk goes to stderr; stdout belongs to what we run."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
