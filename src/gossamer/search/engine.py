"""The path of a query, from words to hits: one screen, in `Engine.search`.

    words -> tree -> plan -> the index's candidates -> link ranks -> order -> passages

Many threads may use one engine. Each query sees the newest commit, and the engine works while a
crawl is writing.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import tantivy

from gossamer.base.clock import Clock, SystemClock, iso_of
from gossamer.errors import CorruptFile, NoCollection, QueryError
from gossamer.graph.ranks.reader import RankReader
from gossamer.index import schema
from gossamer.index.entry import Kept
from gossamer.index.fields import address_words
from gossamer.index.reader import IndexReader, View
from gossamer.index.tantivy_errors import reading
from gossamer.index.words import normal_all, words_of
from gossamer.search import rank
from gossamer.search.copies.finder import CopyFinder
from gossamer.search.copies.results import Copies, CopiesRequest
from gossamer.search.explain import explained
from gossamer.search.folding import NO_DUPLICATES, DuplicateReader, DuplicateSnapshot, folded
from gossamer.search.highlight import highlight_terms
from gossamer.search.hints import NO_WORD, date_hint, hint_of, value_hints
from gossamer.search.lexicon import Lexicon
from gossamer.search.nearness import is_near
from gossamer.search.plan import Planner, QueryPlan, Score
from gossamer.search.properties import NotAValue, property_of
from gossamer.search.query import ParsedQuery, clean, parse
from gossamer.search.results import Hit, Request, Results
from gossamer.search.snippets import Highlighter, Snippet
from gossamer.search.suggest import suggestion
from gossamer.search.tree import All, Has, Property, QueryNode
from gossamer.search.weights import WEIGHTS, Weights

# Pages that are checked for a loose phrase of three words or more; further ones are accepted.
_MOST_LOOKED_AT: Final = 2_000
# Candidates to fetch if some will be dropped because their site has enough hits.
_TO_COLLAPSE: Final = 1_000


@dataclass(frozen=True, slots=True)
class IndexSnapshot:
    """The index at one moment."""

    view: View
    lexicon: Lexicon
    duplicates: DuplicateSnapshot
    clock: Clock

    def planner(self, weights: Weights) -> Planner:
        """A planner for one query."""
        looks = PhraseChecks(self.view)
        return Planner(
            self.view.schema, self.lexicon, weights, looks.rejected, self.clock.wall_us()
        )


class PhraseChecks:
    """Checks pages for loose phrases, up to a maximum per query."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._left = _MOST_LOOKED_AT

    def rejected(
        self, found: tantivy.Query, words: Sequence[str], slop: int, fields: Sequence[str]
    ) -> list[str]:
        """Ids of pages in which no field has the words near enough to each other."""
        matches = self.view.search(found, self._left)[0] if self._left else []
        self._left -= len(matches)
        pages = self.view.kept_all(matches)
        return [
            schema.id_of(page.key)
            for page in pages
            if not any(is_near(text, words, slop) for text in self._texts(page, fields))
        ]

    def _texts(self, page: Kept, fields: Sequence[str]) -> Iterator[list[str]]:
        """The texts of a page in these fields, as indexed."""
        for name in fields:
            match name:
                case schema.BODY:
                    yield words_of(self.view.text(page))
                case schema.HEADINGS:
                    yield normal_all(page.headings).split()
                case schema.ANCHORS:
                    yield normal_all(page.anchors).split()
                case schema.TITLE:
                    yield words_of(page.title)
                case _:
                    yield address_words(page.url).split()


