"""What `gossamer hub add` was given: URLs, files of jobs, or standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from gossamer.errors import UsageError
from gossamer.fleet.hub.shown.job_files import format_of

MOST_BYTES: Final = 8 * 2**20  # of one file; a larger one is to be split


def job_texts(what: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Text, format and name of each source. Raises UsageError."""
    urls: list[str] = []
    for word in what:
        path = Path(word)
        if word == "-":
            yield _small(sys.stdin.read(), "standard input"), "txt", "standard input"
        elif "://" not in word and path.is_file():
            yield _small(_text(path), word), format_of(path.name), word
        elif "://" not in word and path.suffix in (".csv", ".jsonl", ".toml", ".txt"):
            raise UsageError(f"there is no file {word}")
        else:
            urls.append(word)
    if urls:
        yield "\n".join(urls), "txt", "the command line"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as fault:
        problem = getattr(fault, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"cannot read {path}: {problem}") from fault


def _small(text: str, name: str) -> str:
    if len(text.encode()) > MOST_BYTES:
        raise UsageError(f"{name} is larger than {MOST_BYTES // 2**20} MB; split it")
    return text
