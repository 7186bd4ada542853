"""Packages on the disk of a hub: from pieces to the central collection."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gossamer.base.clock import SystemClock
from gossamer.fleet.hub.faults import UnitRefusal
from gossamer.fleet.hub.package_store import PackageStore
from gossamer.fleet.packages.format import BuiltPackage
from gossamer.fleet.packages.pieces import piece_data, split
from gossamer.fleet.protocol import PackageNotice
from support.a_package import UnitJob, a_job, built_package, facts_of
from support.a_site import site_in_thread
from support.answers import page
from support.killing import until

pytestmark = pytest.mark.slow  # each starts processes that check and merge


def a_store(folder: Path) -> PackageStore:
    return PackageStore(folder, folder / "collection", SystemClock())


def a_unit(folder: Path, salt: str) -> UnitJob:
    with site_in_thread({"/": page("<a href=/b>b</a>"), "/b": page("b")}) as site:
        return a_job(folder, site.url(), salt=salt)


def sent(store: PackageStore, built: BuiltPackage) -> PackageNotice:
    pieces = split(built.path)
    for at, piece in enumerate(pieces):
        assert store.put_piece("unit1", "job1", piece.sha256, piece_data(built.path, at))
    return PackageNotice(
        job="job1", fence=1, kind="pages", pieces=tuple(pieces), sha256=built.sha256,
        size=built.size, pages=built.pages, crawled_bytes=built.crawled_bytes,
    )  # fmt: skip


def test_a_package_is_checked_kept_and_merged_after_a_restart(tmp_path: Path) -> None:
    hub = tmp_path / "hub"
    store = a_store(hub)
    store.merger.prepare()
    unit = a_unit(tmp_path / "unit", store.salt())
    notice = sent(store, built_package(unit))
    given = (unit.assignment.spec, unit.assignment.hosts)
    facts = store.check("unit1", notice, *given, "job1-x")
    assert (facts.pages, len(facts.sample), len(facts.robots)) == (2, 2, 1)
    assert store.missing_pieces("unit1", "job1", [notice.pieces[0].sha256]) == [0]
    store.close()

    store, merged = a_store(hub), list[str]()
    store.on_merged = lambda package, _: merged.append(package)
    store.merge("job1-x", "job1")
    store.merge("job1-x", "job1")

    def is_merged() -> bool:
        store.tick()
        return bool(merged) and store.merger.is_idle

    until(is_merged)
    store.close()
    assert merged == [f"job1-{notice.sha256[:32]}"]
    assert len(facts_of(hub / "collection")) == 2
    assert [one for one in hub.rglob("*.wacz") if one.is_file()] == []


def test_a_package_of_another_lease_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    hub = tmp_path / "hub"
    store = a_store(hub)
    store.merger.prepare()
    unit = a_unit(tmp_path / "unit", store.salt())
    notice = msgspec.structs.replace(sent(store, built_package(unit)), fence=2)
    with pytest.raises(UnitRefusal) as caught:
        store.check("unit1", notice, unit.assignment.spec, unit.assignment.hosts, "job1-x")
    store.close()

    assert (caught.value.status, caught.value.fault.reason) == (422, "fence")
    assert list(hub.rglob("*.wacz")) == []
