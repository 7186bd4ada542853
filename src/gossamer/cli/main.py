"""The command line: its verbs, and what happens when one of them fails.

Each verb is a file of its own and imports what it needs when it runs, so that `--help` is quick.
Data goes to stdout, talk to stderr.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import Any, Final, TextIO

import typer

from gossamer.base.garbage import search_all
from gossamer.cli.backlinks import anchors, backlinks
from gossamer.cli.backup import backup
from gossamer.cli.ban import ban
from gossamer.cli.clear import clear
from gossamer.cli.completion import completion
from gossamer.cli.config import config_app
from gossamer.cli.crawl import crawl
from gossamer.cli.demo import demo
from gossamer.cli.diff import diff
from gossamer.cli.forget import forget
from gossamer.cli.import_ import import_
from gossamer.cli.orders import pause, resume, stop
from gossamer.cli.plain import plain_values
from gossamer.cli.printable import printable
from gossamer.cli.reading import doctor, export, page, rebuild, verify, versions, why
from gossamer.cli.report import report
from gossamer.cli.search import search
from gossamer.cli.serve import serve
from gossamer.cli.status import status
from gossamer.cli.top import top
from gossamer.errors import GossamerError
from gossamer.version import __version__

_MANNERS: Final[dict[str, Any]] = {
    "help": "Crawl a part of the web, keep every page, and say what became of every URL.",
    "no_args_is_help": True,
    "add_completion": False,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 100},
}
app = typer.Typer(name="gossamer", **_MANNERS)
for verb in (
    crawl, status, pause, resume, stop, ban, clear, search, why, page, versions, diff, backlinks,
    anchors, top, export, report, verify, rebuild, forget, backup, doctor, serve, demo, completion,
):  # fmt: skip
    app.command()(verb)
app.command(name="import")(import_)
app.add_typer(config_app, name="config")


# The base of what the command line's own reader raises; typer brings it along, under no name.
_WRONG_USAGE: Any = typer.BadParameter.__mro__[2]
# What its reader of numbers says, for people.
_PLAINER: Final = {
    "Input should be a valid integer, unable to parse string as an integer": "a whole number",
    "Input should be a valid number, unable to parse string as a number": "a number",
    "Input should be greater than or equal to ": "at least ",
    "Input should be less than or equal to ": "at most ",
}


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"gossamer {__version__}")
        raise typer.Exit


@app.callback()
def program(
    version: bool = typer.Option(
        False, "--version", help="Show the version and end.", callback=_show_version, is_eager=True
    ),
) -> None:
    """Crawl a part of the web, keep every page, and say what became of every URL."""


def _app_for(words: Sequence[str]) -> typer.Typer:
    """The program with the one verb that was typed first: to make all 29 takes 60 ms.

    The whole of it where no verb was, or none that we know.
    """
    for command in app.registered_commands:
        if command.callback is not None:
            name = command.name or command.callback.__name__
            if [name] == list(words):
                narrow = typer.Typer(name="gossamer", **_MANNERS)
                narrow.registered_callback = app.registered_callback
                narrow.registered_commands = [command]
                return narrow
    return app


def main() -> None:
    """Entry point of the process: `run`, and for a crawl a quick end.

    All its files are closed by then, and to take apart piece by piece what it has in memory takes
    0.1 s and more.
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
    """What the program raises on purpose ends in one sentence and its exit code."""
    _open_what_is_closed()
    _write_in_utf8(sys.stdout)
    try:
        sys.exit(_run(sys.argv[1:]) or 0)
    except typer.Exit as ended:
        sys.exit(ended.exit_code)
    except (typer.Abort, KeyboardInterrupt, EOFError):
        sys.exit(1)
    except _WRONG_USAGE as fault:
        text = _plainer(fault.format_message())
        print(text if text.startswith("Usage:") else f"gossamer: {text}", file=sys.stderr)
        sys.exit(2)
    except GossamerError as fault:
        print(printable(f"gossamer: {fault}"), file=sys.stderr)
        sys.exit(fault.exit_code)
    except BrokenPipeError:  # `gossamer export ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def _run(words: Sequence[str]) -> Any:
    """Do what was typed. A crawl that is plainly typed begins without the parser."""
    if words[:1] != ["crawl"] or (values := plain_values(crawl, words[1:])) is None:
        return _app_for(words[:1])(standalone_mode=False)
    try:
        return crawl(**values)
    finally:
        search_all()


def _open_what_is_closed() -> None:
    """Streams that the shell has closed (`2>&-`) lead nowhere. Else the next file of a collection
    would get their number, and what libraries write to stderr would go into it."""
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(handle, True)
    os.close(handle)
    sys.stdin = sys.stdin or open(0, encoding="utf-8")  # noqa: SIM115  # open to the end
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8")  # noqa: SIM115


def _write_in_utf8(stream: TextIO) -> None:
    """Data is UTF-8, whatever the locale is; a terminal of another encoding shows what it can."""
    if isinstance(stream, io.TextIOWrapper):
        encoding = stream.encoding if stream.isatty() else "utf-8"
        stream.reconfigure(encoding=encoding, errors="replace")


def _plainer(text: str) -> str:
    for words, wanted in _PLAINER.items():
        text = text.replace(words, f"it must be {wanted}")
    return text


if __name__ == "__main__":
    main()
