"""What is put can be found, once, and what is removed cannot."""

from pathlib import Path

import tantivy

from gossamer.index import schema
from gossamer.index.entry import Entry
from gossamer.index.reader import IndexReader, View, ids
from gossamer.index.writer import IndexWriter


def an_entry(number: int, text: str = "some words", title: str = "") -> Entry:
    url = f"https://docs.example.org/page/{number}"
    return Entry(number.to_bytes(16, "big"), url, title, (), text, "en", "text/html", number)


def found(view: View, word: str, field: str = schema.BODY) -> list[str]:
    query = tantivy.Query.term_query(view.schema, field, word)
    return sorted(view.kept(match.address).url for match in view.search(query, 100)[0])


def test_a_page_put_three_times_is_there_once_as_it_was_last(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path)

    for text in ("first", "second", "third"):
        writer.put(an_entry(1, text))
        writer.commit({})
    writer.close()

    view = IndexReader(tmp_path).view
    assert view.count == 1
    assert found(view, "first") == found(view, "second") == []
    assert found(view, "third") == ["https://docs.example.org/page/1"]
    assert list(ids(tmp_path)) == [schema.id_of(an_entry(1).key)]
