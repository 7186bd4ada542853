"""Compare a text with a page, and find the passages that both have.

Words become numbers, and every few words in a row a hash. A hash that both have starts a run of
same words, which is extended as far as it goes. Runs that follow each other in both, with a few
other words between them, are one passage: somebody has changed a word.

Pure. The time is bounded for any two texts, also for a word that is repeated a million times.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

_MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)
_MOST_RUNS: Final = 10_000  # tried in one page
_TRIED: Final = 8  # places of the text that have the words of the page, on both sides of the last
_STEP: Final = 64  # words compared at once, first


class Run(NamedTuple):
    """Same words in the text and in the page: both starts, and the number of words."""

    text: int
    page: int
    length: int


@dataclass(frozen=True, slots=True)
class SharedPassage:
    """A passage that both have: runs in the order of the page, and their weight in words."""

    runs: tuple[Run, ...]
    words: float

    @property
    def text(self) -> tuple[int, int]:
        """First word and end in the text."""
        return self.runs[0].text, self.runs[-1].text + self.runs[-1].length

    @property
    def page(self) -> tuple[int, int]:
        """First word and end in the page."""
        return self.runs[0].page, self.runs[-1].page + self.runs[-1].length


@dataclass(frozen=True, slots=True)
class PassageRules:
    """What counts as a passage."""

    gram: int  # words in a row that start a run
    gap: int  # other words between two runs of a passage, at most
    longest: float  # words of its longest run, at least
    least: float  # words that are the same, at least
    share: float = 0.7  # of its words that are the same, at least


class TextMatcher:
    """Finds the passages of one text in any number of pages."""

    def __init__(
        self, words: Sequence[str], weights: NDArray[np.float64], rules: PassageRules
    ) -> None:
        """`weights` has the weight of each word, in words."""
        self._rules = rules
        self._numbers = {word: number for number, word in enumerate(dict.fromkeys(words), 1)}
        self._text = self._numbered(words)
        self._until = np.concatenate(([0.0], np.cumsum(weights)))  # weight of all words before
        hashes = _hashes(self._text, rules.gram)
        self._places = np.argsort(hashes, kind="stable")
        self._hashes = hashes[self._places]

    def matches(self, words: Sequence[str]) -> list[SharedPassage]:
        """The passages that a page with these words has, in its order."""
        page = self._numbered(words)
        hashes = _hashes(page, self._rules.gram)
        first = np.searchsorted(self._hashes, hashes)
        inside = first < len(self._hashes)
        inside[inside] = self._hashes[first[inside]] == hashes[inside]
        starts = np.flatnonzero(inside)
        if not len(starts):
            return []
        after = np.searchsorted(self._hashes, hashes[starts], side="right")
        return self._joined(self._runs(page, starts, first[starts], after))

    def weight(self, first: int, end: int) -> float:
        """The weight of the words of the text from `first` until before `end`."""
        return float(self._until[end] - self._until[first])

    def _numbered(self, words: Sequence[str]) -> NDArray[np.uint64]:
        numbers = map(self._numbers.get, words, itertools.repeat(0))
        return np.fromiter(numbers, np.uint64, len(words))

    def _runs(
        self,
        page: NDArray[np.uint64],
        starts: NDArray[np.intp],
        first: NDArray[np.intp],
        after: NDArray[np.intp],
    ) -> list[Run]:
        """The longest run around each place of the page that no earlier one covers. It may begin
        within an earlier one, which may have been short and accidental.
        """
        runs: list[Run] = []
        done, expected = 0, 0
        at = 0
        for _ in range(_MOST_RUNS):
            if at >= len(starts):
                break
            start = int(starts[at])
            best = Run(0, start, 0)
            for place in self._tried(int(first[at]), int(after[at]), expected):
                run = _run_around(self._text, page, place, start)
                if run.length > best.length:
                    best = run
            if best.length >= self._rules.gram:  # else two grams have the same hash
                while runs and runs[-1].page >= best.page:
                    runs.pop()
                runs.append(best)
                done, expected = best.page + best.length, best.text + best.length
            at = max(at + 1, int(np.searchsorted(starts, done)))
        return runs

    def _tried(self, first: int, after: int, expected: int) -> list[int]:
        """Places of the text to compare, the nearest to the expected one first; not all if there
        are many.
        """
        places = self._places[first:after]
        if len(places) > 2 * _TRIED:
            at = int(np.searchsorted(places, expected))
            at = min(max(_TRIED, at), len(places) - _TRIED)
            places = places[at - _TRIED : at + _TRIED]
        return sorted(map(int, places), key=lambda place: abs(place - expected))

    def _joined(self, runs: Sequence[Run]) -> list[SharedPassage]:
        matches: list[SharedPassage] = []
        current: list[Run] = []
        for run in runs:
            follower = self._follower(current[-1], run) if current else None
            if follower is not None:
                current.append(follower)
                continue
            matches += self._accepted(current)
            current = [run]
        return matches + self._accepted(current)

    def _follower(self, last: Run, run: Run) -> Run | None:
        """The run, if it continues the passage of the last one. A repeated word may belong to both;
        then the last one keeps it.
        """
        twice = max(0, last.text + last.length - run.text, last.page + last.length - run.page)
        if twice >= run.length or run.text < last.text:
            return None
        run = Run(run.text + twice, run.page + twice, run.length - twice)
        gaps = run.text - last.text - last.length, run.page - last.page - last.length
        return run if max(gaps) <= self._rules.gap else None

    def _accepted(self, runs: Sequence[Run]) -> list[SharedPassage]:
        rules = self._rules
        if not runs:
            return []
        weights = [self.weight(run.text, run.text + run.length) for run in runs]
        match = SharedPassage(tuple(runs), sum(weights))
        same = sum(run.length for run in runs)
        longest_span = max(end - start for start, end in (match.text, match.page))
        is_one = (
            match.words >= rules.least
            and max(weights) >= rules.longest
            and same >= rules.share * longest_span
        )
        return [match] if is_one else []


def _hashes(numbers: NDArray[np.uint64], gram: int) -> NDArray[np.uint64]:
    """A hash of each `gram` words in a row; 0 if one of them has the number 0."""
    count = max(0, len(numbers) - gram + 1)
    found = np.zeros(count, np.uint64)
    is_known = np.ones(count, bool)
    for at in range(gram):
        part = numbers[at : at + count]
        found = found * _MULTIPLIER + part
        is_known &= part != 0
    found[~is_known] = 0
    return found


def _run_around(
    text: NDArray[np.uint64], page: NDArray[np.uint64], in_text: int, in_page: int
) -> Run:
    """The same words before and after these places."""
    most = min(in_text, in_page, _STEP)
    before = text[in_text - most : in_text] == page[in_page - most : in_page]
    left = most if before.all() else int(before[::-1].argmin())
    length = left + _same(text, page, in_text, in_page)
    return Run(in_text - left, in_page - left, length)


def _same(text: NDArray[np.uint64], page: NDArray[np.uint64], in_text: int, in_page: int) -> int:
    """How many words are the same from these places on."""
    most = min(len(text) - in_text, len(page) - in_page)
    done, step = 0, _STEP
    while done < most:
        end = min(done + step, most)
        same = text[in_text + done : in_text + end] == page[in_page + done : in_page + end]
        if not same.all():
            return done + int(same.argmin())
        done, step = end, step * 2
    return most
