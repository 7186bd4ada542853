"""Every route answers, with the keys that its row names; faults help people and programs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from gossamer.search.messages import SearchedCollection
from gossamer.search.results import Request, Results
from gossamer.search.searchers import NoAnswer, Searchers
from gossamer.web.routes import API, PAGES
from gossamer.web.views.pages import VIEWS
from support.a_crawl import crawl
from support.a_site import page, site_in_thread
from web.a_browser import TOKEN, Browser, Served, served
from web.conftest import Garden

# What changed between two versions needs two of them: test_web_explore.py has a page that does.
READS = [
    route
    for route in API
    if route.method == "GET" and route.gives == "json" and route.name != "diff"
]
ENOUGH = {
    "q": "garden",
    "seeds": "http://a.example/",
    "url": "http://a.example/x",
    "name": "garden",
}


@pytest.mark.parametrize("route", READS, ids=lambda route: route.name)
def test_a_reading_route_gives_the_keys_of_its_row(
    server: Served, garden: Garden, route: object
) -> None:
    from gossamer.web.route import Route

    assert isinstance(route, Route)
    given = {param.name: ENOUGH[param.name] for param in route.params if param.is_needed}
    if "url" in given and "seeds" not in given:
        given["url"] = garden.url("/roses")

    path = route.path.replace("{name}", "garden")
    answer = Browser(server).get(path, **given)

    assert answer.status_code == route.status
    assert set(route.keys) <= set(answer.json())
    assert route.name == "openapi" or answer.json()["schema"] == 1


def test_search_gives_hits_with_their_marks(server: Served, garden: Garden) -> None:
    found = Browser(server).get("/api/search", q="rose", explain="1").json()

    first = found["hits"][0]
    start, end = first["marks"][0]
    assert first["url"] == garden.url("/roses")
    assert first["snippet"][start:end] == "rose"
    assert first["parts"]["title"] > 0


def test_a_query_of_any_characters_is_answered_with_a_hint(server: Served) -> None:
    browser = Browser(server)

    assert browser.get("/api/search", q="rose").json()["hint"] is None
    for query in ('rose "garden', "\x00", "\\", "OR", "type:pdff", "(" * 5000, "a* " * 3000):
        answer = browser.get("/api/search", q=query)
        assert answer.status_code == 200, query
        assert answer.json()["hint"], query


def test_a_page_has_text_headers_versions_and_story(server: Served, garden: Garden) -> None:
    found = Browser(server).get("/api/page", url=garden.url("/roses")).json()

    assert found["outcome"] == "fetched"
    assert "rose garden" in found["page"]["text"]
    assert ["content-type", "text/html"] in found["page"]["headers"]
    assert len(found["versions"]) == 1
    assert any("was found on" in sentence for sentence in found["story"])


def test_a_refused_url_has_its_story_and_no_page(server: Served, garden: Garden) -> None:
    found = Browser(server).get("/api/page", url=garden.url("/private")).json()

    assert (found["outcome"], found["reason"], found["page"]) == ("refused", "robots", None)


def test_a_collection_without_links_says_so(tmp_path: Path) -> None:
    with site_in_thread({"*": page("<a href=/a>a</a>")}) as site:
        root = site.url()
        crawl(tmp_path / "c", [root], node__graph=False)
    made = served(tmp_path / "c")
    browser = Browser(made)

    asked = [browser.get(f"/api/{name}", url=root) for name in ("backlinks", "links")]
    shown = [browser.get("/page", url=root, view=view) for view in ("in", "out")]

    assert [answer.status_code for answer in asked] == [409, 409]
    assert [answer.status_code for answer in shown] == [200, 200]
    assert all("has no links" in answer.text for answer in (*asked, *shown))
    assert "No fetched page links here" not in shown[0].text
    made.context.collections.close()


def test_backlinks_come_with_their_words(server: Served, garden: Garden) -> None:
    found = Browser(server).get("/api/backlinks", url=garden.url("/roses")).json()

    assert {link["source"] for link in found["links"]} >= {garden.url("/")}
    assert "red roses" in [anchor["anchor"] for anchor in found["anchors"]]


def test_links_say_what_became_of_their_targets(server: Served, garden: Garden) -> None:
    found = Browser(server).get("/api/links", url=garden.url("/")).json()

    became = {link["target"]: (link["outcome"], link["reason"]) for link in found["links"]}
    assert became[garden.url("/roses")] == ("fetched", None)
    assert became[garden.url("/private")] == ("refused", "robots")


def test_hosts_can_be_summed_by_site(server: Served) -> None:
    hosts = Browser(server).get("/api/hosts").json()["hosts"]
    sites = Browser(server).get("/api/hosts", by="site").json()["hosts"]

    assert hosts[0]["host"] == "127.0.0.1"
    assert {site["site"] for site in sites} == {
        "127.0.0.1",
        "else.example",
        "outside.example",
    }


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_of_a_page_is_shown(server: Served, garden: Garden, view: str) -> None:
    answer = Browser(server).get("/page", url=garden.url("/roses"), view=view)

    assert answer.status_code == 200
    assert "<h1><bdi>Roses</bdi></h1>" in answer.text


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_of_a_url_that_is_not_known_is_shown(server: Served, view: str) -> None:
    answer = Browser(server).get("/page", url="http://never.example/", view=view)

    assert answer.status_code == 200
    assert "unknown" in answer.text


def test_every_page_is_shown_to_somebody_who_is_not_logged_in(server: Served) -> None:
    browser = Browser(server)
    paths = ["/", "/?q=garden", "/?q=garden&explain=1&sort=date", "/hosts", "/hosts?by=site"]
    paths += ["/top", "/top?by=backlinks&level=site", "/graph", "/graph?level=site", "/exports"]

    for path in [*paths, "/crawls", "/crawls/garden", "/login"]:
        answer = browser.get(path)
        assert answer.status_code == 200, path
        assert answer.headers["content-type"].startswith("text/html"), path


def test_words_are_marked_in_passages(server: Served) -> None:
    assert "The <mark>rose</mark> garden" in Browser(server).get("/?q=rose").text


def test_results_alone_are_a_fragment(server: Served) -> None:
    answer = Browser(server).get("/?q=rose&part=1")

    assert "<html" not in answer.text
    assert 'class="hit"' in answer.text


def test_results_have_pages(server: Served) -> None:
    browser = Browser(server)
    first = browser.get("/?q=garden&limit=1")
    second = browser.get("/?q=garden&limit=1&offset=1")

    assert 'rel="next"' in first.text
    assert 'rel="prev"' in second.text
    assert 'start="2"' in second.text


def test_a_search_without_hits_helps(server: Served) -> None:
    page = Browser(server).get("/?q=rosse&site=127.0.0.1").text

    assert "No results" in page
    assert "Search without the filters" in page


def test_how_a_query_was_read_stands_above_the_results(server: Served) -> None:
    found = Browser(server).get("/", q="(rose <b>").text
    plain = Browser(server).get("/", q="rose").text

    hint = "A bracket is not closed. Read as: rose b"
    assert found.index(hint) < found.index('class="hits"')
    assert 'id="read-as"' not in plain


def test_a_filter_that_cannot_be_used_is_told_above_the_results(server: Served) -> None:
    answer = Browser(server).get("/", q="rose", since="soon")

    assert answer.status_code == 400
    assert "since takes a day" in answer.text


def test_a_collection_that_is_not_there_leads_to_a_new_crawl(tmp_path: Path) -> None:
    browser = Browser(served(tmp_path / "nothing"))

    assert "Nothing has been crawled yet" in browser.get("/").text
    assert "Nothing has been crawled yet" in browser.get("/?q=rose").text
    assert browser.get("/api/search?q=rose").status_code == 404
    assert browser.get("/api/status").json()["state"] == "none"
    assert browser.get("/crawls").status_code == 200
    assert browser.get("/hosts").status_code == 404


def test_metrics_name_the_crawl_and_the_answers(server: Served) -> None:
    browser = Browser(server)
    browser.get("/healthz")

    text = browser.get("/metrics").text

    assert 'gossamer_pages_fetched{crawl="garden"} 4' in text
    assert 'gossamer_http_answers_total{route="health",status="200"} 1' in text


def test_opensearch_names_the_address_that_was_asked(server: Served) -> None:
    answer = Browser(server).get("/opensearch.xml")

    assert 'template="http://127.0.0.1:8800/?q={searchTerms}"' in answer.text


def test_openapi_has_every_route_of_the_api_and_no_other(server: Served) -> None:
    found = Browser(server).get("/openapi.json").json()

    named = {(path, method) for path, ops in found["paths"].items() for method in ops}
    assert named == {(route.path, route.method.lower()) for route in API}
    for route in API:
        operation = found["paths"][route.path][route.method.lower()]
        fields = operation.get("requestBody", {"content": {"application/json": {"schema": {}}}})
        body = fields["content"]["application/json"]["schema"].get("properties", {})
        told = {param["name"] for param in operation["parameters"]} | set(body)
        assert told == {param.name for param in route.params}
        assert ("security" in operation) == route.changes
    json.dumps(found)


def test_names_and_paths_stand_once_in_the_table() -> None:
    rows = [*API, *PAGES]

    assert len({route.name for route in rows}) == len(rows)
    assert len({(route.method, route.path) for route in rows}) == len(rows)


@pytest.mark.parametrize(
    "path",
    [
        "/api/search",
        "/api/search?q=a&limit=0",
        "/api/search?q=a&limit=1e400",
        "/api/search?q=a&limit=nan",
        "/api/search?q=a&offset=99999999999999999999",
        "/api/search?q=a&sort=best",
        "/api/search?q=a&explain=perhaps",
        "/api/search?q=a&since=soon",
        "/api/page",
        "/api/page?url=mailto:x",
        "/api/page?url=",
        "/api/backlinks?url=http://a.example/&by=galaxy",
        "/api/hosts?sort=beauty",
        "/api/scope?seeds=mailto:x&url=x",
        "/api/links?url=%ff%fe",
    ],
)
def test_what_cannot_be_used_is_refused_with_a_sentence(server: Served, path: str) -> None:
    answer = Browser(server).get(path)

    assert answer.status_code in (400, 404)
    assert answer.json()["error"]


@pytest.mark.parametrize("name", ["nope", "..", "a/b", "%2e%2e%2f", "A", "-x", "a" * 65])
def test_a_name_never_leads_out_of_the_folder(server: Served, name: str) -> None:
    for path in ("/api/search?q=a&c=", "/api/hosts?c=", "/hosts?c="):
        assert Browser(server).get(path + name).status_code in (400, 404), path


def test_a_fault_of_a_page_is_told_on_a_page(server: Served) -> None:
    answer = Browser(server).get("/crawls/nope")

    assert answer.status_code == 404
    assert "Page not found" in answer.text


def test_programs_with_the_token_may_read_where_others_may_not(garden: Garden) -> None:
    server = served(garden.path, is_open=False)

    assert Browser(server, token=TOKEN).get("/api/status").status_code == 200
    assert Browser(server).get("/api/status").status_code == 401
    server.context.collections.close()


def test_a_wrong_method_is_told_all_that_are_right(server: Served) -> None:
    answer = Browser(server).ask("PUT", "/api/crawls")

    assert answer.status_code == 405
    assert {"GET", "POST"} <= set(answer.headers["allow"].split(", "))


def test_asking_for_the_head_alone_works_as_reading_does(server: Served) -> None:
    assert Browser(server).ask("HEAD", "/api/status").status_code == 200


def test_a_collection_without_an_index_says_that_it_cannot_be_searched(
    garden: Garden, tmp_path: Path
) -> None:
    home = tmp_path / "bare"
    shutil.copytree(garden.path, home)
    shutil.rmtree(home / "index")
    server = served(home)

    page = Browser(server).get("/?q=rose")

    assert page.status_code == 200
    assert "No pages are searchable yet" in page.text
    assert Browser(server).get("/api/search?q=rose").status_code == 409
    server.context.collections.close()


def test_an_address_that_leads_nowhere_is_told_on_a_page_or_as_an_object(server: Served) -> None:
    page = Browser(server).get("/nowhere")
    object_ = Browser(server).get("/api/nowhere")

    assert (page.status_code, object_.status_code) == (404, 404)
    assert "<h1" in page.text
    assert object_.json() == {"schema": 1, "error": "this page does not exist"}


class _Nobody(Searchers):
    """Processes of which none answers."""

    def __init__(self) -> None:
        super().__init__(0)

    def search(self, where: SearchedCollection, request: Request) -> Results:  # noqa: ARG002  # as theirs
        raise NoAnswer("the search did not come to an end")

    async def search_as_json(self, where: SearchedCollection, request: Request) -> bytes:  # noqa: ARG002
        raise NoAnswer("the search did not come to an end")


def test_a_search_that_nobody_answers_is_no_collection_without_an_index(garden: Garden) -> None:
    server = served(garden.path)
    server.context.collections._searchers = _Nobody()

    page = Browser(server).get("/?q=rose")

    assert page.status_code == Browser(server).get("/api/search?q=rose").status_code == 503
    assert "did not come to an end" in page.text
    assert "No pages are searchable yet" not in page.text
    server.context.collections.close()


def test_hosts_come_in_order_and_in_pieces(server: Served) -> None:
    browser = Browser(server)
    every = browser.get("/api/hosts", sort="refused").json()
    pieces = [
        browser.get("/api/hosts", sort="refused", limit="1", offset=str(number)).json()
        for number in range(every["total"] + 1)
    ]

    assert [one for piece in pieces for one in piece["hosts"]] == every["hosts"]
    assert {piece["total"] for piece in pieces} == {len(every["hosts"])}
    refused = [one["refused"] for one in every["hosts"]]
    assert refused == sorted(refused, reverse=True)
