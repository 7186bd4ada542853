"""Files for network programs: valid, escaped, and read by a program that is not ours."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import IO
from xml.etree import ElementTree as ET

import networkx as nx
import pytest

from gossamer.errors import UsageError
from gossamer.graph.formats import NETWORK_FORMATS, write_gexf, write_graphml, write_pajek
from gossamer.graph.network import LinkNetwork, network
from support.a_graph import a_graph, capture, link, rows

ODD = "http://b.example/?a=<&>'\u00fc%22\\"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return a_graph(
        tmp_path,
        [
            capture("http://a.example/", 1, link("http://a.example/2"), link(ODD), link(ODD, "x")),
            capture("http://a.example/2", 1, link("http://a.example/2"), link(ODD)),
            capture("http://www.a.example/", 1, link("http://a.example/")),
            capture("http://lonely.example/", 1),
        ],
    )


def text_of(write: Callable[[IO[bytes], LinkNetwork], int], folder: Path, level: str) -> bytes:
    file = io.BytesIO()
    with network(folder, level) as graph:
        write(file, graph)
    return file.getvalue()


def weights(graph: nx.DiGraph) -> dict[tuple[str, str], int]:
    return {(a, b): int(data["weight"]) for a, b, data in graph.edges(data=True)}


WANTED = {
    "page": {
        ("http://a.example/", "http://a.example/2"): 1,
        ("http://a.example/", ODD): 2,
        ("http://a.example/2", ODD): 1,
        ("http://www.a.example/", "http://a.example/"): 1,
    },
    "host": {("a.example", "b.example"): 3, ("www.a.example", "a.example"): 1},
    "site": {("a.example", "b.example"): 3},
}
NODES = {
    "page": {url for pair in WANTED["page"] for url in pair} | {"http://lonely.example/"},
    "host": {"a.example", "b.example", "www.a.example", "lonely.example"},
    "site": {"a.example", "b.example", "lonely.example"},
}


@pytest.mark.parametrize("level", WANTED)
def test_gexf_is_read_as_it_was_meant(folder: Path, level: str) -> None:
    graph = nx.read_gexf(io.BytesIO(text_of(write_gexf, folder, level)))

    assert graph.is_directed()
    assert weights(graph) == WANTED[level]
    assert set(graph.nodes) == NODES[level]


@pytest.mark.parametrize("level", WANTED)
def test_graphml_is_read_as_it_was_meant(folder: Path, level: str) -> None:
    graph = nx.read_graphml(io.BytesIO(text_of(write_graphml, folder, level)))

    assert graph.is_directed()
    assert weights(graph) == WANTED[level]
    assert set(graph.nodes) == NODES[level]


@pytest.mark.parametrize("level", WANTED)
def test_pajek_is_read_as_it_was_meant(folder: Path, level: str) -> None:
    graph = nx.parse_pajek(text_of(write_pajek, folder, level).decode())

    wanted = {tuple(n.replace("\\", "%5C") for n in pair): w for pair, w in WANTED[level].items()}
    assert weights(nx.DiGraph(graph)) == wanted
    assert set(graph.nodes) == {name.replace("\\", "%5C") for name in NODES[level]}


def test_the_pages_of_an_edge_are_told_beside_its_links(folder: Path) -> None:
    with network(folder, "host") as graph:
        edges = rows(graph.edges())

    assert edges == [("a.example", "b.example", 2, 3), ("www.a.example", "a.example", 1, 1)]


def test_what_xml_cannot_hold_is_replaced(tmp_path: Path) -> None:
    folder = a_graph(tmp_path, [capture("http://a/\x01\ufffe", 1, link('http://b/"\n<'))])

    tree = ET.fromstring(text_of(write_gexf, folder, "page"))

    names = [node.get("id") for node in tree.iter("{http://www.gexf.net/1.2draft}node")]
    assert names == ["http://a/\ufffd\ufffd", 'http://b/"\n<']


@pytest.mark.parametrize("extension", NETWORK_FORMATS)
def test_an_empty_graph_is_a_file_too(tmp_path: Path, extension: str) -> None:
    written = text_of(NETWORK_FORMATS[extension], tmp_path, "site")

    assert written.startswith((b"<?xml", b"*Vertices 0\n"))


def test_another_level_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="use page, host or site"), network(tmp_path, "x"):
        pass
