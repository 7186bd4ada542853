"""Queries of pages in old charsets."""

from hypothesis import given
from hypothesis import strategies as st

from gossamer.urls.query import spelled_in
from support.rows import each_row


@each_row(
    ("charset", "href", "spelled"),
    [
        ("windows-1252", "/ü?q=ü&r=1#ü", "/ü?q=%FC&r=1#ü"),
        ("windows-1251", "?q=мир", "?q=%EC%E8%F0"),
        ("shift_jis", "?q=日本", "?q=%93%FA%96{"),
        ("gbk", "?q=中文", "?q=%D6%D0%CE%C4"),
        ("iso-8859-1", "?q=€", "?q=%26%238364%3B"),
        ("windows-1251", "?q=мüр", "?q=%EC%26%23252%3B%F0"),
    ],
)
def test_a_query_is_spelled_in_the_charset_of_its_page(
    charset: str, href: str, spelled: str
) -> None:
    assert spelled_in(charset, href) == spelled


@each_row("charset", ["", "utf-8", "utf-16le", "replacement", "no-such-charset"])
def test_other_pages_spell_it_as_it_stands(charset: str) -> None:
    assert spelled_in(charset, "?q=ü") == "?q=ü"


@each_row("href", ["/ü", "#?ü", "/a?b=%FC", ""])
def test_what_has_no_such_query_stays(href: str) -> None:
    assert spelled_in("windows-1252", href) == href


@given(st.sampled_from(["windows-1252", "big5", "iso-2022-jp", "gb18030", "euc-jp"]), st.text())
def test_any_query_can_be_spelled(charset: str, query: str) -> None:
    spelled = spelled_in(charset, "?" + query).partition("#")[0]

    assert spelled.isascii()
