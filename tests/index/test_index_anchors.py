"""Words of links reach the page that they lead to."""

import random
import time
from pathlib import Path

import pytest

from gossamer.errors import CorruptFile
from gossamer.index import schema
from gossamer.index.anchors import MOST, AnchorStore, chosen, words_number
from gossamer.index.batches import ALL, shares_of
from gossamer.index.reader import IndexReader, ids
from gossamer.index.words import normal_all
from gossamer.index.writer import IndexWriter
from support.entries import an_entry, found, key_of, url_of


def page_of(host: str) -> bytes:
    """The key of a page on another host."""
    return host.encode().ljust(8) + bytes(8)


def test_anchors_known_at_the_first_commit_are_in_the_entry(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path)
    writer.note_anchor(key_of(1), "before it came", page_of("a"))
    writer.put(an_entry(1))
    writer.note_anchor(key_of(1), "while it waited", page_of("a"))
    writer.commit({})

    assert writer.write_late_anchors() == 0
    writer.close()

    view = IndexReader(tmp_path).view
    assert found(view, "before", schema.ANCHORS) == [url_of(1)]
    assert found(view, "waited", schema.ANCHORS) == [url_of(1)]


def test_a_late_anchor_is_written_once_and_nothing_else_is_lost(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path)
    for number in range(5):
        writer.put(an_entry(number, f"Text {number}", title="Title"))
    writer.commit({"a": 1})
    writer.note_anchor(key_of(1), "late words", page_of("a"))
    writer.note_anchor(key_of(77), "to no page of ours", page_of("a"))

    assert (writer.write_late_anchors(), writer.write_late_anchors()) == (1, 0)
    writer.close()

    view = IndexReader(tmp_path).view
    kept = view.find(key_of(1))
    assert kept is not None
    assert (kept.anchors, kept.title, view.text(kept)) == (("late words",), "Title", "Text 1")
    assert found(view, "late", schema.ANCHORS) == found(view, "1") == [url_of(1)]
    assert view.count == 5


def test_where_many_entries_lack_words_the_index_is_written_anew_at_once(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path, fewest_dead=10)
    for number in range(60):
        writer.put(an_entry(number, f"text{number} same", title="Title"))
        writer.note_anchor(key_of(number), f"early{number}", page_of("a"))
    writer.commit({"a": 1})
    for number in range(40):
        writer.note_anchor(key_of(number), f"late{number}", page_of("a"))

    assert (writer.write_late_anchors(), writer.write_late_anchors()) == (40, 0)

    assert [path.name for path in tmp_path.glob("g*")] == ["g000002"]
    assert dict(writer.covered) == {"a": 1}
    view = IndexReader(tmp_path).view
    assert list(ids(tmp_path)) == [key_of(number).hex() for number in range(60)]
    assert len(found(view, "same")) == 60
    assert found(view, "late7", schema.ANCHORS) == found(view, "text7") == [url_of(7)]
    for number in (7, 50):
        kept = view.find(key_of(number))
        assert kept is not None
        assert (view.text(kept), kept.title) == (f"text{number} same", "Title")
        assert f"early{number}" in kept.anchors
    writer.put(an_entry(70))
    writer.put(an_entry(7, "again"))
    writer.remove(key_of(8))
    writer.commit({"a": 2})
    writer.close()
    assert IndexReader(tmp_path).view.count == 60


def test_late_anchors_end_a_rewriting_that_is_under_way(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path, fewest_dead=10, rewrite_step=7)
    for turn, count in enumerate((60, 40)):
        for number in range(count):
            writer.put(an_entry(number, f"turn{turn}"))
        writer.commit({"a": turn})
    assert len(list(tmp_path.glob("g*"))) == 2, "the rewriting has begun"
    writer.note_anchor(key_of(7), "late", page_of("a"))

    assert writer.write_late_anchors() == 1

    view = IndexReader(tmp_path).view
    assert (view.count, len(found(view, "turn1")), len(found(view, "turn0"))) == (60, 40, 20)
    assert found(view, "late", schema.ANCHORS) == [url_of(7)]
    assert len(list(tmp_path.glob("g*"))) == 1
    writer.close()


def test_an_anchor_without_new_words_writes_nothing_again(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path)
    writer.put(an_entry(1))
    writer.note_anchor(key_of(1), "the manual", page_of("a"))
    writer.commit({})

    writer.note_anchor(key_of(1), "Manual, the", page_of("b"))

    assert writer.write_late_anchors() == 0
    writer.close()


