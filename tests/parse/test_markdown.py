"""Pages as Markdown."""

import turbohtml

from gossamer.parse.markdown import markdown_of
from support.rows import each_row


@each_row(
    ("html", "markdown"),
    [
        ("<h2>Top<a href='#top'>¶</a></h2>", "## Top"),
        ("<a href='javascript:void(0)'>Menu</a> <a href=http://h/>x</a>", "Menu [x](http://h/)"),
        ("<p>So: <code>\n   Listen 80\n </code>", "So: `Listen 80`"),
        ("<p><code>one<br>two</code>", "```\none\ntwo\n```"),
        ("<pre><code>a\n  b</code></pre>", "```\na\n  b\n```"),
        (
            "<table><tr><th colspan=2>Bees</th></tr><tr><td>a</td><td>b</td></tr></table>",
            "| Bees |  |\n| --- | --- |\n| a | b |",
        ),
        (
            "<table><tr><td rowspan=2>a</td><td>1</td></tr><tr><td>2</td></tr></table>",
            "| a | 1 |\n| --- | --- |\n|  | 2 |",
        ),
        (
            "<table><tr><td colspan=5>a</td></tr><tr><td colspan=5>b</td></tr></table>",
            "| a |\n| --- |\n| b |",
        ),
    ],
)
def test_what_markdown_cannot_say_is_said_otherwise(html: str, markdown: str) -> None:
    assert markdown_of(turbohtml.parse(html)) == markdown


def test_a_hostile_table_stays_bounded() -> None:
    cells = "<td colspan=1000000 rowspan=99999>x</td>" * 50

    assert len(markdown_of(turbohtml.parse(f"<table><tr>{cells}</tr></table>"))) < 10_000
