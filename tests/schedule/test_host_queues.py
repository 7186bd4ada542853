"""Where hosts stand, and who is next at an address."""

from __future__ import annotations

from gossamer.schedule.host_queues import Host, HostQueues, Where


def hosts(*names: str) -> list[Host]:
    return [Host(name.encode(), name, is_typed=False) for name in names]


def rested(board: HostQueues, now_s: float) -> list[str]:
    return [host.name for host in board.take_rested(now_s)]


def test_the_ready_host_with_the_first_place_comes_first() -> None:
    board = HostQueues()
    late, early = hosts("late", "early")

    board.make_ready(late, b"2")
    board.make_ready(early, b"1")

    assert [board.take_ready(), board.take_ready(), board.take_ready()] == [early, late, None]


def test_a_host_stands_in_one_place_only() -> None:
    board = HostQueues()
    (host,) = hosts("a")
    board.make_ready(host, b"1")
    board.rest(host, 5.0)
    board.rest(host, 7.0)

    assert board.take_ready() is None
    assert not board.has_ready
    assert board.next_rested_s() == 7.0
    assert rested(board, 6.0) == []
    assert rested(board, 7.0) == ["a"]
    assert rested(board, 9.0) == []


def test_hosts_in_line_are_called_one_after_the_other() -> None:
    board = HostQueues()
    one, two = hosts("one", "two")
    address = board.address("192.0.2.1")
    address.pace.asked()

    board.wait_for(address, one)
    board.wait_for(address, two)
    assert board.next_rested_s() is None, "a request is under way"

    address.pace.answered(at_s=10.0, rest_s=0.5)
    board.call_next(address)
    assert rested(board, 10.5) == ["one"]
    assert board.may_ask(address, one, 10.5)
    assert not board.may_ask(address, two, 10.5)


def test_nobody_asks_before_those_who_wait() -> None:
    board = HostQueues()
    waiting, passing = hosts("waiting", "passing")
    address = board.address("192.0.2.1", free_at_s=1.0)

    board.wait_for(address, waiting)

    assert not board.may_ask(address, passing, 2.0)
    assert board.may_ask(address, waiting, 2.0)


def test_a_call_that_cannot_be_followed_goes_to_the_next() -> None:
    board = HostQueues()
    one, two = hosts("one", "two")
    address = board.address("192.0.2.1", free_at_s=1.0)
    board.wait_for(address, one)
    board.wait_for(address, two)
    assert address.called is one

    board.rest(one, 1000.0)  # its own rest is longer

    assert address.called is two
    assert board.next_rested_s() == 1.0


def test_a_host_that_became_ready_keeps_its_call_until_it_is_served() -> None:
    board = HostQueues()
    one, two = hosts("one", "two")
    address = board.address("192.0.2.1")
    board.wait_for(address, one)
    board.wait_for(address, two)

    called = [address.called]
    board.make_ready(one, b"")
    called.append(address.called)
    address.pace.asked()
    board.serve(one)
    called.append(address.called)
    address.pace.answered(at_s=3.0, rest_s=0.5)
    board.call_next(address)
    called.append(address.called)

    assert called == [one, one, None, two]


def test_a_called_host_that_finds_the_address_taken_stays_first_in_line() -> None:
    board = HostQueues()
    one, two = hosts("one", "two")
    address = board.address("192.0.2.1")
    board.wait_for(address, one)
    board.wait_for(address, two)

    address.pace.asked()  # by a host that no rest binds
    board.wait_for(address, one)
    address.pace.answered(at_s=3.0, rest_s=0.0)
    board.call_next(address)

    assert address.called is one


def test_a_host_that_left_the_line_is_passed_over() -> None:
    board = HostQueues()
    one, two = hosts("one", "two")
    address = board.address("192.0.2.1")
    address.pace.asked()
    board.wait_for(address, one)
    board.wait_for(address, two)

    board.put(one, Where.ASLEEP)
    address.pace.answered(at_s=3.0, rest_s=0.5)
    board.call_next(address)

    assert one.where is Where.ASLEEP
    assert address.called is two


def test_addresses_are_forgotten_when_nothing_hangs_on_them() -> None:
    board = HostQueues()
    (host,) = hosts("a")
    names = ("free", "resting", "asked", "waited for")
    free, resting, asked, waited_for = (board.address(name) for name in names)
    resting.pace.answered(at_s=5.0, rest_s=10.0)
    asked.pace.asked()
    board.wait_for(waited_for, host)

    board.forget_rested_addresses(6.0)

    assert board.address("free") is not free
    assert board.address("resting") is resting
    assert board.address("asked") is asked
    assert board.address("waited for") is waited_for


def test_every_address_of_a_name_is_tried_before_any_is_tried_again() -> None:
    (host,) = hosts("a")
    host.addresses = ("1", "2", "3")
    used = [host.address]

    while host.avoid(host.address):
        used.append(host.address)

    assert used == ["1", "2", "3"]
    assert host.silent == set()
    assert host.avoid("3")
    assert host.address != "3"


def test_a_host_that_stands_at_its_place_stays_there_and_comes_once() -> None:
    board = HostQueues()
    (host,) = hosts("a")

    board.make_ready(host, b"1")
    board.make_ready(host, b"1")
    assert [board.take_ready(), board.take_ready()] == [host, None]

    board.make_ready(host, b"1")  # it was taken: now it stands nowhere
    assert board.take_ready() is host
