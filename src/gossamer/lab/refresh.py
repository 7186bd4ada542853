"""Compare refresh policies on a change trace, at several budgets.

Raw freshness says little: most pages do not change, so that even visits in turn keep nearly all
copies fresh. The figure is the share of the gap that a policy closes between visiting in turn and
knowing the true rates:

    gap_closed = (F - F uniform) / (F known rates - F uniform)

`known-rates` knows the true rate of each page in the first third of the trace and in the rest. It
is the better one of two policies: Cho and Garcia-Molina's frequencies, and the index of `optimal`
with these rates. Changes come in bursts, so that a policy which sees them can be better than it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np

from gossamer.base import processes
from gossamer.errors import GossamerError
from gossamer.lab.replay import DAY_S, Replayed, replay, step_s
from gossamer.lab.traces import MAX_FILES, ChangeTrace
from gossamer.policies.refresh.estimate import Estimation
from gossamer.policies.refresh.known_rates import KnownFrequencies, KnownIndex, TwoParts
from gossamer.policies.refresh.lagrange import best_frequencies
from gossamer.policies.refresh.optimal import Optimal
from gossamer.policies.refresh.policy import Floats, RefreshPolicy
from gossamer.policies.refresh.proportional import Proportional
from gossamer.policies.refresh.random_order import RandomUniform
from gossamer.policies.refresh.uniform import Uniform
from gossamer.version import __version__

BUDGETS: Final = (365.0, 90.0, 30.0, 7.0)
UNIFORM: Final = "uniform"
KNOWN: Final = "known-rates"
_WORKER: Final = "gossamer.lab.refresh_worker"
_LEARNING: Final[dict[str, Callable[[], RefreshPolicy]]] = {
    UNIFORM: Uniform,
    "random-order": RandomUniform,
    "proportional": Proportional,
    "optimal": Optimal,
    "optimal-without-siblings": lambda: Optimal(Estimation(uses_siblings=False)),
}
POLICIES: Final = (*_LEARNING, KNOWN)
PolicyRow = dict[str, Replayed]  # of each policy, at one budget


@dataclass(frozen=True, slots=True)
class RefreshLab:
    """What an experiment is made with."""

    trace: Path
    budgets: tuple[float, ...] = BUDGETS  # days between two visits of a page, on average
    max_files: int = MAX_FILES


def measure(trace: ChangeTrace, budget_days: float, names: Collection[str] = POLICIES) -> PolicyRow:
    """Replay a trace with the policies at one budget. The references are always among them."""
    wanted = {UNIFORM, *names}
    learning = {name: make for name, make in _LEARNING.items() if name in wanted}
    row = {name: replay(trace, make(), budget_days) for name, make in learning.items()}
    references = [replay(trace, policy, budget_days) for policy in _known(trace, budget_days)]
    row[KNOWN] = max(references, key=lambda reached: reached.freshness)
    return row


def _known(trace: ChangeTrace, budget_days: float) -> tuple[RefreshPolicy, RefreshPolicy]:
    """The policies that know the rates."""
    middle_s = trace.measured_from_s
    early = _rates(trace, trace.start_s, middle_s)
    late = _rates(trace, middle_s, trace.end_s)
    rates = TwoParts(middle_s, early[0], late[0])
    visits = TwoParts(middle_s, *(_frequencies(*part, budget_days) for part in (early, late)))
    return KnownIndex(rates, trace.end_s - trace.start_s), KnownFrequencies(visits)


def _rates(trace: ChangeTrace, begin_s: float, end_s: float) -> tuple[Floats, Floats]:
    """Changes per second of each page in a part of the time, and for how long it exists there."""
    lived = np.minimum(trace.gone_s, end_s) - np.maximum(trace.born_s, begin_s)
    lived = np.maximum(lived, 0.0)
    is_in = (trace.at_s >= begin_s) & (trace.at_s <= end_s)
    changes = np.bincount(trace.page[is_in], minlength=len(lived))
    return np.where(lived > 0.0, changes / np.maximum(lived, 1.0), 0.0), lived


def _frequencies(rates: Floats, lived: Floats, budget_days: float) -> Floats:
    return best_frequencies(rates, float(lived.sum()) / (budget_days * DAY_S), counts=lived)


def measure_all(lab: RefreshLab) -> dict[float, PolicyRow]:
    """`measure` at each budget, in as many processes as there are cores. Raises GossamerError."""
    waiting = sorted(lab.budgets, reverse=True)  # the last has the most visits, and comes first
    running: dict[float, processes.Started] = {}
    rows: dict[float, PolicyRow] = {}
    try:
        while waiting or running:
            while waiting and len(running) < (os.cpu_count() or 1):
                budget = waiting.pop()
                running[budget] = _started(lab, budget)
            budget = next(iter(running))
            rows[budget] = _result(running[budget])
            del running[budget]
    finally:
        for process in running.values():
            processes.end(process)
    return {budget: rows[budget] for budget in lab.budgets}


def _started(lab: RefreshLab, budget: float) -> processes.Started:
    words = (str(lab.trace), str(budget), str(lab.max_files))
    return processes.start(_WORKER, *words, stdout=processes.PIPE, stderr=processes.PIPE)


def _result(process: processes.Started) -> PolicyRow:
    output, errors = process.communicate()
    if process.returncode:
        raise GossamerError(f"the experiment failed ({processes.last_line(errors)})")
    return {name: Replayed(**values) for name, values in json.loads(output).items()}


def gap_closed(row: PolicyRow, name: str) -> float | None:
    """The share of the gap that a policy closes; None if there is no gap."""
    gap = row[KNOWN].freshness - row[UNIFORM].freshness
    return (row[name].freshness - row[UNIFORM].freshness) / gap if gap > 1e-9 else None


def mean_gap(rows: dict[float, PolicyRow], name: str) -> float | None:
    """The mean of `gap_closed` over the budgets that have a gap."""
    shares = [share for row in rows.values() if (share := gap_closed(row, name)) is not None]
    return sum(shares) / len(shares) if shares else None


def result_object(
    lab: RefreshLab, trace: ChangeTrace, rows: dict[float, PolicyRow]
) -> dict[str, object]:
    """The result as `lab refresh --json` prints it. Ages are in days."""
    return {
        "schema": 1,
        "version": __version__,
        "settings": refresh_settings(lab, trace),
        "data_digest": f"sha256:{trace.digest}",
        "data": {
            "pages": len(trace.paths), "changes": len(trace.at_s),
            "bad_rows": trace.bad_rows, "bulk_rows": trace.bulk_rows,
        },
        "results": {name: _of_policy(rows, name) for name in POLICIES},
        "mean_gap_closed": {name: mean_gap(rows, name) for name in POLICIES},
    }  # fmt: skip


def refresh_settings(lab: RefreshLab, trace: ChangeTrace) -> dict[str, object]:
    """All that a repetition needs, and what follows from it."""
    return {
        "trace": str(lab.trace),
        "budgets_days": list(lab.budgets),
        "max_files": lab.max_files,
        "step_days": {_days(b): step_s(trace, b) / DAY_S for b in lab.budgets},
        "measured_from_s": trace.measured_from_s,
        "estimation": asdict(Estimation()),
    }


def _of_policy(rows: dict[float, PolicyRow], name: str) -> dict[str, object]:
    return {
        _days(budget): {
            "freshness": row[name].freshness,
            "age": row[name].age_s / DAY_S,
            "gap_closed": gap_closed(row, name),
            "visits": row[name].visits,
            "predicted_freshness": row[name].expected,
        }
        for budget, row in rows.items()
    }


def _days(budget: float) -> str:
    return f"{budget:g}"


def parse_budgets(text: str) -> Sequence[float]:
    """`365,90,30,7` as numbers of days. Raises ValueError."""
    budgets = [float(word) for word in text.split(",")]
    if not all(0.0 < budget < 1e6 for budget in budgets) or len(set(budgets)) < len(budgets):
        raise ValueError(text)
    return budgets
