"""What is put can be found, once, and what is removed cannot."""

from dataclasses import replace
from pathlib import Path

import pytest
import tantivy

from gossamer.errors import StoreError
from gossamer.index import schema
from gossamer.index.folder import open_current
from gossamer.index.prepared import prepare
from gossamer.index.reader import IndexReader, ids
from gossamer.index.writer import IndexWriter
from support.entries import an_entry, found, key_of, url_of


def test_a_page_put_three_times_is_there_once_as_it_was_last(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path)

    for text in ("first", "second", "third"):
        writer.put(an_entry(1, text))
        writer.commit({})
    writer.close()

    view = IndexReader(tmp_path).view
    assert view.count == 1
    assert found(view, "first") == found(view, "second") == []
    assert found(view, "third") == [url_of(1)]
    assert list(ids(tmp_path)) == [key_of(1).hex()]


def test_a_page_that_was_made_ready_is_found_and_shown_as_any_other(tmp_path: Path) -> None:
    text = "An Élan of ’quoted’ quartz"
    writer = IndexWriter(tmp_path)

    writer.put(replace(an_entry(1, ""), ready=prepare(text)))
    writer.commit({})
    writer.close()

    view = IndexReader(tmp_path).view
    assert found(view, "elan") == found(view, "quartz") == [url_of(1)]
    kept = view.find(key_of(1))
    assert kept is not None
    assert view.text(kept) == text


def test_an_index_can_be_read_as_soon_as_it_is_there(tmp_path: Path) -> None:
    open_current(tmp_path)

    assert IndexReader(tmp_path).view.count == 0


def test_a_page_put_twice_before_a_commit_is_there_once(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path)
    writer.put(an_entry(1, "first"))
    writer.put(an_entry(1, "second"))

    writer.commit({})
    writer.close()

    view = IndexReader(tmp_path).view
    assert (view.count, found(view, "first"), found(view, "second")) == (1, [], [url_of(1)])


def test_a_page_that_is_removed_is_not_found(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path)
    for number in (1, 2):
        writer.put(an_entry(number, "word"))
    writer.commit({})

    writer.remove(key_of(1))
    writer.put(an_entry(3, "word"))
    writer.remove(key_of(3))
    writer.commit({})
    writer.close()

    assert found(IndexReader(tmp_path).view, "word") == [url_of(2)]
    assert list(ids(tmp_path)) == [key_of(2).hex()]


def test_what_is_not_committed_is_not_there(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path)
    writer.put(an_entry(1))
    writer.commit({"a.warc.gz": 10})
    writer.put(an_entry(2))
    writer.close()

    again = IndexWriter(tmp_path)

    assert dict(again.covered) == {"a.warc.gz": 10}
    assert list(ids(tmp_path)) == [key_of(1).hex()]
    again.close()


def test_a_commit_moves_only_the_files_that_it_names(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path)

    writer.commit({"a.warc.gz": 10, "b.warc.gz": 5})
    writer.commit({"b.warc.gz": 7})
    writer.close()

    again = IndexWriter(tmp_path)
    assert dict(again.covered) == {"a.warc.gz": 10, "b.warc.gz": 7}
    again.close()


def test_an_entry_comes_out_as_it_went_in(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path)
    entry = an_entry(1, "Straße 東京\n\nhalf \ud800 pair", title="Ein Titel", headings=("A b", "c"))
    writer.put(entry)
    writer.commit({})
    writer.close()

    view = IndexReader(tmp_path).view
    kept = view.find(entry.key)

    assert kept is not None
    assert (kept.url, kept.title, kept.headings) == (entry.url, "Ein Titel", ("A b", "c"))
    assert (kept.language, kept.type, kept.at_us) == (entry.language, entry.type, entry.at_us)
    assert kept.has_snippet
    assert view.text(kept) == "Straße 東京\n\nhalf ? pair"
    assert view.find(key_of(2)) is None


