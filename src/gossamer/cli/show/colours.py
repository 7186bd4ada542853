"""Colours of the terminal: one per response class, the same in every command.

Colours are used on a terminal only, and not if `NO_COLOR` is set (https://no-color.org) or the
terminal has none.
"""

from __future__ import annotations

import os
from typing import Final, TextIO

from gossamer.base.answer_class import AnswerClass

# Names of Rich, and their codes for lines printed without it.
STYLES: Final[dict[str, str]] = {
    AnswerClass.SUCCESS: "green",
    AnswerClass.REDIRECT: "cyan",
    AnswerClass.CLIENT_ERROR: "yellow",
    AnswerClass.SERVER_ERROR: "red",
    AnswerClass.OTHER_STATUS: "magenta",
    AnswerClass.FAILED: "red",
    AnswerClass.REFUSED: "magenta",
    AnswerClass.QUEUED: "blue",
}
_CODES: Final = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36}


def has_colours(stream: TextIO) -> bool:
    """Whether output to the stream may be coloured."""
    is_dumb = os.environ.get("TERM") == "dumb"
    return stream.isatty() and not os.environ.get("NO_COLOR") and not is_dumb


def painted(text: str, kind: str, *, is_on: bool) -> str:
    """Return the text in the colour of a response class, if colours are on."""
    style = STYLES.get(kind)
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if is_on and style else text
