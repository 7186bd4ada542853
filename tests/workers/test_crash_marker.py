"""A note of what is being read outlives its writer, and two deaths condemn an exchange."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.archive.reader import iter_exchanges
from gossamer.base.clock import ManualClock
from gossamer.errors import DiskFault
from gossamer.records import Answer, Lease, Outcome, Reason, Stored
from gossamer.workers.crash_marker import (
    CrashMarker,
    delete_markers,
    marked,
    note_death,
    read_deadly,
    read_marker,
)
from gossamer.workers.guarded_reader import GuardedReader
from gossamer.workers.process import PageProcessor, ProcessedPage
from support.need import need_linux
from workers.crash_bench import CrashBench, a_web

PLACE = ("a-w1-00000.warc.gz", 4711)


def left_by(folder: Path, name: str, file: str = PLACE[0], start: int = PLACE[1]) -> Path:
    """A marker as a killed process leaves it."""
    marker = CrashMarker(folder / name)
    marker.set(file, start)
    os.close(marker._descriptor)  # as the kernel does
    return folder / name


@given(
    places=st.lists(
        st.tuples(st.text("ab-.é", min_size=1, max_size=60), st.integers(0, 2**63)), max_size=5
    )
)
def test_a_marker_says_what_was_set_last_and_nothing_when_cleared(
    places: list[tuple[str, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("m") / "marker-x-w1"
    with marked(path) as marker:
        assert read_marker(path) is None
        for file, start in places:
            marker.set(file, start)
            assert read_marker(path) == (file, start)
        marker.clear()
        assert read_marker(path) is None
    assert not path.exists()


@pytest.mark.parametrize("content", [b"", b"short", b"\0" * 512])
def test_a_damaged_marker_says_nothing(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "marker-x-0").write_bytes(content)

    assert read_marker(tmp_path / "marker-x-0") is None
    assert read_deadly(tmp_path) == frozenset()


def test_one_death_of_the_node_condemns_nothing_and_a_second_does(tmp_path: Path) -> None:
    left_by(tmp_path, "marker-a-0")
    assert read_deadly(tmp_path) == frozenset()
    assert read_deadly(tmp_path) == frozenset(), "a death counts once"

    left_by(tmp_path, "marker-b-start")
    assert read_deadly(tmp_path) == {PLACE}
    assert read_deadly(tmp_path) == {PLACE}, "for good"


def test_deaths_over_two_exchanges_condemn_neither(tmp_path: Path) -> None:
    left_by(tmp_path, "marker-a-0")
    left_by(tmp_path, "marker-b-start", start=5000)

    assert read_deadly(tmp_path) == frozenset()


def test_workers_that_died_with_their_node_say_nothing(tmp_path: Path) -> None:
    for run in "abc":
        left_by(tmp_path, f"marker-{run}-w1")
        assert read_deadly(tmp_path) == frozenset()


def test_a_worker_counts_when_its_node_outlived_it(tmp_path: Path) -> None:
    assert not note_death(tmp_path, PLACE)
    assert note_death(tmp_path, PLACE)
    assert read_deadly(tmp_path) == {PLACE}


def test_a_folder_that_takes_no_note_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "deaths").mkdir()

    assert not note_death(tmp_path, PLACE)
    assert read_deadly(tmp_path) == frozenset()


def test_damaged_notes_of_deaths_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "deaths").write_bytes(b"\xff\xfe\nno number\n\n4711\n" + b"7 f\n7 f\n")

    assert read_deadly(tmp_path) == {("f", 7)}


def test_markers_of_this_run_stay_but_for_that_of_its_start(tmp_path: Path) -> None:
    for name in ("marker-a-0", "marker-a-w3", "marker-b-0", "marker-b-start"):
        (tmp_path / name).touch()

    delete_markers(tmp_path, but="b")

    assert [path.name for path in tmp_path.iterdir()] == ["marker-b-0"]


def test_a_marker_is_written_when_it_is_made_not_when_it_is_mapped(tmp_path: Path) -> None:
    """A hole in a full disk would kill whoever writes to it through memory."""
    with marked(tmp_path / "marker-x-0"):
        assert (tmp_path / "marker-x-0").stat().st_blocks > 0


HOLD = """
import sys, time
from pathlib import Path
from gossamer.workers.crash_marker import CrashMarker
marker = CrashMarker(Path(sys.argv[1]))
marker.set("f", 1)
print("held", flush=True)
time.sleep(60)
"""


def test_a_start_waits_for_a_process_that_is_still_dying(tmp_path: Path) -> None:
    need_linux("there the kernel ends workers with their node")
    path = tmp_path / "marker-x-w1"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True
    )
    waiting = None
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        code = "import sys; from pathlib import Path;"
        code += "from gossamer.workers.crash_marker import read_deadly;"
        code += "print('began', flush=True); print(read_deadly(Path(sys.argv[1])))"
        waiting = subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        assert waiting.stdout is not None
        assert waiting.stdout.readline() == "began\n"
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(timeout=0.2)
        os.kill(holder.pid, signal.SIGKILL)
        assert waiting.wait(timeout=90) == 0
        assert waiting.stdout.read() == "frozenset()\n"
    finally:
        for process in (holder, waiting):
            if process is not None:
                process.kill()
                process.communicate()


class FailingHarvester(PageProcessor):
    """A bug of ours."""

    def __init__(self) -> None:
        """Nothing is needed to fail."""

    def processed(self, lease: Lease, answer: Answer, stored: Stored) -> ProcessedPage:
        raise RecursionError(f"{lease.url} {answer.status} {stored.start}")


def test_a_bug_of_ours_on_a_page_is_its_story_and_leaves_no_mark(tmp_path: Path) -> None:
    bench = CrashBench(tmp_path / "c", a_web(), ManualClock())
    bench.step()
    [exchange] = iter_exchanges(bench.worker.archive.path)
    with marked(tmp_path / "marker-x-0") as marker:
        reader = GuardedReader(FailingHarvester(), marker)
        report = reader.read(exchange.lease, exchange.answer, exchange.stored).report
        assert read_marker(tmp_path / "marker-x-0") is None

    assert (report.outcome, report.reason) == (Outcome.FAILED, Reason.CRASH)
    assert "RecursionError" in report.detail
    bench.close()


def test_a_marker_that_cannot_be_made_is_a_fault_of_the_disk(tmp_path: Path) -> None:
    with pytest.raises(DiskFault, match="cannot write"):
        CrashMarker(tmp_path / "nowhere" / "marker-x-0")
