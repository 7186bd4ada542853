"""Updates: what is genuine and newer is staged; everything else is refused with one sentence."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gossamer.base.clock import ManualClock, SystemClock
from gossamer.errors import UpdateLater, UpdateRefused, UsageError
from gossamer.fleet.update.client import UpdateClient
from gossamer.fleet.update.repository import UpdateRepository
from gossamer.fleet.update.start_file import this_python
from gossamer.fleet.update.targets import is_newer
from support.updates import UpdateLab, small_file

DAY_S = 86_400


@pytest.fixture
def lab(tmp_path: Path) -> UpdateLab:
    return UpdateLab(tmp_path)


def test_a_newer_version_is_staged_whole(lab: UpdateLab) -> None:
    content = lab.offer("1.1")

    file = lab.client().stage()

    assert file is not None
    assert (file.version, Path(file.file).read_bytes()) == ("1.1", content)
    assert lab.client().stage() == file  # again: it is there
    assert len(lab.source.sent) == 1


def test_the_version_that_runs_is_not_fetched(lab: UpdateLab) -> None:
    lab.offer("1.0")

    assert lab.client("1.0").stage() is None
    assert lab.source.sent == []


def test_nothing_for_this_platform_is_no_update(lab: UpdateLab) -> None:
    assert lab.client().stage() is None


def refusal(client: UpdateClient) -> str:
    with pytest.raises(UpdateRefused) as caught:
        client.stage()
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


def test_an_older_version_is_refused(lab: UpdateLab) -> None:
    lab.offer("1.1")

    assert refusal(lab.client("1.2")) == (
        "the hub offers version 1.1, and this unit has 1.2: it does not go back"
    )


def test_an_update_of_another_hub_is_refused(lab: UpdateLab, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = UpdateLab(tmp_path / "other")
    other.offer("1.1")
    lab.source.folder = other.hub

    assert "it is not signed with the keys of the hub" in refusal(lab.client())


@pytest.mark.parametrize("role", ["timestamp", "1.snapshot", "1.targets"])
def test_a_changed_part_is_refused(lab: UpdateLab, role: str) -> None:
    changed = json.loads(lab.metadata(role).read_bytes())
    changed["signed"]["expires"] = "2099-01-01T00:00:00Z"
    lab.source.changed[f"metadata/{role}.json"] = json.dumps(changed).encode()

    assert "it is not signed with the keys of the hub" in refusal(lab.client())


@pytest.mark.parametrize(
    "change", [lambda content: content[:-1], lambda content: content[:-1] + b"x", lambda _: b""]
)
def test_a_file_that_was_truncated_or_changed_is_refused(
    lab: UpdateLab, change: Callable[[bytes], bytes]
) -> None:
    content = lab.offer("1.1")
    (path,) = (lab.hub / "repository" / "targets").glob("*/*")
    path.write_bytes(change(content))

    assert "the file differs from the one that was signed" in refusal(lab.client())
    path.write_bytes(content)
    assert lab.client().stage() is not None  # the wrong bytes are not continued


def test_a_file_that_is_longer_than_signed_is_refused(lab: UpdateLab) -> None:
    content = lab.offer("1.1")
    (path,) = (lab.hub / "repository" / "targets").glob("*/*")
    path.write_bytes(content + b"more")

    assert "a file is longer than it was signed to be" in refusal(lab.client())


def test_a_hub_that_tells_an_old_time_for_ever_is_refused(tmp_path: Path) -> None:
    three_days_ago = ManualClock(SystemClock().wall_us() - 3 * DAY_S * 1_000_000)
    lab = UpdateLab(tmp_path, three_days_ago)
    lab.offer("1.1")

    assert "it has expired" in refusal(lab.client())
    UpdateRepository(lab.hub, SystemClock()).renew()
    assert lab.client().stage() is not None


def test_parts_that_are_older_than_those_seen_before_are_refused(lab: UpdateLab) -> None:
    lab.offer("1.1")
    before = {
        f"metadata/{path.name}": path.read_bytes() for path in lab.metadata("x").parent.iterdir()
    }
    lab.offer("1.2")
    assert lab.client().stage() is not None

    lab.source.changed = before

    sentence = refusal(lab.client())
    assert "its parts do not belong together, or are older than those seen before" in sentence


@pytest.mark.parametrize("role", ["targets", "snapshot"])
def test_parts_of_different_publications_are_refused(lab: UpdateLab, role: str) -> None:
    old = lab.metadata(f"1.{role}").read_bytes()
    lab.offer("1.1")
    lab.source.changed[f"metadata/2.{role}.json"] = old

    sentence = refusal(lab.client())

    assert "its parts do not belong together, or are older than those seen before" in sentence


def test_a_transfer_that_is_cut_continues_where_it_was(lab: UpdateLab) -> None:
    content = lab.offer("1.1")
    lab.source.cut_after = 3_000

    with pytest.raises(UpdateLater, match="the update was not downloaded: the connection was cut"):
        lab.client().stage()
    lab.source.cut_after = None
    file = lab.client().stage()

    assert file is not None
    assert Path(file.file).read_bytes() == content
    assert [start for _, start, _ in lab.source.sent] == [0, 3_000]


def test_a_transfer_that_is_too_slow_ends_and_continues_later(lab: UpdateLab) -> None:
    lab.offer("1.1")
    clock = lab.unit_clock

    lab.source.on_piece = lambda: asyncio.run(clock.advance(61))
    with pytest.raises(UpdateLater, match="bytes per second are too slow"):
        lab.client().stage()
    lab.source.on_piece = lambda: None

    assert lab.client().stage() is not None
    assert lab.source.sent[-1][1] > 0


def test_a_version_that_did_not_work_is_not_fetched_again(lab: UpdateLab) -> None:
    lab.offer("1.1")
    file = lab.client().stage()
    assert file is not None
    lab.unit.write(lab.unit.read().with_bad(file, "it did not poll the hub"))

    assert lab.client().stage() is None
    lab.offer("1.2")
    newer = lab.client().stage()
    assert newer is not None
    assert newer.version == "1.2"


def test_a_unit_without_a_pinned_root_is_told_so(lab: UpdateLab) -> None:
    lab.root = ""

    assert refusal(lab.client()).startswith("the hub had no update keys when this unit joined")


# -- keys


def test_units_follow_a_new_root_key_and_new_keys_of_the_hub(lab: UpdateLab) -> None:
    lab.offer("1.1")
    assert lab.client().stage() is not None

    new = lab.path / "new-root.pem"
    assert lab.repository.rotate(lab.path / "root.pem", new, are_online_new=True) == 2
    assert lab.repository.rotate(new, None, are_online_new=False) == 3
    lab.offer("1.2")

    file = lab.client().stage()
    assert file is not None
    assert file.version == "1.2"
    with pytest.raises(UsageError, match="is not the root key of this hub"):
        lab.repository.rotate(lab.path / "root.pem", None, are_online_new=False)


def test_keys_that_were_stolen_from_the_hub_are_worth_nothing_after_a_change(
    lab: UpdateLab, tmp_path: Path
) -> None:
    stolen = tmp_path / "stolen"
    lab.hub.rename(stolen)
    shutil.copytree(stolen, lab.hub)
    lab.repository.rotate(lab.path / "root.pem", None, are_online_new=True)
    lab.offer("1.1")
    assert lab.client().stage() is not None

    UpdateRepository(stolen, SystemClock()).offer(small_file(tmp_path, "6.6"))
    lab.source.folder = stolen

    assert "it is not signed with the keys of the hub" in refusal(lab.client())


def test_the_root_key_is_not_left_in_the_directory_of_the_hub(tmp_path: Path) -> None:
    repository = UpdateRepository(tmp_path / "hub" / "update", SystemClock())

    with pytest.raises(UsageError, match="whoever breaks into the hub would get it"):
        repository.create(tmp_path / "hub" / "root.pem")
    repository.create(tmp_path / "root.pem")

    kept = [path for path in (tmp_path / "hub").rglob("*") if path.is_file()]
    assert all((tmp_path / "root.pem").read_bytes() != path.read_bytes() for path in kept)
    assert (tmp_path / "root.pem").stat().st_mode & 0o777 == 0o600
    with pytest.raises(UsageError, match="the hub has keys"):
        repository.create(tmp_path / "again.pem")


# -- publishing


def test_a_version_that_is_not_newer_cannot_be_offered(lab: UpdateLab) -> None:
    lab.offer("1.10")

    with pytest.raises(UsageError, match=r"version 1\.10 is on offer, and units do not go back"):
        lab.offer("1.9")
    with pytest.raises(UsageError, match=r"was built as version 1\.11"):
        lab.repository.offer(small_file(lab.path, "1.11"), "1.12")
    with pytest.raises(UsageError, match="is not a file of `gossamer hub bundle`"):
        lab.repository.offer(Path(__file__))
    assert [offer.version for offer in lab.repository.offers()] == ["1.10"]
    assert lab.repository.version == "1.10"


def test_only_the_files_on_offer_are_kept(lab: UpdateLab) -> None:
    for version in ("1.1", "1.2", "1.3"):
        lab.offer(version)

    assert len(list((lab.hub / "repository" / "targets").glob("*/*"))) == 1
    names = sorted(path.name for path in lab.metadata("x").parent.iterdir())
    assert names == [
        "1.root.json", "3.snapshot.json", "3.targets.json", "4.snapshot.json", "4.targets.json",
        "timestamp.json",
    ]  # fmt: skip


def test_the_hub_signs_again_before_anything_expires(tmp_path: Path) -> None:
    clock = ManualClock(SystemClock().wall_us())
    lab = UpdateLab(tmp_path, clock)

    assert not lab.repository.renew()
    asyncio.run(clock.advance(0.6 * DAY_S))
    assert lab.repository.renew()
    assert not lab.repository.renew()


def test_an_interrupted_publication_changes_nothing_and_is_written_over(lab: UpdateLab) -> None:
    lab.offer("1.1")
    before = lab.metadata("timestamp").read_bytes()
    lab.offer("1.2")
    lab.metadata("timestamp").write_bytes(before)  # the last step was not done

    assert lab.repository.version == "1.1"
    lab.offer("1.3")

    file = lab.client().stage()
    assert file is not None
    assert file.version == "1.3"


def test_only_files_of_the_repository_are_served(lab: UpdateLab) -> None:
    lab.offer("1.1")
    (target,) = (lab.hub / "repository" / "targets").glob("*/*")

    assert lab.repository.path_of("metadata/timestamp.json") is not None
    assert lab.repository.path_of(f"targets/{target.parent.name}/{target.name}") == target
    for name in ("../keys/targets.pem", "metadata/../../keys/targets.pem", "keys/targets.pem", ""):
        assert lab.repository.path_of(name) is None


def test_versions_are_compared_by_their_numbers() -> None:
    assert is_newer("1.10", "1.9")
    assert is_newer("0.1", "")
    assert not is_newer("1.0", "1.0")
    assert not is_newer("../../x", "1.0")
    assert this_python()["python"].startswith("3.")
