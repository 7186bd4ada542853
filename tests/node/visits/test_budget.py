"""How many visits may wait: enough to keep hosts busy, few enough to decide late."""

from __future__ import annotations

from gossamer.node.visits.budget import VisitBudget
from gossamer.node.visits.due_times import DueTimes

HOST = b"hosthost"


def test_with_a_rate_two_seconds_of_it_may_wait() -> None:
    budget = VisitBudget(5.0)

    assert budget.room(0) == 10
    assert budget.room(10) == 0


def test_with_a_small_rate_one_visit_may_wait() -> None:
    assert VisitBudget(0.01).room(0) == 1
    assert VisitBudget(0.01).room_at(HOST) == 1


def test_without_a_rate_the_room_of_a_host_follows_what_it_answers() -> None:
    budget, waiting = VisitBudget(0.0), []
    for _ in range(8):  # a host that answers whatever it is sent
        room = budget.room_at(HOST)
        waiting.append(room)
        for _ in range(room):
            budget.ended(HOST)
        budget.next_turn()

    assert waiting[0] < waiting[3] < waiting[7]
    budget.next_turn()
    assert budget.room_at(HOST) == waiting[0]


def test_a_slow_host_has_few_visits_waiting() -> None:
    budget = VisitBudget(0.0)
    for _ in range(20):
        budget.ended(HOST)
        budget.next_turn()

    assert budget.room_at(HOST) <= 6


def test_pages_that_had_no_visit_for_too_long_come_by_their_age() -> None:
    due = DueTimes()
    due.grow(5)
    due.latest_s[:5] = [50.0, 20.0, 300.0, 10.0, 60.0]

    assert due.late(100.0, 3) == [3, 1, 0]
    assert due.late(5.0, 3) == []
    assert due.late(100.0, -1) == []
    due.forget(3)
    assert due.late(100.0, 1) == [1]
