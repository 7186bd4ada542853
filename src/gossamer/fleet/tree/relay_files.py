"""How the process of a relay's job and the hub of the relay speak: two files in the job's folder.

    jobs/ID/relay.json   written by the process of the job: the parts that others are to do
    jobs/ID/below.json   written by the hub of the relay: how far they are

Each is replaced as a whole, so that a kill at any time leaves one that is complete. The hub makes
the jobs of a request once, however often it reads the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal, TypeVar

import msgspec

from gossamer.base.files import replace_file
from gossamer.fleet.protocol import JobSpec

REQUEST: Final = "relay.json"
STATE: Final = "below.json"
_K = TypeVar("_K")


class RelayRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a job for the units below."""

    job: str
    fence: int
    parts: tuple[JobSpec, ...]
    is_cancelled: bool = False  # the job was stopped: no part is given out any more


class PartState(msgspec.Struct, frozen=True, kw_only=True):
    """One part of a job."""

    state: Literal["unallocated", "allocated", "done", "failed"]
    seeds: tuple[str, ...]
    fetched: int = 0
    queued: int = 0
    failed: int = 0
    refused: int = 0
    bytes: int = 0
    pages_per_s: float = 0.0
    reason: str = ""


class BelowState(msgspec.Struct, frozen=True, kw_only=True):
    """What the units below have done of a job."""

    fence: int
    parts: tuple[PartState, ...] = ()
    is_merged: bool = False  # all packages are in the collection of the job
    problem: str = ""
    recent: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()
    robots_refused: tuple[str, ...] = ()

    @property
    def has_ended(self) -> bool:
        """Whether nobody works on the job any more, and all that came is merged."""
        return self.is_merged and all(part.state in ("done", "failed") for part in self.parts)


def write_request(folder: Path, request: RelayRequest) -> None:
    replace_file(folder / REQUEST, msgspec.json.encode(request))


def write_state(folder: Path, state: BelowState) -> None:
    replace_file(folder / STATE, msgspec.json.encode(state))


def read_request(folder: Path) -> RelayRequest | None:
    return _read(folder / REQUEST, RelayRequest)


def read_state(folder: Path) -> BelowState | None:
    return _read(folder / STATE, BelowState)


def _read(path: Path, kind: type[_K]) -> _K | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError):
        return None
