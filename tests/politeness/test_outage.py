"""One dead host is a dead host; many in a row are a dead network."""

from gossamer.politeness.outage import Outage


def an_outage(*hosts: str) -> Outage:
    outage = Outage()
    outage.answered()
    for host in hosts:
        outage.unreachable(host, now_s=100.0)
    return outage


def test_four_hosts_in_a_row_are_the_network() -> None:
    assert an_outage("a", "b", "c", "d").is_out


def test_one_host_that_fails_often_is_only_that_host() -> None:
    assert not an_outage("a", "a", "a", "a", "a").is_out


def test_an_answer_between_them_clears_the_network() -> None:
    outage = an_outage("a", "b", "c")

    outage.answered()

    assert not outage.unreachable("d", now_s=101.0)


def test_before_anybody_has_answered_nothing_can_be_said() -> None:
    outage = Outage()

    assert not any(outage.unreachable(host, 0.0) for host in "abcdef")


def test_while_it_is_out_one_request_tries_now_and_then() -> None:
    outage = an_outage("a", "b", "c", "d")

    assert not outage.may_request(now_s=104.0, under_way=0)
    assert outage.may_request(now_s=105.0, under_way=0)
    assert not outage.may_request(now_s=105.0, under_way=1)


def test_the_tries_become_rarer_and_end_with_an_answer() -> None:
    outage = an_outage("a", "b", "c", "d")
    outage.unreachable("a", now_s=105.0)
    assert outage.next_try_s == 115.0

    outage.answered()

    assert outage.may_request(now_s=106.0, under_way=9)


def test_hosts_that_never_answered_are_blamed_after_a_while() -> None:
    outage = an_outage("a", "b", "c", "d")

    assert outage.unreachable("a", now_s=900.0)
    assert not outage.unreachable("b", now_s=1000.0)
    assert outage.may_request(now_s=1000.0, under_way=9)


def test_one_that_has_answered_before_makes_us_wait_for_ever() -> None:
    outage = an_outage("a", "b", "c", "d")
    outage.unreachable("e", now_s=110.0, is_known=True)

    assert outage.unreachable("a", now_s=1e6)
