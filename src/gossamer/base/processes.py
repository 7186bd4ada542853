"""Start, limit and end child processes.

A child is one of our own modules, run by name with the same interpreter (`own_command`). It gets
only what is passed to it: `-P` keeps it from loading modules of the current directory, stdin is
empty unless a pipe is requested, and of our open files it inherits only those named in `inherit`.
In the single file of a unit the interpreter cannot find our modules by name: there a child is the
same file, and the file runs the module (`run_own_module`).

`fork` is the exception: the child is a copy of this process, for workers at the start of a crawl.
`docs/adr/0014-child-processes.md` has the figures.

No child outlives its work. It ends when it reads the end of its pipe or socket, which happens when
the parent dies, too. One that may be busy for long also calls `die_with_parent` or sets itself a
limit of CPU time. Two kinds continue without their parent: a merge of links and a computation of
ranks, which end with their one result, and crawls that the web page starts, in their own session.

A command of the operator (`run_program`) is the only program that is not ours.

Starting a process raises OSError; the caller reports what is impossible without it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import IO, Final, NamedTuple, Protocol

PIPE: Final = subprocess.PIPE
NULL: Final = subprocess.DEVNULL
Started = subprocess.Popen[bytes]
StillRunning = subprocess.TimeoutExpired  # raised by `wait` after its timeout

_POLL_EVERY_S: Final = 0.01  # if the system cannot report the end of a process
_PR_SET_PDEATHSIG: Final = 1
_PIECE_BYTES: Final = 64 * 2**10
_LOOK_S: Final = 0.5  # between two looks whether a program is to be ended
_TAIL_BYTES: Final = 4 * 2**10  # of the errors of a command
_BLAS_THREADS: Final = "OPENBLAS_NUM_THREADS"
_RUN_MODULE: Final = "--run-module"  # first word for the single file; not for people
_PACKAGE: Final = __name__.partition(".")[0]
UNPACKED_ROOT: Final = "SHIV_ROOT"  # variable: where a single file unpacks itself
_single_file: str | None = None  # that this process runs from


class Child(Protocol):
    """A process that was started or forked here."""

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...
    def kill(self) -> None: ...
    def wait(self, timeout: float | None = None) -> int: ...


class Ended(NamedTuple):
    """The exit code of a process, the last line that it wrote to stderr, and its output if kept."""

    code: int
    error: str
    output: bytes = b""


# -- starting


def own_command(module: str, *words: str, file: Path | None = None) -> list[str]:
    """The command that runs one of our modules with these arguments; with `file`, the module of
    that single file, which may be of another version.
    """
    if file is None and _single_file is None:
        return [sys.executable, "-P", "-m", module, *words]
    is_whole = module == _PACKAGE  # the commands, which a file runs by itself
    begin = () if is_whole else (_RUN_MODULE, module)
    return file_command(file or Path(_single_file or ""), *begin, *words)


def file_command(file: Path, *words: str) -> list[str]:
    """The command that runs a single file."""
    flags = ["-I"] * sys.flags.isolated + ["-S"] * sys.flags.no_site
    return [sys.executable, "-P", *flags, str(file), *words]


def single_file() -> Path | None:
    """The single file that this process runs from, if it does."""
    return Path(_single_file) if _single_file is not None else None


def run_single_file(main: Callable[[], None]) -> None:
    """The start of a process that runs from a single file, which is `sys.argv[0]`: run the module
    that `own_command` has named, or else `main`.
    """
    global _single_file  # noqa: PLW0603  # a fact about the process
    _single_file = str(Path(sys.argv[0]).resolve())
    if sys.argv[1:2] != [_RUN_MODULE]:
        main()
        return
    module = sys.argv[2] if len(sys.argv) > 2 else ""
    if not module.startswith(f"{_PACKAGE}."):
        raise SystemExit(f"{_RUN_MODULE} is for parts of this program; use --help")
    import runpy

    sys.argv[:3] = [module]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def start(
    module: str,
    *words: str,
    stdin: int = NULL,
    stdout: int | IO[bytes] | None = None,
    stderr: int | IO[bytes] | None = None,
    inherit: Sequence[socket.socket] = (),
    own_session: bool = False,
    file: Path | None = None,
) -> Started:
    """Run one of our modules with these arguments. Raises OSError.

    Pipes have no buffer on our side. With `own_session` a Ctrl-C on our terminal does not reach it.
    `file`: see `own_command`; it unpacks itself to its own place.
    """
    environment = {_BLAS_THREADS: "1", **os.environ}
    if file is not None:
        environment.pop(UNPACKED_ROOT, None)
    return subprocess.Popen(  # noqa: S603  # our own module, by our own interpreter, no shell
        own_command(module, *words, file=file),
        bufsize=0,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        env=environment,
        pass_fds=[one.fileno() for one in inherit],
        start_new_session=own_session,
    )


def start_file(file: Path, *words: str, more: Mapping[str, str]) -> Started:
    """Run a single file, with `more` variables. Its streams are ours. Raises OSError."""
    environment = {**os.environ, **more}
    environment.pop(UNPACKED_ROOT, None)
    return subprocess.Popen(file_command(file, *words), env=environment)  # noqa: S603  # our own


def run(module: str, *words: str) -> Ended:
    """Run one of our modules and wait until it ends. Raises OSError."""
    process = start(module, *words, stdout=NULL, stderr=PIPE)
    try:
        _, errors = process.communicate()
    except BaseException:
        end(process)
        raise
    return Ended(process.returncode, last_line(errors))


def run_program(
    words: Sequence[str],
    stdin: bytes,
    environment: Mapping[str, str],
    within_s: float,
    stop: threading.Event | None = None,
    *,
    keeps_output: bool = False,
) -> Ended:
    """Run a program that the operator named, without a shell, and wait until it ends.

    Of its output the last line on stderr is returned, with `keeps_output` also the last 64 KiB of
    stdout. The rest is discarded, however much it is. After
    `within_s`, or when `stop` is set, it is killed with all processes that it started, and
    StillRunning is raised. Raises OSError.
    """
    process = subprocess.Popen(  # noqa: S603  # the operator's own command, no shell
        list(words),
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        env=dict(environment),
        start_new_session=True,
    )
    assert process.stdout is not None, "it is a pipe"
    assert process.stderr is not None, "it is a pipe"
    errors = _Tail(process.stderr, _TAIL_BYTES)
    output = _Tail(process.stdout, _PIECE_BYTES if keeps_output else 0)
    feeding = threading.Thread(target=_feed, args=(process.stdin, stdin), daemon=True)
    feeding.start()
    process.stdin = process.stdout = process.stderr = None  # the threads close them
    until_s = time.monotonic() + within_s
    try:
        _wait_for(process, until_s, stop)
        for tail in (errors, output):
            tail.join(max(0.0, until_s - time.monotonic()))
            if tail.is_alive():  # a process that it started holds it open
                raise StillRunning(words[0], within_s)
    except BaseException:
        _kill_session(process)
        errors.join()
        output.join()
        raise
    return Ended(process.returncode, last_line(errors.end), output.end)


def _wait_for(process: Started, until_s: float, stop: threading.Event | None) -> None:
    """Wait for the end. Raises StillRunning."""
    while True:
        left_s = max(0.0, until_s - time.monotonic())
        try:
            process.wait(min(left_s, _LOOK_S))
        except StillRunning:
            if not left_s or (stop is not None and stop.is_set()):
                raise
        else:
            return


def _feed(pipe: IO[bytes], content: bytes) -> None:
    """Write the input of a program, as far as it reads it. `communicate` would stop at a timeout:
    called again, it does not write the rest."""
    with contextlib.suppress(OSError), pipe:
        pipe.write(content)


class _Tail(threading.Thread):
    """Reads a pipe up to its end, and holds the last bytes. Closes it."""

    def __init__(self, pipe: IO[bytes], keep_bytes: int) -> None:
        super().__init__(daemon=True)
        self.end = b""
        self._pipe = pipe
        self._keep_bytes = keep_bytes
        self.start()

    def run(self) -> None:
        with self._pipe as pipe:
            while piece := os.read(pipe.fileno(), _PIECE_BYTES):
                self.end = (self.end + piece)[-self._keep_bytes :] if self._keep_bytes else b""


def _kill_session(process: Started) -> None:
    """Kill a process that leads its own session, and the processes that it started."""
    if sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    end(process)


def last_line(output: bytes) -> str:
    """The line of an error message that names the error, in a traceback, too."""
    return output.decode(errors="replace").strip().rpartition("\n")[2]


def use_one_blas_thread(environment: MutableMapping[str, str]) -> None:
    """Keep OpenBLAS, which comes with NumPy, from starting a thread per core: that takes 30 ms, and
    the threads spin. For this process it must be called before NumPy is loaded.
    """
    environment.setdefault(_BLAS_THREADS, "1")


def socket_pair() -> tuple[socket.socket, socket.socket]:
    """Our end, which never blocks, and the end for a child, which does."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    return ours, theirs


