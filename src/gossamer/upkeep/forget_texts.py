"""Copy log, audit log and cookies without deleted names."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO, Final

from gossamer.upkeep.forget_names import Cover

Rewrite = Callable[[bytes], bytes | None]

_HTTP_ONLY: Final = b"#HttpOnly_"


def copy_lines(old: Path, new: Path, rewrite: Rewrite) -> int:
    """Copy a file line by line and sync it; return how many lines were removed or changed.

    `rewrite` returns the new line, or None. A missing file is skipped.
    """
    if not old.exists():
        return 0
    touched = 0
    new.parent.mkdir(exist_ok=True)
    with old.open("rb") as lines, _opened_like(old, new) as file:
        for line in lines:
            kept = rewrite(line)
            touched += kept != line
            if kept is not None:
                file.write(kept)
        file.flush()
        os.fsync(file.fileno())
    return touched


def _opened_like(old: Path, new: Path) -> BinaryIO:
    mode = old.stat().st_mode & 0o777
    return os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb")


def log_line(cover: Cover) -> Rewrite:
    """For crawl.jsonl: remove lines of deleted URLs; remove them as `via` in other lines."""

    def rewrite(line: bytes) -> bytes | None:
        try:
            columns = json.loads(line)
            url, via = str(columns["url"]), str(columns.get("via", ""))
        except (ValueError, KeyError, TypeError, AttributeError):
            return b""  # a damaged line may name a deleted URL
        is_via = bool(via) and cover.covers_any(via)
        if cover.covers_any(url) or (is_via and columns.get("purpose") == "robots"):
            return None
        if not is_via:
            return line
        del columns["via"]
        return json.dumps(columns, ensure_ascii=False).encode("utf-8", "replace") + b"\n"

    return rewrite


def act_line(cover: Cover) -> Rewrite:
    """For acts.jsonl: keep the actions, without the names."""

    def rewrite(line: bytes) -> bytes | None:
        try:
            act = json.loads(line)
        except ValueError:
            return b""  # a damaged line may name a deleted URL
        if not isinstance(act, dict) or "unreadable" in act:
            return b""
        left = cover.without(act)
        return line if left == act else json.dumps(left).encode() + b"\n"

    return rewrite


def cookie_line(cover: Cover) -> Rewrite:
    """For cookies.txt: the first column is the domain."""

    def rewrite(line: bytes) -> bytes | None:
        domain, tab, _ = line.removeprefix(_HTTP_ONLY).partition(b"\t")
        is_cookie = bool(tab) and not domain.startswith(b"#")
        return None if is_cookie and cover.has_host(domain.decode("latin-1")) else line

    return rewrite


def info_fields(cover: Cover) -> Callable[[dict[str, str]], dict[str, str]]:
    """For the first record of a WARC file: filter its seeds and settings."""

    def rewrite(fields: dict[str, str]) -> dict[str, str]:
        left = {name: value for name, value in fields.items() if not cover.names(value)}
        if "seeds" in fields:
            left["seeds"] = " ".join(cover.seeds(fields["seeds"].split()))
        return {name: _without(cover, value) for name, value in left.items()}

    return rewrite


def _without(cover: Cover, value: str) -> str:
    """Return a list of texts, in Python's notation, without deleted names."""
    if not value.startswith("("):
        return value
    try:
        texts = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value
    return repr(tuple(_kept(cover, texts)))


def _kept(cover: Cover, texts: Iterable[object]) -> Iterable[object]:
    return (one for one in texts if not (isinstance(one, str) and cover.names(one)))
