"""What is no HTML: PDF, feeds, sitemaps, XML, JSON, style sheets."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gossamer.base.clock import SystemClock
from gossamer.parse.documents.documents import DocumentReader
from gossamer.parse.documents.pdf import read_pdf
from gossamer.parse.documents.pdf_process import PdfReader
from gossamer.parse.html import Parser
from gossamer.records import LinkKind, Page
from gossamer.settings import Parse
from support.a_pdf import a_file, a_pdf
from support.rows import each_row

URL = "https://a.example/dir/page"

RSS = """<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel>
<title>News &amp; views</title><link>https://a.example/</link><description>All of it</description>
<item><title>First</title><link>/one</link><description>&lt;p&gt;Some &lt;b&gt;words&lt;/b&gt;
</description><enclosure url="/one.mp3" type="audio/mpeg"/></item>
<item><title>Second</title><guid isPermaLink="true">https://a.example/two</guid></item>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Atoms</title>
<link rel="self" href="/feed"/><link rel="next" href="/feed?page=2"/>
<entry><title type="html">One &amp;amp; only</title><link rel="edit" href="/edit"/>
<link href="one"/><content type="xhtml"><div>Deep <b>words</b></div></content></entry></feed>"""


def page_of(body: str | bytes, kind: str, wants: frozenset[str] = frozenset()) -> Page:
    data = body.encode() if isinstance(body, str) else body
    return Parser(Parse(), wants).parse(URL, kind, data)


def hrefs(page: Page) -> list[str]:
    return [link.href for link in page.links]


@pytest.mark.parametrize("kind", ["application/rss+xml", "text/xml", "application/xml"])
def test_an_rss_feed_leads_to_its_entries_under_their_titles(kind: str) -> None:
    page = page_of(RSS, kind)

    assert page.title == "News & views"
    assert [(link.href, link.text) for link in page.links] == [
        ("https://a.example/", ""),
        ("/one", "First"),
        ("https://a.example/two", "Second"),
    ]
    assert page.text == "All of it\nFirst\nSome words\nSecond"


def test_enclosures_are_taken_where_their_kind_is_wanted() -> None:
    assert "/one.mp3" not in hrefs(page_of(RSS, "text/xml", frozenset({"image"})))
    assert "/one.mp3" in hrefs(page_of(RSS, "text/xml", frozenset({"audio"})))


def test_an_atom_feed_leads_to_its_entries_and_its_next_part() -> None:
    page = page_of(ATOM, "application/atom+xml")

    assert hrefs(page) == ["/feed?page=2", "one"]
    assert page.links[1].text == "One & only"
    assert "Deep words" in page.text


def test_a_json_feed_leads_to_its_items() -> None:
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "Mine",
        "home_page_url": "https://a.example/",
        "items": [
            {"id": "1", "url": "/one", "title": "One", "content_html": "<p>Hello <i>you</i>"},
            {"id": "2", "external_url": "https://b.example/", "content_text": "Bye"},
            "nonsense",
        ],
    }

    page = page_of(json.dumps(feed), "application/feed+json")

    assert page.title == "Mine"
    assert hrefs(page) == ["https://a.example/", "/one", "https://b.example/"]
    assert page.text == "One\nHello you\nBye"


def test_half_of_a_surrogate_pair_in_a_json_feed_is_no_character() -> None:
    half, whole = "a \ud800 b", "\U0001f600 \u00e9"
    item = {"id": "1", "url": f"/{half}", "title": half, "content_html": f"<p>{half}"}
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": half + whole, "items": [item]}

    page = page_of(json.dumps(feed), "application/feed+json")

    assert page.title == f"a \ufffd b{whole}"
    assert page.text == "a \ufffd b\na \ufffd b"
    assert page.links[0][:3] == ("/a \ufffd b", LinkKind.ANCHOR, "a \ufffd b")


@each_row("source", ["{", "[]", "3", '{"version": 1}', "[" * 100_000])
def test_other_json_gives_nothing(source: str) -> None:
    page = page_of(source, "application/json")

    assert (page.text, page.links) == ("", ())


def test_a_sitemap_that_is_fetched_as_a_page_leads_to_its_urls() -> None:
    source = (
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
        ' xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">'
        "<url><loc>https://a.example/x</loc><image:image><image:loc>https://a.example/x.png"
        "</image:loc></image:image></url></urlset>"
    )

    assert hrefs(page_of(source, "text/xml")) == ["https://a.example/x"]
    assert hrefs(page_of(source, "text/xml", frozenset({"image"}))) == [
        "https://a.example/x",
        "https://a.example/x.png",
    ]


def test_xml_of_another_kind_has_its_words() -> None:
    page = page_of("<?xml version='1.0'?><book><title>A</title><p>few words</p></book>", "text/xml")

    assert "few words" in page.text
    assert page.links == ()


@pytest.mark.parametrize(
    ("kind", "text"), [("text/markdown", "# Words"), ("text/javascript", ""), ("a/b", "")]
)
def test_text_for_people_is_text(kind: str, text: str) -> None:
    assert page_of("# Words", kind).text == text


def test_a_pdf_has_title_text_and_links_with_their_pages() -> None:
    body = a_pdf([("Read this", ""), ("Go there", "https://b.example/x")], title="A paper")

    page = page_of(body, "application/pdf")

    assert page.title == "A paper"
    assert page.text == "Read this\nGo there"
    assert [(link.href, link.text) for link in page.links] == [("https://b.example/x", "Go there")]
    assert list(page.lines) == [2]


@pytest.mark.parametrize("kind", ["", "application/octet-stream", "application/x-pdf"])
def test_a_pdf_is_known_by_its_first_bytes_where_the_type_says_nothing(kind: str) -> None:
    assert page_of(a_pdf([("Read this", "")]), kind).text == "Read this"


def test_no_more_pages_of_a_pdf_are_read_than_allowed() -> None:
    body = a_pdf([(f"page {n}", "") for n in range(5)])

    assert read_pdf(body, 3, 10, lambda: True).texts == ["page 0", "page 1", "page 2"]


def test_a_pdf_that_takes_too_long_keeps_what_was_read() -> None:
    turns = iter([True, True, False])

    reading = read_pdf(a_pdf([("x", "")] * 5), 100, 10, lambda: next(turns))

    assert reading.texts == ["x", "x"]


FONT = "/Type /Font /Subtype /Type1 /BaseFont /Helvetica"


def showing_each_other(forms: int) -> bytes:
    """A PDF of forms each of which shows the next one twice: 2**forms in the end."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] /Contents 5 0 R /Resources 6 0 R >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 7 0 R /Resources 6 0 R >>",
        stream("BT /F 12 Tf 20 100 Td (first page) Tj ET"),
        f"<< /Font << /F << {FONT} >> >> /XObject << /X8 8 0 R >> >>",
        stream("/X8 Do"),
    ]
    for number in range(8, 8 + forms):
        form = f"/Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X {number + 1} 0 R >> >>"
        objects.append(stream("/X Do /X Do", form))
    objects.append(stream("BT (x) Tj ET", "/Subtype /Form /BBox [0 0 9 9] /Resources 6 0 R"))
    return a_file(objects)