def fork(work: Callable[[], None], close: Iterable[socket.socket]) -> Forked:
    """Run `work` in a copy of this process, which must have no threads. Raises OSError.

    The copy closes the sockets of others, has no stdin, and ends with exit code 0 when `work`
    returns and with 1 when it raises.
    """
    pid = os.fork()
    if not pid:
        _run_forked(work, close)
    return Forked(pid)


def _run_forked(work: Callable[[], None], close: Iterable[socket.socket]) -> None:
    """The rest of a forked process. It never returns, because the stack above is the parent's."""
    code = 1
    try:
        for other in close:
            other.close()
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        work()
        code = 0
    finally:
        os._exit(code)


# -- ending


def end(process: Child, wait_s: float = 0.0) -> None:
    """Wait for a process to end by itself for `wait_s`, then kill it; close our ends of its pipes.

    Afterwards it is gone: no zombie is left, and its process id is free.
    """
    if wait_s:
        with contextlib.suppress(StillRunning):
            process.wait(wait_s)
    process.kill()
    process.wait()
    if isinstance(process, subprocess.Popen):
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


class Forked:
    """A process that was forked here, with the methods of `subprocess.Popen`."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._code: int | None = None

    @property
    def pid(self) -> int:
        return self._pid

    def kill(self) -> None:
        if self.poll() is None:  # later the process id may belong to another process
            with contextlib.suppress(ProcessLookupError):  # it has ended since, see `_reap`
                os.kill(self._pid, signal.SIGKILL)

    def poll(self) -> int | None:
        """The exit code, or None while it runs; minus the number of a signal that killed it."""
        if self._code is None:
            self._reap(os.WNOHANG)
        return self._code

    def _reap(self, how: int) -> None:
        """Take the exit code if there is one. It is lost if this process ignores SIGCHLD, as it may
        by inheritance: then it counts as 0, as `subprocess` has it."""
        try:
            pid, status = os.waitpid(self._pid, how)
        except ChildProcessError:
            self._code = 0
        else:
            self._code = os.waitstatus_to_exitcode(status) if pid else None

    def wait(self, timeout: float | None = None) -> int:
        """The exit code. Raises StillRunning."""
        if timeout is None and self._code is None:
            self._reap(0)
        until_s = time.monotonic() + (timeout or 0.0)
        if self._code is None:
            _wait_for_end(self._pid, timeout or 0.0)
        while (code := self.poll()) is None:
            if time.monotonic() >= until_s:
                raise StillRunning(f"process {self._pid}", timeout or 0.0)
            time.sleep(_POLL_EVERY_S)
        return code


def _wait_for_end(pid: int, timeout: float) -> None:
    """Return when the process ends or after the timeout; at once if the system cannot tell."""
    try:
        handle = os.pidfd_open(pid)
    except (AttributeError, OSError):  # only Linux has it, and not every version
        return
    try:
        watch = select.poll()
        watch.register(handle, select.POLLIN)
        watch.poll(timeout * 1000)
    finally:
        os.close(handle)


# -- called by a child for itself


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent dies, even while it is stopped (SIGSTOP).
    Only Linux can; on other systems this does nothing.

    The parent is the thread that started us, so that must be one which lasts: the main thread.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def set_limit(kind: int, value: int) -> None:
    """Set a limit of this process (`resource.RLIMIT_...`), at most the hard limit."""
    import resource  # missing on Windows

    highest = resource.getrlimit(kind)[1]
    is_free = highest == resource.RLIM_INFINITY
    resource.setrlimit(kind, (value if is_free else min(value, highest), highest))
