"""One copy of the list of takedowns: a file with a checksum.

    {"format": 1, "generation": 3, "names": {DIGEST: ["forget" or "allow", WHEN], ...},
     "checksum": "..."}

`generation` grows by one with each change, so the newer of two copies is known. The checksum is
BLAKE2b of the file without it. The file is replaced as a whole.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from gossamer.base.files import sync_folder
from gossamer.errors import CorruptFile

FORGET: Final = "forget"
ALLOW: Final = "allow"
_NAME: Final = "forgotten.json"
_FORMAT: Final = 1
_CHECKSUM_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class TakedownFiles:
    """The files that contain the takedowns of a collection."""

    actions: Path  # one line per action of the operator, including takedowns
    lists: tuple[Path, Path]  # both copies of the list

    @classmethod
    def of(cls, collection: Path) -> TakedownFiles:
        log, archive = collection / "log", collection / "archive"
        return cls(log / "acts.jsonl", (log / _NAME, archive / _NAME))


@dataclass(frozen=True, slots=True)
class Decision:
    """The last decision on a name."""

    act: str  # FORGET or ALLOW
    at: str  # 2026-01-31T12:00:00Z

    def over(self, other: Decision) -> bool:
        """Whether this one wins over another copy's: the later one, or the stricter of equal
        dates."""
        return (self.at, self.act == FORGET) >= (other.at, other.act == FORGET)


@dataclass(frozen=True, slots=True)
class ForgottenList:
    """All decisions, by the digests of their names (`urls/forgotten.py`)."""

    generation: int = 0
    decisions: Mapping[str, Decision] = field(default_factory=dict)

    def merged(self, others: Mapping[str, Decision]) -> ForgottenList:
        """Return the list with decisions of another source; the same list if nothing changes."""
        found = dict(self.decisions)
        for digest, decision in others.items():
            if digest not in found or not found[digest].over(decision):
                found[digest] = decision
        return self if found == self.decisions else ForgottenList(self.generation + 1, found)


def read_list(path: Path) -> ForgottenList | None:
    """Return the list in a file, or None if there is no file. Raises CorruptFile."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CorruptFile(path, 0, f"it cannot be read ({error.strerror})") from None
    try:
        record = json.loads(data)
        checksum = record.pop("checksum")
        if record["format"] != _FORMAT or checksum != _checksum(record):
            raise ValueError("its checksum is wrong")
        decisions = {digest: Decision(*decision) for digest, decision in record["names"].items()}
        return ForgottenList(int(record["generation"]), decisions)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CorruptFile(path, 0, "the list of takedowns is damaged") from None


def write_list(path: Path, listed: ForgottenList) -> None:
    """Replace the file with a list, synced to the disk; a kill leaves the old or the new one."""
    names = {digest: [one.act, one.at] for digest, one in sorted(listed.decisions.items())}
    record: dict[str, Any] = {"format": _FORMAT, "generation": listed.generation, "names": names}
    record["checksum"] = _checksum(record)
    new = path.with_name(f"{path.name}.new")
    path.parent.mkdir(parents=True, exist_ok=True)
    with new.open("w", encoding="ascii") as file:
        json.dump(record, file)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    sync_folder(path.parent)


def _checksum(record: Mapping[str, Any]) -> str:
    text = json.dumps(record, sort_keys=True).encode()
    return hashlib.blake2b(text, digest_size=_CHECKSUM_BYTES).hexdigest()
