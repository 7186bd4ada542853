"""What a worker tells of a page arrives at the node as it was sent."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from gossamer.policies.contexts import contexts_of
from gossamer.policies.focus.page_words import PageWords, words_of_links
from gossamer.policies.focus.words import NO_WORD, WordHasher
from support.rows import each_row

HASHER = WordHasher()


def test_the_words_of_a_page_and_its_links_travel_as_bytes() -> None:
    text = "A flute is played. See Mozart for more."
    links, contexts = words_of_links(HASHER, text, ["Mozart", ""], ["http://a/m", "http://a/x/y"])
    sent = PageWords(HASHER.page("Flute", text), links, contexts, 0.25)

    came = PageWords.unpack(sent.pack())

    assert came.page.tolist() == sent.page.tolist()
    assert came.links.tolist() == links.tolist()
    assert came.contexts.tolist() == contexts.tolist()
    assert came.relevance == 0.25
    assert came.contexts[0, 0] != NO_WORD
    assert set(came.contexts[1].tolist()) == {NO_WORD}


def test_a_page_without_links_and_words_is_small() -> None:
    nothing = words_of_links(HASHER, "", [], [])

    assert len(PageWords(HASHER.page("", ""), *nothing).pack()) == 8


@each_row("raw", [b"", b"1234567", b"\xff" * 12, b"\1\0\0\0" + b"\0" * 4 + b"\xff" * 4])
def test_other_bytes_are_refused(raw: bytes) -> None:
    with pytest.raises((ValueError, struct.error)):
        PageWords.unpack(raw)


def test_the_context_of_a_link_is_the_text_around_it_without_cut_words() -> None:
    text = f"{'begin ' * 20}near the flute and far {'end ' * 30}"

    (context,) = contexts_of(text, ["flute"])

    assert context.split()[-1] == "end"
    assert "near the" in context
    assert "and far" in context
    assert set(context.split()) <= {"begin", "near", "the", "and", "far", "end"}


def test_each_link_has_the_context_of_its_own_place() -> None:
    text = "one flute red. " + "x " * 60 + "two flute blue"

    first, second = contexts_of(text, ["flute", "flute"])

    assert "red" in first
    assert "blue" in second
    assert contexts_of(text, ["harp", "it"]) == ["", ""]


def test_contexts_of_many_links_take_linear_time() -> None:
    text = "word " * 4_000
    contexts = contexts_of(text, ["absent anchor"] * 2_000)

    assert contexts == [""] * 2_000
    assert np.all([len(one) == 0 for one in contexts])
