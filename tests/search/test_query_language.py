"""What people type, and the tree that it is read into."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import QueryError
from gossamer.search.query import MAX_CHARS, MAX_DEPTH, MAX_PARTS, read
from gossamer.search.tree import (
    All,
    Any,
    Field,
    Has,
    Node,
    Not,
    Phrase,
    Prefix,
    Property,
    Word,
)


def spelt(node: Node) -> str:
    """A tree in a form that shows its shape and nothing of where it stood."""
    match node:
        case Word(text, field):
            return f"{field}:{text}" if field else text
        case Prefix(text, field):
            return f"{field}:{text}*" if field else f"{text}*"
        case Phrase(text, slop, field):
            return (f"{field}:" if field else "") + f"<{text}>" + (f"~{slop}" if slop else "")
        case Has(property, value):
            return f"{property}={value}"
        case Not(part):
            return f"not {spelt(part)}"
        case All(parts):
            return "[" + " ".join(map(spelt, parts)) + "]"
        case Any(parts):
            return "{" + " ".join(map(spelt, parts)) + "}"


READ = {
    "one": "one",
    "one two": "[one two]",
    '"one two"': "<one two>",
    '"one two"~5': "<one two>~5",
    '"one two"~5 three': "[<one two>~5 three]",
    "“one two”": "<one two>",
    "one OR two": "{one two}",
    "one two OR three four": "[one {two three} four]",
    "one OR two OR three": "{one two three}",
    "one or two": "[one or two]",
    "ORDER OR ORB": "{ORDER ORB}",
    "one -two": "[one not two]",
    '-"one two" three': "[not <one two> three]",
    "one -(two OR three)": "[one not {two three}]",
    "one OR -two": "{one not two}",
    "one - two": "[one - two]",
    "one-two --three": "[one-two not three]",
    "(one two) OR three": "{[one two] three}",
    "((one))": "one",
    "()": "[]",
    "title:one two": "[title:one two]",
    "TITLE:one": "title:one",
    'title:"one two"': "title:<one two>",
    "title:(one OR two*) three": "[{title:one title:two*} three]",
    "title:(one url:two three)": "[title:one url:two title:three]",
    "anchor:one": "anchor:one",
    "url:docs/api": "url:docs/api",
    "site:Docs.Example.org": "site=docs.example.org",
    "site:https://example.org:8080/path": "site=example.org",
    "site:127.0.0.1:8080": "site=127.0.0.1",
    "site:*.example.org": "site=example.org",
    "site:müller.example": "site=xn--mller-kva.example",
    "-site:example.org": "not site=example.org",
    "site:(a.org OR b.org)": "{site=a.org site=b.org}",
    "type:application/PDF": "type=application/pdf",
    "lang:zh-TW": "lang=zh",
    "since:2026-01-01": "since=2026-01-01",
    "inter*": "inter*",
    "inter**": "inter*",
    "std::vector http://a.b/c 10:30": "[std::vector http://a.b/c 10:30]",
    "print() f(x)(y)": "[print() f(x)(y)]",
    "(print())": "print()",
    'one"two three"four': "[one <two three> four]",
    "one\x00two\tthree\x1b[1m": "[one two three [1m]",
    "\ud800one": "one",
    "": "[]",
    "   ": "[]",
    "^(a+)+$": "^(a+)+$",
    "日本語 OR 한국어": "{日本語 한국어}",
}


@pytest.mark.parametrize("text", READ)
def test_a_query_is_read_as_its_tree(text: str) -> None:
    assert spelt(read(text)) == READ[text]


WRONG = {
    'one "two': (4, "never closed"),
    "one (two": (4, "never closed"),
    "one) two": (3, "closes nothing"),
    "OR one": (0, "before it"),
    "one OR": (4, "after it"),
    "one OR OR two": (4, "after it"),
    "(one OR) two": (5, "after it"),
    "title:": (0, "title: needs a value"),
    "one site: two": (4, "site: needs a value"),
    '"one two"~': (9, "whole number"),
    '"one two"~9999999999': (9, "whole number"),
    "since:yesterday": (6, "since: needs a day"),
    "since:2026-13-01": (6, "since: needs a day"),
    "since:0000": (6, "since: needs a day"),
    "site://": (5, "name of a host"),
}


@pytest.mark.parametrize("text", WRONG)
def test_what_cannot_be_read_is_pointed_at(text: str) -> None:
    at, words = WRONG[text]

    with pytest.raises(QueryError, match=words) as caught:
        read(text)

    assert caught.value.at == at
    assert str(caught.value).splitlines()[1:] == [f"  {text}", "  " + " " * at + "^"]


def test_the_caret_is_below_its_character_in_wide_and_long_queries() -> None:
    with pytest.raises(QueryError) as wide:
        read('日本 "語')
    with pytest.raises(QueryError) as long:
        read("word " * 100 + ")" + " word" * 100)

    assert str(wide.value).splitlines()[2] == "  " + " " * 5 + "^"
    query, caret = str(long.value).splitlines()[1:]
    assert query[caret.index("^")] == ")"
    assert len(query) < 80


def test_length_depth_and_number_of_words_are_bounded() -> None:
    with pytest.raises(QueryError, match=r"10,001 characters"):
        read("a" * (MAX_CHARS + 1))
    with pytest.raises(QueryError, match=f"more than {MAX_DEPTH} deep"):
        read("(" * 5000)
    with pytest.raises(QueryError, match=r"more than 2,000 words"):
        read("a " * (MAX_PARTS + 1))
    with pytest.raises(QueryError, match=r"more than 20 words end in \*"):
        read("a* " * 21)
    with pytest.raises(QueryError, match=r"more than 20 phrases have a ~"):
        read('"a b"~2 ' * 21)


def test_the_beginning_of_a_day_month_or_year_is_meant() -> None:
    moments = [
        read(f"since:{text}") for text in ("2026", "2026-1", "2026-01-01", "2026-01-01T00:00Z")
    ]

    assert {one.since_us for one in moments if isinstance(one, Has)} == {1_767_225_600_000_000}
    assert all(isinstance(one, Has) and one.property is Property.SINCE for one in moments)


def test_a_field_reaches_every_word_of_its_group() -> None:
    tree = read('title:(one "two three" -four)')

    assert isinstance(tree, All)
    one, phrase, negative = tree.parts
    assert isinstance(one, Word)
    assert isinstance(phrase, Phrase)
    assert isinstance(negative, Not)
    assert isinstance(negative.part, Word)
    assert {one.field, phrase.field, negative.part.field} == {Field.TITLE}


PIECES = [*'ab "()-~*:5|^$[]{}+?.', "\\", "\x00", "\n", "OR ", "title:", "site:", "since:"]
SYNTAX = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


def fault_of(text: str) -> QueryError | None:
    """What reading a query raises, if it does."""
    try:
        read(text)
    except QueryError as fault:
        return fault
    return None


@given(st.one_of(SYNTAX, st.text(max_size=300)))
def test_any_text_is_read_or_answered_with_a_sentence_that_points_into_it(text: str) -> None:
    fault = fault_of(text)

    assert fault is None or 0 <= fault.at <= len(text)
    assert fault is None or len(str(fault).split("\n")) == 3


@pytest.mark.parametrize(
    "piece", ["(", ")", '"', '"a"~5 ', "a OR ", "-", "a*", "(a ", "title:(", "*", "site:a "]
)
def test_ten_thousand_characters_of_anything_are_read_quickly(piece: str) -> None:
    start_s = time.process_time()
    fault = fault_of((piece * MAX_CHARS)[:MAX_CHARS])

    assert fault is None or fault.sentence
    assert time.process_time() - start_s < 1.0  # it takes some milliseconds
