"""Send a package: ask which pieces the hub has, put the others, then tell it of the package.

Nothing is remembered here. After an interruption, the hub's answer says where to continue: at most
the piece that was under way is sent again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from gossamer.fleet.packages.format import BuiltPackage
from gossamer.fleet.packages.pieces import piece_data, split
from gossamer.fleet.protocol import (
    MAX_DIGESTS,
    HaveQuestion,
    MissingDigests,
    PackageAccepted,
    PackageNotice,
    PieceStored,
)


class PackageClient(Protocol):
    """The requests of a unit that sending needs (`fleet/client.py`)."""

    def have(self, question: HaveQuestion) -> MissingDigests: ...

    def put_piece(self, job: str, fence: int, sha256: str, piece: bytes) -> PieceStored: ...

    def send_package(self, notice: PackageNotice) -> PackageAccepted: ...


OnSent = Callable[[int, int], None]  # bytes that the hub has, bytes of the package


def send_package(
    client: PackageClient,
    built: BuiltPackage,
    job: str,
    fence: int,
    on_progress: OnSent = lambda _sent, _all: None,
) -> PackageAccepted:
    """Send what the hub does not have. Raises what the client raises, and OSError."""
    pieces = split(built.path)
    missing = set(_missing(client, job, fence, [one.sha256 for one in pieces]))
    sent = sum(one.size for at, one in enumerate(pieces) if at not in missing)
    on_progress(sent, built.size)
    done: set[str] = set()
    for at, piece in enumerate(pieces):
        if at not in missing:
            continue
        if piece.sha256 not in done:
            client.put_piece(job, fence, piece.sha256, piece_data(built.path, at))
            done.add(piece.sha256)
        sent += piece.size
        on_progress(sent, built.size)
    notice = PackageNotice(
        job=job,
        fence=fence,
        kind=built.kind,
        pieces=tuple(pieces),
        sha256=built.sha256,
        size=built.size,
        pages=built.pages,
        crawled_bytes=built.crawled_bytes,
    )
    return client.send_package(notice)


def missing_bodies_of(
    client: PackageClient, job: str, fence: int
) -> Callable[[Sequence[str]], Sequence[int]]:
    """The question of `build_package`: which of these bodies does the hub not have?"""

    def missing_of(names: Sequence[str]) -> Sequence[int]:
        found: list[int] = []
        for start in range(0, len(names), MAX_DIGESTS):
            some = tuple(names[start : start + MAX_DIGESTS])
            question = HaveQuestion(job=job, fence=fence, kind="payload", digests=some)
            found += (start + at for at in client.have(question).missing)
        return found

    return missing_of


def _missing(client: PackageClient, job: str, fence: int, digests: Sequence[str]) -> list[int]:
    found: list[int] = []
    for start in range(0, len(digests), MAX_DIGESTS):
        some = tuple(digests[start : start + MAX_DIGESTS])
        question = HaveQuestion(job=job, fence=fence, kind="piece", digests=some)
        found += (start + at for at in client.have(question).missing)
    return found
