"""Read a plain `gossamer crawl` command line without typer.

typer loads pydantic to convert values. That makes a crawl of one page take 405 ms of CPU instead of
308 ms (medians of 15 starts). So a command line is read here, from a table of the flags, if it is
plain: seeds, known flags, `--flag value` or `--flag=value`, whole numbers and decimals. A test
compares the table with typer's. Everything else is left to typer: a flag that is unknown, repeated
or abbreviated, `--help`, a value that begins with a dash or is not a number. typer then reads it or
reports what is wrong, so no command line is read in two ways.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Final


class FlagType(Enum):
    """The type of a flag's value."""

    SWITCH = "nothing"
    TEXT = "a text"
    TEXTS = "a text; it may be given several times"
    FOLDER = "a path"
    WHOLE = "a whole number"
    DECIMAL = "a number"


# The flags of `crawl.py` by type, and the parameter names that differ from the flag's name.
FLAGS: Final[dict[str, FlagType]] = {
    flag: kind
    for kind, flags in {
        FlagType.SWITCH: "--ascend --no-index --no-graph --change --add --forever "
        "--revisit --list-only --dry-run --json",
        FlagType.TEXT: "--scope --domains --sitemaps --type --order --query --model --visits "
        "--hours --cookies --logins --duplicates --proxy --user-agent-contact --rate "
        "--webhook --run --refresh --older-than --site --importance",
        FlagType.TEXTS: "--include --exclude --ban --header --allow-private --set --match --like "
        "--start-from",
        FlagType.FOLDER: "-c --collection -f",
        FlagType.WHOLE: "--depth --max-pages --max-bytes --max-matches --keep-best --max-body "
        "--per-host --connections --workers --max-rate",
        FlagType.DECIMAL: "--max-time --delay --threshold",
    }.items()
    for flag in flags.split()
}
_CALLED: Final = {
    "-c": "collection",
    "-f": "file",
    "--user-agent-contact": "contact",
    "--set": "set_",
}
WORDS: Final = "seeds"  # the parameter of words that belong to no flag

_WHOLE: Final = re.compile(r"[0-9]{1,15}")
_DECIMAL: Final = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")


class _NotPlain(Exception):
    """typer must parse this command line."""


def name_of(flag: str) -> str:
    """Return the parameter name of a flag in `crawl`."""
    return _CALLED.get(flag) or flag.removeprefix("--").replace("-", "_")


def plain_values(words: Sequence[str]) -> dict[str, Any] | None:
    """Return the arguments for `crawl`; None if typer must parse the words."""
    values: dict[str, Any] = {
        name_of(flag): False if kind is FlagType.SWITCH else None for flag, kind in FLAGS.items()
    }
    try:
        return {WORDS: None, **values, **_given(words)}
    except _NotPlain:
        return None


def _given(words: Sequence[str]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    left = iter(words)
    for word in left:
        if not word or not _is_text(word):
            raise _NotPlain
        if not word.startswith("-") or word == "-":
            given.setdefault(WORDS, []).append(word)
            continue
        flag, equals, value = word.partition("=")
        kind = FLAGS.get(flag)
        if kind is None or (equals and (kind is FlagType.SWITCH or not flag.startswith("--"))):
            raise _NotPlain
        name = name_of(flag)
        if kind is FlagType.TEXTS:
            given.setdefault(name, []).append(_value(kind, value if equals else next(left, "")))
        elif name in given:
            raise _NotPlain
        elif kind is FlagType.SWITCH:
            given[name] = True
        else:
            given[name] = _value(kind, value if equals else next(left, ""))
    return given


def _value(kind: FlagType, word: str) -> Any:
    if not word or word.startswith("-") or not _is_text(word):
        raise _NotPlain
    match kind:
        case FlagType.WHOLE if _WHOLE.fullmatch(word):
            return int(word)
        case FlagType.DECIMAL if _DECIMAL.fullmatch(word):
            return float(word)
        case FlagType.FOLDER:
            return Path(word)
        case FlagType.TEXT | FlagType.TEXTS:
            return word
    raise _NotPlain


def _is_text(word: str) -> bool:
    """Whether the word is valid text: invalid bytes come as lone surrogates."""
    return word.isascii() or word.encode(errors="replace").decode() == word
