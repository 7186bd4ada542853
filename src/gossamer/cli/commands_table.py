"""The table of commands, and the typer application made from it.

Each command is a file of its own and imports what it needs when it runs, so that `--help` is quick.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import typer

from gossamer.cli.commands.backlinks import anchors, backlinks
from gossamer.cli.commands.backup import backup
from gossamer.cli.commands.ban import ban, trust
from gossamer.cli.commands.clear import clear
from gossamer.cli.commands.completion import completion
from gossamer.cli.commands.config import config_app
from gossamer.cli.commands.control import pause, resume, stop
from gossamer.cli.commands.crawl import crawl
from gossamer.cli.commands.demo import demo
from gossamer.cli.commands.diff import diff
from gossamer.cli.commands.fleet import hub, hub_update
from gossamer.cli.commands.fleet.hub_app import hub_app
from gossamer.cli.commands.fleet.unit import unit_app
from gossamer.cli.commands.focus import focus_app
from gossamer.cli.commands.forget import forget
from gossamer.cli.commands.found.files import files
from gossamer.cli.commands.history.changes import changes
from gossamer.cli.commands.history.compare import compare
from gossamer.cli.commands.history.copies import copies
from gossamer.cli.commands.history.prune import prune
from gossamer.cli.commands.history.watch import watch
from gossamer.cli.commands.import_ import import_
from gossamer.cli.commands.lab import lab_app
from gossamer.cli.commands.reading import doctor, export, page, rebuild, verify, versions, why
from gossamer.cli.commands.report import report
from gossamer.cli.commands.search import search
from gossamer.cli.commands.serve import serve
from gossamer.cli.commands.status import status
from gossamer.cli.commands.top import top
from gossamer.cli.query_words import QueryCommand
from gossamer.cli.show.errors import print_error
from gossamer.version import __version__

_MANNERS: Final[dict[str, Any]] = {
    "help": "Crawl a part of the web, archive every page, search it and explain every URL.",
    "no_args_is_help": True,
    "add_completion": False,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 100},
}
app = typer.Typer(name="gossamer", **_MANNERS)
for verb in (
    crawl, watch, status, pause, resume, stop, ban, trust, clear, search, why, page, versions, diff,
    changes, compare, copies, backlinks, anchors, top, files, export, report, verify, rebuild,
    forget, prune, backup, doctor, serve, demo, completion,
):  # fmt: skip
    app.command(cls=QueryCommand if verb is search else None)(verb)
app.command(name="import")(import_)
app.add_typer(config_app, name="config")
app.add_typer(lab_app, name="lab")
app.add_typer(focus_app, name="focus")
_COMMANDS_OF_HUB: Final = (hub, hub_update)  # loading them adds their commands
app.add_typer(hub_app, name="hub")
app.add_typer(unit_app, name="unit")


# The base of typer's own usage errors; typer bundles it without a public name.
_WRONG_USAGE: Any = typer.BadParameter.__mro__[2]
# The parser's messages about numbers, and the text that people see.
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
        False, "--version", help="Show the version and exit.", callback=_show_version, is_eager=True
    ),
) -> None:
    """Crawl a part of the web, archive every page, search it and explain every URL."""


def _app_for(words: Sequence[str]) -> typer.Typer:
    """Return the application with only the typed command: to build all 29 takes 60 ms.

    Without a known command it has all of them.
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


def call(words: Sequence[str]) -> int:
    """Run the typed command, or print its usage; return the exit code."""
    try:
        return _app_for(words[:1])(standalone_mode=False) or 0
    except typer.Exit as ended:
        return ended.exit_code
    except typer.Abort:
        return 1
    except _WRONG_USAGE as fault:
        text = _plainer(fault.format_message()) + _choices_of(fault)
        is_help = text.startswith("Usage:")
        sentence = "a command is missing; see --help" if is_help else text
        print_error(sentence, 2, words, told=text if is_help else "")
        return 2


def _choices_of(fault: Any) -> str:
    """The help of an argument that is missing, so that nobody has to ask for it."""
    text = getattr(getattr(fault, "param", None), "help", None)
    is_missing = fault.format_message().startswith("Missing argument")
    return f" Expected: {text}" if is_missing and text else ""


def _plainer(text: str) -> str:
    for words, wanted in _PLAINER.items():
        text = text.replace(words, f"it must be {wanted}")
    return text
