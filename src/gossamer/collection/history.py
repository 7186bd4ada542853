"""Samples of the counts of a crawl over time, stored in the collection for the curves.

The first line of `history.jsonl` names the columns, then comes one line per sample: a JSON array
that ends with the CRC-32 of the text before it. A sample is one `write` of one line, so a killed
crawl loses at most its last sample. Readers skip truncated or damaged lines.

The file has a size limit. It begins with ten samples per second. At `MOST_SAMPLES` every second
sample is dropped and the interval doubles, so a crawl of ten minutes and one of ten weeks both have
between 600 and 1,200 samples, evenly spaced over the running time of the crawl.

No other part depends on this file: if it cannot be written, the crawl continues without it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from gossamer.base.answer_class import class_of_status
from gossamer.base.clock import Clock
from gossamer.frontier.counts import Counts
from gossamer.frontier.visits.freshness import Freshness

SCHEMA: Final = 1
MOST_SAMPLES: Final = 1_200
FIRST_INTERVAL_S: Final = 0.1
_ERRORS: Final = ("4xx", "5xx")
_ALWAYS: Final = 11  # columns that every sample has


class Sample(NamedTuple):
    """The counts of a crawl at one moment."""

    at_ms: int  # since 1970
    ran_ms: int  # running time of the crawl, over all its runs
    run: int  # from 1; a crawl that was stopped and resumed has several
    fetched: int
    redirects: int
    queued: int
    failed: int
    refused: int
    errors: int  # fetched responses with 4xx and 5xx
    bytes: int
    memory_bytes: int | None  # of all processes of the crawl; None if unknown
    # Of a crawl that visits pages again, else None: the share of copies that were up to date as
    # measured, and as the policy predicts; and for how long they were not, on average.
    freshness: float | None = None
    predicted: float | None = None
    age_s: float | None = None
    predicted_age_s: float | None = None


def sample_of(
    counts: Counts,
    *,
    at_ms: int,
    ran_ms: int,
    run: int,
    memory_bytes: int | None,
    fresh: Freshness | None = None,
) -> Sample:
    """Return the counts now."""
    errors = sum(n for s, n in counts.by_status.items() if class_of_status(int(s)) in _ERRORS)
    sample = Sample(
        at_ms, ran_ms, run, counts.fetched, counts.redirects, counts.queued, counts.failed,
        counts.refused, errors, counts.size_bytes, memory_bytes,
    )  # fmt: skip
    if fresh is None:
        return sample
    return sample._replace(
        freshness=_rounded(fresh.measured, 4),
        predicted=_rounded(fresh.predicted, 4),
        age_s=_rounded(fresh.age_s, 1),
        predicted_age_s=_rounded(fresh.predicted_age_s, 1),
    )


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


def encode_sample(sample: Sample) -> str:
    """Return one line with its line end, without the empty values at its end."""
    values = list(sample)
    while len(values) > _ALWAYS and values[-1] is None:
        values.pop()
    text = json.dumps(values, separators=(",", ":"))[:-1]
    return f'{text},"{zlib.crc32(text.encode()):08x}"]\n'


def decode_sample(line: str) -> Sample | None:
    """Return None for a truncated or damaged line."""
    line = line.rstrip("\n")
    text = line.rpartition(',"')[0]
    if line != f'{text},"{zlib.crc32(text.encode()):08x}"]':
        return None
    try:
        return Sample(*json.loads(f"{text}]"))
    except (ValueError, TypeError):  # complete, but of another version
        return None


def read_history(path: Path) -> list[Sample]:
    """Return all complete samples, the oldest first; none if there is no file."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return [found for line in lines[1:] if (found := decode_sample(line)) is not None]


def thinned(samples: Sequence[Sample]) -> list[Sample]:
    """Return every second sample, and the last."""
    kept = list(samples[::2])
    return kept if len(samples) % 2 else [*kept, samples[-1]]


def interval_for(ran_s: float) -> float:
    """Return the seconds between two samples of a crawl that has run this long."""
    interval_s = FIRST_INTERVAL_S
    while ran_s > interval_s * MOST_SAMPLES:
        interval_s *= 2
    return interval_s


class Recorder:
    """Writes the history of one run."""

    def __init__(
        self,
        path: Path,
        clock: Clock,
        counts: Counts,
        memory: Callable[[], int | None],
        freshness: Callable[[], Freshness | None] = lambda: None,
    ) -> None:
        self._path = path
        self._clock = clock
        self._counts = counts
        self._memory = memory
        self._freshness = freshness
        self._began_s = clock.now_s()
        self._samples = read_history(path)
        last = self._samples[-1] if self._samples else None
        self._ran_before_s = last.ran_ms / 1000 if last else 0.0
        self._run = last.run + 1 if last else 1
        self._is_begun = False  # this run has written its first line
        self._is_off = False  # writing failed

    @property
    def ran_s(self) -> float:
        """The running time of the crawl, over all its runs."""
        return self._ran_before_s + self._clock.now_s() - self._began_s

    async def keep(self) -> None:
        """Take samples until cancelled."""
        while not self._is_off:
            self.note()
            await self._clock.sleep_until(self._clock.now_s() + interval_for(self.ran_s))

    def note(self) -> None:
        """Take one sample, and write it. Blocks for a write of about 100 bytes."""
        sample = sample_of(
            self._counts,
            at_ms=self._clock.wall_us() // 1000,
            ran_ms=round(self.ran_s * 1000),
            run=self._run,
            memory_bytes=self._memory(),
            fresh=self._freshness(),
        )
        self._samples.append(sample)
        try:
            if not self._is_begun or len(self._samples) >= MOST_SAMPLES:
                self._rewrite()
            else:
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(encode_sample(sample))
        except OSError:
            self._is_off = True  # full or read-only: the commit reports it and stops the crawl

    def _rewrite(self) -> None:
        """Write all samples again: at the start, to drop damaged lines, and to thin them out."""
        if len(self._samples) >= MOST_SAMPLES:
            self._samples = thinned(self._samples)
        head: dict[str, Any] = {"schema": SCHEMA, "columns": [*Sample._fields, "crc32"]}
        lines = (json.dumps(head) + "\n", *map(encode_sample, self._samples))
        new = self._path.with_name(f"{self._path.name}.new")
        new.write_text("".join(lines), encoding="utf-8")
        new.replace(self._path)
        self._is_begun = True
