"""The modes of duplicates, compared on a stored crawl."""

from pathlib import Path

from gossamer.lab.duplicates import compare_modes, result_object
from gossamer.reader.collection_reader import CollectionReader
from support.a_crawl import crawl
from support.a_site import page, site_in_thread

WORDS = "Some words that are on every page of this manual and say what each function does. "
TEXT = "".join(f"<p>{number * 7919 % 10_007} {WORDS}</p>" for number in range(40))
SITE = {
    "/": page("".join(f"<a href=/{name}>{name}</a> " for name in "abcd")),
    "/a": page(f"<title>T</title>{TEXT}<p>You are visitor number 1.</p>"),
    "/b": page(f"<title>T</title>{TEXT}<p>You are visitor number 1.</p>"),
    "/c": page(f"<title>T</title>{TEXT}<p>You are visitor number 2.</p>"),
    "/d": page(f"<title>T</title>{TEXT}<p>Another function.</p>"),
}


def test_each_mode_is_measured_and_distinct_pages_that_are_dropped_are_named(
    collection: Path,
) -> None:
    with site_in_thread(SITE) as site:
        crawl(collection, [site.url()], politeness__per_host=1)
    with CollectionReader.open(collection) as reader:
        results = {one.mode: one for one in compare_modes(reader, 0.95)}

    assert {mode: one.dropped for mode, one in results.items()} == {
        "none": 0,
        "exact": 1,
        "near": 2,
        "html95": 3,
    }
    assert {mode: one.distinct for mode, one in results.items()} == {
        "none": 0,
        "exact": 0,
        "near": 0,
        "html95": 1,
    }
    assert results["near"].varied == 1
    assert results["html95"].lost == [(site.url("/d"), site.url("/a"))]
    assert results["html95"].largest[0][:2] == (site.url("/a"), 3)
    found = result_object(list(results.values()), 0.95)
    assert [one["kept"] for one in found["modes"]] == [5, 4, 3, 2]
