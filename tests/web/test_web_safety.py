"""Nothing that strangers wrote can act: not on our pages, not in a copy; and nobody sneaks in."""

from __future__ import annotations

import asyncio
import re
import time

import httpx
import pytest

from gossamer.web.open_collections import name_of
from gossamer.web.protect.guard import CSP, MAX_BODY_BYTES, Names, host_in
from gossamer.web.render import outward, plain
from gossamer.web.views.pages import inner
from gossamer.web.views.stored_copy import Among, file_name, harmless, without_loads
from support.rows import each_row
from web.a_browser import TOKEN, Browser, Served, served
from web.conftest import Garden

VIEWS = ("copy", "text", "in", "out", "versions", "headers", "story")


def acting(markup: str) -> list[str]:
    """What in our own markup would act: scripts that are not ours, attributes with events."""
    tags = re.findall(r"<[a-zA-Z][^>]*>", markup)
    module, library = (
        r'type="module" src="/static/\w+',
        r'defer src="/static/vendor/uPlot\.iife\.min',
    )
    ours = re.compile(rf'<script ({module}|{library})\.js">')
    return [
        tag
        for tag in tags
        if (tag.lower().startswith("<script") and not ours.fullmatch(tag))
        or re.search(r"\son\w+\s*=", re.sub(r'"[^"]*"', '""', tag))
        or re.search(r'(href|src|action)="\s*javascript:', tag.lower())
        or tag.lower().startswith(("<object", "<embed", "<base"))
    ]


def test_a_hostile_page_is_shown_as_text_everywhere(server: Served, garden: Garden) -> None:
    browser = Browser(server)
    pages = [browser.get("/page", url=garden.url("/hostile"), view=view) for view in VIEWS]
    pages += [browser.get("/page", url=garden.url("/roses"), view="in")]
    pages += [browser.get("/?q=hostile&explain=1"), browser.get("/?q=hostile&part=1")]
    pages += [browser.get("/hosts"), browser.get("/crawls"), browser.get("/crawls/garden")]

    for answer in pages:
        assert answer.status_code == 200
        assert acting(answer.text) == []
    assert "&lt;script&gt;alert(12)" in pages[VIEWS.index("headers")].text


@pytest.mark.parametrize(
    "words",
    [
        '"><script>alert(1)</script>',
        "'><img src=x onerror=alert(1)>",
        "javascript:alert(1)",
        "</title><svg onload=alert(1)>",
        '{{7*7}}${7*7}<%= 7*7 %>" autofocus onfocus=alert(1) x="',
    ],
)
def test_what_is_typed_comes_back_as_text(server: Served, words: str) -> None:
    browser = Browser(server)
    answers = [
        browser.get("/", q=words),
        browser.get("/", q="garden", site=words, lang=words, since=words),
        browser.get("/page", url=words),
        browser.get("/page", url=f"http://a.example/{words}", view="story"),
        browser.get("/login", next=words, ticket=words),
        browser.get("/hosts", c=words),
        browser.get(f"/crawls/{words}"),
    ]

    for answer in answers:
        body = re.sub(r'<meta name="csrf"[^>]*>', "", answer.text)
        assert [tag for tag in acting(body) if "/static/" not in tag] == []
        assert "49" not in re.findall(r"<h1[^>]*>(.*?)</h1>", body)


def test_every_answer_forbids_what_our_pages_do_not_need(server: Served) -> None:
    browser = Browser(server)

    for path in ("/", "/api/status", "/static/style.css", "/nowhere", "/api/search", "/login"):
        headers = browser.get(path).headers
        assert headers["content-security-policy"] == CSP, path
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
    assert "unsafe" not in CSP
    assert CSP.startswith("default-src 'none'")


def test_no_page_of_ours_has_a_script_or_a_style_within(server: Served, garden: Garden) -> None:
    for path in (
        "/",
        "/?q=garden",
        "/crawls/garden",
        f"/page?url={garden.url('/roses')}&view=copy",
    ):
        markup = Browser(server).get(path).text
        assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=", markup), path


def test_a_copy_is_sandboxed_and_may_load_nothing(server: Served, garden: Garden) -> None:
    answer = Browser(server).get("/cached", url=garden.url("/hostile"))

    policy = answer.headers["content-security-policy"]
    assert answer.status_code == 200
    assert policy.startswith("sandbox; default-src 'none'; img-src data:;")
    assert "allow-" not in policy
    assert "script-src" not in policy
    shown = Browser(server).get("/page", url=garden.url("/hostile"), view="copy").text
    assert '<iframe class="copy" sandbox=""' in shown


