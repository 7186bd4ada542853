"""Packages in pieces of at most 4 MB, each named by its SHA-256.

A unit splits, the hub stores and joins. A piece is stored under the unit and job that sent it, so a
unit can neither see nor use pieces of others; each owner has a quota. Pieces are deleted when their
package is joined, and after a time without a package.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from gossamer.base.files import sync_folder
from gossamer.fleet.packages.format import PackageRefused
from gossamer.fleet.protocol import MAX_PIECES, PIECE_BYTES, PackagePiece

_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_OWNER: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")
_PARTIAL: Final = ".part"
_US: Final = 1_000_000


def split(path: Path) -> list[PackagePiece]:
    """The pieces of a file, in order. One piece is in memory."""
    pieces = []
    with path.open("rb") as file:
        while data := file.read(PIECE_BYTES):
            pieces.append(PackagePiece(sha256=hashlib.sha256(data).hexdigest(), size=len(data)))
    return pieces


def piece_data(path: Path, number: int) -> bytes:
    """The bytes of a piece."""
    with path.open("rb") as file:
        file.seek(number * PIECE_BYTES)
        return file.read(PIECE_BYTES)


class PieceStore:
    """Pieces on the hub's disk: a folder for each unit, in it one for each job."""

    def __init__(self, folder: Path, job_bytes: int = 8 * 2**30, unit_bytes: int = 16 * 2**30):
        """`job_bytes` and `unit_bytes` are the quotas of a job and of a unit."""
        self._folder = folder
        self._job_bytes = job_bytes
        self._unit_bytes = unit_bytes
        self._lock = threading.Lock()  # of the sums
        self._sizes: dict[tuple[str, str], int] = {}

    def has(self, unit: str, job: str, sha256: str) -> bool:
        """Whether a piece is stored."""
        return self._path(unit, job, sha256).exists()

    def missing(self, unit: str, job: str, digests: Sequence[str]) -> list[int]:
        """The positions of pieces that are not stored. Raises PackageRefused."""
        return [at for at, one in enumerate(digests) if not self.has(unit, job, one)]

    def put(self, unit: str, job: str, sha256: str, data: bytes) -> bool:
        """Store a piece; whether it is new. Raises PackageRefused (`digest`, `size`, `quota`) and
        OSError."""
        path = self._path(unit, job, sha256)
        if not 0 < len(data) <= PIECE_BYTES:
            raise PackageRefused("size", f"a piece has 1 to {PIECE_BYTES} bytes, not {len(data)}")
        if hashlib.sha256(data).hexdigest() != sha256:
            raise PackageRefused("digest", "the bytes of a piece do not match its name")
        if path.exists():
            return False
        self._take_room(unit, job, len(data))
        temporary = path.with_name(f"{sha256}.{os.getpid()}.{threading.get_ident()}{_PARTIAL}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with temporary.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            sync_folder(path.parent)
        except BaseException:
            temporary.unlink(missing_ok=True)
            self._forget_size(unit, job)
            raise
        return True

    def join(
        self, unit: str, job: str, pieces: Sequence[PackagePiece], sha256: str, size: int, out: Path
    ) -> Path:
        """Join pieces to a package in `out`, and check each. Raises PackageRefused and OSError."""
        self._check_list(pieces, size)
        whole, temporary = hashlib.sha256(), out.with_name(f"{out.name}{_PARTIAL}")
        try:
            with temporary.open("wb") as file:
                for data in self._read(unit, job, pieces):
                    whole.update(data)
                    file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if whole.hexdigest() != sha256:
                raise PackageRefused("digest", "the joined pieces do not match the package")
            temporary.replace(out)
            sync_folder(out.parent)
        finally:
            temporary.unlink(missing_ok=True)
        return out

    def _check_list(self, pieces: Sequence[PackagePiece], size: int) -> None:
        if not 0 < len(pieces) <= MAX_PIECES:
            raise PackageRefused("size", f"a package has 1 to {MAX_PIECES} pieces")
        if any(not 0 < one.size <= PIECE_BYTES for one in pieces):
            raise PackageRefused("size", f"a piece has 1 to {PIECE_BYTES} bytes")
        if sum(one.size for one in pieces) != size:
            raise PackageRefused("size", "the pieces have another length than the package")
        if size > self._job_bytes:
            raise PackageRefused("quota", f"a package has at most {self._job_bytes} bytes")

    def _read(self, unit: str, job: str, pieces: Sequence[PackagePiece]) -> Iterator[bytes]:
        for piece in pieces:
            try:
                data = self._path(unit, job, piece.sha256).read_bytes()
            except FileNotFoundError:
                raise PackageRefused(
                    "pieces", f"piece {piece.sha256} is missing; send it"
                ) from None
            if len(data) != piece.size or hashlib.sha256(data).hexdigest() != piece.sha256:
                self._path(unit, job, piece.sha256).unlink(missing_ok=True)
                what = f"piece {piece.sha256} is damaged; send it again"
                raise PackageRefused("pieces", what)
            yield data

    # -- disk space

    def free(self, unit: str, job: str) -> None:
        """Delete the pieces of a job."""
        shutil.rmtree(self._path(unit, job, "0" * 64).parent, ignore_errors=True)
        self._forget_size(unit, job)

    def free_old(self, before_us: int) -> int:
        """Delete pieces of jobs that got none since a time, in microseconds since 1970; how many
        jobs."""
        freed = 0
        for unit in self._folders(self._folder):
            for job in self._folders(unit):
                if job.stat().st_mtime * _US < before_us:
                    self.free(unit.name, job.name)
                    freed += 1
        return freed

    def used_bytes(self, unit: str) -> int:
        """The length of all pieces of a unit."""
        self._path(unit, "any", "0" * 64)
        return sum(self._job_size(unit, job.name) for job in self._folders(self._folder / unit))

    def _take_room(self, unit: str, job: str, size: int) -> None:
        with self._lock:
            used, all_used = self._job_size(unit, job), self.used_bytes(unit)
            if used + size > self._job_bytes or all_used + size > self._unit_bytes:
                raise PackageRefused("quota", "the pieces of this unit take too much disk space")
            self._sizes[unit, job] = used + size

    def _job_size(self, unit: str, job: str) -> int:
        size = self._sizes.get((unit, job))
        if size is None:
            folder = self._folder / unit / job
            found = folder.iterdir() if folder.is_dir() else ()
            size = self._sizes[unit, job] = sum(_size(path) for path in found)
        return size

    def _forget_size(self, unit: str, job: str) -> None:
        with self._lock:
            self._sizes.pop((unit, job), None)

    def _path(self, unit: str, job: str, sha256: str) -> Path:
        if not (_OWNER.fullmatch(unit) and _OWNER.fullmatch(job) and _SHA256.fullmatch(sha256)):
            raise PackageRefused("digest", "a piece is named by 64 lower-case hexadecimal digits")
        return self._folder / unit / job / sha256

    @staticmethod
    def _folders(folder: Path) -> list[Path]:
        return [path for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
