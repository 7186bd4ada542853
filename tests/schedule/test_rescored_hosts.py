"""A host that is ready moves in the ready queue when another of its URLs comes first."""

from __future__ import annotations

import pytest

from frontier.frontier_model import ShiftingOrder
from gossamer.policies.order import BreadthFirst
from schedule.scheduler_bench import HURRIED, Bench

ONE, TWO = "one.site.example", "two.site.example"


@pytest.fixture
def order() -> ShiftingOrder:
    return ShiftingOrder(BreadthFirst())


@pytest.fixture
def bench(order: ShiftingOrder) -> Bench:
    """Two hosts of one site that are both ready; the URLs of the first come first."""
    bench = Bench(
        {**HURRIED, "politeness.own_hosts": (ONE, TWO)},
        typed=(ONE, TWO),
        order=order,
        names={ONE: ("8.8.8.1",), TWO: ("8.8.8.2",)},
    )
    for host in (ONE, TWO):
        bench.admit(*(f"http://{host}/{number}" for number in range(10)))
    bench.get(f"http://{ONE}/0")
    bench.get(f"http://{ONE}/1")
    return bench


def test_a_ready_host_is_requested_first_when_its_url_has_the_best_new_score(
    bench: Bench, order: ShiftingOrder
) -> None:
    order.shifts = {ONE: 20, TWO: 50 - 7}  # now /7 of the second host is the best of all

    bench.frontier.rescoring.start()
    bench.frontier.rescoring.step()

    bench.get(f"http://{TWO}/7")
    bench.get(f"http://{TWO}/8")


def test_a_ready_host_whose_urls_are_worse_now_gives_way(
    bench: Bench, order: ShiftingOrder
) -> None:
    order.shifts = {ONE: 20}

    bench.frontier.rescoring.start()
    bench.frontier.rescoring.step()

    bench.get(f"http://{TWO}/0")


def test_without_new_scores_the_hosts_keep_their_order(bench: Bench) -> None:
    bench.frontier.rescoring.start()
    bench.frontier.rescoring.step()

    bench.get(f"http://{ONE}/2")
