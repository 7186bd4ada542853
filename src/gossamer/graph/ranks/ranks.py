"""Compute the link ranks of pages and sites from the graph, and store them beside it.

    links --numbered_pages--> numbers --numbered_links--> InLinks --vectors--> ranks --> files

Every captured page, and every URL that one links to, is a page here. A link of a page to itself
does not count, links of one page to the same target count once, and embedded media (kind media) are
not links. Links with nofollow are left out unless requested. At the level of sites a site links to
another if one of its pages does.

Memory is bounded: links are read in chunks, and only some numbers per page stay. The files are
those of `store.py`; readers in other processes are never stopped.

    python -m gossamer.graph.ranks.ranks FOLDER      computes them
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from gossamer.base import processes
from gossamer.base.clock import Clock, SystemClock
from gossamer.base.disk import is_mounted_read_only
from gossamer.base.locks import try_lock
from gossamer.errors import CAN_GO_ON, CorruptFile, DiskFault, GossamerError, StoreError
from gossamer.graph import manifest as manifests
from gossamer.graph.arrow import pa, pq, return_freed_memory
from gossamer.graph.manifest import Manifest
from gossamer.graph.ranks import store
from gossamer.graph.ranks.compute import RanksRequest, Work, computed
from gossamer.graph.ranks.numbered_pages import FEW_ROWS, Pages, read_pages
from gossamer.graph.ranks.reader import RankReader
from gossamer.graph.ranks.spool import Spool
from gossamer.graph.ranks.store import RankInfo, find_info

__all__ = [
    "RankInfo",
    "RankReader",
    "RanksRequest",
    "compute",
    "compute_with_little_memory",
    "find_info",
    "is_current",
    "ranks",
]

_SPILLS: Final = "ranks-"  # in run/
_LOCK: Final = "lock"
_YOUNG_S: Final = 60.0  # a new folder may not be locked yet


def compute(folder: Path, clock: Clock, wanted: RanksRequest | None = None) -> RankInfo:
    """Compute the ranks of a graph unless the stored ones are current.

    Starts from the earlier ranks, so a graph that changed little takes few iterations. Raises
    CorruptFile if the graph is damaged, DiskFault if nothing can be written.
    """
    wanted = wanted or RanksRequest()
    graph = manifests.read(folder)
    digest = store.graph_digest(graph)
    before = _find_whole(folder)
    if before is not None and _will_do(before, digest, wanted):
        return before
    try:
        with _spill(folder, clock.wall_us()) as spill:
            work = Work(folder, spill, wanted)
            pages = numbered(folder, graph, work.spill, wanted)
            info = computed(work, pages, digest, clock.wall_us())
    except OSError as error:
        raise store.disk_fault(error) from error
    info = store.replace_info(folder, info)
    store.delete_old(folder, before, info, clock.wall_us())
    return info


def compute_with_little_memory(folder: Path, clock: Clock) -> None:
    """The same for a process that must stay small: the ranks of many links, which take most of a
    gigabyte, are computed by a separate process. Raises CorruptFile, StoreError, DiskFault.
    """
    if manifests.read(folder).links <= FEW_ROWS:
        compute(folder, clock)
        return
    try:
        ended = processes.run("gossamer.graph.ranks.ranks", str(folder))
    except OSError as error:
        ended = processes.Ended(1, f"no process can be started: {error.strerror}")
    if ended.code:
        if ended.code == CAN_GO_ON:
            is_read_only = is_mounted_read_only(folder)
            raise DiskFault(ended.error, is_full=not is_read_only, is_read_only=is_read_only)
        raise StoreError(
            f"cannot compute ranks ({ended.error}); try again with `gossamer rebuild graph`"
        )


def numbered(folder: Path, graph: Manifest, spill: Path, wanted: RanksRequest) -> Pages:
    """The pages of the graph by number. Raises CorruptFile."""
    links = Spool(spill, "links")
    try:
        if graph.links > FEW_ROWS:
            from gossamer.graph.ranks.numbered_pages_large import number_pages  # rarely needed

            return number_pages(folder, graph, links, spill, nofollow=wanted.nofollow)
        return read_pages(folder, graph, links, nofollow=wanted.nofollow)
    except (pa.ArrowException, OSError) as error:
        from gossamer.graph.tables import blamed  # loads DuckDB, which is not needed otherwise

        raise blamed(folder, graph, error) from error


def is_current(folder: Path, wanted: RanksRequest | None = None) -> bool:
    """Whether the stored ranks belong to the current graph."""
    before = _find_whole(folder)
    digest = store.graph_digest(manifests.read(folder))
    return before is not None and _will_do(before, digest, wanted or RanksRequest())


def ranks(folder: Path, level: str = "page") -> Iterator[Any]:
    """Record batches of the stored ranks: url pagerank hub authority.

    The order is not defined. At the level "site", `url` is the name of the site. PageRank sums to
    1; hub and authority are null if they were not computed. The first batch is empty, so that the
    columns are known. Raises CorruptFile.
    """
    info = find_info(folder)
    name = "" if info is None else info.pages_file if level == "page" else info.sites_file
    yield pa.RecordBatch.from_pylist([], schema=store.table_schema())
    if not name:
        return
    path = folder / name
    try:
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches()
    except (pa.ArrowException, OSError) as error:
        raise CorruptFile(path, 0, f"no ranks ({error}); {manifests.REBUILD}") from None


def _find_whole(folder: Path) -> RankInfo | None:
    """The stored ranks; damaged ones count as none, because they can be computed again."""
    try:
        info = find_info(folder)
    except CorruptFile:
        return None
    return info if info and all((folder / name).exists() for name in info.files) else None


def _will_do(before: RankInfo, digest: str, wanted: RanksRequest) -> bool:
    return (
        before.graph == digest
        and before.with_nofollow == wanted.nofollow
        and (before.with_hits or not wanted.hits)
        and (bool(before.sites_file) or not wanted.sites)
    )


@contextmanager
def _spill(folder: Path, at_us: int) -> Iterator[Path]:
    """A folder for data that does not fit into memory. Folders of killed processes, which may hold
    gigabytes, are deleted: their locks are free.
    """
    run = folder.parent / "run"
    for place in (folder, run):  # a crawl without a graph has no folder for it
        place.mkdir(exist_ok=True)
    for lock in run.glob(f"{_SPILLS}*/{_LOCK}"):
        if _is_left(lock, at_us):
            shutil.rmtree(lock.parent, ignore_errors=True)
    with (
        tempfile.TemporaryDirectory(prefix=_SPILLS, dir=run) as spill,
        (Path(spill) / _LOCK).open("wb") as ours,
    ):
        try_lock(ours.fileno())
        yield Path(spill)


def _is_left(lock: Path, at_us: int) -> bool:
    try:
        with lock.open("rb+") as file:
            age_s = at_us / 1e6 - lock.stat().st_mtime
            return age_s > _YOUNG_S and try_lock(file.fileno())
    except OSError:
        return False


# -- the separate process


def main(arguments: Sequence[str]) -> int:
    """Compute, and report an error in one line."""
    return_freed_memory()
    try:
        compute(Path(arguments[0]), SystemClock())
    except GossamerError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
