"""Networks in the file formats of network programs: GEXF (Gephi), GraphML and Pajek.

Written as a stream, node by node and edge by edge. Node names are URLs, hosts or sites from the
web: they are escaped, and characters that XML forbids become U+FFFD. The weight of an edge is its
number of links; the number of linking pages is a second attribute. Nodes of GEXF and GraphML have
title, status, depth, degrees and rank if known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import IO, Any, Final
from xml.sax.saxutils import escape, quoteattr

from gossamer.graph.network import NODE_COLUMNS, LinkNetwork

_NO_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_GEXF: Final = """\
<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2">
<meta><creator>gossamer</creator></meta>
<graph defaultedgetype="directed" mode="static">
<attributes class="node">
<attribute id="title" title="title" type="string"/>
<attribute id="status" title="status" type="long"/>
<attribute id="depth" title="depth" type="long"/>
<attribute id="in_degree" title="in_degree" type="long"/>
<attribute id="out_degree" title="out_degree" type="long"/>
<attribute id="rank" title="rank" type="double"/>
</attributes>
<attributes class="edge"><attribute id="pages" title="pages" type="long"/></attributes>
<nodes>
"""
_GRAPHML: Final = """\
<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="title" for="node" attr.name="title" attr.type="string"/>
<key id="status" for="node" attr.name="status" attr.type="long"/>
<key id="depth" for="node" attr.name="depth" attr.type="long"/>
<key id="in_degree" for="node" attr.name="in_degree" attr.type="long"/>
<key id="out_degree" for="node" attr.name="out_degree" attr.type="long"/>
<key id="rank" for="node" attr.name="rank" attr.type="double"/>
<key id="weight" for="edge" attr.name="weight" attr.type="long"/>
<key id="pages" for="edge" attr.name="pages" attr.type="long"/>
<graph edgedefault="directed">
"""


def write_gexf(file: IO[bytes], network: LinkNetwork) -> int:
    """Write GEXF 1.2. Return the number of edges."""
    file.write(_GEXF.encode())
    for nodes in _rows(network.described_nodes()):
        _write(file, [_gexf_node(*node) for node in nodes])
    file.write(b"</nodes>\n<edges>\n")
    count = 0
    for edges in _rows(network.edges()):
        _write(
            file,
            [
                f'<edge id="{number}" source={_attribute(source)} target={_attribute(target)} '
                f'weight="{links}"><attvalues><attvalue for="pages" value="{pages}"/>'
                "</attvalues></edge>\n"
                for number, (source, target, pages, links) in enumerate(edges, count)
            ],
        )
        count += len(edges)
    file.write(b"</edges>\n</graph>\n</gexf>\n")
    return count


def write_graphml(file: IO[bytes], network: LinkNetwork) -> int:
    """Write GraphML. Return the number of edges."""
    file.write(_GRAPHML.encode())
    for nodes in _rows(network.described_nodes()):
        _write(file, [_graphml_node(*node) for node in nodes])
    count = 0
    for edges in _rows(network.edges()):
        _write(
            file,
            [
                f"<edge source={_attribute(source)} target={_attribute(target)}>"
                f'<data key="weight">{links}</data><data key="pages">{pages}</data></edge>\n'
                for source, target, pages, links in edges
            ],
        )
        count += len(edges)
    file.write(b"</graph>\n</graphml>\n")
    return count


def write_pajek(file: IO[bytes], network: LinkNetwork) -> int:
    """Write Pajek .net: nodes by number, the weight of an arc is its links. Return the number of
    arcs.
    """
    file.write(f"*Vertices {network.count()}\n".encode())
    for batch in network.nodes():
        numbered = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        _write(file, [f"{number} {_label(name)}\n" for number, name in numbered])
    file.write(b"*Arcs\n")
    count = 0
    for edges in _rows(network.numbered_edges()):
        _write(file, [f"{source} {target} {links}\n" for source, target, _, links in edges])
        count += len(edges)
    return count


NETWORK_FORMATS: Final[dict[str, Callable[[IO[bytes], LinkNetwork], int]]] = {
    ".gexf": write_gexf,
    ".graphml": write_graphml,
    ".net": write_pajek,
}


def _write(file: IO[bytes], lines: list[str]) -> None:
    file.write("".join(lines).encode())


def _gexf_node(_number: int, name: str, *facts: object) -> str:
    known = zip(NODE_COLUMNS[2:], facts, strict=True)
    values = "".join(
        f'<attvalue for="{key}" value={_attribute(str(value))}/>'
        for key, value in known
        if value is not None
    )
    shown = _attribute(name)
    return f"<node id={shown} label={shown}><attvalues>{values}</attvalues></node>\n"


def _graphml_node(_number: int, name: str, *facts: object) -> str:
    known = zip(NODE_COLUMNS[2:], facts, strict=True)
    values = "".join(
        f'<data key="{key}">{_text(str(value))}</data>' for key, value in known if value is not None
    )
    return f"<node id={_attribute(name)}>{values}</node>\n"


def _rows(batches: Iterator[Any]) -> Iterator[list[tuple[Any, ...]]]:
    for batch in batches:
        yield list(zip(*(column.to_pylist() for column in batch.columns), strict=True))


def _text(text: str) -> str:
    """A text between two tags of XML."""
    return escape(_NO_XML.sub("\ufffd", text), {"\r": "&#13;"})


def _attribute(text: str) -> str:
    """A text as an XML attribute, with its quotation marks."""
    return quoteattr(_NO_XML.sub("\ufffd", text), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def _label(text: str) -> str:
    """A text as a Pajek label. Pajek has no escapes: characters that would end it are
    percent-encoded.
    """
    for character in ('"', "\\", "\n", "\r"):
        text = text.replace(character, f"%{ord(character):02X}")
    return f'"{text}"'
