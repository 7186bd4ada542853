"""One URL, once round the circle: fetch, archive, parse.

A worker owns nothing but its WARC file. Each line of `carry` is one folder. When a change would
make it longer than a screen, the change belongs in a stage.
"""

from __future__ import annotations

from gossamer.archive.writer import WarcWriter
from gossamer.crawl.harvest import Harvest, Harvester
from gossamer.fetch.fetcher import Fetcher
from gossamer.records import Answer, Lease, Outcome, Reason, Report, Stored


class Worker:
    """Carries leases. With 0 worker processes the node has one of its own."""

    def __init__(self, fetcher: Fetcher, archive: WarcWriter, harvester: Harvester) -> None:
        self._fetcher = fetcher
        self._harvester = harvester
        self.archive = archive

    async def carry(self, lease: Lease) -> Harvest:
        """Ask for a URL and say what came of it. Raises DiskFault."""
        answer = await self._fetcher.fetch(lease)  # fetch/
        stored = self.archive.append(lease, answer)  # archive/: from here on it is not lost
        try:
            return self._harvester.harvest(lease, answer, stored)  # parse/, urls/
        except Exception as fault:  # noqa: BLE001  # a bug of ours on one page ends in its story
            return Harvest(crashed(lease, answer, stored, repr(fault)))

    def read_again(self, lease: Lease, answer: Answer, stored: Stored) -> Harvest:
        """The same for an answer that is in the archive."""
        return self._harvester.harvest(lease, answer, stored)

    async def aclose(self) -> None:
        await self._fetcher.aclose()
        self.archive.close()


def crashed(lease: Lease, answer: Answer, stored: Stored, detail: str) -> Report:
    """The report of a page that our own code failed on."""
    return Report(
        lease=lease,
        outcome=Outcome.FAILED,
        at_us=answer.at_us,
        took_s=answer.took_s,
        stored=stored,
        reason=Reason.CRASH,
        detail=detail,
    )
