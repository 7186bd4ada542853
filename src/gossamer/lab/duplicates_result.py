"""The result of `gossamer lab duplicates`: tables of modes and of their largest groups."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from gossamer.lab.duplicates import ModeResult, result_object
from gossamer.lab.experiment import Experiment, LabCell, LabTable


def duplicates_experiment(
    collection: str, results: Sequence[ModeResult], threshold: float
) -> Experiment:
    """What each mode does to the pages of a collection."""
    whole = result_object(results, threshold)
    digest = hashlib.sha256(f"{results[0].pages} {results[0].largest}".encode()).hexdigest()
    return Experiment(
        name="duplicates",
        title=f"Duplicates in {collection}: {results[0].pages:,} pages",
        settings={"collection": collection, "threshold": threshold},
        data_digest=f"sha256:{digest}",
        results={one["mode"]: one for one in whole["modes"]},
        tables=[_modes(results), _groups(results), _lost(results)],
        more={"threshold": threshold, "modes": whole["modes"]},
    )


def _modes(results: Sequence[ModeResult]) -> LabTable:
    rows: list[list[LabCell]] = [
        [one.mode, one.kept, one.dropped, f"{one.share:.1%}", one.groups, one.distinct,
         round(one.cpu_s, 2)]
        for one in results
    ]  # fmt: skip
    return LabTable(
        "Modes",
        ("mode", "kept", "dropped", "share", "groups", "distinct", "CPU s"),
        rows,
        "distinct: dropped pages whose text differs from that of the page that stays.",
    )


def _groups(results: Sequence[ModeResult]) -> LabTable:
    rows: list[list[LabCell]] = [
        [one.mode, url, copies, examples[0]]
        for one in results
        for url, copies, examples in one.largest
    ]
    return LabTable("Largest groups", ("mode", "page", "duplicates", "for example"), rows)


def _lost(results: Sequence[ModeResult]) -> LabTable:
    rows: list[list[LabCell]] = [
        [one.mode, url, stays] for one in results for url, stays in one.lost
    ]
    return LabTable("Distinct, but dropped", ("mode", "page", "the page that stays"), rows)