def test_a_copy_has_nothing_left_that_acts_or_leads_outside(server: Served, garden: Garden) -> None:
    markup = Browser(server).get("/cached", url=garden.url("/hostile")).text.lower()

    tags = re.findall(r"<[a-z][^>]*>", re.sub(r'title="[^"]*"', "", markup))
    assert [
        tag for tag in tags if re.search(r"\son\w+=|javascript:|action=|srcdoc|ping", tag)
    ] == []
    assert not re.search(r"<(script|meta|link|base|iframe|object|embed|video)\b", markup)
    assert [tag for tag in tags if re.search(r'(src|href)="(https?:)?//', tag)] == []
    assert "hostile garden" in markup


def test_links_of_a_copy_lead_to_copies(server: Served, garden: Garden) -> None:
    markup = harmless(
        '<a href="b?x=1#y">b</a><a href="#z">z</a>', "http://a.example/d/", Among("", "2026")
    )

    assert 'href="/cached?url=http%3A%2F%2Fa.example%2Fd%2Fb%3Fx%3D1&amp;at=2026#y"' in markup
    assert 'href="#z"' in markup


def test_styles_of_a_copy_keep_their_rules_and_load_nothing() -> None:
    style = "@import 'http://o.example/x'; b{color:red;background:URL( http://o.example/y )}"
    markup = harmless(
        f"<style>{style}</style><p style=\"background:url('http://o.example/z')\">p</p>",
        "http://a.example/", Among("", "2026"),
    )  # fmt: skip

    assert "b{color:red;" in markup
    assert "o.example" not in markup


def test_a_text_is_shown_as_text_and_bytes_are_a_download(server: Served, garden: Garden) -> None:
    answer = Browser(server).get("/cached", url=garden.url("/plain.txt"))

    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert "<script>" in answer.text


@each_row(
    ("url", "name"),
    [
        ("http://a.example/x/report.pdf?a=/b", "report.pdf"),
        ('http://a.example/a"b\r\nset-cookie:x=1.pdf', "a_b_set-cookie_x_1.pdf"),
        ("http://a.example/..", "copy"),
        ("http://a.example/", "a.example"),
    ],
)
def test_the_name_of_a_download_is_harmless(url: str, name: str) -> None:
    assert file_name(url) == name


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "", "localhost@evil", "a b", "8.8.8.8"]
)
def test_a_foreign_name_is_refused(server: Served, host: str) -> None:
    answer = Browser(server).ask("GET", "/api/status", headers={"host": host})

    assert answer.status_code == 421


@pytest.mark.parametrize(
    "host", ["localhost:8800", "127.0.0.1", "[::1]:8800", "LOCALHOST.", "127.8.8.8"]
)
def test_loopback_has_many_names(server: Served, host: str) -> None:
    answer = Browser(server).ask("GET", "/api/status", headers={"host": host})

    assert answer.status_code == 200


def test_bound_to_the_outside_names_must_be_allowed_and_addresses_need_not_be() -> None:
    names = Names("0.0.0.0", ["Crawler.example."])

    assert names.allow("crawler.example:8800")
    assert names.allow("192.0.2.7:8800")
    assert names.allow("[2001:db8::1]")
    assert not names.allow("evil.example")
    assert host_in("[::1") == ""
    assert host_in("a:b") == ""


def test_a_request_that_is_too_large_is_not_read(server: Served) -> None:
    browser = Browser(server, token=TOKEN)

    large = browser.ask("POST", "/api/crawls", content=b"x" * (MAX_BODY_BYTES + 1))
    long = browser.get("/?q=" + "a" * 20_000)

    assert large.status_code == 413
    assert long.status_code == 414


def test_a_body_that_does_not_say_its_length_is_cut_off(server: Served) -> None:
    async def endless() -> object:
        async def pieces() -> object:
            while True:
                yield b"x" * 8192

        transport = httpx.ASGITransport(server.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return (await client.post("/api/crawls", content=pieces())).status_code  # type: ignore[arg-type]

    assert asyncio.run(endless()) == 413


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/%2e%2e/settings.py",
        "/static//etc/passwd",
        "/static/..\\app.py",
    ],
)
def test_static_files_are_those_of_their_folder(server: Served, path: str) -> None:
    assert Browser(server).get(path).status_code == 404


@each_row(
    "path", ["//evil.example", "/\\evil.example", "https://evil.example", "", "/a\r\nb", "/a\\b"]
)
def test_a_login_leads_on_to_pages_of_ours_alone(path: str) -> None:
    assert inner(path) == "/"


def test_links_outward_are_http_or_nothing() -> None:
    assert outward("javascript:alert(1)") == "#"
    assert outward("data:text/html,x") == "#"
    assert outward("https://a.example/") == "https://a.example/"


def test_marks_of_direction_and_controls_are_taken_out() -> None:
    assert plain("a\u202eb\x00c\x1b[2J") == "ab c [2J"


