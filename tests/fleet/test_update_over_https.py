"""A hub serves updates over HTTPS, and units fetch them from there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.errors import HubRefusal
from gossamer.fleet.client import HubClient
from gossamer.fleet.update.client import UpdateClient
from gossamer.fleet.update.start_file import this_python
from support.a_hub import ServedHub, hub_server
from support.updates import UpdateLab


@pytest.fixture
def lab(tmp_path: Path) -> UpdateLab:
    return UpdateLab(tmp_path)


@pytest.fixture
def served(lab: UpdateLab) -> Iterator[ServedHub]:
    lab.offer("1.1")
    with hub_server(lab.hub.parent) as served:
        yield served


@pytest.fixture
def client(served: ServedHub) -> Iterator[HubClient]:
    client = HubClient(served.origin, ca_file=served.authority, proxy="direct")
    yield client
    client.close()


def test_the_hub_tells_root_and_version_when_units_join_and_poll(
    lab: UpdateLab, served: ServedHub
) -> None:
    assert served.hub.update_root == lab.root
    assert served.hub.offers == "1.1"
    lab.offer("1.2")
    served.server.look_at_updates()
    assert served.hub.offers == "1.2"


def test_a_unit_fetches_an_update_and_continues_one_that_was_cut(
    lab: UpdateLab, client: HubClient
) -> None:
    (content,) = (path.read_bytes() for path in (lab.hub / "repository" / "targets").glob("*/*"))
    (target,) = (lab.hub / "repository" / "targets").glob("*/*")
    lab.unit.partial.mkdir(parents=True)
    (lab.unit.partial / target.name).write_bytes(content[:2_000])

    updates = UpdateClient(lab.unit, lab.root, client, lab.unit_clock, this_python(), "1.0")
    file = updates.stage()

    assert file is not None
    assert Path(file.file).read_bytes() == content


def test_the_rest_of_a_file_is_sent_alone(lab: UpdateLab, client: HubClient) -> None:
    (target,) = (lab.hub / "repository" / "targets").glob("*/*")
    content, got = target.read_bytes(), bytearray()
    name = f"targets/{target.parent.name}/{target.name}"

    client.download_update(name, len(content) - 10, got.extend)
    assert got == content[-10:]
    client.download_update(name, len(content), got.extend)  # there is no more
    assert got == content[-10:]


def test_only_files_of_the_repository_are_sent(client: HubClient) -> None:
    for name in ("keys/targets.pem", "../hub.sqlite", "metadata/9.root.json"):
        with pytest.raises(HubRefusal) as caught:
            client.fetch_update(name, 1000)
        assert caught.value.status == 404
    with pytest.raises(HubRefusal):
        client.download_update("targets/x", 0, lambda _piece: None)


def test_what_the_receiver_raises_ends_the_transfer(lab: UpdateLab, client: HubClient) -> None:
    class EnoughError(Exception):
        pass

    def take(_piece: bytes) -> None:
        raise EnoughError

    (target,) = (lab.hub / "repository" / "targets").glob("*/*")
    with pytest.raises(EnoughError):
        client.download_update(f"targets/{target.parent.name}/{target.name}", 0, take)
