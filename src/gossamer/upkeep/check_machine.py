"""The checks of `doctor`: whether this machine can crawl, and which process holds the collection.

Each check is one function that returns one sentence. A check that raises is reported as failed.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gossamer.base.plots import plot_library
from gossamer.collection.directory import FORMAT, CollectionPaths, open_to_read
from gossamer.errors import GossamerError
from gossamer.frontier.rocks import RocksStore
from gossamer.frontier.store import StateTable
from gossamer.native import extensions
from gossamer.version import __version__

_LEAST_FILES: Final = 1024  # 256 for the state, as many connections, files, and Python's own
_LEAST_FREE_BYTES: Final = 10**9
_ASSETS: Final = Path(__file__).parents[3] / "assets" / "gossamer_assets.py"  # in a clone
_OPTIONAL: Final = {
    "chromium": "pages that need a browser",
    "duckdb": "queries on graph/ and exports by hand",
}


@dataclass(frozen=True, slots=True)
class MachineCheck:
    """The result of one check. `todo` says what to do if it is not ok."""

    name: str
    is_ok: bool
    says: str
    todo: str = ""


def doctor(collection: Path | None = None) -> list[MachineCheck]:
    """Run every check of the machine, and of the collection if there is one."""
    folder = _existing(collection or Path())
    checks: list[tuple[str, Callable[[], MachineCheck]]] = [
        ("python", _python),
        ("libcurl", _libcurl),
        ("certificates", _certificates),
        ("event loop", _event_loop),
        ("inner loops", _inner_loops),
        ("state", _state_opens),
        ("disk", lambda: _disk(folder)),
        ("open files", _open_files),
        ("names", _names),
        ("programs", _programs),
        ("curves", _curves),
    ]
    found = [_checked(name, check) for name, check in checks]
    if collection is not None:
        found.extend(_collection_checks(CollectionPaths(collection)))
    return found


def _checked(name: str, check: Callable[[], MachineCheck]) -> MachineCheck:
    try:
        return check()
    except Exception as error:  # noqa: BLE001  # report every failure
        return MachineCheck(name, False, f"the check itself failed: {error}", "please report a bug")


def _python() -> MachineCheck:
    version = ".".join(map(str, sys.version_info[:3]))
    is_ok = sys.version_info >= (3, 11)
    return MachineCheck(
        "python", is_ok, f"{version} on {sys.platform}", "install Python 3.11 or newer"
    )


def _libcurl() -> MachineCheck:
    curl: Any = importlib.import_module("pycurl")
    facts = curl.version_info()
    features = {"HTTP2": curl.VERSION_HTTP2, "SSL": curl.VERSION_SSL}
    missing = [name for name, bit in features.items() if not facts[4] & bit]
    says = f"{facts[1]} with {facts[5] or 'no TLS'}" + ("" if missing else ", HTTP/2")
    if missing:
        says += f", without {' and '.join(missing)}"
    return MachineCheck("libcurl", not missing, says, "install the pycurl wheel, which has both")


def _certificates() -> MachineCheck:
    ssl: Any = importlib.import_module("ssl")
    verify_paths = ssl.get_default_verify_paths()
    for place in (os.environ.get("SSL_CERT_FILE"), verify_paths.cafile, verify_paths.capath):
        if place and Path(place).exists():
            return MachineCheck("certificates", True, f"found at {place}")
    bundled = importlib.util.find_spec("certifi") is not None
    says = "from the package certifi" if bundled else "none found: every https page will fail"
    return MachineCheck(
        "certificates", bundled, says, "install ca-certificates, or set SSL_CERT_FILE"
    )


def _event_loop() -> MachineCheck:
    if sys.platform == "win32":
        return MachineCheck(
            "event loop", True, "asyncio's default (uvloop does not support Windows)"
        )
    is_there = importlib.util.find_spec("uvloop") is not None
    says = "uvloop" if is_there else "asyncio's default, which is slower than uvloop"
    return MachineCheck("event loop", is_there, says, "pip install uvloop")


def _inner_loops() -> MachineCheck:
    names: dict[extensions.Form, list[str]] = {}
    for name in extensions.EXTENSIONS:
        names.setdefault(extensions.look(name)[0], []).append(name.removeprefix("gossamer."))
    if len(names) == 1:
        return MachineCheck("inner loops", True, next(iter(names)).value)
    parts = [f"{', '.join(some)} {form.value}" for form, some in names.items()]
    return MachineCheck("inner loops", True, "; ".join(parts))


def _state_opens() -> MachineCheck:
    with tempfile.TemporaryDirectory(prefix="gossamer-doctor-") as folder:
        store = RocksStore.open(Path(folder) / "state", 16)
        store.write({StateTable.META: {b"a": b"1"}})
        is_same = store.find(StateTable.META, b"a") == b"1"
        store.close()
    says = "RocksDB writes and reads" if is_same else "RocksDB lost what was written"
    return MachineCheck("state", is_same, says, "reinstall rocksdict")


def _disk(folder: Path) -> MachineCheck:
    free = shutil.disk_usage(folder).free
    says = f"{free / 1e9:.1f} GB free in {folder}"
    return MachineCheck(
        "disk", free >= _LEAST_FREE_BYTES, says, "free space, or crawl to another disk"
    )


def _open_files() -> MachineCheck:
    if sys.platform == "win32":
        return MachineCheck("open files", True, "unlimited")
    resource: Any = importlib.import_module("resource")
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    is_ok = limit == resource.RLIM_INFINITY or limit >= _LEAST_FILES
    says = "unlimited" if limit == resource.RLIM_INFINITY else f"{limit} at once"
    return MachineCheck("open files", is_ok, says, f"raise it: ulimit -n {4 * _LEAST_FILES}")


def _names() -> MachineCheck:
    try:
        found = {str(info[4][0]) for info in socket.getaddrinfo("localhost", 80)}
    except OSError as error:
        return MachineCheck(
            "names", False, f"localhost has no address ({error})", "check /etc/hosts"
        )
    return MachineCheck("names", True, f"localhost is {', '.join(sorted(found))}")


def _programs() -> MachineCheck:
    found = [
        f"{name} {'found' if shutil.which(name) else 'not found'} ({use})"
        for name, use in _OPTIONAL.items()
    ]
    return MachineCheck("programs", True, "optional: " + "; ".join(found))


def _curves() -> MachineCheck:
    library = plot_library()
    if library:
        return MachineCheck("curves", True, f"the web interface draws them with {library}")
    says = "the build could not reach npm, so the web interface shows tables instead of curves"
    if _ASSETS.exists():
        says += f"; `python3 {_ASSETS}` downloads the library"
    return MachineCheck("curves", True, says)


def _collection_checks(paths: CollectionPaths) -> Iterator[MachineCheck]:
    if paths.is_state_lost:
        todo = "run `gossamer rebuild all`"
        yield MachineCheck("collection", False, f"the state of {paths.path} is lost", todo)
        return
    if not paths.exists:
        yield MachineCheck("collection", True, f"none in {paths.path} yet")
        return
    try:
        open_to_read(paths).close()
        yield MachineCheck("collection", True, f"format {FORMAT}, read by gossamer {__version__}")
    except GossamerError as error:
        yield MachineCheck("collection", False, str(error), "follow the message")
    holder = holder_of(paths)
    yield MachineCheck(
        "writer", True, f"held by {holder}" if holder else "no process is writing to it"
    )
    is_writable = os.access(paths.state, os.W_OK)
    says = "writable" if is_writable else f"{paths.state} is not writable"
    yield MachineCheck("access", is_writable, says, "change its owner or mode to resume the crawl")


def holder_of(paths: CollectionPaths) -> str | None:
    """Return the process that holds the collection for writing, as `process 4711`, or None.

    The lock file names a process while it runs, and still after a kill. Only in that case the lock
    itself is tried, so that this never disturbs a start.
    """
    path = paths.run / "lock"
    try:
        with path.open("rb") as file:
            text = file.read()
            if not text.strip() or not _is_locked(file.fileno()):
                return None
    except FileNotFoundError:
        return None
    except PermissionError:  # Windows: a locked byte cannot be read
        return "another process"
    try:
        return f"process {json.loads(text)['pid']}"
    except (ValueError, KeyError, TypeError):
        return "another process"


if sys.platform == "win32":

    def _is_locked(_descriptor: int) -> bool:
        return False  # a locked file cannot be read, and this one was

else:
    import fcntl

    def _is_locked(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        return False


def _existing(path: Path) -> Path:
    """Return the path, or its nearest existing parent."""
    path = path.resolve()
    while not path.exists():
        path = path.parent
    return path
