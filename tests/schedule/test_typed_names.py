"""A typed name that is public must stay public; one that is private may stay private."""

from __future__ import annotations

import asyncio

from gossamer.records import Lease, Outcome
from schedule.scheduler_bench import PUBLIC, Bench
from support.rows import each_row

TYPED = "http://typed.example"


def a_bench(*addresses: str) -> Bench:
    bench = Bench(
        typed=("typed.example",),
        names={"typed.example": addresses},
        values={"fetch.dns_keep_s": 5.0},
    )
    bench.admit(*(f"{TYPED}/{number}" for number in range(3)))
    return bench


def after_a_page(bench: Bench) -> Lease | None:
    """The next lease, long enough after the first page that the name is looked up again."""
    bench.answer(bench.pass_robots(f"{TYPED}/0"))
    asyncio.run(bench.wait(100.0))
    return bench.lease()


def test_a_name_that_is_private_when_it_is_typed_is_meant_so() -> None:
    bench = a_bench("10.0.0.1")

    lease = after_a_page(bench)

    assert lease is not None
    assert (lease.address, lease.must_be_public) == ("10.0.0.1", False)


@each_row("private", ["10.0.0.1", "127.0.0.1", "fd00::1", "169.254.169.254"])
def test_a_public_name_that_becomes_private_is_refused(private: str) -> None:
    bench = a_bench(PUBLIC + "5")
    bench.answer(bench.pass_robots(f"{TYPED}/0"))
    bench.names["typed.example"] = (private,)

    asyncio.run(bench.wait(100.0))

    assert bench.lease() is None
    assert bench.outcome_of(f"{TYPED}/1") == (Outcome.REFUSED, "private")
    assert "it was public when it was typed" in bench.row(f"{TYPED}/1").detail


def test_what_a_name_was_is_known_to_the_next_run() -> None:
    bench = a_bench(PUBLIC + "5")
    bench.answer(bench.pass_robots(f"{TYPED}/0"))
    bench.commit()
    bench.names["typed.example"] = ("10.0.0.1",)
    bench.open()

    asyncio.run(bench.wait(100.0))

    assert bench.lease() is None
    assert bench.outcome_of(f"{TYPED}/1") == (Outcome.REFUSED, "private")


def test_only_public_addresses_of_a_public_name_are_requested() -> None:
    bench = a_bench("10.0.0.1", PUBLIC + "5")

    lease = after_a_page(bench)

    assert lease is not None
    assert (lease.address, lease.must_be_public) == (PUBLIC + "5", True)


def test_a_typed_name_never_leads_to_cloud_metadata() -> None:
    bench = a_bench("169.254.169.254")

    assert bench.lease() is None
    assert bench.outcome_of(f"{TYPED}/0") == (Outcome.REFUSED, "private")


def test_an_address_that_was_typed_is_meant_as_it_is() -> None:
    bench = Bench(typed=("169.254.169.254",), names={"169.254.169.254": ("169.254.169.254",)})
    bench.admit("http://169.254.169.254/")

    assert bench.get().address == "169.254.169.254"


def test_an_allowed_network_is_reached_by_a_public_name_too() -> None:
    bench = Bench(
        typed=("typed.example",),
        names={"typed.example": (PUBLIC + "5",)},
        values={"fetch.dns_keep_s": 5.0, "fetch.allow_private": ("10.0.0.0/8",)},
    )
    bench.admit(f"{TYPED}/0", f"{TYPED}/1")
    bench.answer(bench.pass_robots(f"{TYPED}/0"))
    bench.names["typed.example"] = ("10.0.0.1",)

    asyncio.run(bench.wait(100.0))

    assert bench.get().address == "10.0.0.1"
