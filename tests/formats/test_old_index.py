"""An index that an older release wrote is read, and the writer brings it to the present form.

`index-1.tar.gz` was written by a release with version 1, which had no field `changed`.
"""

import json
import tarfile
from pathlib import Path

import pytest
import tantivy

from gossamer.index import schema
from gossamer.index.folder import find_current
from gossamer.index.reader import IndexReader
from gossamer.index.writer import IndexWriter
from gossamer.search.engine import Engine
from gossamer.search.results import Request
from support.entries import an_entry, key_of

_OLD = Path(__file__).with_name("index-1.tar.gz")
_NOW_US = 1_767_225_600_000_000


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    with tarfile.open(_OLD) as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path


def _found(collection: Path, query: str) -> set[str]:
    hits = Engine(collection).search(Request(query=query, limit=100))
    return {hit.url for hit in hits}


def test_an_old_index_is_searched_as_it_is(collection: Path) -> None:
    assert len(_found(collection, "common")) == 3
    assert _found(collection, "elsewhere") == {"http://a.test/1"}
    assert _found(collection, "common changed:2000") == set()
    assert json.loads((collection / "index" / "current").read_bytes())["version"] == 1


def test_a_writer_rewrites_an_old_index_in_steps_and_loses_no_change(collection: Path) -> None:
    writer = IndexWriter(collection / "index", rewrite_step=2)
    writer.put(an_entry(7, "common fresh", changed_us=_NOW_US))
    writer.commit({})  # into the old form, beside which the new one begins

    assert len(_found(collection, "common")) == 4
    writer.commit({"b.warc.gz": 5})
    writer.commit({"b.warc.gz": 6})
    writer.commit({"b.warc.gz": 7})
    writer.close()

    assert json.loads((collection / "index" / "current").read_bytes())["version"] == schema.VERSION
    assert len(_found(collection, "common")) == 4
    assert _found(collection, "elsewhere") == {"http://a.test/1"}
    assert _found(collection, "changed:2025") == {"https://docs.example.org/page/7"}


def test_the_end_of_a_crawl_rewrites_an_old_index_whole(collection: Path) -> None:
    writer = IndexWriter(collection / "index", rewrite_step=1)
    writer.put(an_entry(7, "common fresh", changed_us=_NOW_US))
    writer.finish({"b.warc.gz": 9})
    writer.close()

    current = find_current(collection / "index")
    assert current is not None
    fields = json.loads((current / "words" / "meta.json").read_bytes())["schema"]
    assert schema.CHANGED in {field["name"] for field in fields}
    view = IndexReader(collection / "index").view
    kept = view.find(key_of(7))
    assert kept is not None
    assert kept.changed_us == _NOW_US
    assert len(_found(collection, "common")) == 4


def test_a_writer_that_is_killed_leaves_the_old_index(collection: Path) -> None:
    writer = IndexWriter(collection / "index", rewrite_step=1)
    writer.commit({"b.warc.gz": 1})
    writer.close()  # before the new form is complete

    assert len(_found(collection, "common")) == 3
    again = IndexWriter(collection / "index")
    again.finish({"b.warc.gz": 2})
    again.close()
    assert len(_found(collection, "common")) == 3
    assert json.loads((collection / "index" / "current").read_bytes())["version"] == schema.VERSION


def test_an_index_of_a_later_release_is_refused_with_what_to_do(collection: Path) -> None:
    (collection / "index" / "current").write_text('{"version": 99, "generation": "g000001"}')

    with pytest.raises(Exception, match=r"format 99.*gossamer rebuild index"):
        Engine(collection)


def test_tantivy_tells_which_fields_an_index_has(collection: Path) -> None:
    old = tantivy.Index.open(str(collection / "index" / "g000001" / "words"))
    with pytest.raises(ValueError, match="changed"):
        tantivy.Query.range_query(old.schema, "changed", tantivy.FieldType.Date, None, None)