class Engine:
    """Searches one collection."""

    def __init__(
        self, folder: Path, weights: Weights = WEIGHTS, clock: Clock | None = None
    ) -> None:
        """Raises NoCollection, StoreError if it has no index, CorruptFile."""
        if not (folder / "index").exists() and not (folder / "state").exists():
            raise NoCollection(folder)
        self._weights = weights
        self._clock = clock or SystemClock()
        self._index = IndexReader(folder / "index")
        self._ranks = RankReader(folder / "graph")
        self._hint = ""  # which ranking data is missing
        self._reading = threading.Lock()
        self._duplicates = DuplicateReader(folder)
        self._moment = self._look()

    def search(self, request: Request) -> Results:
        """Answer any query. Raises QueryError for a filter, CorruptFile."""
        start_s = self._clock.now_s()
        parsed = parse(request.query)  # query.py
        moment = self._now()
        with reading(moment.view.generation):  # words are looked up in the files of the index, too
            return self._answer(request, parsed, moment, start_s)

    def copies(self, request: CopiesRequest) -> Copies:
        """The pages that have a part of a text (`copies/finder.py`). Raises CorruptFile."""
        moment = self._now()
        with reading(moment.view.generation):
            return CopyFinder(moment.view, request, self._clock).find()

    def _answer(
        self, request: Request, parsed: ParsedQuery, moment: IndexSnapshot, start_s: float
    ) -> Results:
        tree = with_flags(parsed.tree, request)
        plan = moment.planner(self._weights).plan(tree)  # plan.py
        hint = _hint(moment.view, parsed, tree, plan)  # hints.py
        if not plan.parts:
            return Results((), 0, (self._clock.now_s() - start_s) * 1000, hint=hint)
        duplicates = NO_DUPLICATES if request.all_copies else moment.duplicates  # folding.py
        found, total = self._candidates(moment.view, plan, request, duplicates)  # index/
        order = self._ordered(found, plan, request)  # graph/, rank.py
        shown = order[request.offset : request.offset + request.limit]
        terms = highlight_terms(plan, moment.lexicon)
        highlighter, steps = Highlighter(terms), plan.steps_of_all()
        hits = [
            replace(
                self._hit(moment.view, one, highlighter, len(terms) - _lacks(one.score, steps)),
                copies=duplicates.copies_of(one.kept.key),
            )
            for one in shown
        ]  # snippets.py
        if request.explain:
            hits = explained(hits, shown, tree, moment.view, moment.planner, self._weights)
        better = "" if total else suggestion(clean(request.query), plan, moment.lexicon)
        took_ms = (self._clock.now_s() - start_s) * 1000
        hints = "; ".join(one for one in (hint, self._hint) if one)
        return Results(tuple(hits), total, took_ms, better, hints)

    def _candidates(
        self, view: View, plan: QueryPlan, request: Request, duplicates: DuplicateSnapshot
    ) -> tuple[list[rank.RankCandidate], int]:
        """Matching pages, best first, as many as may be needed, and the total number."""
        by_date = request.sort == "date" or not plan.texts
        wanted = request.offset + request.limit
        wanted = wanted if by_date else max(wanted, self._weights.candidates)
        if request.per_site or duplicates.is_many:
            wanted = max(wanted, _TO_COLLAPSE)
        query = duplicates.excluding(view, plan.query)
        matches, total = view.search(query, wanted, newest_first=by_date)
        scores = [plan.parted(0.0 if by_date else one.score) for one in matches]
        found = list(zip(view.kept_all(matches), scores, strict=True))
        if plan.whole is not None and not by_date:
            found = _whole_first(view, duplicates.excluding(view, plan.whole), found, wanted)
        if duplicates.is_many:
            found, total = folded(found, total, duplicates)
        return self._lifted(found), total

    def _lifted(self, found: Sequence[tuple[Kept, Score]]) -> list[rank.RankCandidate]:
        """The candidates, the first of them with their link ranks."""
        urls = [kept.url for kept, _ in found[: self._weights.candidates]]
        with self._reading:
            try:
                ranks = self._ranks.of(urls)
                self._hint = ""
            except CorruptFile as damage:  # then words alone order the pages
                ranks = [0.0] * len(urls)
                self._hint = f"link ranks are not used: {damage}"
        lifts = [rank.lift_of(one, self._weights) for one in ranks]
        every = itertools.chain(lifts, itertools.repeat(1.0))
        return [rank.RankCandidate(*one, lift) for one, lift in zip(found, every, strict=False)]

    def _ordered(
        self, found: Sequence[rank.RankCandidate], plan: QueryPlan, request: Request
    ) -> list[rank.RankCandidate]:
        if request.sort == "date" or not plan.texts:
            order = rank.newest(found)
        else:
            order = rank.ordered(found, self._weights.candidates)
        wanted = request.offset + request.limit
        return list(itertools.islice(rank.collapsed(order, request.per_site), wanted))

    def _hit(self, view: View, one: rank.RankCandidate, highlighter: Highlighter, has: int) -> Hit:
        """`has` is the number of highlighted terms that the page has."""
        kept = one.kept
        passage = Snippet("")
        if kept.has_snippet:
            passage = highlighter.snippet_from(view.text_pieces(kept), has)
        return Hit(
            url=kept.url,
            title=" ".join(kept.title.split()),
            snippet=passage.text,
            score=round(one.shown_score, 6),
            fetched_at=iso_of(kept.at_us),
            type=kept.type,
            language=kept.language,
            passage=passage,
        )

    def _now(self) -> IndexSnapshot:
        with self._reading:
            if self._index.reload():
                self._moment = self._look()
            return self._moment

    def _look(self) -> IndexSnapshot:
        view = self._index.view
        with reading(view.generation):
            duplicates = self._duplicates.read(view)
            return IndexSnapshot(view, Lexicon(view.searcher), duplicates, self._clock)


def _lacks(score: Score, steps_of_all: int | None) -> int:
    """How many of the wanted words a page with this score lacks; 0 if unknown."""
    if steps_of_all is None or not score.steps:
        return 0
    return max(0, steps_of_all - int(score.steps))


def _whole_first(
    view: View, whole: tantivy.Query, found: Sequence[tuple[Kept, Score]], wanted: int
) -> list[tuple[Kept, Score]]:
    """For a sentence: the pages that have all of its words, then the others."""
    matches, _ = view.search(whole, wanted)
    pages = view.kept_all(matches)
    first = [(kept, Score(1.0, one.score)) for kept, one in zip(pages, matches, strict=True)]
    keys = {kept.key for kept, _ in first}
    return [*first, *(one for one in found if one[0].key not in keys)][:wanted]


def _hint(view: View, parsed: ParsedQuery, tree: QueryNode, plan: QueryPlan) -> str:
    """How the query was read, if that may surprise, and values that pages really have."""
    if not plan.parts and not parsed.reasons:
        return NO_WORD
    with reading(view.generation):
        more = value_hints(tree, view.searcher)
        more += [date_hint(view.searcher)] if parsed.has_wrong_day else []
    return hint_of(parsed.reasons, parsed.tree, [*filter(None, more)])


def with_flags(tree: QueryNode, request: Request) -> QueryNode:
    """The query with its filters. Raises QueryError."""
    flags = {
        Property.SITE: request.site,
        Property.TYPE: request.type,
        Property.LANG: request.lang,
        Property.SINCE: request.since,
        Property.CHANGED: request.changed,
    }
    more = [_flag(one, value) for one, value in flags.items() if value]
    if not more:
        return tree
    parts = tree.parts if isinstance(tree, All) else (tree,)
    return All((*parts, *more))


def _flag(property: Property, value: str) -> Has:
    try:
        return property_of(property, value)
    except NotAValue as fault:
        raise QueryError(f"{property} is {value[:80]!r}, but {fault}") from None
