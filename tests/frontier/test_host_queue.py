"""A host's queue: a small buffer before a long table gives what the whole table would."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gossamer.frontier.host_queue import HostQueue
from gossamer.frontier.pending import Pending
from gossamer.frontier.store import MemoryStore, StateTable
from gossamer.policies.order import make_key

HOST = b"hosthost"
NUMBERS = st.integers(0, 40)
ACTS = st.lists(
    st.tuples(st.sampled_from(["add", "take", "give back", "drop", "begin", "end"]), NUMBERS),
    max_size=120,
)


class Bench:
    """A queue with its table, and the same as a plain dictionary."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.pending = Pending(self.store)
        self.queue = HostQueue(HOST, 4, is_empty=True)
        self.free: dict[bytes, bytes] = {}
        self.taken: dict[bytes, bytes] = {}
        self.is_writing = False

    def first(self) -> tuple[bytes, bytes] | None:
        return self.queue.first(self.store, self.pending)

    def add(self, number: int) -> None:
        at, row = make_key(number % 7, number), b"%d" % number
        if at not in self.free and at not in self.taken:
            self.free[at] = row
            self.pending.put(StateTable.QUEUE, HOST + at, row)
            self.queue.add(at, row)

    def take(self) -> None:
        first = self.first()
        assert first == (min(self.free.items()) if self.free else None)
        if first is not None:
            self.queue.take()
            self.taken[first[0]] = self.free.pop(first[0])

    def give_back(self, number: int) -> None:
        at = make_key(number % 7, number)
        if at in self.taken:
            self.free[at] = self.taken.pop(at)
            self.queue.give_back(at, self.free[at])

    def drop(self, number: int) -> None:
        at = make_key(number % 7, number)
        if at in self.free or at in self.taken:
            self.free.pop(at, None)
            self.taken.pop(at, None)
            self.queue.drop(at)
            self.pending.delete(StateTable.QUEUE, HOST + at)

    def begin(self) -> None:
        if not self.is_writing:
            self.queue.begin()
            self.changes = self.pending.begin()
            self.is_writing = True

    def end(self) -> None:
        if self.is_writing:
            self.store.write(self.changes)
            self.pending.end()
            self.queue.end()
            for key, row in self.changes[StateTable.QUEUE].items():
                if row is None and not self.pending.is_put(StateTable.QUEUE, key):
                    self.queue.forget(key[len(HOST) :])
            self.is_writing = False


@given(ACTS)
def test_the_first_entry_is_always_the_first_of_all_that_are_free(
    acts: list[tuple[str, int]],
) -> None:
    bench = Bench()

    for act, number in acts:
        match act:
            case "add":
                for each in range(number, number + 5):
                    bench.add(each)
            case "take":
                bench.take()
            case "give back":
                bench.give_back(number)
            case "drop":
                bench.drop(number)
            case "begin":
                bench.begin()
            case _:
                bench.end()

    while bench.free:
        bench.take()
    assert bench.first() is None


def test_an_entry_given_back_waits_behind_those_before_it() -> None:
    bench = Bench()
    for number in range(7, 70, 7):  # nine entries of one score: more than twice the room
        bench.add(number)
    while bench.queue._buffer:
        bench.take()
    bench.add(0)

    bench.give_back(28)

    first = bench.first()
    assert first is not None
    assert first[0] == make_key(0, 0)


def test_a_queue_that_holds_nothing_is_idle() -> None:
    bench = Bench()
    was_idle = [bench.queue.is_idle]

    bench.add(1)
    was_idle.append(bench.queue.is_idle)
    bench.take()
    bench.drop(1)
    bench.begin()
    was_idle.append(bench.queue.is_idle)
    bench.end()
    was_idle.append(bench.queue.is_idle)

    assert was_idle == [True, False, False, True]
