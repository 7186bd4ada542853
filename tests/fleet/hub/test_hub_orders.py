"""Orders are repeated until they are done; bans have versions; units join once and are revoked."""

import json
from pathlib import Path

import pytest

from gossamer.errors import NotKnown, UsageError
from gossamer.fleet.hub.faults import UnitRefusal
from gossamer.fleet.protocol import (
    JobProgress,
    Join,
    MachineFacts,
    OrderDone,
    SharedRobots,
)
from support.a_hub import a_hub, machine, site


def kinds(answer_orders: tuple[object, ...]) -> list[str]:
    return [getattr(order, "kind", "") for order in answer_orders]


def test_an_order_is_told_with_every_poll_until_it_is_done(tmp_path: Path) -> None:
    test = a_hub(tmp_path)
    unit = test.new_unit()
    [order] = test.hub.order(unit.row.id, "report")
    assert test.hub.order("den", "report") == [order]

    first, second = unit.poll(), unit.poll()
    assert [one.order for one in first.orders] == [one.order for one in second.orders]
    assert unit.poll(orders_done=(OrderDone(order=order.number, note="fine"),)).orders == ()
    assert unit.poll(orders_done=(OrderDone(order=order.number),)).orders == ()
    assert test.hub.state.orders[order.number].note == "fine"


def test_a_unit_that_drains_gets_no_job_until_it_resumes(tmp_path: Path) -> None:
    test = a_hub(tmp_path)
    test.hub.add_jobs([site("example.org")])
    unit = test.new_unit()
    test.hub.order("*", "drain")

    assert unit.poll(wants_job=True).job is None
    test.hub.order(unit.row.id, "resume")
    assert kinds(unit.poll().orders) == ["resume"]
    assert unit.ask().job == "j1"


def test_a_stopped_job_waits_until_a_person_gives_it_out_again(tmp_path: Path) -> None:
    test = a_hub(tmp_path)
    test.hub.add_jobs([site("example.org"), site("example.net")])
    unit = test.new_unit()
    job = unit.ask()
    [order] = test.hub.order("", "stop_job", job=job.job)
    test.hub.order("", "stop_job", job="j2")

    assert kinds(unit.tell(job, fetched=2).orders) == ["stop_job"]
    told = JobProgress(job=job.job, fence=1, fetched=2, ending="stopped")
    assert unit.poll(told, orders_done=(OrderDone(order=order.number),)).orders == ()
    assert unit.poll(wants_job=True).job is None
    test.hub.again(job.job)
    assert unit.ask().fence == 2


def test_a_unit_that_deleted_its_data_is_gone_and_its_job_is_given_out_again(
    tmp_path: Path,
) -> None:
    test = a_hub(tmp_path)
    test.hub.add_jobs([site("example.org")])
    unit, other = test.new_unit("a"), test.new_unit("b")
    unit.ask()
    [order] = test.hub.order(unit.row.id, "delete")
    unit.poll(orders_done=(OrderDone(order=order.number),))

    assert [row["state"] for row in test.hub.machines()] == ["deleted", "idle"]
    with pytest.raises(UnitRefusal):
        test.hub.unit_of(unit.token)
    assert other.ask().fence == 2


@pytest.mark.parametrize(("unit", "kind"), [("den", "explode"), ("nobody", "drain")])
def test_an_order_that_cannot_be_given_is_refused(tmp_path: Path, unit: str, kind: str) -> None:
    test = a_hub(tmp_path)
    test.new_unit()

    with pytest.raises((UsageError, NotKnown)):
        test.hub.order(unit, kind)


def test_bans_have_a_version_and_a_wrong_line_changes_nothing(tmp_path: Path) -> None:
    test = a_hub(tmp_path)
    unit = test.new_unit()
    assert unit.poll().bans_version == 0

    test.hub.ban(["*/calendar/*", "ads.example"])
    test.hub.ban(["ads.example"])
    assert unit.poll().bans_version == 1
    for added, lifted in ((["http://"], []), ([], ["other.example"]), (["x" * 3000], [])):
        with pytest.raises(UsageError):
            test.hub.ban(["good.example", *added], lifted)
    assert test.hub.ban(lifted=["ads.example"]).lines == ("*/calendar/*",)
    assert unit.poll().bans_version == 2