@pytest.mark.parametrize(
    ("field", "words"),
    [
        (schema.SITE, ["docs.example.org", "example.org", "org"]),
        (schema.TYPE, ["text/html", "html"]),
        (schema.LANGUAGE, ["en"]),
        (schema.ADDRESS, ["docs", "example", "page", "1", "uber", "uns"]),
        (schema.TITLE, ["uber"]),
        (schema.HEADINGS, ["first", "second"]),
        (schema.ANCHORS, ["linked"]),
    ],
)
def test_every_field_finds_its_words(tmp_path: Path, field: str, words: list[str]) -> None:
    writer = IndexWriter(tmp_path)
    url = url_of(1) + "/%C3%BCber-uns"
    writer.put(
        an_entry(
            1, url=url, title="Über", headings=("first one", "second"), anchors=("linked here",)
        )
    )
    writer.commit({})
    writer.close()

    view = IndexReader(tmp_path).view

    assert [found(view, word, field) for word in words] == [[url]] * len(words)
    assert found(view, "absent", field) == []


def test_no_phrase_reaches_from_one_heading_into_the_next(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path)
    writer.put(an_entry(1, headings=("one two", "three four")))
    writer.commit({})
    writer.close()
    view = IndexReader(tmp_path).view

    def matches(*words: str) -> int:
        return view.search(tantivy.Query.phrase_query(view.schema, schema.HEADINGS, [*words]), 1)[1]

    assert (matches("one", "two"), matches("two", "three")) == (1, 0)


def test_chinese_is_found_by_any_part_of_it(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path)
    writer.put(an_entry(1, "我们在东京都的图书馆见面"))
    writer.commit({})
    writer.close()
    view = IndexReader(tmp_path).view

    def matches(*words: str) -> int:
        return view.search(tantivy.Query.phrase_query(view.schema, schema.BODY, [*words]), 1)[1]

    assert matches("图", "书", "馆") == 1
    assert matches("书", "图") == 0


def test_a_word_of_ten_thousand_letters_is_a_word(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path)
    longest = "x" * 10_000
    writer.put(an_entry(1, f"before {longest} after " + "y" * 100_000))
    writer.commit({})
    writer.close()

    view = IndexReader(tmp_path).view

    assert found(view, longest) == found(view, "after") == [url_of(1)]


def test_an_empty_page_is_an_entry_too(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path)
    writer.put(an_entry(1, ""))
    writer.commit({})
    writer.close()

    view = IndexReader(tmp_path).view
    kept = view.find(key_of(1))

    assert view.count == 1
    assert kept is not None
    assert view.text(kept) == ""


def test_the_newest_come_first_when_asked_for(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path)
    for number in (2, 3, 1):
        writer.put(an_entry(number, "word", at_us=number * 1_000_000))
    writer.commit({})
    writer.close()
    view = IndexReader(tmp_path).view

    matches, total = view.search(schema.every_entry(), 2, newest_first=True)

    assert [view.kept(match.address).url for match in matches] == [url_of(3), url_of(2)]
    assert total == 3


def test_the_writer_says_when_enough_waits(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path)

    for number in range(10):
        writer.put(an_entry(number, "word " * 1_000_000))

    before = writer.is_full
    for number in range(10):
        writer.remove(key_of(number))
    writer.commit({})

    assert (before, writer.is_full) == (True, False)
    writer.close()


def test_where_there_is_no_index_it_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"no index .* `gossamer rebuild index`"):
        IndexReader(tmp_path / "absent")


def test_where_nothing_is_new_nothing_is_committed(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path)
    writer.put(an_entry(1))
    writer.commit({"a.warc.gz": 10})
    reader = IndexReader(tmp_path)

    writer.commit({"a.warc.gz": 10})
    assert not reader.reload()
    writer.commit({"a.warc.gz": 11})
    assert reader.reload()
    writer.close()


def test_pages_that_change_every_day_do_not_fill_the_disk(tmp_path: Path) -> None:
    """The writer is opened anew each day; tantivy merges its files and forgets what was dead."""
    sizes = []
    for day in range(30):
        writer = IndexWriter(tmp_path, fewest_dead=20)
        for number in range(8):
            writer.put(an_entry(number, f"day {day} " + "words " * 500))
        writer.commit({})
        writer.finish({})
        writer.close()
        sizes.append(sum(path.stat().st_size for path in tmp_path.rglob("texts")))

    view = IndexReader(tmp_path).view
    assert view.count == 8
    assert max(sizes) < 8 * sizes[0]
    assert len(found(view, "words")) == 8
