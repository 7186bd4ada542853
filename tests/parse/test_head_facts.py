"""What a report asks of a page's source."""

import turbohtml

from gossamer.parse.head_facts import description_of, insecure_files
from support.rows import each_row


@each_row(
    ("html", "description"),
    [
        ("<head><meta name=description content=' Of\n bees '></head>", "Of bees"),
        ("<META NAME='Description' CONTENT='Of bees'><body>", "Of bees"),
        ("<meta name=description content=' '><p>x", ""),
        ("<title>x</title></head><body><meta name=description content='late'>", ""),
        ("<meta name=keywords content=bees>", ""),
        ("", ""),
    ],
)
def test_a_description_is_what_the_head_says(html: str, description: str) -> None:
    assert description_of(html.encode(), "") == description


def test_a_description_is_read_in_the_charset_of_the_page() -> None:
    assert description_of("<meta name=description content='Käse'>".encode("latin-1"), "") != "Käse"
    html = "<meta name=description content='Käse'>".encode("latin-1")
    assert description_of(html, "windows-1252") == "Käse"


def test_files_by_http_are_named_and_links_are_none() -> None:
    page = turbohtml.parse(
        "<link rel=stylesheet href=http://a/s.css><link rel=canonical href=http://a/>"
        "<img src=' HTTP://a/i.png '><img src=/i.png><script src=https://a/s.js></script>"
        "<a href=http://a/page>x</a><object data=http://a/o></object>"
    )

    found = list(insecure_files(page))

    assert sorted(found) == ["HTTP://a/i.png", "http://a/o", "http://a/s.css"]
