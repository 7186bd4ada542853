"""Make text from the web harmless on a terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    """Escape characters that colour a terminal, move its cursor or change the text direction.
    Line ends and tabs stay."""
    if text.isprintable():
        return text
    return "".join(map(_shown, text))


def _shown(char: str) -> str:
    if char.isprintable() or char in "\n\t":
        return char
    return " " if char.isspace() and char > "\x7f" else char.encode("unicode_escape").decode()
