"""Folders of dead processes are removed; those of living ones, and of others, stay."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from gossamer.base.scratch import remove_abandoned, scratch_folder

HOLD = """
import sys
from pathlib import Path
from gossamer.base.scratch import scratch_folder
with scratch_folder("test", Path(sys.argv[1])) as folder:
    (folder / "file").write_text("left")
    print(folder, flush=True)
    sys.stdin.read()
"""


def held(place: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process that has a folder."""
    words = [sys.executable, "-c", HOLD, str(place)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_the_folder_of_a_killed_process_is_removed_by_the_next_and_a_living_one_stays(
    tmp_path: Path,
) -> None:
    dead, left = held(tmp_path)
    alive, used = held(tmp_path)
    with dead, alive:
        os.kill(dead.pid, signal.SIGKILL)
        dead.wait()
        assert (left / "file").exists()

        with scratch_folder("test", tmp_path) as folder:
            assert not left.exists()
            assert (used / "file").exists()
        assert not folder.exists()
        alive.communicate("")
    assert list(tmp_path.iterdir()) == []


def test_what_has_no_owner_file_or_is_no_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "gossamer-test-1").mkdir()
    (tmp_path / "gossamer-test-2").write_text("a file")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/owner.lock").touch()
    (tmp_path / "gossamer-test-3").symlink_to(tmp_path / "elsewhere")

    assert remove_abandoned("test", tmp_path) == []
    assert len(list(tmp_path.iterdir())) == 4