def test_a_page_fetched_again_keeps_its_anchors(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path)
    writer.note_anchor(key_of(1), "old friend", page_of("a"))
    writer.put(an_entry(1))
    writer.commit({})
    writer.close()

    again = IndexWriter(tmp_path)
    again.put(an_entry(1, "new text"))
    again.commit({})

    assert found(IndexReader(tmp_path).view, "friend", schema.ANCHORS) == [url_of(1)]
    assert again.write_late_anchors() == 0
    again.close()


def test_the_end_writes_what_waits_and_late_anchors(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path)
    writer.put(an_entry(1))
    writer.commit({"a.warc.gz": 3})
    writer.note_anchor(key_of(1), "late", page_of("a"))
    writer.note_anchor(key_of(2), "early", page_of("a"))
    writer.put(an_entry(2))

    assert (writer.finish({"a.warc.gz": 5}), writer.finish({})) == (1, 0)

    view = IndexReader(tmp_path).view
    assert found(view, "late", schema.ANCHORS) == [url_of(1)]
    assert found(view, "early", schema.ANCHORS) == [url_of(2)]
    assert (view.count, writer.covered) == (2, {"a.warc.gz": 5})
    writer.close()


def test_late_anchors_of_many_pages_are_all_written_at_the_end(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path, fewest_dead=10_000)
    for number in range(2_100):
        writer.put(an_entry(number, "brief"))
    writer.commit({})
    for number in range(2_100):
        writer.note_anchor(key_of(number), f"late{number % 7}", page_of("a"))

    assert (writer.finish({}), writer.finish({})) == (2_100, 0)

    view = IndexReader(tmp_path).view
    counts = [len(found(view, f"late{turn}", schema.ANCHORS)) for turn in range(7)]
    assert (view.count, counts) == (2_100, [300] * 7)
    writer.close()


def test_a_page_that_waits_at_the_end_does_not_get_its_older_entry_again(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path)
    for number in (1, 2):
        writer.put(an_entry(number, "once"))
    writer.commit({})
    writer.close()
    again = IndexWriter(tmp_path)
    again.note_anchor(key_of(1), "late", page_of("a"))
    again.note_anchor(key_of(2), "gone", page_of("a"))
    again.put(an_entry(1, "twice"))
    again.remove(key_of(2))

    assert again.finish({}) == 0

    view = IndexReader(tmp_path).view
    assert (view.count, found(view, "once"), found(view, "twice")) == (1, [], [url_of(1)])
    assert found(view, "late", schema.ANCHORS) == [url_of(1)]
    again.close()


def test_an_index_that_is_worn_at_the_end_is_written_anew(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path, fewest_dead=10)
    for turn in range(2):
        for number in range(40):
            writer.put(an_entry(number, f"turn{turn}"))
            writer.note_anchor(key_of(number), f"late{turn}", page_of("a"))
        assert writer.finish({}) == 0
        writer.note_anchor(key_of(7), f"later{turn}", page_of("a"))

    assert writer.finish({}) == 1

    view = IndexReader(tmp_path).view
    assert (view.count, len(found(view, "turn1")), len(found(view, "turn0"))) == (40, 40, 0)
    assert found(view, "later1", schema.ANCHORS) == [url_of(7)]
    assert len(list(tmp_path.glob("g*"))) == 1
    writer.close()


def test_links_without_words_and_links_of_a_page_to_itself_do_not_count(tmp_path: Path) -> None:
    book = AnchorStore(tmp_path / "anchors")

    book.note(key_of(1), "", page_of("a"))
    book.note(key_of(1), "top of the page", key_of(1))

    assert (book.settle([key_of(1)]), book.sync()) == ({}, 0)
    book.close()


def test_the_anchors_of_most_hosts_are_chosen_whatever_their_order(tmp_path: Path) -> None:
    links = [(f"from {host} only {n}", f"h{host}") for host in range(3) for n in range(100)]
    links += [("home", f"h{host}") for host in range(3)] + [("two", "h0"), ("two", "h1")]
    choices = set()
    for turn in range(6):
        random.Random(turn).shuffle(links)
        book = AnchorStore(tmp_path / str(turn), remember=1_000 if turn % 2 else 50)
        for anchor, host in links * 2:
            book.note(key_of(1), anchor, page_of(host))
            book.note(key_of(2), f"{anchor} {host}", page_of(host))  # so that others are forgotten

        choices.add(chosen(book.read(ALL, [key_of(1)])[key_of(1)]))
        choices.add(book.settle([key_of(1)])[key_of(1)])
        book.sync()
        book.close()
        book = AnchorStore(tmp_path / str(turn), book.length)
        choices.add(chosen(book.read(ALL, [key_of(1)])[key_of(1)]))
        choices.add(book.settle([key_of(1)])[key_of(1)])
        book.close()

    assert len(choices) == 1
    (choice,) = choices
    assert choice[:3] == ("home", "two", "from 0 only 0")
    assert len(choice) == MOST


