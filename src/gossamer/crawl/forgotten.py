"""The list of what was forgotten, as acts.jsonl keeps it.

A line for each act says when, and the digests (`urls/forgotten.py`) of what was forgotten; `allow`
takes digests back. The list is part of the log, so whatever is made again from archive and log
heeds it, and so does every crawl.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gossamer.crawl.journal import note_act, read_acts
from gossamer.urls.forgotten import Forgotten, Named

FORGET: Final = "forget"
ALLOW: Final = "allow"
_DIGESTS: Final = "digests"


def read_forgotten(acts: Path) -> Forgotten:
    """What is forgotten by now. A line that cannot be read is none of ours."""
    dates: dict[str, str] = {}
    for act in read_acts(acts, _DIGESTS):
        digests = [one for one in act.get(_DIGESTS, ()) if isinstance(one, str)]
        if act.get("act") == FORGET:
            dates |= dict.fromkeys(digests, str(act.get("at", "")))
        elif act.get("act") == ALLOW:
            for digest in digests:
                dates.pop(digest, None)
    return Forgotten(dates)


def note_forgotten(acts: Path, at_us: int, named: Sequence[Named], **sums: int) -> None:
    """The record of an act: when, how much, and digests in the place of names."""
    breadths = sorted({one.breadth.value for one in named})
    digests = [one.digest for one in named]
    note_act(acts, at_us, FORGET, what=breadths, **{_DIGESTS: digests}, **sums)


def note_allowed(acts: Path, at_us: int, named: Sequence[Named]) -> None:
    """These may be crawled again, from the next start on."""
    note_act(acts, at_us, ALLOW, **{_DIGESTS: [one.digest for one in named]})
