"""What strangers wrote, harmless on a terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    """A text with words of strangers in it, without what colours a terminal, moves its cursor or
    turns its writing round: such characters are shown as escapes. Lines and tabs stay."""
    if text.isprintable():
        return text
    return "".join(map(_shown, text))


def _shown(char: str) -> str:
    if char.isprintable() or char in "\n\t":
        return char
    return " " if char.isspace() and char > "\x7f" else char.encode("unicode_escape").decode()
