"""Say in words what changed."""

from __future__ import annotations

from collections.abc import Iterator

from gossamer.base.plurals import counted
from gossamer.reader.changes import SeenChange
from gossamer.records import ChangeKind


def facts_text(change: SeenChange) -> str:
    """`+12 -3 words, +1 link, title was "Old"`: what changed, without kind, time and URL."""
    return ", ".join(_facts(change))


def _facts(change: SeenChange) -> Iterator[str]:
    if change.target:
        yield f"to {change.target}"
    if words := amount_text(change.words_added, change.words_removed, "word"):
        yield words
    if links := amount_text(change.links_added, change.links_removed, "link"):
        yield links
    if change.title_before and change.kind is ChangeKind.CHANGED:
        yield f'title was "{change.title_before}"'
    if change.status_before and change.status_before != change.status:
        yield f"status {change.status_before} is {change.status} now"
    if change.is_noise:
        yield "noise"


def amount_text(added: int, removed: int, noun: str) -> str:
    """`+12 -3 words`; empty if there are none."""
    signs = [f"+{added:,}"] if added else []
    signs += [f"-{removed:,}"] if removed else []
    if not signs:
        return ""
    words = counted(added + removed, noun).partition(" ")[2]
    return f"{' '.join(signs)} {words}"