def stream(content: str, about: str = "") -> str:
    return f"<< {about} /Length {len(content)} >>\nstream\n{content}\nendstream"


def test_a_pdf_that_never_ends_costs_its_time_and_the_next_is_read() -> None:
    reader = PdfReader()

    reading = reader.read(showing_each_other(40), 10, 10, time_s=1.0)

    assert reading.texts == ["first page"]
    assert reader.read(a_pdf([("Read this", "")]), 10, 10, time_s=30.0).texts == ["Read this"]


def test_a_pdf_costs_no_memory_here() -> None:
    # Its process may not have more than 1 GB: it ends there, or in time.
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    PdfReader().read(showing_each_other(24), 10, 10, time_s=1.0)

    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_pdf_is_read_though_its_process_was_ended_before(number: int) -> None:
    """By the system, which had no memory left, or with all of a service (SIGTERM)."""
    reader, body = PdfReader(), a_pdf([("Read this", "")])
    reader.read(body, 10, 10, time_s=30.0)
    process = reader._process
    assert process is not None

    process.send_signal(number)
    if number == signal.SIGKILL:
        process.wait()

    assert reader.read(body, 10, 10, time_s=30.0).texts == ["Read this"]
    assert (reader._process is process) == (number == signal.SIGTERM)


class Interrupting(SystemClock):
    """Somebody presses Ctrl-C when the time is asked for after `asked` times."""

    asked = -1

    def now_s(self) -> float:
        self.asked -= 1
        if self.asked == 0:
            raise KeyboardInterrupt
        return super().now_s()


def test_the_rest_of_a_pdf_whose_reading_was_interrupted_is_not_the_next_ones() -> None:
    clock = Interrupting()
    reader = PdfReader(clock)
    reader.read(a_pdf([("One", "")]), 10, 10, time_s=30.0)
    clock.asked = 2

    with pytest.raises(KeyboardInterrupt):
        reader.read(a_pdf([("Two", "")]), 10, 10, time_s=30.0)

    assert reader.read(a_pdf([("Three", "")]), 10, 10, time_s=30.0).texts == ["Three"]


def test_a_pdf_may_have_any_time() -> None:
    assert PdfReader().read(a_pdf([("Read this", "")]), 10, 10, time_s=1e12).texts == ["Read this"]


