"""What fetched pages are worth by each metric, beside computations of other packages."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import networkx as nx
import pytest

import gossamer
from gossamer.transfer.export_schemas import MEASURED
from support.a_crawl import crawl
from support.a_site import Pages, page, site_in_thread
from support.killing import typed

TEXTS = {
    "/": "music and cheese",
    "/flute": "flute flute music wind",
    "/deep/oboe": "oboe wind music instruments",
    "/brie": "cheese cheese milk",
}
LINKS = {
    "/": ["/flute", "/deep/oboe", "/brie"],
    "/flute": ["/"],
    "/deep/oboe": ["/flute"],
    "/brie": [],
}
QUERY = "wind music"


def web() -> Pages:
    linked = {
        path: "".join(f"<a href={to}></a>" for to in targets) for path, targets in LINKS.items()
    }
    return {path: page(f"<p>{text}</p>{linked[path]}") for path, text in TEXTS.items()}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> gossamer.Collection:
    folder = tmp_path_factory.mktemp("importance")
    log = folder / "visits.tsv"
    with site_in_thread(web()) as site:
        log.write_text(f"{site.url('/brie')}\t7\n{site.url('/flute')}\t2\n")
        crawl(
            folder / "c",
            [site.url()],
            frontier__order="similarity",
            frontier__query=QUERY,
            frontier__visits_file=str(log),
        )
    return gossamer.open(folder / "c")


def by_path(study: gossamer.Collection, column: str) -> dict[str, object]:
    return {"/" + row["url"].split("/", 3)[3]: row[column] for row in study.importance}


def test_every_fetched_page_has_every_metric(study: gossamer.Collection) -> None:
    assert set(by_path(study, "url")) == set(TEXTS)
    assert by_path(study, "in_links") == {"/": 1, "/flute": 2, "/deep/oboe": 1, "/brie": 1}
    assert by_path(study, "out_links") == {"/": 3, "/flute": 1, "/deep/oboe": 1, "/brie": 0}
    assert by_path(study, "visits") == {"/": 0, "/flute": 2, "/deep/oboe": 0, "/brie": 7}
    assert by_path(study, "relevance") == dict.fromkeys(TEXTS)


def test_weighted_forward_links_are_pagerank_against_the_links(study: gossamer.Collection) -> None:
    graph = nx.DiGraph([(to, path) for path, targets in LINKS.items() for to in targets])
    wanted = nx.pagerank(graph, alpha=0.85, tol=1e-12)

    for path, value in by_path(study, "forward_rank").items():
        assert value == pytest.approx(4 * wanted[path], rel=1e-6)


def test_similarity_is_the_cosine_of_tf_idf_vectors(study: gossamer.Collection) -> None:
    counts = {path: Counter(text.split()) for path, text in TEXTS.items()}
    frequency = Counter(word for words in counts.values() for word in words)
    rarity = {word: math.log1p(5 / (1 + many)) for word, many in frequency.items()}
    asked = {word: rarity[word] for word in QUERY.split()}

    for path, value in by_path(study, "similarity").items():
        said = {w: (1 + math.log(n)) * rarity[w] for w, n in counts[path].items()}
        product = sum(weight * said.get(word, 0.0) for word, weight in asked.items())
        wanted = product / math.hypot(*asked.values()) / math.hypot(*said.values())
        assert value == pytest.approx(wanted, rel=1e-5)


def test_location_is_what_the_order_says(study: gossamer.Collection) -> None:
    values = by_path(study, "location")

    assert values["/flute"] == pytest.approx(1 / 2)
    assert values["/deep/oboe"] == pytest.approx(1 / 3)


def test_pages_have_these_columns_when_they_are_named(
    study: gossamer.Collection, tmp_path: Path
) -> None:
    folder = study.paths.path
    plain = typed("export", "pages", "-c", folder, "-o", tmp_path / "all.csv")
    named = typed(
        "export", "pages", "-c", folder, "-o", tmp_path / "some.jsonl", "--columns",
        "url,similarity,forward_rank",
    )  # fmt: skip
    some = (tmp_path / "some.jsonl").read_text()
    head = (tmp_path / "all.csv").read_text().splitlines()[0]

    assert plain.code == named.code == 0
    assert not any(name in head for name in MEASURED)
    assert len(some.splitlines()) == 4
    assert '"forward_rank"' in some


def test_a_focused_crawl_tells_the_relevance_that_it_found(tmp_path: Path) -> None:
    with site_in_thread(web()) as site:
        crawl(tmp_path / "c", [site.url()], frontier__order="focus", frontier__query="flute oboe")
    values = by_path(gossamer.open(tmp_path / "c"), "relevance")

    assert all(isinstance(value, float) and 0 <= value <= 1 for value in values.values())


def test_without_query_and_log_their_columns_are_empty(tmp_path: Path) -> None:
    with site_in_thread(web()) as site:
        crawl(tmp_path / "c", [site.url()])
    study = gossamer.open(tmp_path / "c")

    assert set(by_path(study, "similarity").values()) == {None}
    assert set(by_path(study, "visits").values()) == {None}
