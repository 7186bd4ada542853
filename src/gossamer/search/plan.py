"""Turn a query tree into a tantivy query.

The pages found follow the tree exactly (`tests/search/test_oracle.py` compares with a brute-force
search). The same query computes the score: the sum over all words of the query of the BM25 of the
word or its stemming variants in each field, with the weights of weights.py.

The words of a query are optional. A page with any of them is found, and each that it has adds STEP
to its score, more than relevance ever does. So pages with all words come first, then those with
most. A stop word (`the`) adds a quarter of it. `QueryPlan.parted` splits a score again. A query
with more words than `Weights.tiered_words` is a sentence: it has no steps, and the pages that have
all of its words are queried separately (`QueryPlan.whole`).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import tantivy
from tantivy import FieldType, Occur, Query

from gossamer.index import schema
from gossamer.search.lexicon import STOP_WORDS, Lexicon, are_stop_words, tokens_of
from gossamer.search.tree import (
    All,
    Any,
    Field,
    Has,
    Not,
    Phrase,
    Property,
    QueryNode,
    Word,
    WordPrefix,
    is_about_words,
    is_condition,
    leaves,
)
from gossamer.search.weights import Weights

# Relevance stays below the small step: a word has at most 40 of BM25 in a field, and rarity makes
# it twice that.
STEP: Final = 4096.0
SMALL_STEP: Final = STEP / 4
# Words that a prefix within a phrase expands to, in each field; the most frequent are used.
_MOST_EXPANSIONS: Final = 200
# Stemming variants of all words of a query together.
_MAX_VARIANTS: Final = 1_000
# Words of a sentence that are searched, the rarest; the others would find every page.
_MAX_OPTIONAL: Final = 150
# Pages with all words of a sentence are queried up to this many words.
_LONGEST_WHOLE: Final = 32
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# Letters of a prefix up to which the index searches it by a pattern.
_LONGEST_PATTERN: Final = 100

# Of the pages that a query finds, the ids of those whose words are not near enough in any field.
Reject = Callable[[Query, Sequence[str], int, Sequence[str]], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Score:
    """A score split into parts: how many of the words, in quarters, and the relevance."""

    steps: float
    relevance: float


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """A query in the form of the index."""

    query: Query
    whole: Query | None  # for a sentence: pages that have all of it
    parts: tuple[QueryNode, ...]  # the query without parts that contain no word
    is_tiered: bool
    alone: float | None = None  # quarters of a step, if every page found has exactly that

    def parted(self, score: float) -> Score:
        """Split a score of `query`."""
        if self.alone is not None:
            return Score(self.alone / 4, score)
        if not self.is_tiered:
            return Score(0.0, score)
        steps, relevance = divmod(max(0.0, score), SMALL_STEP)
        return Score(steps / 4, relevance)

    def steps_of_all(self) -> int | None:
        """The whole steps of a page that has all optional words; None if they do not tell how many
        a page has.
        """
        optional = [part for part in self.parts if not is_condition(part)]
        if not self.is_tiered or not all(isinstance(part, Word | WordPrefix) for part in optional):
            return None
        return sum(_quarters(part) == 4.0 for part in optional)

    @property
    def texts(self) -> tuple[Word | WordPrefix | Phrase, ...]:
        """Everything that is searched in the texts of pages, once each."""
        every = (leaf for part in self.parts for leaf in leaves(part))
        return tuple(dict.fromkeys(leaf for leaf in every if not isinstance(leaf, Has)))


class Planner:
    """Plans queries over one moment of an index."""

    def __init__(
        self,
        schema_: tantivy.Schema,
        lexicon: Lexicon,
        weights: Weights,
        reject: Reject,
        now_us: int,
    ) -> None:
        self._schema = schema_
        self._now_us = now_us
        self._lexicon = lexicon
        self._weights = weights
        self._reject = reject
        self._variants_each = 1
        by_name = {
            schema.BODY: weights.body,
            schema.TITLE: weights.title,
            schema.HEADINGS: weights.headings,
            schema.ANCHORS: weights.anchors,
            schema.ADDRESS: weights.address,
        }
        self._fields = {
            Field.TEXT: {name: weight for name, weight in by_name.items() if weight},
            Field.TITLE: {schema.TITLE: 1.0},
            Field.ANCHOR: {schema.ANCHORS: 1.0},
            Field.URL: {schema.ADDRESS: 1.0},
        }
        # `-word` excludes only pages that contain the word itself, in exactly this spelling.
        own = dict.fromkeys((schema.BODY, schema.TITLE, schema.HEADINGS), 1.0)
        self._own_fields = {**self._fields, Field.TEXT: own}

    def plan(self, tree: QueryNode) -> QueryPlan:
        """The plan for a tree."""
        parts = [part for part in _parts_of(tree) if not is_empty(part)]
        is_tiered = len(dict.fromkeys(parts)) <= self._weights.tiered_words
        if not is_tiered:
            is_prose = len(parts) > self._weights.prose_words
            cut = (word for part in parts for word in _cut(part, is_prose=is_prose))
            parts = [word for word in cut if not is_empty(word)]
        optional = Counter(part for part in parts if not is_condition(part))
        conditions = [part for part in dict.fromkeys(parts) if is_condition(part)]
        if not is_tiered:
            optional = self._rarest(_informative(optional))
        self._variants_each = 1 + _MAX_VARIANTS // max(
            1, sum(1 for part in parts for _ in leaves(part))
        )
        alone = _alone(conditions, [*optional]) if is_tiered else None
        has_steps = is_tiered and alone is None
        times = Counter([*optional]) if is_tiered else optional  # a step is made once
        queries = [self._optional_query(part, times[part], has_steps) for part in optional]
        return QueryPlan(
            query=self._joined(conditions, queries, self._near(parts)),
            whole=None if is_tiered else self._whole(conditions, [*optional]),
            parts=tuple(dict.fromkeys(parts)),
            is_tiered=is_tiered,
            alone=alone,
        )

    def _rarest(self, optional: Counter[QueryNode]) -> Counter[QueryNode]:
        """The rarest words of a long sentence, and all of a short one."""
        if len(optional) <= _MAX_OPTIONAL:
            return optional
        count = self._lexicon.count
        by_rarity = sorted(
            optional,
            key=lambda part: count(schema.BODY, part.text) if isinstance(part, Word) else 0,
        )
        return Counter({part: optional[part] for part in by_rarity[:_MAX_OPTIONAL]})

    # -- joining

    def _joined(
        self, conditions: Sequence[QueryNode], queries: Sequence[Query], more: Sequence[Query]
    ) -> Query:
        """Pages that fulfil the conditions; if no condition is about words, with one optional word.

        `more` finds nothing by itself, and raises the score of what is found.
        """
        clauses = [(Occur.Must, self._query_for(part)) for part in conditions]
        if any(map(is_about_words, conditions)):
            clauses += [(Occur.Should, query) for query in queries]
        elif queries:
            clauses.append((Occur.Must, _union(queries)))
        elif not conditions:
            clauses.append((Occur.Must, Query.empty_query()))
        clauses += [(Occur.Should, query) for query in more]
        return clauses[0][1] if len(clauses) == 1 else Query.boolean_query(clauses)

    def _optional_query(self, part: QueryNode, times: int, has_steps: bool) -> Query:
        if not has_steps:
            return _boosted(self._query_for(part), float(times))
        # A page has the part and, always, the constant: both are one pass. An optional constant
        # takes a tenth less time than a required one.
        step = Query.const_score_query(Query.all_query(), SMALL_STEP * _quarters(part))
        return Query.boolean_query([(Occur.Must, self._query_for(part)), (Occur.Should, step)])

    def _whole(
        self, conditions: Sequence[QueryNode], optional: Sequence[QueryNode]
    ) -> Query | None:
        if not 0 < len(optional) <= _LONGEST_WHOLE:
            return None
        every = [(Occur.Must, self._query_for(part)) for part in (*conditions, *optional)]
        return Query.boolean_query(every)

    def _near(self, parts: Sequence[QueryNode]) -> list[Query]:
        """Adjacent words of the query that are near each other in a page; stop words are
        skipped.
        """
        words = [part.text for part in parts if isinstance(part, Word) and not part.field]
        tokens = [token for word in words for token in tokens_of(word)]
        pairs = [pair for pair in itertools.pairwise(tokens) if len({*pair} - STOP_WORDS) == 2]
        weights = self._weights
        return [
            Query.boost_query(
                self._phrase_in(schema.BODY, pair, weights.near_slop), weights.nearness
            )
            for pair in dict.fromkeys(pairs)
            if weights.nearness and all(self._lexicon.count(schema.BODY, one) for one in pair)
        ]

    # -- parts

    def _query_for(self, node: QueryNode, *, is_negative: bool = False) -> Query:
        """Pages that a part finds by itself, scored."""
        match node:
            case Has():
                return _silent(self._has(node))
            case Word() | WordPrefix() | Phrase():
                return self._query_leaf(node, is_negative=is_negative)
            case Any(parts):
                return _union(
                    self._query_for(one, is_negative=is_negative)
                    for one in parts
                    if not is_empty(one)
                )
            case All(parts):
                kept = [part for part in parts if not is_empty(part)]
                return self._query_all(kept, is_negative=is_negative)
            case Not(part):
                unwanted = (Occur.MustNot, self._query_for(part, is_negative=True))
                every = (Occur.Must, schema.every_entry())
                return _silent(Query.boolean_query([every, unwanted]))

    def _query_all(self, parts: Sequence[QueryNode], *, is_negative: bool) -> Query:
        conditions = [part for part in parts if is_condition(part)]
        optional = [part for part in parts if not is_condition(part)]
        clauses = [
            (Occur.Must, self._query_for(one, is_negative=is_negative)) for one in conditions
        ]
        queries = [self._query_for(part, is_negative=is_negative) for part in optional]
        if any(map(is_about_words, conditions)):
            clauses += [(Occur.Should, query) for query in queries]
        elif queries:
            clauses.append((Occur.Must, _union(queries)))
        return Query.boolean_query(clauses)

    def _query_leaf(self, leaf: Word | WordPrefix | Phrase, *, is_negative: bool) -> Query:
        tokens = tokens_of(leaf.text)
        fields = (self._own_fields if is_negative else self._fields)[leaf.field]
        if isinstance(leaf, WordPrefix) or (isinstance(leaf, Word) and leaf.field is Field.URL):
            return _union(self._prefix_in(name, tokens, fields[name]) for name in fields)
        if isinstance(leaf, Phrase) or len(tokens) > 1:
            slop = leaf.slop if isinstance(leaf, Phrase) else 0
            return self._phrase(tokens, slop, fields)
        has_variants = leaf.field is Field.TEXT and not is_negative
        words = self._lexicon.variants(tokens[0])[: self._variants_each] if has_variants else tokens
        rarity = self._lexicon.rarity(tokens[0]) ** self._weights.rarity
        return _union(self._words_in(name, words, fields[name] * rarity) for name in fields)

    def _words_in(self, name: str, words: Sequence[str], weight: float) -> Query:
        """A word and its variants in a field, each with the rarity of all together."""
        counts = {word: self._lexicon.count(name, word) for word in words}
        rarity = self._lexicon.idf(sum(counts.values()))
        shares = itertools.chain([1.0], itertools.repeat(self._weights.variants))
        terms = [
            _boosted(self._term(name, word), weight * share * rarity / self._lexicon.idf(pages))
            for (word, pages), share in zip(counts.items(), shares, strict=False)
            if pages and share
        ]
        return _best(terms, self._weights.more_variants)

    def _phrase(self, tokens: Sequence[str], slop: int, fields: dict[str, float]) -> Query:
        if not slop or (len(tokens) == 2 and tokens[0] != tokens[1]):
            return _union(
                _boosted(self._phrase_in(name, tokens, slop), weight)
                for name, weight in fields.items()
            )
        # The index finds two words near each other, but is wrong for three, or for the same word
        # twice. So it is queried for all pairs, and the pages found are checked.
        found = _union(
            _boosted(self._pairs_in(name, tokens, slop), weight) for name, weight in fields.items()
        )
        wrong = list(self._reject(found, tokens, slop, [*fields]))
        if not wrong:
            return found
        unwanted = Query.term_set_query(self._schema, schema.ID, wrong)
        return Query.boolean_query([(Occur.Must, found), (Occur.MustNot, unwanted)])

    def _pairs_in(self, name: str, tokens: Sequence[str], slop: int) -> Query:
        pairs = [pair for pair in itertools.pairwise(tokens) if pair[0] != pair[1]]
        queries = [self._phrase_in(name, pair, slop) for pair in pairs]
        queries += [self._term(name, token) for token in dict.fromkeys(tokens)]
        return Query.boolean_query([(Occur.Must, query) for query in queries])

    def _prefix_in(self, name: str, tokens: Sequence[str], weight: float) -> Query:
        if len(tokens) == 1 and len(tokens[0]) <= _LONGEST_PATTERN:
            return _boosted(Query.regex_query(self._schema, name, f"{tokens[0]}.*"), weight)
        *first, last = tokens
        return _union(
            _boosted(self._phrase_in(name, (*first, whole)), weight)
            for whole in self._lexicon.beginning_with(name, last, _MOST_EXPANSIONS)
        )

    def _phrase_in(self, name: str, tokens: Sequence[str], slop: int = 0) -> Query:
        if len(tokens) == 1:
            return self._term(name, tokens[0])
        return Query.phrase_query(self._schema, name, list(tokens), slop)

    def _term(self, name: str, token: str) -> Query:
        return Query.term_query(self._schema, name, token, "freq")

    def _has(self, leaf: Has) -> Query:
        if leaf.property is Property.SINCE:
            return self._since(schema.AT, leaf)
        if leaf.property is Property.CHANGED:
            return self._since(schema.CHANGED, leaf)
        names = {
            Property.SITE: schema.SITE,
            Property.TYPE: schema.TYPE,
            Property.LANG: schema.LANGUAGE,
        }
        return Query.term_query(self._schema, names[leaf.property], leaf.value, "basic")

    def _since(self, name: str, leaf: Has) -> Query:
        """Pages whose date in this field is not before the bound. An index of version 1 lacks the
        field `changed`: when it was written, no page was visited twice.
        """
        since_us = self._now_us - leaf.ago_us if leaf.ago_us else leaf.since_us
        start = _EPOCH + timedelta(microseconds=since_us)
        try:
            return Query.range_query(self._schema, name, FieldType.Date, start, None)
        except ValueError:
            return Query.empty_query()


def is_empty(node: QueryNode) -> bool:
    """Whether a part has no word that the index could have."""
    match node:
        case Word(text) | WordPrefix(text) | Phrase(text):
            return not tokens_of(text)
        case All(parts) | Any(parts):
            return all(map(is_empty, parts))
        case Not(part):
            return is_empty(part)
        case Has():
            return False


def _quarters(part: QueryNode) -> float:
    """The value of an optional part: a step, or a quarter of it for a stop word."""
    return 1.0 if isinstance(part, Word) and are_stop_words(tokens_of(part.text)) else 4.0


def _alone(conditions: Sequence[QueryNode], optional: Sequence[QueryNode]) -> float | None:
    """The value of the only optional part, if every page found has it: counting it for each page
    would take as long as the search itself.
    """
    if len(optional) != 1 or any(map(is_about_words, conditions)):
        return None
    return _quarters(optional[0])


def _parts_of(tree: QueryNode) -> Sequence[QueryNode]:
    return tree.parts if isinstance(tree, All) else (tree,)


def _cut(part: QueryNode, *, is_prose: bool) -> list[QueryNode]:
    """The single words of a part of a sentence; brackets and OR have no meaning there.

    In prose, which was pasted rather than typed, quotation marks have no meaning either.
    """
    match part:
        case Word(text, Field.TEXT):
            return [Word(token) for token in tokens_of(text)]
        case Phrase(text, _, Field.TEXT) if is_prose:
            return [Word(token) for token in tokens_of(text)]
        case All(parts) | Any(parts) if not any(isinstance(one, Not) for one in parts):
            return [word for one in parts for word in _cut(one, is_prose=is_prose)]
        case _:
            return [part]


def _informative(optional: Counter[QueryNode]) -> Counter[QueryNode]:
    """The parts of a sentence that are not stop words; all of them if there are no others."""
    informative = Counter({
        part: times
        for part, times in optional.items()
        if not (isinstance(part, Word) and are_stop_words(tokens_of(part.text)))
    })  # fmt: skip
    return informative or optional


def _best(terms: Sequence[Query], share: float) -> Query:
    if len(terms) < 2:
        return _union(terms)
    return Query.disjunction_max_query(terms, share)


def _boosted(query: Query, weight: float) -> Query:
    return query if weight == 1.0 else Query.boost_query(query, weight)


def _union(queries: Iterable[Query]) -> Query:
    every = list(queries)
    if not every:
        return Query.empty_query()
    if len(every) == 1:
        return every[0]
    return Query.boolean_query([(Occur.Should, query) for query in every])


def _silent(query: Query) -> Query:
    """A condition that does not change the score."""
    return Query.const_score_query(query, 0.0)
