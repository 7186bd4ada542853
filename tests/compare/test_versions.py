"""Two versions of a page differ in text, links, title and status."""

from __future__ import annotations

from gossamer.compare.template import path_pattern, template_of
from gossamer.compare.versions import PageVersion, change_of, compare_links, compare_versions
from gossamer.records import Link, LinkKind, Page, PageChange
from support.rows import each_row

URL = "http://a.example/news/a-title.html"


def version(
    text: str = "", *hrefs: str, title: str = "Title", at_us: int = 0, status: int = 200
) -> PageVersion:
    links = tuple(Link(href, LinkKind.ANCHOR) for href in hrefs)
    return PageVersion(Page(URL, title=title, text=text, links=links), at_us, status)


def change(old: PageVersion, new: PageVersion) -> PageChange:
    return change_of(compare_versions(old, new), 1)


def test_words_links_title_and_status_are_counted() -> None:
    old = version("one two three\nfour", "/a", "/b", title="Old", status=200)
    new = version("one 2 three\nfour\nfive six", "/a", "/c", "/d", title="New", status=203)

    found = change(old, new)

    assert (found.words_added, found.words_removed) == (3, 1)
    assert (found.links_added, found.links_removed) == (2, 1)
    assert (found.title_before, found.status_before) == ("Old", 200)
    assert not found.is_cut
    assert len(found.spots) == 4  # two of text, title, links


def test_a_page_whose_bytes_alone_differ_has_no_spots() -> None:
    found = change(version("same", "/a"), version("same", "/a"))

    assert found == PageChange(status_before=200, template=1)


def test_noise_that_masks_explain_has_no_spots() -> None:
    old = version("1,204 views", "/a?token=1a2b", title="(3 views) Home")
    new = version("1,399 views", "/a?token=99ff", title="(9 views) Home")

    found = change(old, new)

    assert (found.spots, found.is_masked, found.is_cut) == ((), True, False)
    assert (found.words_added, found.links_added, found.title_before) == (0, 0, "")


def test_links_in_another_order_are_no_change() -> None:
    assert compare_links(["/a", "/b", "/c"], ["/c", "/a", "/b"])[:3] == ((), (), ())


def test_a_rewritten_page_says_that_it_has_more_spots() -> None:
    old = version("\n".join(f"line {n} a b c d e f" for n in range(200)))
    new = version("\n".join(f"line {n} a b x d e f" for n in range(200)))

    found = change(old, new)

    assert found.is_cut
    assert len(found.spots) == 40
    assert found.words_added == 200


@each_row(
    ("path", "pattern"),
    [
        ("/", "/"),
        ("/about.html", "/*.html"),
        ("/news/2026/11/a-title.html", "/news/#/#/*.html"),
        ("/news/a-title/", "/news/*/"),
        ("/news/a-title", "/news/*"),
        ("", "/"),
    ],
)
def test_a_path_is_known_by_its_pattern(path: str, pattern: str) -> None:
    assert path_pattern(path) == pattern


def test_pages_of_one_folder_and_outline_have_one_template() -> None:
    outline = b"<body><nav>x</nav><main><article>%s</article></main>"
    one = template_of("http://a.example/p/1.html", outline % b"<p>a")
    two = template_of("http://a.example/p/2.html?", outline % b"<p>b <article>")

    assert one == two != 0
    assert template_of("http://b.example/p/1.html", outline) != one
    assert template_of("http://a.example/p/1.html", b"<table>") != one
    assert template_of("http://a.example/p/1.html?q=1", outline) != one
