"""`gossamer lab order` and `gossamer lab run`, as typed."""

import json
from pathlib import Path

import pytest

from support.a_crawl import crawl
from support.a_site import page, site_in_thread
from support.killing import typed


@pytest.fixture
def links(tmp_path: Path) -> Path:
    (file := tmp_path / "links.tsv").write_text(
        "".join(f"{n}\t{m}\n" for n in range(40) for m in {0, (n * 7 + 1) % 40, (n + 1) % 40} - {n})
    )
    return file


def test_orders_are_compared_on_a_file_of_links(links: Path, tmp_path: Path) -> None:
    page = tmp_path / "out.html"
    words = ("--seeds", "2", "--repeats", "2", "--orders", "best,breadth", "-o", page, "--json")

    ended = typed("lab", "order", links, *words)

    made = json.loads(ended.out)
    assert ended.code == 0, ended.err
    assert {"schema", "version", "settings", "data_digest", "results"} <= set(made)
    assert made["results"]["ideal"]["area"] == 1.0
    assert set(made["results"]["best"]["found"]) == {"0.1", "0.2", "0.5"}
    assert "<polyline" in page.read_text()


def test_a_person_gets_tables(links: Path) -> None:
    words = ("--seeds", "2", "--repeats", "1", "--orders", "random", "--delay", "5")

    ended = typed("lab", "order", links, *words)

    assert ended.code == 0
    assert "Simulated hours" in ended.out
    assert "Rank mass found" in ended.out
    assert "any page alike" in ended.out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--orders", "wrong"], "not known"),
        (["-o", "x.doc"], "extension"),
        (["--sites", "none.tsv"], "does not exist"),
    ],
)
def test_wrong_words_are_refused_in_one_sentence(
    links: Path, words: list[str], expected: str
) -> None:
    ended = typed("lab", "order", links, *words)

    assert ended.code == 2
    assert expected in ended.err
    assert "Traceback" not in ended.err


def test_a_collection_and_its_archive_are_the_same_graph(collection: Path) -> None:
    pages = {f"/{n}": page("".join(f'<a href="/{m}">x</a>' for m in range(12))) for n in range(12)}
    with site_in_thread({"/": page('<a href="/1">one</a>'), **pages}) as site:
        crawl(collection, [site.url()])

    ended = typed("lab", "order", collection, "--seeds", "2", "--repeats", "1", "--json")

    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["settings"]["pages"] == 13

    warc = next((collection / "archive").glob("*.warc.gz"))
    again = typed("lab", "order", warc, "--seeds", "2", "--repeats", "1", "--json")
    assert json.loads(again.out)["settings"]["links"] == json.loads(ended.out)["settings"]["links"]


def test_an_experiment_is_one_file(links: Path, tmp_path: Path) -> None:
    (file := tmp_path / "try.toml").write_text(
        'name = "A try"\nexperiment = "order"\ndata = ["links.tsv"]\n'
        '[settings]\nseeds = 2\nrepeats = 1\norders = ["breadth", "depth"]\noutput = "out.csv"\n'
    )

    ended = typed("lab", "run", file, "--json")

    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["settings"]["orders"] == ["breadth", "depth"]
    assert (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("experiment = ", "not TOML"),
        ("name = 'x'", "experiment is missing"),
        ("experiment = 'cooking'", "none of"),
        (
            "experiment = 'order'\ndata = 'links.tsv'\n[settings]\nrepeat = 1",
            "did you mean repeats?",
        ),
        ("experiment = 'order'\nsetting = 1", "setting is not known"),
        ("experiment = 'order'\ndata = 3", "list of texts"),
    ],
)
def test_a_wrong_file_is_refused_with_its_name(
    links: Path, tmp_path: Path, text: str, expected: str
) -> None:
    (file := tmp_path / "try.toml").write_text(text)

    ended = typed("lab", "run", file)

    assert ended.code == 2
    assert "try.toml" in ended.err
    assert expected in ended.err