# The one who reads may raise no limit, as if root had not started it: 24 drops what lets it.
_UNDER_A_LIMIT = """
import ctypes, resource, sys
ctypes.CDLL(None).prctl(24, 24, 0, 0, 0)
resource.setrlimit(resource.RLIMIT_CPU, (600, 600))
from gossamer.parse.documents.pdf_process import PdfReader
print(PdfReader().read(sys.stdin.buffer.read(), 10, 10, 1_000.0).texts)
"""


def test_a_pdf_is_read_where_the_time_of_processes_is_limited() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _UNDER_A_LIMIT],
        input=a_pdf([("Read this", "")]),
        capture_output=True,
        check=True,
    )

    assert done.stdout == b"['Read this']\n"


def test_half_a_pdf_and_nonsense_are_no_error() -> None:
    body, parser = a_pdf([("Read this", "https://b.example/")] * 3), Parser(Parse())
    for end in range(0, len(body), 97):
        parser.parse(URL, "application/pdf", body[:end] + b"\xff" * 20)

    assert parser.parse(URL, "application/pdf", b"%PDF-1.4 nonsense").text == ""


CSS = """@import "a.css"; /* url(no.png) */ @import url( 'b.css' );
p { background: URL(c.png) , url("d\\"e.png"); content: "url(no2.png)"; }
q { background: url(data:image/png;base64,AAAA); src: url(f\\20 g.woff) }"""


def test_a_style_sheet_names_files_where_files_are_wanted() -> None:
    assert page_of(CSS, "text/css").links == ()
    assert hrefs(page_of(CSS, "text/css", frozenset({"any"}))) == [
        "a.css",
        "b.css",
        "c.png",
        'd"e.png',
        "f g.woff",
    ]


def test_styles_within_a_page_name_files_too() -> None:
    source = "<style>p{background:url(a.png)}</style><p style='background: url(b.png)'>x"

    assert page_of(source, "text/html").links == ()
    assert hrefs(page_of(source, "text/html", frozenset({"image"}))) == ["a.png", "b.png"]


@each_row(
    "start",
    [
        "url(",
        "/*",
        "'",
        '"',
        "@import '",
        "url('",
        "\\",
        "url(\\",
        "@import ",
        '\\"',
        "\\'",
        "\\'\\\"",
    ],
)
def test_a_hostile_style_sheet_takes_linear_time(start: str) -> None:
    list(DocumentReader(Parse(), frozenset({"any"})).links_in_css(start * 200_000))


def test_a_string_that_nothing_ends_hides_no_more_than_its_line() -> None:
    source = 'p { content: "no url(a.png)\n } q { background: url(b.png) }'

    assert hrefs(page_of(source, "text/css", frozenset({"any"}))) == ["b.png"]


@each_row("part", ["<!---->", "<!-- -->\n", "<?xml ?>", "<!doctype>", " "])
def test_a_page_that_begins_like_a_feed_for_ever_is_told_at_once(part: str) -> None:
    assert page_of("<!---->" + part * 500 + "<p>Words", "text/html").text.endswith("Words")


@pytest.mark.parametrize(
    "declared", ["<!ENTITY e '{}'>", "<!ATTLIST link href CDATA '{}'>"], ids=["entity", "default"]
)
def test_what_a_doctype_declares_makes_no_attribute_longer(declared: str) -> None:
    doctype = f"<!DOCTYPE rss [{declared.format('x' * 50_000)}]>"
    items = "<item><link href='/a&e;'/></item>" * 50 + "<item><link/></item>" * 50

    links = hrefs(page_of(f"{doctype}<rss><channel>{items}</channel></rss>", "text/xml"))

    assert links == ["/a"] * 50


def test_links_of_headers_count_as_those_of_a_head() -> None:
    values = [
        '<next.html>; rel="next", </c>; rel=canonical; title="The \\"one\\""',
        "<s>; rel=icon",
    ]
    values += ["<x>; rel=next; anchor='#y'", "nonsense", "<unclosed", "<y>", "<z>;;; rel=prev;"]

    page = Parser(Parse()).parse(URL, "text/html", b"<a href=a>a</a>", header_links=values)

    assert [(link.href, link.rel) for link in page.links] == [
        ("a", ""),
        ("next.html", "next"),
        ("/c", "canonical"),
        ("z", "prev"),
    ]
    assert page.links[2].text == 'The "one"'
    assert page.canonical == "/c"


@each_row("part", ["<", "<>;", '<a>;b="', ",", "<a>; rel=next,", ";", " "])
def test_hostile_link_headers_take_linear_time(part: str) -> None:
    Parser(Parse()).parse(URL, "text/html", b"", header_links=[part * 20_000])


def test_a_real_pdf_gives_its_words() -> None:
    path = Path("/usr/share/doc/shared-mime-info/shared-mime-info-spec.pdf")
    if not path.exists():
        pytest.skip("Debian's shared-mime-info is not installed")

    page = page_of(path.read_bytes(), "application/pdf")

    assert "freedesktop.org" in page.text
    assert page.language == "en"
