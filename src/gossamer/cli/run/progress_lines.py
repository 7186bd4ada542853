"""Report the progress of a crawl: a live view on a terminal, else a line from time to time.

Messages in between, as after Ctrl-C, are printed on a line of their own above the view.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any, Final

from gossamer.cli.show.printable import printable
from gossamer.node.figures.moment import CrawlMoment

LINE_EVERY_S: Final = 5.0
REDRAW_EVERY_S: Final = 0.25
_LINES: Final = 16  # most lines of the view
_SHARE: Final = 20  # the view uses at most a twentieth of a core, also with many hosts


class ProgressReporter:
    """Prints messages on stderr, and shows a crawl there while `follow` runs."""

    def __init__(self) -> None:
        self._live: Any = None  # Rich's; not loaded without a terminal

    def say(self, text: str) -> None:
        """Print a message on a line of its own. It is lost if nobody reads stderr any more
        (`2>&1 | head`): the crawl continues, and a signal still stops it."""
        with contextlib.suppress(BrokenPipeError):
            if self._live is None:
                print(printable(text), file=sys.stderr, flush=True)
            else:
                self._live.console.print(printable(text), markup=False, soft_wrap=True)

    def emit(self, line: str) -> None:
        """Print a line of data on stdout, above the view if both are on the same terminal."""
        if self._live is not None and sys.stdout.isatty():
            self._live.console.print(printable(line), markup=False, soft_wrap=True)
        else:
            print(printable(line), flush=True)

    async def follow(self, moment: Callable[[], CrawlMoment]) -> None:
        """Show the crawl until cancelled."""
        if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            await self._redraw(moment)
        else:
            while True:
                await asyncio.sleep(LINE_EVERY_S)
                self.say(plain_line(moment()))

    def end(self) -> None:
        """Remove the view and restore the cursor."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    async def _redraw(self, moment: Callable[[], CrawlMoment]) -> None:
        from rich.console import Console
        from rich.live import Live

        from gossamer.cli.run.live_view import view

        console = Console(stderr=True, highlight=False)
        self._live = Live(
            console=console, auto_refresh=False, transient=True, redirect_stdout=False,
            redirect_stderr=False, vertical_overflow="crop",
        )  # fmt: skip
        self._live.start()
        try:
            while self._live is not None:
                began_s = time.perf_counter()
                width, height = console.size
                lines = view(moment(), width - 1, min(height - 3, _LINES))
                self._live.update(_text(lines), refresh=True)
                took_s = time.perf_counter() - began_s
                await asyncio.sleep(max(REDRAW_EVERY_S, _SHARE * took_s))
        finally:
            self.end()


def _text(lines: list[list[tuple[str, str]]]) -> Any:
    from rich.text import Text

    text = Text(no_wrap=True, overflow="ignore", end="")
    for line in lines:
        for piece, style in line:
            text.append(piece, style=style)
        text.append("\n")
    # The terminal prints ^C at the cursor: on a line of its own it moves nothing.
    return text.append(" ")


def plain_line(moment: CrawlMoment) -> str:
    """Return one line for a log: the figures and, if nothing moves, the host that holds it up."""
    from gossamer.cli.run.live_view import headline, reasons_to_wait

    reasons = reasons_to_wait(moment)[:1] if not moment.progress.pages_per_s else []
    return " · ".join((*(text for text, _ in headline(moment)), *reasons))


def print_closing(lines: Iterable[str], *, is_terminal: bool) -> None:
    """Print the last lines of a crawl, wrapped at words on a terminal; commands are not wrapped."""
    if not is_terminal:
        with contextlib.suppress(BrokenPipeError):  # `2>&1 | head`: the exit code still counts
            print("\n".join(lines), file=sys.stderr, flush=True)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    for line in lines:
        console.print(Text.from_ansi(line), soft_wrap="`" in line)
