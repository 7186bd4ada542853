"""Find the pages of an index that have a part of a text.

Phrases of the text are looked up in the index (`phrases.py`). Each page that has one is read and
compared with the text (`matching.py`), those with the most and rarest phrases first. So a passage
is reported only if it was seen in both texts.

A text of any length takes bounded time: of a long one fewer phrases are looked up, so that short
passages may be missed, and the results say so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import tantivy

from gossamer.base.clock import Clock, iso_of
from gossamer.base.plurals import counted
from gossamer.index.entry import Kept
from gossamer.index.reader import View
from gossamer.index.schema import BODY
from gossamer.index.words import is_unspaced
from gossamer.search.copies.matching import PassageRules, SharedPassage, TextMatcher
from gossamer.search.copies.phrases import CheckedPhrase, phrases_of
from gossamer.search.copies.results import (
    CopiedPassage,
    Copies,
    CopiesRequest,
    Copy,
    PassageSide,
)
from gossamer.search.copies.words import LocatedWords
from gossamer.search.snippets import Snippet

_MOST_WORDS: Final = 2_000_000  # of a text; a book has 100,000
_MOST_PHRASES: Final = 20_000  # about three seconds
_AT_ONCE: Final = 32  # phrases in one query
_CANDIDATES: Final = 50  # pages of one query, at least
_PHRASE: Final = 5  # words
_REACH: Final = 12  # words in a row that contain a phrase
_GAP: Final = 5  # other words between two runs of a passage
_LONGEST_RUN: Final = 8  # words of it without a change, at least
_MOST_PASSAGES: Final = 10  # of a page that are shown
_PASSAGE_CHARS: Final = 1_000  # of each


@dataclass(frozen=True, slots=True)
class _Found:
    """A page with the passages that it shares with the text."""

    kept: Kept
    matches: tuple[SharedPassage, ...]  # longest first
    words: float  # of the text, each counted once


class CopyFinder:
    """Finds the copies of one text."""

    def __init__(self, view: View, request: CopiesRequest, clock: Clock) -> None:
        self._view = view
        self._request = request
        self._clock = clock
        self._start_s = clock.now_s()
        self._text = LocatedWords(request.text, _MOST_WORDS)
        weights = np.array([0.5 if is_unspaced(word) else 1.0 for word in self._text.words])
        self._words = float(weights.sum())
        # Two characters of a script without spaces count as a word.
        self._per_word = 2 if self._words < 0.75 * len(weights) else 1
        least = request.min_words
        reach = min(_REACH, least) * self._per_word
        self._length = min(_PHRASE, least) * self._per_word
        wanted = 2 * len(weights) // _MOST_PHRASES + self._length
        self._reach = max(reach, wanted)
        rules = PassageRules(
            gram=self._length - 1,
            gap=_GAP * self._per_word,
            longest=min(_LONGEST_RUN, least),
            least=least,
        )
        self._matcher = TextMatcher(self._text.words, weights, rules)
        self._hints: list[str] = []
        if self._text.end < len(request.text):
            self._hints.append(f"only the first {counted(_MOST_WORDS, 'word')} were compared")
        shortest = self._reach // self._per_word
        if shortest > least:
            self._hints.append(
                f"the text is long: passages of less than {shortest} words may be missing"
            )
        elif self._words < least:
            self._hints.append(
                f"the text has {counted(round(self._words), 'word')}, and passages of at least "
                f"{least} words were wanted"
            )

    def find(self) -> Copies:
        """The pages with parts of the text."""
        found = [one for kept in self._candidates() if (one := self._compared(kept))]
        found.sort(key=lambda one: (-one.words, one.kept.url))
        copies = tuple(map(self._copy, found[: self._request.limit]))
        took_ms = (self._clock.now_s() - self._start_s) * 1000
        return Copies(copies, round(self._words), len(found), took_ms, "; ".join(self._hints))

    def _candidates(self) -> Iterator[Kept]:
        """Pages with phrases of the text, those with the most and rarest first."""
        searcher, words = self._view.searcher, self._text.words
        phrases = phrases_of(
            words, self._length, self._reach, lambda word: searcher.doc_freq(BODY, word)
        )
        scores = self._scores(phrases)
        best = sorted(scores, key=lambda place: (-scores[place], place))
        for number, (segment, document) in enumerate(best):
            if self._has_taken(self._request.max_s):
                left = counted(len(best) - number, "page")
                self._hints.append(f"no time was left to compare {left} with words of the text")
                return
            kept = self._view.kept(tantivy.DocAddress(segment, document))
            if kept.key != self._request.but:
                yield kept

    def _scores(self, phrases: Sequence[CheckedPhrase]) -> dict[tuple[int, int], float]:
        """How many phrases a page has, rare ones counting more, by the page's place."""
        scores: dict[tuple[int, int], float] = {}
        most = max(_CANDIDATES, 2 * self._request.limit)
        for start in range(0, len(phrases), _AT_ONCE):
            if self._has_taken(self._request.max_s / 2):
                share = start / len(phrases)
                self._hints.append(f"only {share:.0%} of the text was looked up: no time was left")
                break
            query = self._query(phrases[start : start + _AT_ONCE])
            matches, total = self._view.search(query, most)
            if total > most:
                self._note_many()
            for score, place in matches:
                key = place.segment_ord, place.doc
                scores[key] = scores.get(key, 0.0) + score
        return scores

    def _query(self, phrases: Sequence[CheckedPhrase]) -> tantivy.Query:
        pages = self._view.searcher.num_docs
        parts = []
        for phrase in phrases:
            exact = tantivy.Query.phrase_query(self._view.schema, BODY, list(phrase.words))
            rarity = math.log(1 + pages / phrase.pages)
            parts.append((tantivy.Occur.Should, tantivy.Query.const_score_query(exact, rarity)))
        return tantivy.Query.boolean_query(parts)

    def _has_taken(self, seconds: float) -> bool:
        return self._clock.now_s() - self._start_s > seconds

    def _note_many(self) -> None:
        hint = "many pages have parts of the text, and not all were compared; raise the limit"
        if hint not in self._hints:
            self._hints.append(hint)

    def _compared(self, kept: Kept) -> _Found | None:
        page = LocatedWords(self._view.text(kept))
        matches = self._matcher.matches(page.words)
        if not matches:
            return None
        words = sum(self._matcher.weight(*span) for span in _united(matches))
        longest = sorted(matches, key=lambda one: (-one.words, one.text))
        return _Found(kept, tuple(longest), words)

    def _copy(self, found: _Found) -> Copy:
        kept = found.kept
        page = LocatedWords(self._view.text(kept))
        shown = found.matches[:_MOST_PASSAGES]
        return Copy(
            url=kept.url,
            title=" ".join(kept.title.split()),
            fetched_at=iso_of(kept.at_us),
            words=round(found.words),
            share=found.words / self._words,
            passages=tuple(self._passage(match, page, kept) for match in shown),
            passages_total=len(found.matches),
        )

    def _passage(self, match: SharedPassage, page: LocatedWords, kept: Kept) -> CopiedPassage:
        in_text = [(run.text, run.text + run.length) for run in match.runs]
        in_page = [(run.page, run.page + run.length) for run in match.runs]
        return CopiedPassage(
            words=round(match.words),
            first_word=round(self._matcher.weight(0, match.text[0])) + 1,
            in_text=_side(self._text, in_text),
            in_page=_side(page, in_page, has_snippet=kept.has_snippet),
        )


def _united(matches: Sequence[SharedPassage]) -> Iterator[tuple[int, int]]:
    """The words of the text that are in a run of a match, each once, as (first, end)."""
    done = 0
    for run in sorted(run for match in matches for run in match.runs):
        end = run.text + run.length
        if end > done:
            yield max(done, run.text), end
            done = end


def _side(
    located: LocatedWords, runs: Sequence[tuple[int, int]], *, has_snippet: bool = True
) -> PassageSide:
    """A passage with its runs marked; no text for a page with nosnippet."""
    start, end = located.span(runs[0][0], runs[-1][1])
    if not has_snippet:
        return PassageSide(start, end, Snippet(""))
    stop = min(end, start + _PASSAGE_CHARS)
    marks = []
    for run in runs:
        first, last = located.span(*run)
        if first >= stop:
            break
        marks.append((first - start, min(last, stop) - start))
    return PassageSide(start, end, Snippet(located.text[start:stop], tuple(marks)))
