"""Match URLs with regular expressions in bounded time.

Python's own engine backtracks: `(a+)+$` takes it 70 s for 28 letters in a hostile link, and twice
that for one more. RE2 reads the URL once. In exchange it has neither lookaround nor references to
groups; patterns with them are refused. The time is bounded by the length of the URL times that of
the pattern: 0.5 s for the longest of both, 2 to 10 microseconds for usual patterns.

A pattern must be valid in both engines, so that it means what Python's documentation says.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from typing import Any, Final

import re2

from gossamer.errors import UsageError

# of a compiled RE2 program; 2,000 letters have fewer, `(.{1,99}){1,99}` has more
_MOST_STEPS: Final = 3_000
# Python's short form of {0,5}, which RE2 reads as literal characters.
_FROM_NOTHING: Final = re.compile(r"(?<!\\)(?:\\\\)*\{,\d*\}")
# Named character classes, which Python reads as literal characters.
_NAMED: Final = re.compile(r"\[:\^?[a-z]+:\]")


@dataclass(frozen=True, slots=True)
class Regex:
    """A regular expression, found anywhere in a canonical URL."""

    text: str  # as it was written, with `re:` before it
    _program: Any = field(repr=False, compare=False)

    def matches(self, url: str) -> bool:
        # As bytes, which canonical URLs are: RE2 would count the characters of a string each time.
        return self._program.search(url.encode("utf-8", "replace")) is not None


def regex_of(written: str) -> Regex:
    """Parse `re:` and an expression. Raises UsageError."""
    expression = written.removeprefix("re:")
    if not expression.isascii():
        odd = next(char for char in expression if not char.isascii())
        raise UsageError(f"pattern {written!r} has {odd!r}, but URLs are ASCII; write it as %XX")
    try:
        with warnings.catch_warnings():
            # About syntax that a later Python may read differently; RE2 will not.
            warnings.simplefilter("ignore", FutureWarning)
            re.compile(expression)
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(f"pattern {written!r} is not a regular expression: {error}") from None
    if short := _FROM_NOTHING.search(expression):
        wanted = short[0].lstrip("\\").replace("{,", "{0,")
        raise UsageError(f"pattern {written!r} begins a count with a comma; write {wanted}")
    if named := _NAMED.search(expression):
        raise UsageError(f"pattern {written!r} has {named[0]}; write its characters, as a-z0-9")
    try:
        program = re2.compile(expression.encode(), _options())  # type: ignore[no-untyped-call]
    except re2.error as error:
        raise UsageError(f"pattern {written!r} cannot be used: {_message_of(error)}") from None
    if program.programsize > _MOST_STEPS:
        raise UsageError(f"pattern {written!r} is too large: counts in braces multiply")
    return Regex(written, program)


def _options() -> Any:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.never_capture = True
    options.log_errors = False
    return options


def _message_of(error: Exception) -> str:
    """RE2's message, with the reason."""
    found = error.args[0] if error.args else ""
    text = found.decode("utf-8", "replace") if isinstance(found, bytes) else str(found)
    if text.startswith(("invalid perl operator", "invalid escape sequence")):
        text += "; look-around and back-references are not supported (no time limit)"
    return text
