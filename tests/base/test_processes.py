"""Child processes: they inherit nothing by accident, and none is left behind."""

from __future__ import annotations

import os
import resource
import select
import signal
import socket
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gossamer.base import processes
from gossamer.base.processes import PIPE, Started, StillRunning, end, run, run_program, start

LONG_S = 90.0  # a machine with much else to do
MODULE = "child_of_a_test"

Begin = Callable[..., Started]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Makes a module that a child can run; its name."""
    folder = tmp_path / "modules"
    folder.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(folder))

    def written(code: str) -> str:
        (folder / f"{MODULE}.py").write_text(code)
        return MODULE

    return written


@pytest.fixture
def begin(write: Callable[[str], str]) -> Iterator[Begin]:
    """Starts code in a child, which is gone at the end of the test."""
    children: list[Started] = []

    def started(code: str, **more: int) -> Started:
        children.append(start(write(code), stdout=PIPE, **more))  # type: ignore[arg-type]
        return children[-1]

    yield started
    for child in children:
        end(child)


def line_of(child: Started) -> bytes:
    assert child.stdout is not None
    return child.stdout.readline().strip()


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_child_has_an_empty_stdin(begin: Begin) -> None:
    assert line_of(begin("import sys; print(len(sys.stdin.read()))")) == b"0"


def test_a_child_loads_nothing_from_the_current_directory(
    begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("print('loaded')")
    monkeypatch.chdir(tmp_path)

    assert line_of(begin("import json; print('done')")) == b"done"


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is needed")
def test_a_child_inherits_only_the_files_that_are_named(write: Callable[[str], str]) -> None:
    ours, theirs = processes.socket_pair()
    with ours, theirs, Path(__file__).open("rb") as other:
        os.set_inheritable(other.fileno(), True)
        code = "import os; print(sorted(map(int, os.listdir('/proc/self/fd')))[3:])"
        child = start(write(code), stdout=PIPE, inherit=[theirs])
        opened = line_of(child).decode()
        end(child)
        listed = max(theirs.fileno() + 1, 3)  # the folder itself is open while it is read

        assert opened in (f"[{theirs.fileno()}, {listed}]", f"[3, {theirs.fileno()}]")


def test_a_child_computes_with_one_thread_unless_told_otherwise(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import os; print(os.environ['OPENBLAS_NUM_THREADS'])"
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    usual = line_of(begin(code))
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")

    assert (usual, line_of(begin(code))) == (b"1", b"3")


def test_our_end_of_a_pair_of_sockets_never_blocks() -> None:
    ours, theirs = processes.socket_pair()
    with ours, theirs:
        assert (ours.getblocking(), theirs.getblocking()) == (False, True)


def test_a_child_that_fails_is_reported_by_its_code_and_its_last_line(
    write: Callable[[str], str],
) -> None:
    failed = run(write("raise SystemExit('first\\nthe disk is full')"))
    raised = run(write("1 / 0"))

    assert failed == processes.Ended(1, "the disk is full")
    assert raised == processes.Ended(1, "ZeroDivisionError: division by zero")
    assert run(write("print('data')")) == processes.Ended(0, "")


def test_a_module_that_does_not_exist_is_reported_as_a_failure() -> None:
    ended = run("gossamer.no_such_module")

    assert ended.code == 1
    assert "no_such_module" in ended.error


def test_a_child_that_ignores_signals_is_killed_and_leaves_nothing(begin: Begin) -> None:
    code = "import signal; signal.signal(15, signal.SIG_IGN); print(1, flush=True); signal.pause()"
    child = begin(code, stdin=PIPE)
    assert line_of(child) == b"1"

    end(child)

    assert child.returncode == -signal.SIGKILL
    assert is_gone(child.pid)
    assert child.stdin is not None
    assert child.stdin.closed


def test_a_child_that_ends_in_time_is_not_killed(begin: Begin) -> None:
    child = begin("import sys; sys.stdin.read()", stdin=PIPE)
    assert child.stdin is not None
    child.stdin.close()

    end(child, LONG_S)

    assert child.returncode == 0


# In a process of its own: a test runner has threads.
FORKS = """
import os, sys
from gossamer.base import processes

ours, theirs = processes.socket_pair()

def work():
    assert os.read(0, 1) == b"", "stdin is empty"
    assert ours.fileno() == -1, "the parent's end is closed"
    theirs.sendall(b"done")

def fail():
    sys.stderr = None
    raise ValueError