def test_a_folder_with_an_odd_name_has_a_plain_one_here(tmp_path_factory: object) -> None:
    from pathlib import Path

    assert name_of(Path('/x/My "Study" <1>')) == "my-study-1"


def test_orders_from_another_site_are_refused_whatever_they_carry(garden: Garden) -> None:
    server = served(garden.path)
    browser = Browser(server)
    csrf = browser.log_in()
    form = {"order": "start", "csrf": csrf}

    for headers in (
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ):
        answer = browser.ask("POST", "/crawls/garden", data=form, headers=headers)
        assert answer.status_code == 403, headers
    assert server.started == []
    server.context.collections.close()


def test_a_form_with_half_a_character_in_its_word_is_out_of_date(garden: Garden) -> None:
    server = served(garden.path)
    browser = Browser(server)
    browser.log_in()
    body = b'{"csrf": "\\ud800", "seeds": ["http://a.example/"]}'

    answer = browser.ask(
        "POST", "/api/crawls", content=body, headers={"content-type": "application/json"}
    )

    assert answer.status_code == 403
    server.context.collections.close()


@each_row(
    "markup",
    [
        "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img onerror=a()>'>",
        "<svg></p><style><a id='</style><meta http-equiv=refresh content=0;url=//o.example>'>",
        "<noscript><p title='</noscript><link rel=preconnect href=//o.example>'>",
        "<form><math><mtext></form><form><mglyph><style></math><img src onerror=a()>",
        "<svg><a><animate attributeName=href to=//o.example></animate><text>x</text></a></svg>",
        "<b style='background:\\75\\72 l(//o.example/x)'>x</b>",
        "<style>@\\69mport '//o.example'</style>",
        "<img attributionsrc=//o.example src=//o.example><button popovertarget=a>x</button>",
    ],
)
def test_a_copy_read_again_has_nothing_that_acts(markup: str) -> None:
    shown = harmless(markup, "http://a.example/", Among("", "2026"))

    assert harmless(shown.replace("/cached?", "#"), "http://a.example/", Among("", "2026")) == shown
    names = re.findall(r"<([a-z-]+)", shown)
    assert not {"meta", "link", "animate", "script"} & set(names)
    assert not re.search(r"<[^>]*\s(on\w+|src|attributionsrc|popovertarget)=", shown)


def test_a_style_is_read_through_its_escapes_and_keeps_those_that_hide_nothing() -> None:
    assert without_loads("b{background:\\75 rl(//o.example/x)}") == "b{background:none}"
    assert without_loads("@i\\mport '//o.example';") == "none"
    assert without_loads('q::before{content:"\\201C"}') == 'q::before{content:"\\201C"}'


def test_where_reading_needs_a_login_links_of_a_copy_lead_on_and_open_nothing_else(
    garden: Garden,
) -> None:
    """A browser sends no cookie with them: a copy stands on an origin of its own."""
    server = served(garden.path, is_open=False)
    owner, frame = Browser(server), Browser(server)
    csrf = owner.log_in()
    markup = owner.get("/cached", url=garden.url("/")).text
    link = re.findall(r'href="(/cached\?[^"]*roses[^"]*)"', markup)[0].replace("&amp;", "&")
    key = link.partition("key=")[2]

    assert "rose garden" in frame.ask("GET", link).text
    assert frame.get("/api/search", q="rose", key=key).status_code == 401
    assert frame.get("/cached", url=garden.url("/"), key="0" * 64).status_code == 401
    owner.post("/logout", csrf=csrf)
    assert frame.ask("GET", link).status_code == 401
    server.context.collections.close()


def test_a_copy_that_is_not_there_is_told_in_its_frame(server: Served, garden: Garden) -> None:
    answer = Browser(server).get("/cached", url=garden.url("/<b>nowhere"))

    assert answer.status_code == 404
    assert answer.headers["content-security-policy"].startswith("sandbox;")
    assert "frame-ancestors 'self'" in answer.headers["content-security-policy"]
    assert "<b>" not in answer.text


def test_a_large_page_is_shown_within_a_bound() -> None:
    """CPU of this thread, which holds up everybody else."""
    row = '<tr onclick="x()"><td><a href="b%d" style="color: red">b</a><td><img src=x.png>text'
    markup = "<table>" + "".join(row % number for number in range(10_000))
    began_s = time.thread_time()

    shown = harmless(markup, "http://a.example/", Among("", "2026"))

    assert time.thread_time() - began_s < 2.0
    assert "onclick" not in shown
    assert shown.count("/cached?") == 10_000


def test_links_of_a_copy_follow_the_base_that_the_page_names() -> None:
    markup = '<base href="/deep/"><a href="b">b</a>'

    shown = harmless(markup, "http://a.example/", Among("", "2026"))

    assert 'href="/cached?url=http%3A%2F%2Fa.example%2Fdeep%2Fb&amp;at=2026"' in shown
