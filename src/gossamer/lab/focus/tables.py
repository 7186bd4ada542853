"""The comparison of focused crawls as one `Experiment`: JSON, tables and a plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from statistics import fmean

from gossamer.lab.experiment import CurvePoints, Experiment, LabPlot, LabTable
from gossamer.lab.focus.compare import (
    BREADTH,
    FOCUS,
    ORACLE,
    FocusLab,
    TopicRow,
    compare,
    geometric_mean,
)
from gossamer.lab.focus.stored_pages import FocusProgress, StoredPages
from gossamer.lab.focus.topics import PageTopics


def focus_experiment(
    pages: StoredPages, topics: PageTopics, lab: FocusLab, notify: FocusProgress = lambda _: None
) -> Experiment:
    """Compare focused crawls with breadth first on all topics. Raises UsageError."""
    rows = compare(pages, topics, lab, notify)
    left_out = sorted(set(topics) - {row.topic for row in rows})
    settings = {**asdict(lab), "pages": pages.count, "links": pages.links, "left_out": left_out}
    return Experiment(
        name="focus",
        title="Focused crawls",
        settings=settings,
        data_digest=pages.digest,
        results=_results(rows, lab),
        tables=(_by_crawl(rows, lab), _by_topic(rows, lab)),
        plots=(_plot(rows, lab, pages.count),),
    )


def _results(rows: Sequence[TopicRow], lab: FocusLab) -> dict[str, object]:
    main = lab.crawls[0]
    common = [share for row in rows if (share := row.common(main)) is not None]
    return {
        "geometric_mean": geometric_mean([row.multiple(main) for row in rows]),
        "of_oracle": geometric_mean([row.of_oracle(main) for row in rows]),
        "oracle": geometric_mean([row.multiple(ORACLE) for row in rows]),
        "lowest": min((row.multiple(main) or 0.0 for row in rows), default=None),
        "common": fmean(common) if common else None,
        "crawls": {
            crawl: geometric_mean([row.multiple(crawl) for row in rows])
            for crawl in (*lab.crawls, ORACLE)
        },
        "topics": {row.topic: _topic(row, lab) for row in rows},
    }


def _topic(row: TopicRow, lab: FocusLab) -> dict[str, object]:
    main = lab.crawls[0]
    return {
        "multiple": row.multiple(main),
        "of_oracle": row.of_oracle(main),
        "common": row.common(main),
        "pages": row.pages,
        "found": {crawl: row.mean(crawl) for crawl in row.found},
    }


def _by_crawl(rows: Sequence[TopicRow], lab: FocusLab) -> LabTable:
    cells = []
    for crawl in (*lab.crawls, ORACLE, BREADTH):
        multiples = [row.multiple(crawl) for row in rows]
        known = [one for one in multiples if one is not None]
        common = [share for row in rows if (share := row.common(crawl)) is not None]
        cells.append(
            [
                crawl,
                geometric_mean(multiples),
                min(known, default=None),
                max(known, default=None),
                geometric_mean([row.of_oracle(crawl) for row in rows]),
                fmean(common) if common else None,
            ]
        )
    return LabTable(
        "Wanted pages as a multiple of breadth first",
        ("crawl", "geometric mean", "lowest topic", "highest topic", "of the oracle", "common"),
        cells,
        f"In the first {lab.fraction:.0%} of the pages. The oracle knows the topics of all pages. "
        "Common: wanted pages that two seed sets share, of those that either has.",
    )


def _by_topic(rows: Sequence[TopicRow], lab: FocusLab) -> LabTable:
    main = lab.crawls[0]
    crawls = (BREADTH, *lab.crawls, ORACLE)
    return LabTable(
        "Wanted pages that were found, by topic",
        ("topic", "pages", *crawls, "multiple", "common"),
        [
            [row.topic, row.pages, *map(row.mean, crawls), row.multiple(main), row.common(main)]
            for row in rows
        ],
        f"Mean of {lab.seed_sets} seed sets; {lab.examples} examples a topic, which do not count.",
    )


def _plot(rows: Sequence[TopicRow], lab: FocusLab, pages: int) -> LabPlot:
    most = max(1, round(pages * lab.fraction))
    steps = sorted({round(most * step / 20) for step in range(21)})
    crawls = (FOCUS, BREADTH, ORACLE) if FOCUS in lab.crawls else (lab.crawls[0], BREADTH, ORACLE)
    return LabPlot(
        "Harvest rate of focused crawls",
        "pages fetched",
        "share of wanted pages among them, mean over topics",
        {crawl: _harvest(rows, crawl, steps) for crawl in crawls},
    )


def _harvest(rows: Sequence[TopicRow], crawl: str, steps: Sequence[int]) -> CurvePoints:
    runs = [hits for row in rows for hits in row.found[crawl]]
    return [
        (float(step), fmean(sum(at <= step for at in hits.values()) / step for hits in runs))
        for step in steps
        if step
    ]
