"""The message at the end of a crawl: why it ended, what it fetched, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gossamer.base.answer_class import AnswerClass
from gossamer.base.plurals import counted
from gossamer.base.sizes import size_text
from gossamer.cli.show.colours import painted
from gossamer.cli.show.importance import importance_lines
from gossamer.cli.show.printable import printable
from gossamer.cli.show.text import answers_text, reasons_text
from gossamer.node.figures.progress import Summary
from gossamer.node.session import CrawlPlan
from gossamer.settings import Limits, Settings

_LIMITS: Final = {
    "max-pages": "max_pages",
    "max-time": "max_time_s",
    "max-bytes": "max_bytes",
    "max-matches": "max_matches",
    "threshold": "threshold",
}
_STOPPED: Final = {
    "signal": "Stopped. Run the same command to resume.",
    "disk-full": "Stopped: the disk is full. Free some space, then run the same command to resume.",
    "disk-budget": "Stopped: the collection has reached its disk budget. Raise "
    "archive.max_disk_bytes, or keep less (archive.keep), then run the same command to resume.",
    "disk-read-only": "Stopped: the disk became read-only. Make it writable, then run the same "
    "command to resume.",
}


@dataclass(frozen=True, slots=True)
class Closing:
    """The facts at the end of a crawl. `before`: pages that the collection had at the start;
    `limit`: the sentence about a reached limit."""

    summary: Summary
    collection: Path
    before: int = 0
    limit: str = ""
    why_nothing: str = ""
    revisit: Mapping[str, int] | None = None  # what a revisit has found, in this run and before
    duplicates: str = "exact"  # the mode
    limits: Limits = field(default_factory=Limits)

    def lines(self, *, is_coloured: bool = False) -> Iterator[str]:
        """Yield the lines, without control characters from the web."""
        summary = self.summary
        yield self._first()
        if self.revisit is not None:
            yield revisit_text(self.revisit)
        outcomes = (
            painted(f"{summary.failed:,} failed", AnswerClass.FAILED, is_on=is_coloured)
            if summary.failed
            else "0 failed",
            f"{summary.refused:,} refused",
            f"{summary.queued:,} still queued",
        )
        answers = answers_text(summary.by_class, is_coloured=is_coloured)
        yield f"Responses: {answers}; {', '.join(outcomes)}; {counted(summary.links, 'link')}."
        if summary.by_reason:
            yield f"Failed or refused, by reason: {reasons_text(summary.by_reason)}."
        yield from self._duplicates()
        yield from importance_lines(summary.hot, summary.evicted, self.limits)
        if summary.dropped:
            yield (
                f"{counted(summary.dropped, 'link')} to new hosts dropped: their pages or sites "
                "link to too many hosts (frontier.hosts_per_page, frontier.hosts_per_site)."
            )
        yield from self._advice()

    def _duplicates(self) -> Iterator[str]:
        count = self.summary.duplicates
        if count:
            pages = counted(count, "duplicate")
            yield f"{pages} of earlier pages (--duplicates {self.duplicates})."
        if count and self.duplicates == "html95":
            yield (
                "html95 also finds different pages of one template: on reference manuals a third "
                f"of all pages. `gossamer lab duplicates -c {self.collection}` counts them."
            )

    def _first(self) -> str:
        summary = self.summary
        new = summary.fetched - self.before
        rate = new / summary.wall_s if summary.wall_s else 0.0
        speed = f"in {summary.wall_s:.1f} s, {rate:.1f} pages/s"
        whole = f"{counted(summary.fetched, 'page')} fetched ({size_text(summary.bytes)})"
        if new < 0 or (self.revisit is not None and not new):
            # Nothing new, or fewer: a page that has moved is no longer one of the fetched pages.
            whole = f"after {summary.wall_s:.1f} s; in the collection: {whole}"
        elif self.before:
            whole = f"{counted(new, 'page')} fetched {speed}; in the collection: {whole}"
        else:
            whole = f"{whole} {speed}"
        why = self.limit or _STOPPED.get(summary.stopped)
        return f"{why}\n{whole}." if why else f"Done: {whole}."

    def _advice(self) -> Iterator[str]:
        summary, collection = self.summary, self.collection
        if not summary.fetched:
            yield printable(f"Nothing was fetched. {self.why_nothing}".rstrip())
            return
        bad = sum(summary.by_class.get(one, 0) for one in ("4xx", "5xx")) + summary.failed
        if bad:
            yield f"`gossamer report -c {collection}` lists broken links."
        yield f"`gossamer export pages -c {collection} -o pages.csv` lists every URL."


def revisit_text(found: Mapping[str, int]) -> str:
    """`Visited 120 pages again: 100 unchanged, 15 changed, 3 gone, 2 failed; 4 new URLs found.`"""
    names = ("unchanged", "changed", "gone", "moved", "back", "missed")
    words = {"back": "back again", "missed": "not answered"}
    always = names[:3]
    parts = [f"{found[n]:,} {words.get(n, n)}" for n in names if found[n] or n in always]
    new = counted(found["known"], "new URL")
    return f"Visited {counted(found['visits'], 'page')} again: {', '.join(parts)}; {new} found."


def limit_text(stopped: str, settings: Settings, plan: CrawlPlan, origin: Mapping[str, str]) -> str:
    """Return which limit ended the crawl, and how to lift a stored one; or an empty text.

    `origin` has the sources of settings that were given for this run.
    """
    name = _LIMITS.get(stopped)
    if name is None:
        return ""
    key, flag = f"limits.{name}", f"--{stopped}"
    value = getattr(settings.limits, name)
    shown = f"{value:g}" if isinstance(value, float) else str(value)
    if key in plan.flags:
        return f"Stopped: {plan.typed_as.get(key, key)} {shown} reached."
    if key in origin:
        return f"Stopped: {key} {shown} reached (set in {origin[key]})."
    return f"Stopped: {flag} {shown} reached (kept from the last run). Use {flag} 0 to lift it."
