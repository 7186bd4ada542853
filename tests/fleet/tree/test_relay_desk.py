"""The hub of a relay: parts of a job, and how far they are."""

from __future__ import annotations

from pathlib import Path

from gossamer.fleet.protocol import JobSpec, UnitReport
from gossamer.fleet.tree.relay_desk import RelayDesk, reports_below
from gossamer.fleet.tree.relay_files import RelayRequest, read_state, write_request
from gossamer.fleet.tree.split import split_job
from support.a_hub import TestHub, a_hub

SEEDS = ("https://a.example/", "https://b.example/")


def a_request(folder: Path, *, is_cancelled: bool = False) -> RelayRequest:
    spec = JobSpec(kind="list", seeds=SEEDS, depth=1, options={"scope": "host"})
    request = RelayRequest(
        job="j7", fence=2, parts=tuple(split_job(spec, 2)), is_cancelled=is_cancelled
    )
    folder.mkdir(parents=True, exist_ok=True)
    write_request(folder, request)
    return request


def merged(hub: TestHub) -> None:
    """The merging process has done its work."""
    for package in hub.pieces.merged:
        hub.hub.intake.note_merged(package)


def test_the_parts_of_a_request_are_made_once(tmp_path: Path) -> None:
    hub = a_hub(tmp_path)
    a_request(tmp_path / "jobs" / "j7")
    desk = RelayDesk(hub.hub, tmp_path / "jobs")
    desk.tick()
    desk.tick()
    hub.hub.close()
    again = a_hub(tmp_path)  # the relay was started again
    RelayDesk(again.hub, tmp_path / "jobs").tick()

    assert [job.name for job in again.hub.state.jobs] == ["a.example", "b.example"]
    assert {job.parent for job in again.hub.state.jobs} == {"j7"}
    assert {job.depth for job in again.hub.state.jobs} == {0}
    again.hub.close()


def test_a_job_has_ended_when_all_parts_are_done_and_merged(tmp_path: Path) -> None:
    hub = a_hub(tmp_path)
    folder = tmp_path / "jobs" / "j7"
    a_request(folder)
    desk = RelayDesk(hub.hub, tmp_path / "jobs")
    desk.tick()
    units = [hub.new_unit("one"), hub.new_unit("two")]
    for unit in units:
        unit.finish(unit.ask())
    desk.tick()
    before = read_state(folder)
    merged(hub)
    desk.tick()
    after = read_state(folder)

    assert before is not None
    assert after is not None
    assert [part.state for part in before.parts] == ["done", "done"]
    assert not before.has_ended
    assert after.has_ended
    assert after.fence == 2
    hub.hub.close()


def test_parts_of_a_cancelled_job_are_given_to_nobody(tmp_path: Path) -> None:
    hub = a_hub(tmp_path)
    folder = tmp_path / "jobs" / "j7"
    a_request(folder)
    desk = RelayDesk(hub.hub, tmp_path / "jobs")
    desk.tick()
    a_request(folder, is_cancelled=True)
    desk.tick()

    assert hub.new_unit("one").poll(wants_job=True).job is None
    hub.hub.close()


def test_a_request_that_cannot_be_made_tells_why(tmp_path: Path) -> None:
    hub = a_hub(tmp_path)
    folder = tmp_path / "jobs" / "j7"
    folder.mkdir(parents=True)
    bad = JobSpec(kind="site", seeds=("ftp://a.example/",))
    write_request(folder, RelayRequest(job="j7", fence=1, parts=(bad,)))
    RelayDesk(hub.hub, tmp_path / "jobs").tick()
    state = read_state(folder)

    assert state is not None
    assert "ftp://a.example/" in state.problem
    hub.hub.close()


def test_the_units_below_are_told_with_names_of_the_whole_tree(tmp_path: Path) -> None:
    hub = a_hub(tmp_path)
    relay = hub.new_unit("mid", scopes=("work", "relay"))
    leaf = UnitReport(unit="u1", above=relay.row.id, name="leaf", state="idle", level=1)
    relay.poll(below=(leaf,))
    found = reports_below(hub.hub, "top")

    assert [(one.unit, one.above, one.level) for one in found] == [
        (f"top/{relay.row.id}", "top", 1),
        ("top/u1", f"top/{relay.row.id}", 2),
    ]
    hub.hub.close()
