"""Words that share a stem find each other."""

import gzip
import json
from pathlib import Path

import pytest

from gossamer.index.reader import IndexReader, View
from gossamer.index.stem_variants import (
    LANGUAGES,
    StemVariant,
    beginning_of,
    stem_variants_of,
    stemmer_of,
)
from gossamer.index.words import normal, words_of
from gossamer.index.writer import IndexWriter
from support.entries import an_entry
from support.rows import each_row
from support.shared import data


@pytest.fixture
def view(tmp_path: Path) -> View:
    writer = IndexWriter(tmp_path)
    for number, text in enumerate(
        (
            "connect connected connecting connection connections connector context",
            "connection happy happily happiness hoping hopes hope",
            "parler parlez parlé Häuser Haus",
        )
    ):
        writer.put(an_entry(number, text))
    writer.commit({})
    writer.close()
    return IndexReader(tmp_path).view


def test_a_word_finds_all_with_its_stem_the_commonest_first(view: View) -> None:
    variants = stem_variants_of("connected", ["en"], view.searcher)

    assert variants[:2] == (StemVariant("connected", 1), StemVariant("connection", 2))
    assert {one.word for one in variants} == {
        "connected", "connect", "connecting", "connection", "connections",
    }  # fmt: skip


def test_a_stem_that_ends_in_another_letter_is_found_too(view: View) -> None:
    assert {one.word for one in stem_variants_of("hope", ["en"], view.searcher)} == {
        "hope",
        "hopes",
        "hoping",
    }
    assert "happiness" in {one.word for one in stem_variants_of("happy", ["en"], view.searcher)}


@each_row(
    ("word", "beginning"),
    [
        ("happy", "happ"),
        ("hoping", "hop"),
        ("possibility", "possib"),
        ("sky", "sk"),
        ("map", "map"),
    ],
)
def test_as_much_of_a_stem_begins_its_words_as_cannot_change(word: str, beginning: str) -> None:
    (stem,) = stemmer_of("en").stems([word])

    assert beginning_of(stem, "en") == beginning
    assert beginning_of(stem, "fr") == stem[:-1]


@pytest.mark.parametrize("collection", ["cranfield", "cisi", "lisa"])
def test_no_word_of_real_texts_is_lost_by_that(collection: str) -> None:
    with gzip.open(data(f"ir/{collection}") / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    words = sorted({word for text in texts for word in words_of(text) if word.isalpha()})

    stems = stemmer_of("en").stems(words)

    assert len(words) > 5_000
    assert not [
        (word, stem)
        for word, stem in zip(words, stems, strict=True)
        if len(stem) > 2 and word.startswith(stem[:-1])
        if not word.startswith(beginning_of(stem, "en"))
    ]


def test_kin_come_from_every_language_that_is_asked(view: View) -> None:
    assert {one.word for one in stem_variants_of("parler", ["en", "fr"], view.searcher)} >= {
        "parlez"
    }
    assert {one.word for one in stem_variants_of("haus", ["de"], view.searcher)} == {
        "haus",
        "hauser",
    }


def test_a_word_that_no_page_has_is_kin_to_itself(view: View) -> None:
    assert stem_variants_of("absent", ["en"], view.searcher) == (StemVariant("absent", 0),)
    assert stem_variants_of("connected", [], view.searcher) == (StemVariant("connected", 1),)


@each_row("language", LANGUAGES)
def test_every_language_has_a_stemmer(language: str) -> None:
    word = normal("internationalisation")

    assert len(stemmer_of(language).stems([word, word])) == 2
