"""Workers that are forked ahead: taken first, and never left behind."""

import subprocess
import sys
from pathlib import Path

import pytest

from gossamer.workers import spawn

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forked ahead on Linux only")

# In a process of its own: a test runner has threads.
SCRIPT = """
import os
from gossamer.workers import spawn

spawn.fork_ahead(2)
ahead = [process.pid for process, _ in spawn._ahead]
process, ours = spawn.spawn_worker()
assert process.pid == ahead[1], "the one forked ahead is taken"
ours.close()
assert process.wait(timeout=90) == 0, "a worker ends when the node is gone"
spawn.end_unused()
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("no child is left")
"""


def test_forked_workers_are_taken_first_and_dismissed_at_the_end() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120, check=False
    )

    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "no child is left", "")


def test_a_worker_loads_nothing_from_the_folder_that_somebody_crawls_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("msgspec", "uvloop", "pycurl"):
        (tmp_path / f"{name}.py").write_text("open('loaded', 'w')")
    monkeypatch.chdir(tmp_path)

    process, ours = spawn.spawn_worker()
    ours.close()

    assert process.wait(timeout=90) == 0
    assert not (tmp_path / "loaded").exists()
