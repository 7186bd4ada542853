"""Split a score into its parts.

Each field is queried alone, for the shown pages only, which gives its part. The rest, which no
field explains, is the nearness of the words. The parts of relevance add up to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import tantivy
from tantivy import Occur, Query

from gossamer.index import schema
from gossamer.index.reader import View
from gossamer.search.plan import Planner
from gossamer.search.rank import RankCandidate
from gossamer.search.results import Hit, ScorePart
from gossamer.search.tree import QueryNode
from gossamer.search.weights import Weights

_TINY: Final = 1e-6
FIELDS: Final = ("body", "title", "headings", "anchors", "address")


def explained(
    hits: Sequence[Hit],
    shown: Sequence[RankCandidate],
    tree: QueryNode,
    view: View,
    planner: Callable[[Weights], Planner],
    weights: Weights,
) -> list[Hit]:
    """The hits with the parts of their scores; `shown` are the same pages as `hits`."""
    ids = [schema.id_of(one.kept.key) for one in shown]
    by_field = {
        name: _scores_by(planner(_only(name, weights)), tree, view, ids)
        for name in FIELDS
        if ids and getattr(weights, name)
    }
    return [
        replace(
            hit, parts=_parts(one, {name: said.get(page, 0.0) for name, said in by_field.items()})
        )
        for hit, one, page in zip(hits, shown, ids, strict=True)
    ]


def _only(name: str, weights: Weights) -> Weights:
    """The weights with one field at full weight, and without nearness.

    The other fields get a tiny weight: without any weight they would not be searched, and a page
    with its phrase in another field would not be found.
    """
    quiet = {one: _TINY for one in FIELDS if one != name and getattr(weights, one)}
    return replace(weights, nearness=0.0, **quiet)  # type: ignore[arg-type]  # floats all


def _scores_by(
    planner: Planner, tree: QueryNode, view: View, ids: Sequence[str]
) -> dict[str, float]:
    """The score that a plan gives to each page."""
    plan = planner.plan(tree)
    these = Query.const_score_query(Query.term_set_query(view.schema, schema.ID, list(ids)), 0.0)
    both: tantivy.Query = Query.boolean_query([(Occur.Must, these), (Occur.Must, plan.query)])
    matches, _ = view.search(both, len(ids))
    return {
        schema.id_of(kept.key): plan.parted(match.score).relevance
        for kept, match in zip(view.kept_all(matches), matches, strict=True)
    }


def _parts(one: RankCandidate, by_field: dict[str, float]) -> tuple[ScorePart, ...]:
    near = one.score.relevance - sum(by_field.values())
    return (
        ScorePart("words", one.score.steps),
        *(ScorePart(name, round(value, 4)) for name, value in by_field.items()),
        ScorePart("nearness", round(max(0.0, near), 4)),
        ScorePart("link rank", round(one.relevance - one.score.relevance, 4)),
    )