child = processes.fork(work, [ours])
theirs.close()
code = child.wait(90)
assert ours.recv(10) == b"done"
failed = processes.fork(fail, [])
print(code, failed.wait(), failed.poll())
processes.end(failed)
"""


def test_a_forked_child_has_no_stdin_and_closes_what_is_not_its_own() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKS], capture_output=True, text=True, timeout=120, check=False
    )

    assert (done.returncode, done.stdout.strip()) == (0, "0 1 1"), done.stderr


def test_a_process_is_waited_for_no_longer_than_asked() -> None:
    ours, theirs = socket.socketpair()
    pid = os.posix_spawn("/bin/cat", ["cat"], {}, file_actions=[
        (os.POSIX_SPAWN_DUP2, theirs.fileno(), 0),
    ])  # fmt: skip
    process = processes.Forked(pid)

    with pytest.raises(StillRunning):
        process.wait(timeout=0)
    assert process.poll() is None
    process.kill()

    assert process.wait() == -9
    process.kill()  # it is gone, and nobody else is hit
    ours.close()
    theirs.close()


IGNORES_CHILDREN = """
import signal
from gossamer.base import processes
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
first = processes.fork(lambda: None, [])
print(first.wait(90), first.wait(), first.poll())
second = processes.fork(signal.pause, [])
processes.end(second)
second.kill()
third = processes.fork(signal.pause, [])
third.kill()
third.kill()  # it is gone, or a moment from it
print(third.wait())
"""


def test_a_forked_child_whose_exit_code_the_system_throws_away_has_ended() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IGNORES_CHILDREN],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stdout.split()) == (0, ["0"] * 4), done.stderr


PARENT = """
import sys
from gossamer.base import processes
child = processes.start("child_of_a_test", stdout=None)
sys.stdin.read()
"""
CHILD = """
import os, signal
from gossamer.base.processes import die_with_parent
die_with_parent()
print(os.getpid(), flush=True)
signal.pause()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can")
def test_a_child_dies_with_its_parent_even_while_it_is_stopped(
    write: Callable[[str], str],
) -> None:
    write(CHILD)
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    child = os.pidfd_open(int(parent.stdout.readline()))
    try:
        signal.pidfd_send_signal(child, signal.SIGSTOP)
        end(parent)
        watch = select.poll()
        watch.register(child, select.POLLIN)  # readable when the process has ended

        assert watch.poll(LONG_S * 1000)
    finally:
        os.close(child)


def test_a_limit_is_never_set_above_the_highest_allowed(write: Callable[[str], str]) -> None:
    code = (
        "import resource as r; from gossamer.base.processes import set_limit\n"
        "r.setrlimit(r.RLIMIT_NOFILE, (50, 60)); set_limit(r.RLIMIT_NOFILE, 40)\n"
        "first = r.getrlimit(r.RLIMIT_NOFILE); set_limit(r.RLIMIT_NOFILE, 99)\n"
        "raise SystemExit(f'{first} {r.getrlimit(r.RLIMIT_NOFILE)}')"
    )

    assert run(write(code)).error == "(40, 60) (60, 60)"


def test_a_command_that_writes_much_to_stderr_costs_no_memory() -> None:
    script = "import sys; [sys.stderr.write('x' * 2**20) for _ in range(200)]; sys.exit('the end')"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    ended = run_program([sys.executable, "-c", script], b"", os.environ, 60.0)

    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert ended.code == 1
    assert ended.error.endswith("the end")
    assert grown_kib < 50 * 2**10


def test_a_command_whose_child_keeps_stderr_open_is_ended_in_time() -> None:
    holding = "import subprocess; subprocess.Popen(['sleep', '60'])"

    with pytest.raises(StillRunning):
        run_program([sys.executable, "-c", holding], b"", os.environ, 2.0)


def test_a_slow_program_gets_all_of_a_large_input_and_its_output_is_kept() -> None:
    code = "import sys, time; time.sleep(1.2); print(len(sys.stdin.buffer.read()))"
    command = [sys.executable, "-c", code]

    ended = run_program(command, bytes(3_000_000), os.environ, LONG_S, keeps_output=True)

    assert (ended.code, ended.output) == (0, b"3000000\n")


# -- the single file of a unit


@pytest.fixture
def file_of_a_unit(tmp_path: Path) -> Path:
    """A file that runs as the single file of a unit does; without arguments it prints a command."""
    path = tmp_path / "unit.pyz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "__main__.py",
            "from gossamer.base.processes import own_command, run_single_file\n"
            "run_single_file(lambda: print(*own_command('gossamer.x', 'a', 'b')))\n",
        )
    return path


def outcome_of(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *map(str, words)]
    return subprocess.run(
        command, stdin=processes.NULL, capture_output=True, encoding="latin-1", check=False
    )


def test_an_installed_package_runs_its_modules_by_name() -> None:
    command = processes.own_command("gossamer.x", "a")

    assert command == [sys.executable, "-P", "-m", "gossamer.x", "a"]


def test_a_single_file_runs_its_modules_itself(file_of_a_unit: Path) -> None:
    command = outcome_of(file_of_a_unit).stdout.split()

    assert command == [sys.executable, "-P", str(file_of_a_unit), *command[3:]]
    assert command[-3:] == ["gossamer.x", "a", "b"]
    done = outcome_of(*command[1:-3], "gossamer.parse.documents.pdf_process")
    assert (done.returncode, done.stdout[-5:]) == (0, "ready"), done.stderr


def test_a_single_file_runs_no_module_of_others(file_of_a_unit: Path) -> None:
    command = outcome_of(file_of_a_unit).stdout.split()

    done = outcome_of(*command[1:-3], "this")

    assert done.returncode == 1
    assert done.stderr == "--run-module is for parts of this program; use --help\n"
