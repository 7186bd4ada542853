"""Reading link graphs from files."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from gossamer.errors import UsageError
from gossamer.graph.arrow import pa, pq
from gossamer.lab.graph import LinkGraph
from gossamer.lab.graphs import read_graph


def links_of(graph: LinkGraph) -> list[tuple[int, int]]:
    sources = np.repeat(np.arange(graph.pages), graph.out_degree)
    return list(zip(sources.tolist(), graph.targets.tolist(), strict=True))


def test_lines_of_numbers_are_links(tmp_path: Path) -> None:
    (file := tmp_path / "g.tsv").write_text("# from a crawl\tof today\n0\t1\n1\t2\n2\t0\n")

    graph = read_graph(file)

    assert links_of(graph) == [(0, 1), (1, 2), (2, 0)]
    assert graph.digest.startswith("sha256:")
    assert graph.names is None


def test_a_packed_file_and_spaces_are_read_too(tmp_path: Path) -> None:
    (file := tmp_path / "g.gz").write_bytes(gzip.compress(b"0 1\n1 2\n"))

    assert links_of(read_graph(file)) == [(0, 1), (1, 2)]


def test_pages_that_are_urls_keep_their_names_and_have_hosts_as_sites(tmp_path: Path) -> None:
    lines = "http://a.org/\thttp://b.org/x\nhttp://b.org/x\thttp://A.org:8080/y\n"
    (file := tmp_path / "g.tsv").write_text(lines)

    graph = read_graph(file)

    assert graph.names == ["http://a.org/", "http://b.org/x", "http://A.org:8080/y"]
    assert graph.site.tolist() == [0, 1, 0]


def test_sparse_numbers_are_numbered_anew(tmp_path: Path) -> None:
    (file := tmp_path / "g.tsv").write_text("900000000\t7\n7\t12345\n")
    (sites := tmp_path / "s.tsv").write_text("7\tone\n12345\ttwo\n900000000\tone\n")

    graph = read_graph(file, sites)

    assert graph.pages == 3
    assert graph.site[[0, 1]].tolist() == [0, 0]
    assert graph.site[2] == 1


def test_sites_come_from_a_file(tmp_path: Path) -> None:
    (file := tmp_path / "g.tsv").write_text("0\t1\n1\t2\n2\t3\n")
    (sites := tmp_path / "s.tsv").write_text("# page\tsite: inferred\n0\t5\n1\t5\n2\t9\n77\t1\n")

    site = read_graph(file, sites).site.tolist()

    assert site[0] == site[1]
    assert len({site[0], site[2], site[3]}) == 3


def test_parquet_columns_are_found_by_name(tmp_path: Path) -> None:
    table = pa.table({"anchor": ["x", "y"], "source": [0, 1], "target": [1, 2]})
    pq.write_table(table, file := tmp_path / "g.parquet")

    assert links_of(read_graph(file)) == [(0, 1), (1, 2)]


def test_an_ascii_graph_has_a_line_of_targets_for_each_page(tmp_path: Path) -> None:
    (file := tmp_path / "g.graph-txt").write_text("4\n1 2\n\n0\n\n")

    graph = read_graph(file)

    assert graph.pages == 4
    assert links_of(graph) == [(0, 1), (0, 2), (2, 0)]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("empty.tsv", b"", "no links"),
        ("comments.tsv", b"# nothing\n", "no links"),
        ("three.tsv", b"0\t1\n1\t2\t3\n", "not a link graph"),
        ("one.tsv", b"a\nb\n", "not a link graph"),
        ("words.tsv", b"just words\n", "not a link graph"),
        ("negative.tsv", b"0\t-1\n", "negative"),
        ("cut.tsv.gz", gzip.compress(b"0\t1\n" * 50_000, mtime=0)[:60], "not a link graph"),
        ("self.tsv", b"0\t0\n", "no links between pages"),
        ("bad.parquet", b"PAR1 no", "not a link graph"),
        ("short.graph-txt", b"9\n1\n", "fewer lines"),
        ("wrong.graph-txt", b"2\n1\n7\n", "does not have"),
        ("gap.tsv", b"a\t\nb\tc\n", "without a source or a target"),
    ],
)
def test_a_file_that_is_no_graph_is_refused_in_one_sentence(
    tmp_path: Path, name: str, content: bytes, expected: str
) -> None:
    (file := tmp_path / name).write_bytes(content)

    with pytest.raises(UsageError, match=expected) as caught:
        read_graph(file)

    assert "\n" not in str(caught.value)


def test_a_folder_that_is_no_collection_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a collection"):
        read_graph(tmp_path)
    with pytest.raises(UsageError, match="does not exist"):
        read_graph(tmp_path / "missing.tsv")
