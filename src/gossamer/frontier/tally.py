"""Keep the sums of the collection and of each host exact: a row that changes changes both."""

from __future__ import annotations

from gossamer.frontier.counts import Counts
from gossamer.frontier.host_table import HostTable
from gossamer.frontier.rows import HostRow, Standing, UrlRow


class Tally:
    """Adds rows to `Counts` and to the rows of their hosts, and takes them out again."""

    def __init__(self, counts: Counts, hosts: HostTable) -> None:
        self._counts = counts
        self._hosts = hosts

    def count(self, row: UrlRow, host_key: bytes, step: int = 1) -> None:
        """Add a row; a `step` of -1 takes it out."""
        self.add(
            self._hosts.touch(host_key), row.standing, row.reason, row.status, step,
            is_redirect=bool(row.redirect), has_entry=row.has_entry, depth=row.depth,
        )  # fmt: skip

    def uncount(self, row: UrlRow, host_key: bytes) -> None:
        self.count(row, host_key, -1)

    def add(
        self,
        host: HostRow,
        standing: Standing,
        reason: str,
        status: int = 0,
        step: int = 1,
        *,
        is_redirect: bool = False,
        has_entry: bool = False,
        depth: int = 0,
    ) -> None:
        """The same from the fields of a row; `host` is its host's row, which was touched."""
        counts = self._counts
        if standing is Standing.FETCHED:
            if is_redirect:
                counts.redirects += step
                host.redirects += step
            else:
                counts.fetched += step
                counts.count_depth(depth, step)
            counts.count_status(status, step)
            counts.indexed += step * has_entry
            host.fetched += step
        elif standing is Standing.QUEUED:
            counts.queued += step
        elif standing is Standing.FAILED:
            counts.failed += step
            host.failed += step
            counts.count_reason(reason, step)
        else:
            counts.refused += step
            host.refused += step
            counts.count_reason(reason, step)

    def add_body(self, host: HostRow, size_bytes: int) -> None:
        """An answer brought a body."""
        self._counts.size_bytes += size_bytes
        host.size_bytes += size_bytes
