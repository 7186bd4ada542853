"""Which queue hosts are in, and which host is next at an address."""

from __future__ import annotations

from gossamer.schedule.host import Host
from gossamer.schedule.host_queues import HostQueues
from gossamer.schedule.moves import IDLE, Move, Queue
from gossamer.settings import Politeness

ADDRESS = "192.0.2.1"


def hosts(*names: str) -> list[Host]:
    return [Host(name.encode(), name, Politeness()) for name in names]


def ready(key: bytes) -> Move:
    return Move(Queue.READY, key=key)


def delayed(until_s: float) -> Move:
    return Move(Queue.DELAYED, until_s)


def due(queues: HostQueues[Host], now_s: float) -> list[str]:
    return [host.name for host in queues.take_due(now_s)]


def test_the_ready_host_with_the_first_place_comes_first() -> None:
    queues: HostQueues[Host] = HostQueues()
    late, early = hosts("late", "early")

    queues.apply(late, ready(b"2"))
    queues.apply(early, ready(b"1"))

    assert [queues.take_ready(), queues.take_ready(), queues.take_ready()] == [early, late, None]


def test_a_host_stands_in_one_place_only() -> None:
    queues: HostQueues[Host] = HostQueues()
    (host,) = hosts("a")
    queues.apply(host, ready(b"1"))
    queues.apply(host, delayed(5.0))
    queues.apply(host, delayed(7.0))

    assert queues.take_ready() is None
    assert not queues.has_ready
    assert queues.next_due_s() == 7.0
    assert due(queues, 6.0) == []
    assert due(queues, 7.0) == ["a"]
    assert due(queues, 9.0) == []


def test_hosts_in_line_are_called_one_after_the_other() -> None:
    queues: HostQueues[Host] = HostQueues()
    one, two = hosts("one", "two")
    address = queues.address(ADDRESS)
    address.pace.requested()

    queues.wait_for(address, one)
    queues.wait_for(address, two)
    assert queues.next_due_s() is None, "a request is in flight"

    queues.ended(ADDRESS, 10.0, 0.5)
    assert due(queues, 10.5) == ["one"]
    assert queues.may_request(address, one, 10.5)
    assert not queues.may_request(address, two, 10.5)


def test_no_host_is_requested_before_those_in_line() -> None:
    queues: HostQueues[Host] = HostQueues(1.0)
    waiting, passing = hosts("waiting", "passing")
    address = queues.address(ADDRESS)

    queues.wait_for(address, waiting)

    assert not queues.may_request(address, passing, 2.0)
    assert queues.may_request(address, waiting, 2.0)


def test_a_call_that_cannot_be_followed_goes_to_the_next() -> None:
    queues: HostQueues[Host] = HostQueues(1.0)
    one, two = hosts("one", "two")
    address = queues.address(ADDRESS)
    queues.wait_for(address, one)
    queues.wait_for(address, two)
    assert address.called is one

    queues.apply(one, delayed(1000.0))  # its own delay is longer

    assert address.called is two
    assert queues.next_due_s() == 1.0


def test_a_host_that_became_ready_keeps_its_call_until_it_is_served() -> None:
    queues: HostQueues[Host] = HostQueues()
    one, two = hosts("one", "two")
    address = queues.address(ADDRESS)
    queues.wait_for(address, one)
    queues.wait_for(address, two)

    called = [address.called]
    queues.apply(one, ready(b""))
    called.append(address.called)
    queues.started(one, address)
    called.append(address.called)
    queues.ended(ADDRESS, 3.0, 0.5)
    called.append(address.called)

    assert called == [one, one, None, two]


def test_a_called_host_that_finds_the_address_taken_stays_first_in_line() -> None:
    queues: HostQueues[Host] = HostQueues()
    one, two = hosts("one", "two")
    address = queues.address(ADDRESS)
    queues.wait_for(address, one)
    queues.wait_for(address, two)

    address.pace.requested()  # by a host that has no delay
    queues.wait_for(address, one)
    queues.ended(ADDRESS, 3.0, 0.0)

    assert address.called is one


def test_a_host_that_left_the_line_is_passed_over() -> None:
    queues: HostQueues[Host] = HostQueues()
    one, two = hosts("one", "two")
    address = queues.address(ADDRESS)
    address.pace.requested()
    queues.wait_for(address, one)
    queues.wait_for(address, two)

    queues.apply(one, IDLE)
    queues.ended(ADDRESS, 3.0, 0.5)

    assert one.queue is Queue.IDLE
    assert address.called is two


def test_addresses_are_forgotten_when_nothing_hangs_on_them() -> None:
    queues: HostQueues[Host] = HostQueues()
    (host,) = hosts("a")
    names = ("free", "delayed", "in flight", "waited for")
    free, delayed_one, in_flight, waited_for = (queues.address(name) for name in names)
    delayed_one.pace.answered(at_s=5.0, delay_s=10.0)
    in_flight.pace.requested()
    queues.wait_for(waited_for, host)

    queues.forget_free_addresses(6.0)

    assert queues.address("free") is not free
    assert queues.address("delayed") is delayed_one
    assert queues.address("in flight") is in_flight
    assert queues.address("waited for") is waited_for


def test_every_address_of_a_name_is_tried_before_any_is_tried_again() -> None:
    (host,) = hosts("a")
    host.addresses_found(("1", "2", "3"), 0.0)
    used = [host.address]

    while host.address_failed(host.address):
        used.append(host.address)

    assert used == ["1", "2", "3"]
    assert host.silent == set()
    assert host.address_failed("3")
    assert host.address != "3"


def test_a_host_that_stands_at_its_place_stays_there_and_comes_once() -> None:
    queues: HostQueues[Host] = HostQueues()
    (host,) = hosts("a")

    queues.apply(host, ready(b"1"))
    queues.apply(host, ready(b"1"))
    assert [queues.take_ready(), queues.take_ready()] == [host, None]

    queues.apply(host, ready(b"1"))  # it was taken: now it stands nowhere
    assert queues.take_ready() is host
