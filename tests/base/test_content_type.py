"""Which of several Content-Type values counts."""

from hypothesis import given
from hypothesis import strategies as st

from gossamer.base.content_type import content_type_of
from gossamer.parse.mime import parse_mime
from support.rows import each_row


@each_row(
    ("values", "counts"),
    [
        ([], ""),
        (["text/html"], "text/html"),
        (["text/html; charset=utf-8"], "text/html;charset=utf-8"),
        (["not a type"], ""),
        (["text/html", "text/plain"], "text/plain"),
        (["text/html, text/plain"], "text/plain"),
        (["text/plain", ""], "text/plain"),
        (["", "text/plain"], "text/plain"),
        (["text/html", "*/*"], "text/html"),
        (["*/*", "text/html"], "text/html"),
        (["text/html", "no type"], "text/html"),
        (["text/plain;charset=gbk", "text/html"], "text/html"),
        (["text/html;charset=gbk", "text/html"], "text/html;charset=gbk"),
        (["text/html;charset=gbk", "TEXT/HTML;x=1"], "text/html;x=1;charset=gbk"),
        (["text/html;charset=gbk", "text/html;charset=koi8-r"], "text/html;charset=koi8-r"),
        (["text/html;charset=gbk", "text/plain", "text/html"], "text/html"),
        (['text/html;x="', "text/plain"], 'text/html;x=", text/plain"'),
        (['text/html;x="a,b"', "text/plain"], "text/plain"),
        (['text/html;x="a\\",b";charset=gbk'], 'text/html;x="a\\",b";charset=gbk'),
    ],
)
def test_the_last_type_that_can_be_read_counts(values: list[str], counts: str) -> None:
    assert str(parse_mime(content_type_of(values))) == counts


@given(st.lists(st.text('abc/*;,=" \\charset'), max_size=4))
def test_any_values_can_be_asked(values: list[str]) -> None:
    assert content_type_of(values) in ("", content_type_of([content_type_of(values)]))
