"""`gossamer copies`: where a file or a page of the collection stands elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from support.a_crawl import crawl
from support.a_pdf import a_pdf
from support.a_site import page, site_in_thread
from support.killing import typed

SHARED = (
    "The old mill at the bend of the river was built in the year of the great flood, when the "
    "people of the valley decided that they would never again carry their grain over the pass."
)
CHANGED = SHARED.replace("great", "last").replace("grain", "corn")


@pytest.fixture(scope="module")
def mills(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("copies")
    pages = {
        "/": page(f"<title>Mills</title><p>{SHARED}</p><a href=/copy>c</a> <a href=/other>o</a>"),
        "/copy": page(f"<title>A copy\x1b[2J</title><p>We read: {CHANGED} So it was.</p>"),
        "/other": page("<title>Other</title><p>Nothing of it stands here, only a few words.</p>"),
    }
    with site_in_thread(pages) as site:
        crawl(folder / "c", [site.url()])
        return folder / "c", site.url()


def test_a_page_of_the_collection_is_compared_with_all_others(mills: tuple[Path, str]) -> None:
    collection, url = mills

    ended = typed("copies", "-c", collection, url)

    assert ended.code == 0
    assert ended.out.startswith(f"1. A copy [2J\n   {url}copy\n")
    assert "year of the [-great-] flood" in " ".join(ended.out.split())
    assert "year of the {+last+} flood" in " ".join(ended.out.split())
    assert "\x1b" not in ended.out
    assert "2." not in ended.out
    assert ended.err.startswith("1 page with parts of the text (")


@pytest.mark.parametrize("name", ["t.txt", "t.html", "t.md", "t.pdf", "t", "-"])
def test_files_of_all_kinds_are_read(mills: tuple[Path, str], tmp_path: Path, name: str) -> None:
    collection, url = mills
    path = tmp_path / (name if name != "-" else "stdin")
    match path.suffix:
        case ".html":
            path.write_text(f"<title>x</title><script>no</script><p>{SHARED}</p>")
        case ".md":
            linked = SHARED.replace("river", "[river](https://river.example/a/long/address?x=1)")
            path.write_text(f"# x\n\n{linked}\n")
        case ".pdf":
            path.write_bytes(a_pdf([(line, "") for line in textwrap.wrap(SHARED, 30)]))
        case _:
            path.write_text(SHARED)

    if name == "-":
        words = [sys.executable, "-m", "gossamer", "copies", "-c", str(collection), "--json", "-"]
        out = subprocess.run(
            words, input=path.read_bytes(), capture_output=True, check=True
        ).stdout.decode()
    else:
        ended = typed("copies", "-c", collection, "--json", path)
        assert ended.code == 0
        out = ended.out

    found = json.loads(out)
    assert found["schema"] == 1
    assert {copy["url"] for copy in found["pages"]} == {url, f"{url}copy"}


def test_json_has_the_documented_form(mills: tuple[Path, str], tmp_path: Path) -> None:
    collection, _ = mills
    (tmp_path / "t.txt").write_text(f"Before. {SHARED}")

    found = json.loads(typed("copies", "-c", collection, tmp_path / "t.txt", "--json").out)

    assert set(found) == {"schema", "words", "total", "took_ms", "hint", "pages"}
    first = found["pages"][0]
    assert set(first) == {
        "url", "title", "fetched_at", "words", "share", "passages_total", "passages",
    }  # fmt: skip
    (passage,) = first["passages"]
    assert set(passage) == {"words", "first_word", "exact", "text", "page"}
    assert passage["first_word"] == 2
    assert passage["exact"] is True
    assert passage["text"]["passage"] == SHARED.rstrip(".")
    assert passage["text"]["marks"] == [[0, len(SHARED) - 1]]


def test_what_is_neither_a_file_nor_a_page_is_an_error_that_says_both(
    mills: tuple[Path, str],
) -> None:
    collection, url = mills

    nothing = typed("copies", "-c", collection, "not-there.txt")
    unknown = typed("copies", "-c", collection, f"{url}unknown")

    assert nothing.code == 1
    assert "there is no file 'not-there.txt', and" in nothing.err
    assert unknown.code == 1
    assert "there is no file" not in unknown.err


def test_wrong_numbers_and_files_without_text_are_errors(
    mills: tuple[Path, str], tmp_path: Path
) -> None:
    collection, _ = mills
    (tmp_path / "binary").write_bytes(b"\x00\x01\x02" * 100)

    few = typed("copies", "-c", collection, tmp_path / "binary", "--min-words", "2")
    binary = typed("copies", "-c", collection, tmp_path / "binary")

    assert (few.code, "min_words is 2" in few.err) == (2, True)
    assert (binary.code, "contains no text" in binary.err) == (2, True)


def test_a_directory_is_named_as_one(mills: tuple[Path, str], tmp_path: Path) -> None:
    ended = typed("copies", "-c", mills[0], tmp_path)

    assert ended.code == 2
    assert f"{tmp_path} is a directory; name a file or a URL" in ended.err
