"""The charset of a document, by the web's rules in their order."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.parse.charset import decode, find_encoding, html_charset, text_charset, xml_charset
from support.rows import each_row

META = b"<meta charset=koi8-r>"


def test_a_byte_order_mark_beats_everything() -> None:
    assert html_charset(b"\xef\xbb\xbf" + META, "windows-1251") == "utf-8"
    assert html_charset(b"\xfe\xff\x00<", "utf-8") == "utf-16be"
    assert html_charset(b"\xff\xfe<\x00", "utf-8") == "utf-16le"


def test_the_header_beats_the_document() -> None:
    assert html_charset(META, "windows-1251") == "windows-1251"


def test_an_unknown_label_in_the_header_is_passed_over() -> None:
    assert html_charset(META, "klingon") == "koi8-r"


@each_row(
    ("html", "charset"),
    [
        (b"<meta charset=bogus><meta charset=koi8-r>", "koi8-r"),
        (b"<meta charset='utf-16'>", "utf-8"),
        (b"<meta charset=x-user-defined>", "windows-1252"),
        (b"<meta http-equiv=content-type content='text/html; charset=koi8-r'>", "koi8-r"),
        (b"<meta content='text/html; charset=koi8-r'>", "windows-1252"),
        (b"<meta http-equiv=content-type content='charset = \"koi8-r\"'>", "koi8-r"),
        (b"<meta http-equiv=content-type content='charset=\"koi8-r'>", "windows-1252"),
        (b"<!-- <meta charset=koi8-r> -->", "windows-1252"),
        (b"<!--><meta charset=koi8-r>", "koi8-r"),
        (b"<script>'<meta charset=koi8-r>'</script>", "windows-1252"),
        (b"<p a='<meta charset=koi8-r>'>", "windows-1252"),
        (b"<META CHARSET = KOI8-R >", "koi8-r"),
        (b"<meta charset=koi8-r", "windows-1252"),
        (b"<?xml version='1.0' encoding='koi8-r'?><p>", "koi8-r"),
        (b"<?xml version='1.0' encoding='koi8-r'?><meta charset=big5>", "big5"),
    ],
)
def test_a_document_declares_its_charset(html: bytes, charset: str) -> None:
    assert html_charset(html) == charset


def test_a_late_declaration_counts_only_in_the_head() -> None:
    padding = b"<!--" + b"x" * 2000 + b"-->"

    assert html_charset(b"<head>" + padding + META) == "koi8-r"
    assert html_charset(b"<head><p>" + padding + META) == "windows-1252"


@each_row(
    ("text", "charset"),
    [
        ("Größe und Maße", "utf-8"),
        ("Привет, как дела сегодня? Всё хорошо, спасибо большое.", "windows-1251"),
        ("Привет, как дела сегодня? Всё хорошо, спасибо большое.", "koi8-r"),
        ("これは日本語のページです。漢字とひらがなとカタカナがあります。", "shift_jis"),
        ("これは日本語のページです。漢字とひらがなとカタカナがあります。", "euc-jp"),
        ("这是一个中文网页，内容是关于网络爬虫的介绍和说明。", "gbk"),
        ("이것은 한국어로 작성된 웹 페이지입니다. 내용이 충분히 깁니다.", "euc-kr"),
    ],
)
def test_where_nothing_is_declared_the_content_tells(text: str, charset: str) -> None:
    body = b"<p>" + text.encode(charset)

    assert decode(body, html_charset(body)) == "<p>" + text
    assert decode(body, text_charset(body)) == "<p>" + text


@each_row("body", [b"", b"plain", b"caf\xe9", b"\xe6", b"na\xefve caf\xe9s"])
def test_too_little_content_tells_nothing(body: bytes) -> None:
    assert html_charset(body) == "windows-1252"


def test_a_character_cut_off_at_the_end_is_still_utf8() -> None:
    assert html_charset("<p>Größe €".encode()[:-1]) == "utf-8"


def test_xml_is_utf8_where_nothing_is_said() -> None:
    assert xml_charset(b"<html/>") == "utf-8"
    assert xml_charset(b'<?xml version="1.0" encoding="shift_jis"?>') == "shift_jis"
    assert xml_charset('<?xml version="1.0"?>'.encode("utf-16-le")) == "utf-16le"


@each_row("label", ["", "klingon", "utf-8\0", "ütf-8", "utf 8", "u" * 10_000])
def test_a_label_that_is_none_is_not_found(label: str) -> None:
    assert find_encoding(label) is None


HEADS = [
    b"<!doctype html>", b"<html>", b"<html lang='a>b'>", b'<html a="<b">', b"<head>", b"<title>",
    b"</title>", b"<meta charset=", b'<meta charset="koi8-r">', b"<meta charset=utf-8/>",
    b'<META http-equiv="Content-Type" content="text/html; charset=euc-kr">', b"<!--", b"-->", b"<!",
    b"<script>", b"</script>", b"x", b" ", b">", b'"', b"'", b"utf-16", b"<style>", b"<body>",
    b"</", b"<meta charset=nope>", b"<meta charset=big5 charset=utf-8>", b"<meta charset=gbk\n>",
]  # fmt: skip


@settings(max_examples=5 * settings().max_examples)
@given(st.lists(st.sampled_from(HEADS), max_size=9).map(b"".join))
def test_a_comment_before_a_head_changes_nothing(head: bytes) -> None:
    # What begins with a comment is read tag by tag; a plain head is told at one look.
    assert html_charset(head) == html_charset(b"<!---->" + head)


RUSSIAN = "Это пример текста, который написан на русском языке и встречается не сразу. "
JAPANESE = "これは日本語のページです。漢字とひらがなとカタカナがあります。"


@pytest.mark.parametrize("before", [5_000, 60_000, 200_000])
def test_letters_count_wherever_in_the_page_they_are(before: int) -> None:
    body = b"<p>\xa9 2026</p>" + b"plain words " * (before // 12) + RUSSIAN.encode("windows-1251")

    assert html_charset(body) == "windows-1251"
    assert text_charset(body) == "windows-1251"


def test_signs_far_apart_are_still_too_few() -> None:
    assert html_charset((b"\xa9 2026 " + b"plain words " * 1000) * 5) == "windows-1252"


def test_japanese_in_seven_bits_is_told_by_its_escape_sequences() -> None:
    body = f"<p>{JAPANESE}</p>\n".encode("iso-2022-jp")

    assert html_charset(body) == "iso-2022-jp"
    assert text_charset(body * 5000) == "iso-2022-jp"
    assert JAPANESE in decode(body, html_charset(body))


@each_row(
    "body",
    [
        b"\x1b[31mred\x1b[0m",
        b"\x1b$B cut off",
        b"\x1b$B!!\x1b(B \x1b$Bbad \x7f\x7f\x1b(B",
        b"\x1b(Bplain\x1b(B",
    ],
)
def test_other_escape_sequences_are_no_japanese(body: bytes) -> None:
    assert html_charset(b"<p>" + body) == "windows-1252"
