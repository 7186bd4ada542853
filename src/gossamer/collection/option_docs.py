"""Document the options of a crawl for Python: `help`, signatures, notebooks.

The functions take `**options`, typed by `options.py`. This module gives them a signature with each
option by its short name, and a docstring with a line for each.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import Any, Final, TypeVar

from gossamer.collection.option_names import FLAGS, NOT, OF_TEXT, OTHERS, meaning_of
from gossamer.collection.options import ShortOptions
from gossamer.settings import describe

F = TypeVar("F", bound=Callable[..., object])
# Unlike the command line: pages are returned as objects, so they are read in this process.
IN_PYTHON: Final[dict[str, object]] = {"workers": 0}
_WIDTH: Final = 96
_INTRODUCTION: Final = """
Options are the long flags of `gossamer crawl` with `_` for `-`. Any other setting is an option by
its key, with `__` for the dot: `politeness__rest_factor=5`. Without a value, a stored crawl keeps
its last value; a new crawl uses the default.
"""


def explicit(function: F) -> F:
    """Return the function with a signature that names each option."""
    told = inspect.signature(function)
    kept = [one for one in told.parameters.values() if one.kind is not one.VAR_KEYWORD]
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in _parameters().items()
    ]
    rest = inspect.Parameter("settings", inspect.Parameter.VAR_KEYWORD, annotation="object")
    typed: Any = function
    typed.__signature__ = told.replace(parameters=[*kept, *more, rest])
    return function


def documented(docstring: str | None) -> str:
    """Return a docstring with a line for each option."""
    lines = [inspect.cleandoc(docstring or ""), _INTRODUCTION]
    for name, (kind, default) in _parameters().items():
        text = f"{name} ({kind}): {meaning_of(name)} Default: {default!r}."
        lines += textwrap.wrap(
            text, _WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
        )
    return "\n".join(lines)


def _parameters() -> dict[str, tuple[str, object]]:
    """Return each short name with its type and default."""
    kinds = {name: kind.__forward_arg__ for name, kind in ShortOptions.__annotations__.items()}
    keys = {name: describe(key)[1] for name, key in FLAGS.items()} | IN_PYTHON
    nots: dict[str, object] = {**dict.fromkeys((*NOT, *OTHERS), False), **dict.fromkeys(OF_TEXT)}
    return {name: (kinds[name], default) for name, default in {**keys, **nots}.items()}
