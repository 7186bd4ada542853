"""What every test may use. Servers are in `support/a_site.py`, missing programs in `need.py`.

Properties try the same few examples each time: a commit passes or fails whoever runs its tests, and
no example has a time to keep. `make properties` looks for others, thirty times as many.
"""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

import hypothesis
import pytest

from support.longest import LONGEST

MEMORY: Final = Path("/dev/shm")
ROOM_BYTES: Final = 6 * 2**30  # four times what all tests together leave there until their end

hypothesis.settings.register_profile(
    "few", max_examples=40, deadline=None, derandomize=True, print_blob=True
)
hypothesis.settings.register_profile(
    "many",
    max_examples=1200,
    deadline=None,
    print_blob=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("few")


def pytest_configure() -> None:
    """Files of tests lie in memory where it is large: a crawl of two pages waits for 40 syncs.

    That they are asked for is what `faults/` shows, by the kernel's trace. `PYTEST_DEBUG_TEMPROOT`
    and `--basetemp` name another place.
    """
    gc.set_threshold(50_000, 20, 50)  # a tenth of the time went into looking for cycles
    if _has_room(MEMORY):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


@pytest.hookimpl(trylast=True)  # after the order was made random
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files of `LONGEST` first, the others as they are."""
    rank = {path: at for at, path in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path, len(LONGEST)))


def pytest_collection_finish() -> None:
    """What is loaded stays: Python need not look through a million objects of it for cycles."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """At the end it may go: DuckDB tells of each of its functions that does not."""
    gc.unfreeze()


def _has_room(folder: Path) -> bool:
    """Whether it is there, is ours to write, may hold programs, and is large."""
    if not os.access(folder, os.W_OK) or os.statvfs(folder).f_flag & os.ST_NOEXEC:
        return False
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return shutil.disk_usage(folder).free >= ROOM_BYTES <= memory_bytes // 2


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads, or writes, the settings of whoever runs it.

    Programs that a test starts inherit this: no proxy, no `GOSSAMER_*`, and a home of their own.
    One variable stays, so that all tests can be run without the parts in C.
    """
    for name in set(os.environ) - {"GOSSAMER_NATIVE"}:
        if name.startswith("GOSSAMER_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    homes = tmp_path_factory.getbasetemp() / "homes"
    homes.mkdir(exist_ok=True)
    home = tempfile.mkdtemp(dir=homes)  # `mktemp` would look through all that were made before
    for name in ("HOME", "USERPROFILE", "APPDATA", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, home)
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """A place for a collection, at which there is nothing yet."""
    return tmp_path / "collection"
