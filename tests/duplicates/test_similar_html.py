"""Sketches find pages with nearly the same HTML, and the comparison proves that they are."""

import random
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Indel

from gossamer.duplicates.band_index import BandIndex
from gossamer.duplicates.judging import Judge, Sketched
from gossamer.duplicates.similar import may_be_similar, similarity
from gossamer.duplicates.sketch import SKETCH_BYTES, bands_in, length_in, sketch_of
from support.rows import each_row


def a_page(seed: int, paragraphs: int = 60) -> bytes:
    some = random.Random(seed)
    words = ["".join(some.choices("abcdefghij", k=6)) for _ in range(400)]
    body = "".join(
        f"<p class=x>{' '.join(some.choices(words, k=12))}.</p>\n" for _ in range(paragraphs)
    )
    return f"<html><title>{seed}</title><body>{body}</body></html>".encode()


def counted(html: bytes, count: int) -> bytes:
    """The page with a counter, a date and an advertisement."""
    more = (
        f"<p>Visitors: {count}</p><p>{count % 28 + 1}.3.2024</p><img src=/ad/{count}.png>".encode()
    )
    return html.replace(b"</body>", more + b"</body>").replace(b"class=x", b"class=y", count % 3)


PIECES = st.sampled_from([b"<p>one</p>", b"<b>two", b"three, ", b"</i>", b"<", b"x", b""])
HTML = st.lists(PIECES, max_size=40).map(b"".join)


@given(HTML, HTML, st.sampled_from([0.8, 0.9, 0.95, 1.0]))
def test_similar_pages_are_those_that_the_whole_comparison_says(
    a: bytes, b: bytes, at_least: float
) -> None:
    exact = Indel.normalized_similarity(a, b)
    found = similarity(a, b, at_least)

    assert bool(found) == (exact >= at_least)
    assert found <= exact + 1e-9
    assert may_be_similar(len(a), len(b), at_least) or not found


@each_row("count", [1, 7, 99, 100_000])
def test_a_counter_a_date_and_an_advertisement_leave_a_page_similar(count: int) -> None:
    one, other = a_page(1), counted(a_page(1), count)

    assert similarity(one, other, 0.95) >= 0.95
    assert (bands_in(sketch_of(one)) == bands_in(sketch_of(other))).sum() >= 3


def test_pages_with_other_words_are_not_similar() -> None:
    one, other = a_page(1), a_page(2)

    assert similarity(one, other, 0.95) == 0.0
    assert (bands_in(sketch_of(one)) == bands_in(sketch_of(other))).sum() < 3


@each_row("length", [64, 100, 16_383, 16_384, 16_385, 20_479, 20_480, 20_481, 90_000])
def test_pages_of_every_length_have_a_sketch(length: int) -> None:
    html = (a_page(3, 1000))[:length]
    sketch = sketch_of(html)

    assert len(sketch) == SKETCH_BYTES
    assert length_in(sketch) == length
    longer = sketch_of(html[: length // 2] + b"!" + html[length // 2 :])
    assert length < 1000 or (bands_in(sketch) == bands_in(longer)).sum() >= 3


def test_a_page_without_tags_has_a_sketch_and_a_very_short_one_has_none() -> None:
    assert len(sketch_of(b"only words " * 10)) == SKETCH_BYTES
    assert sketch_of(b"<p>short</p>") == b""


def test_large_pages_that_are_nothing_alike_are_told_apart_soon() -> None:
    one = b"<p>" + b"a b " * 500_000
    other = b"<q>" + b"b a " * 500_000

    assert similarity(one, other, 0.95) in (0.0, pytest.approx(1.0, abs=0.05))


def test_the_index_finds_the_pages_with_equal_numbers() -> None:
    index = BandIndex()
    pages = [a_page(seed) for seed in range(300)]
    bands = np.array([bands_in(sketch_of(html)) for html in pages])
    for start in range(0, 300, 70):
        numbers = np.arange(start, min(300, start + 70), dtype=np.uint32)
        index.add(numbers, bands[numbers])
    wanted = np.array([bands_in(sketch_of(counted(html, 5))) for html in pages])

    for number, found in enumerate(index.find(wanted)):
        assert found[0][0] == number
    index.drop(7)
    assert all(page != 7 for page, _ in index.find(wanted)[7])
    assert index.size_bytes < 300 * 270 + 2048


def test_every_variant_points_to_the_page_it_was_made_of() -> None:
    pages = [a_page(seed) for seed in range(40)]
    pages += [counted(html, seed) for seed, html in enumerate(pages)]
    named = {number.to_bytes(24, "big"): html for number, html in enumerate(pages)}
    judge = Judge(0.95, named.get)
    rows = [Sketched(name, sketch_of(html)) for name, html in named.items()]

    verdicts = [*judge.judge(rows[:50]), *judge.judge(rows[50:])]

    firsts = [int.from_bytes(one.first, "big") if one.first else None for one in verdicts]
    assert firsts == [None] * 40 + list(range(40))
    assert all(re.match(b"<html>", named[one.page]) for one in verdicts)
    assert judge.remove(rows[3].page)
    assert not judge.remove(rows[3].page)
    assert not judge.remove(rows[45].page)


def same_numbers(count: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint32]]:
    """The numbers of pages of one template."""
    return np.tile(np.arange(32, dtype=np.uint32), (count, 1))


def test_of_a_number_that_many_pages_have_only_some_pages_are_looked_at() -> None:
    index = BandIndex()
    start = 0
    for count in (320, 150, 70, 30):  # each too small to be merged with the one before
        index.add(np.arange(start, start + count, dtype=np.uint32), same_numbers(count))
        start += count

    assert [page for page, _ in index.find(same_numbers(1))[0]] == list(range(16))


def test_dropped_pages_do_not_hide_others() -> None:
    index = BandIndex()
    index.add(np.arange(40, dtype=np.uint32), same_numbers(40))
    for page in range(20):
        index.drop(page)
    index.purge()

    assert [page for page, _ in index.find(same_numbers(1))[0]] == list(range(20, 36))


def test_pages_with_too_few_equal_numbers_are_not_found() -> None:
    index = BandIndex()
    index.add(np.arange(1, dtype=np.uint32), same_numbers(1))
    wanted = same_numbers(1)
    wanted[0, 4:] += 1_000_000

    assert index.find(wanted, 4) == [[(0, 4)]]
    assert index.find(wanted, 5) == [[]]


def test_a_first_page_whose_bytes_differ_too_much_is_read_once() -> None:
    template = b"".join(b"<li><a href=/%d>%d</a>, " % (n, n * 7919) for n in range(400))
    pages = [template + b"<p>" + letter * 1_500 for letter in (b"a", b"b", b"c", b"d")]
    named = {number.to_bytes(24, "big"): html for number, html in enumerate(pages)}
    read: list[int] = []

    def read_page(name: bytes) -> bytes:
        read.append(int.from_bytes(name, "big"))
        return named[name]

    judge = Judge(0.95, read_page)
    rows = [Sketched(name, sketch_of(html)) for name, html in named.items()]

    assert not any(verdict.first for verdict in judge.judge(rows))
    assert read.count(0) == 1
    assert judge.compared == 0


def test_lines_that_are_aligned_badly_do_not_hide_equal_tags() -> None:
    cells = [b"<td>%d</td>" % (n * 7919 % 10_007) for n in range(2_000)]
    one = b"\n".join(b"".join(cells[n : n + 20]) for n in range(0, 2_000, 20))
    other = b"\n".join(b"".join(cells[n : n + 25]) for n in range(0, 2_000, 25))

    assert similarity(one, other, 0.95) >= 0.95
