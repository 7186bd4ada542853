"""What people type, and the tree that it is read into."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from gossamer.search.hints import hint_of
from gossamer.search.query import MAX_CHARS, MAX_DEPTH, MAX_PARTS, parse, read
from gossamer.search.tree import (
    All,
    Any,
    Field,
    Has,
    Not,
    Phrase,
    Property,
    QueryNode,
    Word,
    WordPrefix,
)
from support.rows import each_row


def spelt(node: QueryNode) -> str:
    """A tree in a form that shows its shape and nothing of where it stood."""
    match node:
        case Word(text, field):
            return f"{field}:{text}" if field else text
        case WordPrefix(text, field):
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
    "one-two --three": "[one-two three]",
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
    "changed:7d": "changed=7d",
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


@each_row("text", READ)
def test_a_query_is_read_as_its_tree(text: str) -> None:
    assert spelt(read(text)) == READ[text]


NOT_SYNTAX = {
    'one "two': ("[one two]", "quotation mark"),
    'one "two three" four"': ("[one <two three> four]", "quotation mark"),
    '5" pipe': ("[5 pipe]", "quotation mark"),
    'title:"one two': ("[title:one two]", "quotation mark"),
    "one (two three": ("[one two three]", "bracket is not closed"),
    "title:(one two": ("[title:one two]", "bracket is not closed"),
    "-(one two": ("[not one two]", "bracket is not closed"),
    "((one OR two": ("{one two}", "bracket is not closed"),
    "one) two": ("[one two]", "has no opening bracket"),
    "noteOn(int, int)": ("[noteOn(int, int]", "has no opening bracket"),
    "OR": ("OR", "on each side"),
    "OR one": ("[OR one]", "on each side"),
    "one OR": ("[one OR]", "on each side"),
    "one OR OR two": ("{one two}", "on each side"),
    "one OR two OR OR": ("[{one two} OR OR]", "on each side"),
    "(one OR) two": ("[[one OR] two]", "on each side"),
    "--settings": ("settings", "single dash excludes"),
    "title:": ("title:", "right after the colon"),
    "title: one": ("[title: one]", "right after the colon"),
    "one site: two": ("[one site: two]", "right after the colon"),
    '"one two"~': ("<one two>", "whole number"),
    '"one two"~x': ("[<one two> x]", "whole number"),
    '"one two"~9999999999': ("<one two>~100", "at most 100"),
    "since:yesterday": ("since:yesterday", "2026-01-31"),
    "since:2026-13-01": ("since:2026-13-01", "2026-01-31"),
    "changed:soon": ("changed:soon", "changed takes a day"),
    "since:0000": ("since:0000", "2026-01-31"),
    "site://": ("site://", "name of a host"),
    "site:" + "a" * 64 + ".\u00fc": ("site:" + "a" * 64 + ".\u00fc", "name of a host"),
}


@each_row("text", NOT_SYNTAX)
def test_what_is_not_syntax_is_read_as_words_and_a_reason_says_so(text: str) -> None:
    tree, words = NOT_SYNTAX[text]

    parsed = parse(text)

    assert spelt(parsed.tree) == tree
    assert any(words in reason for reason in parsed.reasons), parsed.reasons


@each_row("text", [one for one in READ if "--" not in one])
def test_what_is_syntax_needs_no_hint(text: str) -> None:
    assert parse(text).reasons == ()


def test_a_hint_shows_the_reading_and_is_one_short_line() -> None:
    short, long = parse('noteOn(int, "rose'), parse("title: " * 3 + "\x1b[2Jword " * 900 + '"')

    assert hint_of(short.reasons, short.tree).endswith('Read as: "noteon int" rose')
    hint = hint_of(long.reasons, long.tree)
    assert len(hint) < 300
    assert hint.isprintable()


def test_length_depth_and_number_of_words_are_bounded() -> None:
    def reasons(text: str) -> str:
        return " ".join(parse(text).reasons)

    assert "first 10,000 of 10,001 characters" in reasons("a" * (MAX_CHARS + 1))
    assert f"more than {MAX_DEPTH} deep" in reasons("(" * 30 + "a" + ")" * 30)
    assert spelt(read("(" * 4000 + "a" + ")" * 4000)) == "a"
    assert "first 2,000 words" in reasons("a " * (MAX_PARTS + 1))
    assert "first 20 words with *" in reasons("a* " * 21)
    assert "first 20 phrases with ~" in reasons('"a b"~2 ' * 21)
    many = read("a " * (MAX_PARTS + 1))
    assert isinstance(many, All)
    assert len(many.parts) == MAX_PARTS


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


@given(st.one_of(SYNTAX, st.text(max_size=300)))
def test_any_text_is_read_and_its_hint_is_one_line(text: str) -> None:
    parsed = parse(text)

    hint = hint_of(parsed.reasons, parsed.tree)
    assert hint.isprintable()
    assert len(hint) < 1_000


@each_row(
    "piece", ["(", ")", '"', '"a"~5 ', "a OR ", "-", "a*", "(a ", "title:(", "*", "site:a ", "OR "]
)
def test_ten_thousand_characters_of_anything_are_read_quickly(piece: str) -> None:
    start_s = time.process_time()
    parse((piece * MAX_CHARS)[:MAX_CHARS])

    assert time.process_time() - start_s < 1.0  # it takes some milliseconds
