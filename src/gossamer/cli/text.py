"""Numbers and outcomes as people read them."""

from __future__ import annotations

from pathlib import Path

from gossamer.base.answer_class import LABELS, AnswerClass
from gossamer.base.sizes import size_text
from gossamer.crawl.progress import Progress, Summary
from gossamer.crawl.session import Plan
from gossamer.fetch.request import hidden


def reasons_text(counts: dict[str, int]) -> str:
    """`robots 12, scope 3`, the most common first."""
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{reason} {count}" for reason, count in ordered)


def classes_text(by_class: dict[str, int]) -> str:
    """`2xx 120 (success), 4xx 19 (client error)`: the answers that came, by their class."""
    shown = [one for one in AnswerClass if one.endswith("xx") or one == AnswerClass.OTHER_STATUS]
    kept = [one for one in shown if by_class.get(one)]
    return ", ".join(f"{one} {by_class[one]} ({LABELS[one]})" for one in kept)


def change_text(plan: Plan, key: str, old: object, new: object) -> str:
    """`--delay is 0.5 (was 1.0)`: a setting that differs from that of the last run, named as it
    was typed. Credentials are not shown."""
    name = plan.typed_as.get(key, key)
    return f"{name} is {_value_text(key, new)} (was {_value_text(key, old)})"


def _value_text(key: str, value: object) -> str:
    if isinstance(value, tuple):
        shown = map(hidden, value) if key == "fetch.headers" else map(str, value)
        return ", ".join(shown) or "empty"
    return repr(value)


def progress_line(progress: Progress) -> str:
    """The line that a running crawl shows."""
    parts = [
        f"{progress.fetched} fetched",
        f"{progress.queued} queued",
        f"{progress.failed} failed",
        f"{progress.refused} refused",
    ]
    if progress.refused_by:
        parts[-1] += f" ({reasons_text(progress.refused_by)})"
    parts += [
        f"{progress.hosts_waiting} hosts waiting",
        f"{progress.pages_per_s:.1f} pages/s",
        f"{size_text(progress.bytes_per_s)}/s",
    ]
    if progress.state != "running":
        parts.insert(0, progress.state)
    if progress.retrying:
        parts.insert(0, retry_text(progress.retrying, progress.retry_in_s))
    line = " · ".join(parts)
    if progress.troubles and not progress.pages_per_s:
        line += f" · {progress.troubles[0]}"
    return line


def retry_text(urls: int, in_s: float) -> str:
    """`retrying 1 URL in 20 s`: nothing else is left to do."""
    when = f"in {in_s:.0f} s" if in_s >= 1 else "now"
    return f"retrying {urls} {'URL' if urls == 1 else 'URLs'} {when}"


_STOPPED = {
    "done": "Done",
    "max-pages": "Done: --max-pages reached",
    "max-time": "Done: --max-time reached",
    "max-bytes": "Done: --max-bytes reached",
    "signal": "Stopped; the same command goes on",
    "disk-full": "Stopped: the disk is full; make room, and the same command goes on",
}


def summary_text(summary: Summary, before: int, collection: Path, why_nothing: str) -> str:
    """What a crawl says at its end. `before`: pages that the collection had when it went on."""
    new = summary.fetched - before
    rate = new / summary.wall_s if summary.wall_s else 0.0
    of_these = f", {new} of them" if before else ""
    lines = [
        (
            f"{_STOPPED.get(summary.stopped, summary.stopped)}: {summary.fetched} pages "
            f"({size_text(summary.bytes)}){of_these} in {summary.wall_s:.1f} s, "
            f"{rate:.1f} pages/s; "
            f"{summary.links} links, {summary.redirects} redirects, {summary.failed} failed, "
            f"{summary.refused} refused, {summary.queued} still queued."
        )
    ]
    if summary.by_reason:
        lines.append(f"Failed or refused: {reasons_text(summary.by_reason)}.")
    if not summary.fetched:
        lines.append(f"Nothing was fetched. {why_nothing}".rstrip())
    else:
        lines.append(f"See `gossamer export pages -c {collection} -o pages.csv` for every URL.")
    return "\n".join(lines)
