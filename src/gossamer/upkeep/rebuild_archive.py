"""Check that the archive is complete before a rebuild reads it.

Lost files and damaged bytes are reported, and the rebuild stops unless the operator accepts the
loss (`--without-lost`): then damaged files are repaired (`archive/damage.py`) and lost ones are
removed from the manifest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gossamer.archive.cdxj import cdxj_path, write_cdxj
from gossamer.archive.damage import LostSpan, damaged_path, lost_spans, mend
from gossamer.archive.manifest import Listed, read_manifest, replace_manifest
from gossamer.archive.reader import iter_exchanges
from gossamer.archive.writer import disk_fault
from gossamer.base.checked_lines import crc32_of
from gossamer.base.clock import Clock
from gossamer.collection.archive_list import LostFile, lost_files, new_manifest
from gossamer.collection.operator_inputs import OperatorInputs
from gossamer.errors import CorruptFile, StoreError
from gossamer.upkeep.progress import Notify

WITHOUT_LOST: Final = "`gossamer rebuild all --without-lost`"
_WAY_OUT: Final = f"restore it from a backup, or rebuild without it: {WITHOUT_LOST}"
_MAX_LISTED: Final = 20  # lost spans that are listed one by one


@dataclass(frozen=True, slots=True)
class ArchiveLoss:
    """The parts of an archive that cannot be read."""

    files: list[LostFile]
    spans: Mapping[Path, list[LostSpan]]

    def __bool__(self) -> bool:
        return bool(self.files or self.spans)

    def refusal(self) -> StoreError:
        """Return the error for an operator who has not accepted the loss."""
        more = len(self.files) + sum(map(len, self.spans.values())) - 1
        others = f" ({more} more losses)" if more else ""
        if self.files:
            return StoreError(f"{self.files[0].text}{others}; {_WAY_OUT}")
        path, spans = next(iter(self.spans.items()))
        return CorruptFile(path, spans[0].start, f"{spans[0].why}{others}; {_WAY_OUT}")


def find_loss(folder: Path, inputs: OperatorInputs, notify: Notify) -> ArchiveLoss:
    """Find everything that is lost. A file with a correct checksum is not read. The torn end of
    an unfinished file is no loss: it was never committed, and is removed."""
    listed = read_manifest(folder).files
    gone = lost_files(folder, inputs.ends or {})
    spans = {}
    for path in sorted(folder.glob("*.warc.gz")):
        one = listed.get(path.name, Listed())
        if one.crc32 is not None and crc32_of(path) == (one.crc32, one.bytes):
            continue
        found = lost_spans(path)
        is_finished = one.bytes is not None or cdxj_path(path).exists()
        committed = (inputs.ends or {}).get(path.name, 0)
        if not is_finished and found and found[-1].is_tail and found[-1].start >= committed:
            torn = found.pop()
            notify(f"{path.name}: removing {torn.end - torn.start} bytes of an incomplete exchange")
            with path.open("rb+") as file:
                file.truncate(torn.start)
        if found:
            spans[path] = found
    short = {lost.path for lost in gone if lost.found_bytes is not None}
    return ArchiveLoss(
        [one for one in gone if one.path not in short or one.path not in spans], spans
    )


def give_up(
    folder: Path, loss: ArchiveLoss, inputs: OperatorInputs, clock: Clock, notify: Notify
) -> None:
    """Reduce the archive to what is readable, and report the loss. Raises CorruptFile, OSError."""
    for path, spans in loss.spans.items():
        mend(path, spans, clock.wall_us())
        for span in spans[:_MAX_LISTED]:
            what = f"{span.url} ({span.why})" if span.url else span.why
            notify(f"lost: {path.name}, bytes {span.start} to {span.end}: {what}")
        if len(spans) > _MAX_LISTED:
            notify(f"lost: {path.name}, {len(spans) - _MAX_LISTED} more places")
    for lost in loss.files:
        notify(f"lost: {lost.text}")
    changed = {lost.path for lost in loss.files} | loss.spans.keys()
    for path in changed:
        if not path.exists() or next(iter_exchanges(path), None) is None:
            _put_away(path, is_kept=path in loss.spans)
    known = read_manifest(folder).files
    kept = {name: one for name, one in known.items() if folder / name not in changed}
    replace_manifest(folder, inputs.salt, kept)


def _put_away(path: Path, *, is_kept: bool) -> None:
    """Remove a file that is lost or has no readable part. `is_kept`: a copy lies beside it."""
    cdxj_path(path).unlink(missing_ok=True)
    if path.exists() and is_kept:
        path.unlink()
    elif path.exists():
        path.rename(damaged_path(path))


def finish_archive(folder: Path, inputs: OperatorInputs) -> None:
    """Update the manifest to the existing files. Raises DiskFault."""
    files = read_manifest(folder).files
    known = {name: _indexed(folder, name, one) for name, one in files.items() if one.bytes}
    try:
        new_manifest(folder, inputs.salt, known)
    except OSError as error:
        raise disk_fault(f"cannot write the list of files in {folder}", error) from error


def _indexed(folder: Path, name: str, listed: Listed) -> Listed:
    """Return the entry of a file, with the checksum of the CDXJ file just written."""
    index = cdxj_path(folder / name)
    return replace(listed, cdxj=crc32_of(index)[0] if index.exists() else None)


def rebuild_archive(folder: Path, inputs: OperatorInputs, notify: Notify) -> None:
    """Write manifest and CDXJ files again, from the WARC files. A lost file stays in the manifest.
    Raises CorruptFile, OSError."""
    before = read_manifest(folder).files
    for path in sorted(folder.glob("*.warc.gz")):
        notify(f"indexing {path.name}")
        try:
            write_cdxj(path)
        except CorruptFile as error:
            what = f"{error.found}; {_WAY_OUT}"
            raise CorruptFile(error.path, error.offset, what) from error
    known = {name: _indexed(folder, name, one) for name, one in before.items() if one.bytes}
    for name, end in (inputs.ends or {}).items():
        if end and not (folder / name).exists():
            known.setdefault(name, Listed(end))
    new_manifest(folder, inputs.salt, known)