def test_a_join_code_expires_and_can_be_revoked(tmp_path: Path) -> None:
    test = a_hub(tmp_path, code_s=60)
    old, revoked = test.hub.invite()[0], test.hub.invite()
    test.hub.joining.revoke_code("operator", revoked[1].digest[:8])
    with pytest.raises(UnitRefusal, match="unknown"):
        test.hub.join(Join(code=revoked[0], machine=machine("a")))
    test.later(61)

    with pytest.raises(UnitRefusal, match="expired"):
        test.hub.join(Join(code=old, machine=machine("a")))


def test_secrets_are_not_stored_and_acts_are_logged(tmp_path: Path) -> None:
    test = a_hub(tmp_path)
    unit = test.new_unit("den\x1b[31m")
    test.hub.revoke(unit.row.id, "operator")
    test.hub.close()

    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert unit.token.encode() not in stored
    assert unit.row.machine.name == "den[31m"
    lines = (tmp_path / "audit.jsonl").read_text().splitlines()
    acts = [json.loads(line)["act"] for line in lines]
    assert acts == ["invite", "join", "revoke"]


def test_robots_go_from_a_trusted_unit_to_the_next_one_of_the_site(tmp_path: Path) -> None:
    test = a_hub(tmp_path)
    test.hub.add_jobs([site("example.org"), site("www.example.org"), site("example.net")])
    one, two = test.new_unit("a"), test.new_unit("b")
    job = one.ask()
    now_us = test.clock.wall_us()
    mine = SharedRobots(
        origin="https://www.example.org", status=200, body="x", fetched_us=now_us + 10**12
    )
    foreign = SharedRobots(
        origin="https://example.net", status=200, body="Disallow: /", fetched_us=now_us
    )
    told = JobProgress(job=job.job, fence=1, fetched=1)
    one.poll(told, robots=(mine, foreign), state="working")
    one.finish(job)

    [passed] = one.ask().robots
    assert (passed.body, passed.fetched_us) == ("x", now_us)
    assert two.ask().robots == ()


def test_units_that_share_an_address_are_told_to_wait_longer(tmp_path: Path) -> None:
    test = a_hub(tmp_path)
    test.hub.add_jobs([site("example.org"), site("example.net")])
    one, two = test.new_unit("a"), test.new_unit("b")
    first, second = one.ask(), two.ask()

    assert one.tell(first, fetched=1, addresses=("192.0.2.1", "192.0.2.2")).pace == ()
    [pace] = two.tell(second, fetched=1, addresses=("192.0.2.1",)).pace
    assert (pace.address, pace.factor) == ("192.0.2.1", 2.0)
    assert one.tell(first, fetched=2).pace == (pace,)
    two.finish(second)
    assert one.tell(first, fetched=3).pace == ()


def test_a_job_for_relays_goes_to_a_relay_alone(tmp_path: Path) -> None:
    test = a_hub(tmp_path)
    test.hub.add_jobs([site("example.org", depth=1)])
    plain, relay = test.new_unit("a"), test.new_unit("b", scopes=("work", "relay"))

    assert plain.poll(wants_job=True).job is None
    assert relay.ask().spec.depth == 1


def test_a_unit_of_another_protocol_must_update(tmp_path: Path) -> None:
    test = a_hub(tmp_path)
    unit = test.new_unit()

    with pytest.raises(UnitRefusal) as refused:
        unit.poll(protocol=99)

    assert refused.value.status == 426
    assert isinstance(unit.row.machine, MachineFacts)


def test_waiting_units_do_not_ask_all_at_once(tmp_path: Path) -> None:
    test = a_hub(tmp_path, wait_s=100)
    unit = test.new_unit()

    waits = {unit.poll(wants_job=True).wait_s for _ in range(20)}

    assert len(waits) > 10
    assert all(75 <= wait <= 125 for wait in waits)
