"""Separate the flags and the query after `gossamer search`.

A query may have dashes: `-draft` excludes a word, and `--settings` may be a search term. So every
word that is not a flag of the command belongs to the query, at any position. A word that is similar
to a flag gets a hint, because it may be mistyped.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import typer
from typer.core import TyperCommand

_ALIKE: Final = 0.75
_PATH_BEGINS: Final = ("/", ".", "~", "=")  # -c/tmp/study is a flag, -cats excludes a word


class QueryCommand(TyperCommand):
    """A command whose words may begin with dashes."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        takes_value = dict(self._names(ctx))
        flags, words = split(args, takes_value)
        for word in words:
            if told := nearly_a_flag(word, takes_value):
                print(told, file=sys.stderr)
        return super().parse_args(ctx, [*flags, "--", *words] if words else flags)

    def _names(self, ctx: Any) -> Iterator[tuple[str, bool]]:
        """Yield each flag name, and whether a value follows it."""
        for param in self.get_params(ctx):
            if param.param_type_name == "option":
                for name in (*param.opts, *param.secondary_opts):
                    yield name, not (getattr(param, "is_flag", False) or param.name == "help")


def split(args: Sequence[str], takes_value: Mapping[str, bool]) -> tuple[list[str], list[str]]:
    """Return flags with their values, and the words of the query, each in order."""
    flags: list[str] = []
    words: list[str] = []
    left = list(args)
    while left:
        word = left.pop(0)
        if word == "--":
            return flags, words + left
        name, equals, _ = word.partition("=")
        if word in takes_value:
            if takes_value[word] and not left:
                return [word], []  # its value is missing: the flag parser reports it
            flags += [word, left.pop(0)] if takes_value[word] else [word]
        elif _is_long(name, equals, takes_value) or _is_short_with_value(word, takes_value):
            flags.append(word)
        else:
            words.append(word)
    return flags, words


def _is_long(name: str, equals: str, takes_value: Mapping[str, bool]) -> bool:
    return bool(equals) and name.startswith("--") and name in takes_value


def _is_short_with_value(word: str, takes_value: Mapping[str, bool]) -> bool:
    return takes_value.get(word[:2], False) and word[2:].startswith(_PATH_BEGINS)


def nearly_a_flag(word: str, names: Mapping[str, bool]) -> str:
    """Return a hint for a word that is similar to a flag, or an empty text."""
    name = word.partition("=")[0]
    if not name.startswith("--"):
        return ""
    near = difflib.get_close_matches(name, names, 1, _ALIKE)
    return f"Hint: {name} was searched as a word. Did you mean {near[0]}?" if near else ""
