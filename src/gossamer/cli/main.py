"""The entry point of the command line, and the handling of errors.

A simple `crawl` command line starts at once; for all others the commands (`commands_table.py`) and
the flag parser are loaded. Data goes to stdout, messages to stderr.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Sequence
from typing import TextIO

from gossamer.base.disk import OF_THE_DISK, is_full_error, is_read_only_error
from gossamer.base.garbage import search_all
from gossamer.base.processes import single_file
from gossamer.cli.plain import plain_values
from gossamer.cli.run.start_crawl import begin
from gossamer.cli.show.errors import print_error
from gossamer.errors import DiskFault, GossamerError


def main() -> None:
    """Entry point of the process: `run`, and for a crawl a quick exit.

    All files are closed by then, and freeing the memory object by object takes 0.1 s and more.
    """
    try:
        run()
    except SystemExit as end:
        if sys.argv[1:2] != ["crawl"] or not isinstance(end.code, int):
            raise
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(end.code)


def run() -> None:
    """Run the command. An error of this program ends in one sentence and its exit code."""
    _open_what_is_closed()
    _keep_exit_codes()
    _write_in_utf8(sys.stdout)
    try:
        sys.exit(_run(sys.argv[1:]))
    except (KeyboardInterrupt, EOFError):
        print_error("interrupted", 1, sys.argv[1:])
        sys.exit(1)
    except GossamerError as fault:
        print_error(str(fault), fault.exit_code, sys.argv[1:])
        sys.exit(fault.exit_code)
    except PermissionError as fault:
        print_error(
            f"cannot access {fault.filename or 'a file'}: permission denied", 1, sys.argv[1:]
        )
        sys.exit(1)
    except BrokenPipeError:  # `gossamer export ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except ModuleNotFoundError as fault:
        if single_file() is None:
            raise
        print_error(
            f"the file of a unit has no {fault.name}, which this command needs; use a whole "
            "installation of Gossamer",
            2,
            sys.argv[1:],
        )
        sys.exit(2)
    except OSError as error:
        if error.errno not in OF_THE_DISK:
            raise
        disk = _fault_of_disk(error)
        print_error(str(disk), disk.exit_code, sys.argv[1:])
        sys.exit(disk.exit_code)


def _fault_of_disk(error: OSError) -> DiskFault:
    """Turn an unexpected disk error into one sentence."""
    where = f"cannot write {error.filename}" if error.filename else "the disk failed"
    is_full, is_read_only = is_full_error(error), is_read_only_error(error)
    todo = (
        "free some space" if is_full else "make it writable" if is_read_only else "check the disk"
    )
    what = f"{where} ({error.strerror or error}); {todo} and try again"
    return DiskFault(what, is_full=is_full, is_read_only=is_read_only)


def _run(words: Sequence[str]) -> int:
    """Run what was typed, and return the exit code."""
    if words[:1] != ["crawl"] or (values := plain_values(words[1:])) is None:
        from gossamer.cli.commands_table import call

        return call(words)
    try:
        return begin(values)
    finally:
        search_all()


def _open_what_is_closed() -> None:
    """Connect streams that the shell has closed (`2>&-`) to the null device. Otherwise a file of
    the collection would get their number, and messages of libraries would be written into it."""
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(handle, True)
    os.close(handle)
    sys.stdin = sys.stdin or open(0, encoding="utf-8")  # noqa: SIM115  # open to the end
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8")  # noqa: SIM115


def _keep_exit_codes() -> None:
    """Some programs ignore SIGCHLD, and those that they start inherit that. Then the system throws
    away the exit codes of our child processes, and a failed one looks like one that succeeded."""
    if hasattr(signal, "SIGCHLD") and signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _write_in_utf8(stream: TextIO) -> None:
    """Write UTF-8 in any locale; replace what the encoding of a terminal cannot show."""
    if isinstance(stream, io.TextIOWrapper):
        encoding = stream.encoding if stream.isatty() else "utf-8"
        stream.reconfigure(encoding=encoding, errors="replace")


if __name__ == "__main__":
    main()
