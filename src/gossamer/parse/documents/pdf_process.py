"""Read PDF in a separate process, because pdfium cannot be limited from within.

4 KB of forms that show each other twice take all memory and never end. So the reading process has a
limit on its memory and on its time for a file. When it reaches one, it dies, the pages read by then
are kept, and the next file gets a new process. The workers of a crawl share one memory limit
(`parse.pdf_memory_mb`): each reader has its part. The process is started for the first PDF, and
ends with the reader, or with the process that holds the reader. If processes cannot be limited
(Windows), or none can be started, PDF are read in this process. Without pdfium, which
the single file of a unit does not have, they give nothing: the hub reads them.

Both sides send msgpack messages with their length; the replies are treated as data, whatever the
file has done to the process that read it.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import select
import signal
import struct
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import BinaryIO, Final

from gossamer.base.clock import Clock, SystemClock
from gossamer.base.packing import pack, unpack, unpacker
from gossamer.base.processes import NULL, PIPE, Started, end, set_limit, start
from gossamer.parse.documents.pdf import PdfPart, PdfReading, parts_of, read_pdf

# pdfium and Python need 50 MB, for a file of 60 MB 160: the rest is for pages of many pieces.
_MEMORY_MB: Final = 1024
LEAST_MEMORY_MB: Final = 96
_LONGEST_S: Final = 86_400.0  # for a file, whatever the settings say
_START_S: Final = 60.0  # on a busy machine
_LENGTH: Final = struct.Struct(">Q")
_CHUNK_BYTES: Final = 2**16
_LONGEST_BYTES: Final = 2**26  # of a message: a page has 2 million characters, and 2,000 links
_READY: Final = "ready"
_END: Final = "end"
_unpack_message: Final[Callable[[bytes], PdfPart | str]] = unpacker(PdfPart | str)


class PdfReader:
    """Reads PDF, one at a time, in a process that is replaced when a file kills it."""

    def __init__(self, clock: Clock | None = None, memory_mb: int = _MEMORY_MB) -> None:
        """`memory_mb` is the memory limit of the process."""
        self._memory_mb = memory_mb
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._process: Started | None = None
        self._ending: weakref.finalize[[Started], PdfReader] | None = None

    def read(self, body: bytes, max_pages: int, max_links: int, time_s: float) -> PdfReading:
        """Read any bytes. After `time_s` no further page is begun; one that takes as long again is
        aborted.
        """
        if not _has_pdfium():
            return PdfReading()
        time_s = min(time_s, _LONGEST_S)
        with self._lock:
            process = self._living() or self._start()
            if process is None:
                until_s = self._clock.now_s() + time_s
                may_continue = functools.partial(_is_before, self._clock, until_s)
                return read_pdf(body, max_pages, max_links, may_continue)
            reading, has_ended = PdfReading(), False
            try:
                _send(process, (body, max_pages, max_links, time_s))
                for message in self._messages(process, 2 * time_s):
                    if has_ended := message == _END:
                        break
                    if isinstance(message, PdfPart):
                        reading.take(message)
            except (OSError, ValueError, TypeError):
                pass  # it died, or sends garbage: a file caused that
            finally:
                if not has_ended:  # later messages are not about the next file
                    self._give_up()
            return reading

    def _living(self) -> Started | None:
        """The process, unless it was ended from outside since the last file."""
        if self._process is not None and self._process.poll() is not None:
            self._give_up()
        return self._process

    def _start(self) -> Started | None:
        if sys.platform == "win32":
            return None
        try:
            process = start(
                "gossamer.parse.documents.pdf_process",
                str(self._memory_mb),
                stdin=PIPE,
                stdout=PIPE,
                stderr=NULL,
                own_session=True,
            )
        except OSError:
            return None
        self._process, self._ending = process, weakref.finalize(self, end, process)
        if next(self._messages(process, _START_S), None) == _READY:
            return process
        self._give_up()
        return None

    def _messages(self, process: Started, time_s: float) -> Iterator[PdfPart | str]:
        """Its messages until it dies, for at most `time_s`."""
        assert process.stdout is not None, "it was started with one"
        output, until_s, heard = process.stdout.fileno(), self._clock.now_s() + time_s, b""
        waiting = select.poll()
        waiting.register(output, select.POLLIN)
        while waiting.poll(max(0.0, until_s - self._clock.now_s()) * 1000):
            chunk = os.read(output, _CHUNK_BYTES)
            if not chunk:
                return
            heard += chunk
            while len(heard) >= (start := _LENGTH.size):
                end = start + _LENGTH.unpack_from(heard)[0]
                if end > _LONGEST_BYTES:
                    raise ValueError("no page is that long")
                if len(heard) < end:
                    break
                yield _unpack_message(heard[start:end])
                heard = heard[end:]

    def _give_up(self) -> None:
        if self._ending is not None:
            self._ending()
        self._process = self._ending = None


@functools.cache
def _has_pdfium() -> bool:
    return importlib.util.find_spec("pypdfium2") is not None


def _send(process: Started, message: object) -> None:
    assert process.stdin is not None, "it was started with one"
    left = memoryview(_framed(message))
    while left:
        left = left[os.write(process.stdin.fileno(), left) :]


def _framed(message: object) -> bytes:
    packed = pack(message)
    return _LENGTH.pack(len(packed)) + packed


def main(memory_mb: int = _MEMORY_MB) -> None:
    """The main loop of the reading process: until the input ends."""
    import resource  # missing on Windows, where this does not run

    # a service sends it to all processes; the parent ends this one
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    set_limit(resource.RLIMIT_AS, memory_mb * 2**20)
    set_limit(resource.RLIMIT_CORE, 0)
    clock, asked, answers = SystemClock(), sys.stdin.buffer, sys.stdout.buffer
    _say(answers, _READY)
    while head := asked.read(_LENGTH.size):
        body, max_pages, max_links, time_s = unpack(asked.read(_LENGTH.unpack(head)[0]))
        # A killed parent cannot end this process.
        used = resource.getrusage(resource.RUSAGE_SELF)
        set_limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime + 2 * time_s) + 2)
        may_continue = functools.partial(_is_before, clock, clock.now_s() + time_s)
        for part in parts_of(body, max_pages, max_links, may_continue):
            _say(answers, part)
        _say(answers, _END)


def _is_before(clock: Clock, until_s: float) -> bool:
    return clock.now_s() < until_s


def _say(answers: BinaryIO, message: object) -> None:
    answers.write(_framed(message))
    answers.flush()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
