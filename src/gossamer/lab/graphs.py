"""Read a link graph for the lab, from whatever holds one.

| input | recognised by |
|---|---|
| collection | a folder with a `graph/` folder |
| WARC, WACZ | the extension |
| Parquet | the extension `.parquet` |
| BVGraph | the extension `.graph`, or a base name with `.graph` and `.properties` beside it |
| ASCII graph | one number in the first line |
| lines `source<TAB>target` | anything else; `.gz` too |

Pages are numbers or texts. Numbers stay what they are where most of them occur; texts and sparse
numbers are numbered anew. The sites of pages come from a file of lines `page<TAB>site`. Without one
they are the hosts of pages that are URLs, and otherwise one site holds all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import UsageError
from gossamer.graph import tables
from gossamer.graph.arrow import pa, pc
from gossamer.lab.graph import LinkGraph, graph_of
from gossamer.lab.inputs.link_files import (
    BadGraphFile,
    is_ascii_graph,
    numbered,
    read_ascii_graph,
    read_pairs,
    read_parquet_pairs,
)
from gossamer.lab.inputs.warc_files import imported, is_warc
from gossamer.lab.inputs.webgraph_files import read_bv_graph

_COLLECTION_LINKS: Final = """
    select distinct source, target from links
    where source <> target and target in (select source from captures)
    order by source, target
"""
_HOST: Final = r"^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?(?P<host>[^/?#:]+)"


def read_graph(path: Path, sites: Path | None = None) -> LinkGraph:
    """Read a graph, and the sites of its pages if a file is given. Raises UsageError."""
    base = path.parent / f"{path.name}.graph"
    if not path.exists() and not base.exists():
        raise UsageError(f"{path} does not exist; a graph is a file of links or a collection")
    if path.is_dir():
        graph = _of_collection(path)
    elif is_warc(path):
        with imported(path) as collection:
            graph = _of_collection(collection)
    elif not path.exists() or path.suffix == ".graph":
        graph = graph_of(*read_bv_graph(base if base.exists() else path))
    elif path.suffix == ".parquet":
        graph = _of_columns(path, *read_parquet_pairs(path))
    elif _is_ascii(path):
        graph = graph_of(*read_ascii_graph(path))
    else:
        graph = _of_columns(path, *read_pairs(path))
    if not graph.links:
        raise UsageError(f"{path} has no links between pages")
    read = [one for one in (path, base, sites) if one is not None and one.is_file()]
    graph = replace(graph, digest=graph.digest or _digest(read))
    return with_sites(graph, sites) if sites is not None else graph


def with_sites(graph: LinkGraph, path: Path) -> LinkGraph:
    """The graph with the sites of a file `page<TAB>site`. A page that it does not name is a site of
    its own. Raises UsageError."""
    if not path.is_file():
        raise UsageError(f"{path} does not exist; --sites takes a file of lines page<TAB>site")
    pages, names = read_pairs(path)
    site_numbers, found = numbered(names)
    places = _places(graph, pages, path)
    site = len(found) + np.arange(graph.pages, dtype=np.int64)
    is_known = places >= 0
    site[places[is_known]] = site_numbers[is_known]
    if not is_known.any():
        raise UsageError(f"{path} names no page of the graph")
    return replace(graph, site=np.unique(site, return_inverse=True)[1].astype(np.int32))


def _places(graph: LinkGraph, pages: Any, path: Path) -> NDArray[np.int64]:
    """Numbers of pages that a file names; -1 of others."""
    if graph.names is None:
        if not pa.types.is_integer(pages.type):
            raise BadGraphFile(path, "the pages of the graph are numbers, and these are not")
        wanted: NDArray[np.int64] = pages.to_numpy().astype(np.int64)
        return np.where((wanted >= 0) & (wanted < graph.pages), wanted, -1)
    names = pa.array(graph.names, pa.string())
    found = pc.index_in(pages.cast(pa.string()), value_set=names).combine_chunks()
    places: NDArray[np.int64] = pc.fill_null(found, -1).to_numpy(zero_copy_only=False)
    return places.astype(np.int64)


def _of_columns(path: Path, sources: Any, targets: Any) -> LinkGraph:
    are_numbers = pa.types.is_integer(sources.type) and pa.types.is_integer(targets.type)
    if sources.null_count or targets.null_count:
        raise BadGraphFile(path, "a link without a source or a target")
    if are_numbers:
        tails, heads = sources.to_numpy().astype(np.int64), targets.to_numpy().astype(np.int64)
        if not len(tails):
            return graph_of(tails, heads, 0)
        if min(tails.min(), heads.min()) < 0:
            raise BadGraphFile(path, "it has negative page numbers")
        highest = int(max(tails.max(), heads.max()))
        if _is_dense(tails, heads, highest):
            return graph_of(tails, heads, highest + 1)
    both = pa.chunked_array([*_texts(sources).chunks, *_texts(targets).chunks])
    numbers, names = numbered(both)
    graph = graph_of(numbers[: len(sources)], numbers[len(sources) :], len(names))
    return _named(graph, names)


def _is_dense(tails: NDArray[np.int64], heads: NDArray[np.int64], highest: int) -> bool:
    """Whether most numbers up to the highest occur: then one without links is a page, too."""
    if highest >= 4 * len(tails) + 1_000:
        return False
    seen = np.zeros(highest + 1, np.bool_)
    seen[tails] = True
    seen[heads] = True
    return 2 * int(seen.sum()) > highest


def _texts(column: Any) -> Any:
    column = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    return column.cast(pa.string())


def _named(graph: LinkGraph, names: Any) -> LinkGraph:
    """The graph with its names, and with sites where the names are URLs."""
    hosts = pc.extract_regex(names, _HOST).field("host")
    are_urls = hosts.null_count < len(hosts)
    texts: Sequence[str] = names.to_pylist()
    if not are_urls:
        return replace(graph, names=texts)
    numbers, _ = numbered(pc.utf8_lower(pc.fill_null(hosts, "")))
    return replace(graph, names=texts, site=numbers.astype(np.int32))


def _of_collection(path: Path) -> LinkGraph:
    folder = path / "graph"
    if not folder.is_dir():
        raise UsageError(f"{path} is a folder, but not a collection with a link graph")
    table = tables.table_of(tables.batches(folder, _COLLECTION_LINKS))
    graph = _of_columns(path, table["source"], table["target"])
    pairs = hashlib.sha256(graph.offsets.tobytes() + graph.targets.tobytes())
    return replace(graph, digest=f"sha256:{pairs.hexdigest()}")


def _is_ascii(path: Path) -> bool:
    try:
        return is_ascii_graph(path)
    except (OSError, EOFError) as error:
        raise BadGraphFile(path, str(error)) from None


def _digest(paths: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while part := file.read(1 << 20):
                digest.update(part)
    return f"sha256:{digest.hexdigest()}"
