"""The ranks of a graph: of which pages, from which links, and how they are kept and read."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer.graph.ranks.ranks
from gossamer.base.clock import ManualClock
from gossamer.base.locks import try_lock
from gossamer.errors import CorruptFile, StoreError
from gossamer.graph import manifest
from gossamer.graph.manifest import LinkPart
from gossamer.graph.merge import merge
from gossamer.graph.parts import PartWriter
from gossamer.graph.ranks.ranks import (
    RankReader,
    RanksRequest,
    compute,
    compute_with_little_memory,
    find_info,
    is_current,
    ranks,
)
from gossamer.graph.ranks.store import GRACE_S, hash_of
from support.a_graph import Captured, a_graph, capture, link, unchanged

A, B, C, D = (f"http://{name}.example/" for name in "abcd")


def table(folder: Path, level: str = "page") -> dict[str, dict[str, Any]]:
    return {row["url"]: row for batch in ranks(folder, level) for row in batch.to_pylist()}


def pagerank_by_networkx(*pairs: tuple[str, str], alone: str = "") -> dict[str, float]:
    graph = nx.DiGraph(pairs)
    if alone:
        graph.add_node(alone)
    found: dict[str, float] = nx.pagerank(graph, tol=1e-13)
    return found


def pageranks(folder: Path) -> dict[str, float]:
    return {url: row["pagerank"] for url, row in table(folder).items()}


def add_part(folder: Path, source: str, *targets: str) -> None:
    writer = PartWriter(folder)
    writer.add(*capture(source, 99, *map(link, targets)))
    rows = writer.rows
    graph = manifest.read(folder)
    part = LinkPart(writer.write(f"links-{len(graph.parts):06}").name, rows)
    manifest.replace(folder, graph.with_part(part, {}))


def everything(folder: Path) -> dict[str, float]:
    """The ranks of pages and sites."""
    return {
        f"{level} {url}": row["pagerank"]
        for level in ("page", "site")
        for url, row in table(folder, level).items()
    }


def merge_first(folder: Path, count: int) -> None:
    """Merge the first parts of a graph into a set."""
    graph = manifest.read(folder)
    names = [part.name for part in graph.parts[:count]]
    merged = merge(folder, names, "links-merged")
    manifest.replace(folder, graph.with_merged(names, merged, 1))


def advance(clock: ManualClock, seconds: float) -> None:
    asyncio.run(clock.advance(seconds))


def test_pages_are_those_captured_and_those_linked(tmp_path: Path) -> None:
    parts = [[capture(A, 1, link(B), link(C), link(B, "again"))], [capture(B, 1, link(A), link(B))]]
    folder = a_graph(tmp_path, *parts, [capture(D, 1)])

    info = compute(folder, ManualClock())

    wanted = pagerank_by_networkx((A, B), (A, C), (B, A), alone=D)
    assert pageranks(folder) == pytest.approx(wanted, abs=1e-9)
    assert list(table(folder)) == sorted(wanted)
    assert (info.pages, info.links) == (4, 3)


def test_links_of_an_older_capture_do_not_count(tmp_path: Path) -> None:
    old, new = capture(A, 1, link(B)), capture(A, 5, link(C))
    folder = a_graph(tmp_path, [old, new, unchanged(A, 9)])

    compute(folder, ManualClock())

    assert pageranks(folder) == pytest.approx(pagerank_by_networkx((A, C)), abs=1e-9)


@pytest.mark.parametrize("rel", ["nofollow", "noopener nofollow", "nofollow ugc"])
def test_nofollow_links_count_only_when_asked_for(tmp_path: Path, rel: str) -> None:
    folder = a_graph(tmp_path, [capture(A, 1, link(B, rel=rel), link(C, rel="nofollowed"))])

    compute(folder, ManualClock())
    without = pageranks(folder)
    compute(folder, ManualClock(), RanksRequest(nofollow=True))

    assert without == pytest.approx(pagerank_by_networkx((A, C)), abs=1e-9)
    assert pageranks(folder) == pytest.approx(pagerank_by_networkx((A, B), (A, C)), abs=1e-9)


def test_what_a_page_shows_is_no_link(tmp_path: Path) -> None:
    folder = a_graph(tmp_path, [capture(A, 1, link(B), link(C, kind="media"))])

    compute(folder, ManualClock())

    assert list(table(folder)) == [A, B]


def test_hubs_and_authorities_are_computed_when_asked_for(tmp_path: Path) -> None:
    folder = a_graph(tmp_path, [capture(A, 1, link(C), link(D)), capture(B, 1, link(C))])

    compute(folder, ManualClock())
    assert table(folder)[A]["hub"] is None
    compute(folder, ManualClock(), RanksRequest(hits=True))

    hubs, authorities = nx.hits(nx.DiGraph([(A, C), (A, D), (B, C)]), tol=1e-12)
    rows = table(folder)
    assert {url: row["hub"] for url, row in rows.items()} == pytest.approx(hubs, abs=1e-7)
    assert {u: row["authority"] for u, row in rows.items()} == pytest.approx(authorities, abs=1e-7)


def test_a_site_links_to_another_once_and_not_to_itself(tmp_path: Path) -> None:
    pages = [
        capture("http://www.one.org/", 1, link("http://two.org/"), link("http://m.one.org/")),
        capture("http://m.one.org/", 1, link("http://two.org/x"), link("http://three.org/")),
        capture("http://two.org/", 1, link("http://www.one.org/")),
    ]
    folder = a_graph(tmp_path, pages)

    compute(folder, ManualClock(), RanksRequest(sites=True, hits=True))

    links = [("one.org", "two.org"), ("one.org", "three.org"), ("two.org", "one.org")]
    found = {url: row["pagerank"] for url, row in table(folder, "site").items()}
    assert found == pytest.approx(pagerank_by_networkx(*links), abs=1e-9)
    assert table(folder, "site")["one.org"]["hub"] > 0.5


def test_an_empty_graph_has_no_ranks(tmp_path: Path) -> None:
    (tmp_path / "graph").mkdir()

    info = compute(tmp_path / "graph", ManualClock(), RanksRequest(hits=True, sites=True))

    assert info.pages == 0
    assert table(tmp_path / "graph") == table(tmp_path / "graph", "site") == {}
    assert RankReader(tmp_path / "graph").of([A]) == [0.0]


@st.composite
def captured(draw: st.DrawFn) -> list[Captured]:
    """Captures of some pages at some times, with links of every sort."""
    url = st.sampled_from([f"http://{name}.example/{path}" for name in "abc" for path in ("", "x")])
    edge = st.builds(
        link,
        url,
        rel=st.sampled_from(["", "nofollow", "next"]),
        kind=st.sampled_from(["a", "a", "media"]),
    )
    pages = draw(st.lists(st.tuples(url, st.lists(edge, max_size=5)), max_size=8))
    made = [capture(source, at_us, *edges) for at_us, (source, edges) in enumerate(pages)]
    again = draw(st.lists(url, max_size=3))
    return made + [unchanged(source, 90 + n) for n, source in enumerate(again)]


@given(st.lists(captured().filter(bool), max_size=3), st.booleans())
@settings(max_examples=settings().max_examples // 2)
def test_small_graphs_and_large_ones_are_numbered_alike(
    tmp_path_factory: pytest.TempPathFactory, parts: list[list[Captured]], nofollow: bool
) -> None:
    folder = a_graph(tmp_path_factory.mktemp("alike"), *parts)
    wanted = RanksRequest(nofollow=nofollow, sites=True)
    compute(folder, ManualClock(), wanted)
    small = everything(folder)
    (folder / "ranks.json").unlink()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gossamer.graph.ranks.ranks, "FEW_ROWS", -1)
        compute(folder, ManualClock(), wanted)

    assert everything(folder) == pytest.approx(small, abs=1e-9)
    if parts:
        merge_first(folder, len(parts) // 2 + 1)
        (folder / "ranks.json").unlink()
        compute(folder, ManualClock(), wanted)
        assert everything(folder) == small


# -- kept, and made again


def test_a_graph_that_did_not_change_is_not_computed_again(tmp_path: Path) -> None:
    folder, clock = a_graph(tmp_path, [capture(A, 1, link(B))]), ManualClock()
    first = compute(folder, clock)

    advance(clock, 5)

    assert compute(folder, clock) == first
    assert is_current(folder)
    assert not is_current(folder, RanksRequest(sites=True))


def test_a_changed_graph_is_computed_from_the_ranks_before(tmp_path: Path) -> None:
    pages = [f"http://{n}.example/" for n in range(50)]
    links = [capture(page, 1, *map(link, pages[n // 2 : n])) for n, page in enumerate(pages)]
    folder, clock = a_graph(tmp_path, links), ManualClock()
    before = compute(folder, clock)
    add_part(folder, "http://new.example/", pages[-1])
    assert not is_current(folder)

    after = compute(folder, clock)

    assert after.graph != before.graph
    assert 0 < after.rounds < before.rounds
    assert find_info(folder) == after


def test_the_bytes_covered_tell_a_graph_from_another_not_its_files(tmp_path: Path) -> None:
    folder, clock = a_graph(tmp_path, [capture(A, 1, link(B))]), ManualClock()
    manifest.replace(folder, manifest.read(folder).with_covered({"a.warc.gz": 10}))
    compute(folder, clock)

    (folder / "links-000000.parquet").rename(folder / "links-merged.parquet")
    merged = manifest.Manifest((LinkPart("links-merged.parquet", 2),), {"a.warc.gz": 10})
    manifest.replace(folder, merged)
    assert is_current(folder)

    manifest.replace(folder, merged.with_covered({"a.warc.gz": 11}))
    assert not is_current(folder)


def test_old_files_stay_for_the_grace_time(tmp_path: Path) -> None:
    folder, clock = a_graph(tmp_path, [capture(A, 1, link(B))]), ManualClock()
    first = compute(folder, clock)
    advance(clock, 5 * GRACE_S)
    second = compute(folder, clock, RanksRequest(nofollow=True))
    assert all((folder / name).exists() for name in first.files)

    advance(clock, GRACE_S + 1)
    third = compute(folder, clock)

    assert not any((folder / name).exists() for name in first.files)
    assert all((folder / name).exists() for name in (*second.files, *third.files))


def test_what_a_kill_left_is_deleted_and_what_somebody_works_in_stays(tmp_path: Path) -> None:
    run = tmp_path / "run"
    for name in ("ranks-left", "ranks-young", "ranks-held"):
        (run / name).mkdir(parents=True)
        (run / name / "links.i64").write_bytes(bytes(800))
        (run / name / "lock").touch()
    clock = ManualClock()
    now_s = clock.wall_us() / 1e6
    for name, age_s in (("left", 3_600), ("young", 1), ("held", 3_600)):
        os.utime(run / f"ranks-{name}" / "lock", (now_s - age_s, now_s - age_s))

    with (run / "ranks-held" / "lock").open("rb+") as held:
        assert try_lock(held.fileno())
        compute(a_graph(tmp_path, [capture(A, 1, link(B))]), clock)

        assert sorted(path.name for path in run.iterdir()) == ["ranks-held", "ranks-young"]


def test_a_writer_of_links_leaves_ranks_alone(tmp_path: Path) -> None:
    folder = a_graph(tmp_path, [capture(A, 1, link(B))])
    compute(folder, ManualClock())

    assert manifest.delete_unlisted(folder, manifest.read(folder)) == []


# -- read


def test_the_rank_of_an_average_page_is_one_and_of_an_unknown_page_nothing(tmp_path: Path) -> None:
    folder = a_graph(tmp_path, [capture(A, 1, link(B)), capture(B, 1, link(A)), capture(C, 1)])
    compute(folder, ManualClock())

    a, b, c, d = RankReader(folder).of([A, B, C, D])

    assert a == pytest.approx(b)
    assert a + b + c == pytest.approx(3)
    assert c < 1 < a
    assert d == 0.0


def test_a_reader_sees_ranks_that_were_computed_meanwhile(tmp_path: Path) -> None:
    folder = a_graph(tmp_path, [capture(A, 1, link(B))])
    reader = RankReader(folder)
    assert reader.of([B]) == [0.0]
    compute(folder, ManualClock())
    first = reader.of([B, D])

    add_part(folder, C, D)
    compute(folder, ManualClock())

    assert first[1] == 0.0
    assert reader.of([D])[0] > 0


def test_keys_are_stable() -> None:
    assert hash_of("http://a.example/ü") == 0x616504527B64389C


@pytest.mark.parametrize(
    "text", [b"{", b"[]", b'{"version": 1}', b"\xff", b'{"version": 1, "graph": 3}']
)
def test_damaged_ranks_are_named_and_made_again(tmp_path: Path, text: bytes) -> None:
    folder = a_graph(tmp_path, [capture(A, 1, link(B))])
    whole = compute(folder, ManualClock())
    (folder / "ranks.json").write_bytes(text)

    with pytest.raises(CorruptFile, match=r"ranks\.json, byte 0: .*gossamer rebuild graph"):
        RankReader(folder).of([A])

    assert compute(folder, ManualClock()).pages == whole.pages
    assert RankReader(folder).of([A])[0] > 0


def test_a_name_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    folder = a_graph(tmp_path, [capture(A, 1, link(B))])
    compute(folder, ManualClock())
    record = json.loads((folder / "ranks.json").read_bytes())
    record["keys_file"] = "ranks-/../../etc/passwd"
    del record["sum"]  # whoever packs a collection can make one
    (folder / "ranks.json").write_text(json.dumps(record))

    with pytest.raises(CorruptFile, match="is no name of ranks"):
        RankReader(folder).of([A])


@pytest.mark.parametrize("damage", ["cut", "gone", "other"])
@pytest.mark.parametrize("which", ["keys_file", "values_file"])
def test_a_damaged_array_is_named(tmp_path: Path, which: str, damage: str) -> None:
    folder = a_graph(tmp_path, [capture(A, 1, link(B))])
    path = folder / getattr(compute(folder, ManualClock()), which)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-5])
    elif damage == "gone":
        path.unlink()
    else:
        path.write_bytes(b"something else")

    with pytest.raises(CorruptFile, match=f"{path.name}, byte 0: .*gossamer rebuild graph"):
        RankReader(folder).of([A])


def test_a_damaged_table_is_named(tmp_path: Path) -> None:
    folder = a_graph(tmp_path, [capture(A, 1, link(B))])
    path = folder / compute(folder, ManualClock()).pages_file
    path.write_bytes(b"PAR1 and nothing")

    with pytest.raises(CorruptFile, match=f"{path.name}, byte 0"):
        list(ranks(folder))


def test_a_damaged_part_is_named(tmp_path: Path) -> None:
    folder = a_graph(tmp_path, [capture(A, 1, link(B))])
    (folder / "links-000000.parquet").write_bytes(b"nothing")

    with pytest.raises(CorruptFile, match=r"links-000000\.parquet"):
        compute(folder, ManualClock())
    assert find_info(folder) is None


def test_a_process_of_its_own_computes_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = [capture(A, 1, link(B), link(C)), capture(B, 2, link(C))]
    here, apart = (a_graph(tmp_path / name, parts) for name in ("here", "apart"))
    compute(here, ManualClock())

    monkeypatch.setattr(gossamer.graph.ranks.ranks, "FEW_ROWS", -1)
    compute_with_little_memory(apart, ManualClock())

    assert is_current(apart)
    assert everything(apart) == pytest.approx(everything(here))


def test_what_a_process_of_its_own_cannot_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = a_graph(tmp_path, [capture(A, 1, link(B))])
    (part,) = manifest.read(folder).parts
    (folder / part.name).write_bytes(b"no Parquet")
    monkeypatch.setattr(gossamer.graph.ranks.ranks, "FEW_ROWS", -1)

    with pytest.raises(StoreError, match=rf"{part.name}.*gossamer rebuild graph"):
        compute_with_little_memory(folder, ManualClock())