def test_a_host_is_told_from_the_end_of_one_and_the_beginning_of_the_next(tmp_path: Path) -> None:
    book = AnchorStore(tmp_path / "anchors")

    for host in (b"aaaabbbb", b"ccccdddd", b"bbbbcccc", b"ccccdddd"):
        book.note(key_of(1), "words", host + bytes(8))

    assert book.read(ALL, [key_of(1)]) == {key_of(1): {"words": 3}}
    book.close()


@pytest.mark.parametrize("is_reopened", [False, True])
def test_what_is_read_of_all_shares_is_all_that_was_noted(
    tmp_path: Path, *, is_reopened: bool
) -> None:
    book = AnchorStore(tmp_path / "anchors", remember=20)
    keys = [random.Random(n).randbytes(16) for n in range(200)]
    for n, key in enumerate(keys):
        book.note(key, f"anchor {n}", page_of("a"))
        book.note(keys[n // 2], f"again {n}", page_of("b"))
    length = book.sync()
    if is_reopened:
        book.close()
        book = AnchorStore(tmp_path / "anchors", length)

    shares = list(shares_of(200, 30))
    wanted = [[key for key in keys[:150] if share.holds(key)] for share in shares]
    read = [book.read(share, keys) for share, keys in zip(shares, wanted, strict=True)]

    assert len(read) == 7
    assert {key: set(one[key]) for one in read for key in one} == {
        key: {f"anchor {n}"} | {f"again {m}" for m in (2 * n, 2 * n + 1) if m < 200}
        for n, key in enumerate(keys[:150])
    }
    assert sum(map(len, read)) == 150
    book.close()


def test_a_page_has_all_anchors_when_it_is_first_written_however_many_were_met_since(
    tmp_path: Path,
) -> None:
    book = AnchorStore(tmp_path / "anchors", remember=10)
    for n in range(300):
        book.note(key_of(n), f"first {n}", page_of("a"))
    for n in range(300):
        book.note(key_of(n), f"second {n}", page_of("a"))

    settled = book.settle([key_of(n) for n in range(0, 400, 10)])

    assert not book.is_whole
    assert settled == {key_of(n): (f"first {n}", f"second {n}") for n in range(0, 300, 10)}
    book.close()


def test_a_commit_of_many_pages_costs_what_each_of_them_does(tmp_path: Path) -> None:
    book = AnchorStore(tmp_path / "anchors", remember=1_000)
    keys = [key_of(number) for number in range(40_000)]
    for key in keys:
        book.note(key, "words", page_of("a"))
    book.settle(keys[:1])  # all lines are in order now
    began_s = time.process_time()

    assert len(book.settle(keys)) == 40_000

    assert time.process_time() - began_s < 3  # 0.4 s; were each looked for among all, 10
    book.close()


def test_the_same_line_twice_counts_once(tmp_path: Path) -> None:
    book = AnchorStore(tmp_path / "anchors", remember=2)
    for _ in range(3):
        for n in range(10):
            book.note(key_of(n), "words", page_of("a"))
    assert book.sync() > 10 * 31, "some were forgotten and noted again"

    assert book.read(ALL, [key_of(0)]) == {key_of(0): {"words": 1}}
    book.close()


def test_a_file_of_anchors_that_says_it_is_longer_is_an_error_with_the_way_out(
    tmp_path: Path,
) -> None:
    book = AnchorStore(tmp_path / "anchors")
    book.note(key_of(1), "some words", page_of("a"))
    length = book.sync()
    book.close()
    data = (tmp_path / "anchors").read_bytes()
    (tmp_path / "anchors").write_bytes(data[:24] + b"\xff\xff" + data[26:])

    book = AnchorStore(tmp_path / "anchors", length)
    with pytest.raises(CorruptFile, match=r"anchors, byte 0: .* middle .*`gossamer rebuild index`"):
        book.settle([key_of(1)])
    book.close()


def test_the_number_of_words_does_not_hang_on_their_order() -> None:
    one = words_number(normal_all(["The Manual", "home"]))

    assert one == words_number(normal_all(["home", "manual", "the manual"]))
    assert one != words_number(normal_all(["home"]))
    assert words_number(normal_all([])) == words_number(normal_all(["..."])) == 0
