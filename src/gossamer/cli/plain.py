"""What does a plain command line mean? Answered without the parser, which takes 0.1 s to load.

typer reads a verb's flags with pydantic, and to load that takes as long as to crawl 50 pages. Most
command lines are plain: words, flags that the verb has, `--flag value` or `--flag=value`, whole
numbers and decimals written as such. These are read here, by the very annotations that typer reads.
Whatever else is typed (a flag that is not known, given twice, or cut short, `--help`, a value that
begins with a dash or is no number) is left to typer: it knows what is meant, or says what is wrong.
So nothing is understood here in another way than there.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import Any, Final, get_args, get_type_hints

import typer.models

from gossamer.base.values import dataclass

_WHOLE: Final = re.compile(r"[0-9]{1,15}")
_DECIMAL: Final = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")
_READ: Final[dict[type, Callable[[str], Any]]] = {str: str, Path: Path}
_NUMBERS: Final[dict[type, re.Pattern[str]]] = {int: _WHOLE, float: _DECIMAL}
# What makes a flag more than its type says.
_UNUSUAL: Final = (
    "callback", "parser", "click_type", "envvar", "min", "max", "count", "is_flag", "flag_value",
    "prompt", "default_factory", "nargs", "resolve_path", "exists", "is_eager",
)  # fmt: skip


class _NotPlain(Exception):
    """typer is to read it."""


@dataclass(frozen=True, slots=True)
class _Parameter:
    """One of a verb's: its name, the type of a value, and whether several may be given."""

    name: str
    kind: type
    is_list: bool

    def value_of(self, word: str) -> Any:
        if not word or word.startswith("-"):
            raise _NotPlain
        pattern = _NUMBERS.get(self.kind)
        if pattern is not None and not pattern.fullmatch(word):
            raise _NotPlain
        return _READ.get(self.kind, self.kind)(word)


def plain_values(verb: Callable[..., Any], words: Sequence[str]) -> dict[str, Any] | None:
    """What the verb is to be called with; None where typer is to read the words."""
    try:
        flags, rest = _parameters(verb)
        given = _given(flags, rest, words)
    except _NotPlain:
        return None
    defaults = {name: one.default for name, one in inspect.signature(verb).parameters.items()}
    values = {**defaults, **given}
    return None if inspect.Parameter.empty in values.values() else values


def _given(
    flags: Mapping[str, _Parameter], rest: _Parameter | None, words: Sequence[str]
) -> dict[str, Any]:
    given: dict[str, Any] = {}
    left = iter(words)
    for word in left:
        if not word.isascii() and not _is_text(word):
            raise _NotPlain
        if not word.startswith("-") or word == "-":
            parameter, value = rest, word
        else:
            name, equals, value = word.partition("=")
            parameter = flags.get(name)
            if parameter is None or (equals and not name.startswith("--")):
                raise _NotPlain
            if parameter.kind is not bool:
                value = value if equals else next(left, "")
            elif equals:
                raise _NotPlain
        if parameter is None or not word:
            raise _NotPlain
        _give(given, parameter, value, is_word=parameter is rest)
    return given


def _give(given: dict[str, Any], parameter: _Parameter, word: str, *, is_word: bool) -> None:
    if parameter.kind is bool:
        value: Any = True
    elif is_word:
        value = word
    else:
        value = parameter.value_of(word)
    if parameter.is_list:
        given.setdefault(parameter.name, []).append(value)
    elif parameter.name in given:
        raise _NotPlain
    else:
        given[parameter.name] = value


def _is_text(word: str) -> bool:
    """Whether these are characters: bytes that are none come as halves of surrogate pairs."""
    return word.encode(errors="replace").decode() == word


def _parameters(verb: Callable[..., Any]) -> tuple[dict[str, _Parameter], _Parameter | None]:
    """By the verb's annotations its flags, and what takes the words that belong to none."""
    flags: dict[str, _Parameter] = {}
    rest: _Parameter | None = None
    for name, hint in get_type_hints(verb, include_extras=True).items():
        if name == "return":
            continue
        of_hint: tuple[Any, ...] = (*get_args(hint), None, None)
        annotation, info, *_ = of_hint
        if any(getattr(info, unusual, None) for unusual in _UNUSUAL):
            raise _NotPlain
        parameter = _parameter(name, annotation)
        if isinstance(info, typer.models.ArgumentInfo):
            if rest is not None or not parameter.is_list or parameter.kind is not str:
                raise _NotPlain
            rest = parameter
        elif isinstance(info, typer.models.OptionInfo):
            flags |= dict.fromkeys(_names_of(info), parameter)
        else:
            raise _NotPlain
    return flags, rest


def _names_of(info: typer.models.OptionInfo) -> list[str]:
    """How a flag is written; typer takes the first name for a default until it reads it."""
    names = [name for name in (info.default, *(info.param_decls or ())) if isinstance(name, str)]
    if not names or any(not name.startswith("-") or "/" in name for name in names):
        raise _NotPlain
    return names


def _parameter(name: str, annotation: Any) -> _Parameter:
    kinds = [one for one in get_args(annotation) if one is not NoneType]
    kind = kinds[0] if NoneType in get_args(annotation) and len(kinds) == 1 else annotation
    is_list = getattr(kind, "__origin__", None) is list
    kind = get_args(kind)[0] if is_list else kind
    if kind not in (str, int, float, bool, Path) or (is_list and kind is not str):
        raise _NotPlain
    return _Parameter(name, kind, is_list)
