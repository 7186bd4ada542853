"""What is checked before a crawl is started from the page: nothing is made where it cannot be."""

from __future__ import annotations

import html
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from support.a_server import serving
from support.a_site import page, redirect, site_in_thread
from support.programs import free_port
from web.a_browser import TOKEN, Browser, FakeOutside, Served, served

PRIVATE = {
    "intranet.example": ("10.1.2.3",),
    "here.example": ("127.0.0.1", "::1"),
    "cloud.example": ("169.254.169.254",),
    "gone.example": (),
    "both.example": ("10.1.2.3", "8.8.8.8"),
}


@pytest.fixture
def new(tmp_path: Path) -> Iterator[Served]:
    """A server without a collection and without a contact."""
    made = served(tmp_path / "first", contact="", outside=FakeOutside(PRIVATE))
    yield made
    made.context.collections.close()


def start(server: Served, **body: object) -> tuple[int, str]:
    answer = Browser(server, token=TOKEN).ask("POST", "/api/crawls", json=body)
    return answer.status_code, answer.json().get("error", "")


def left(tmp_path: Path) -> list[str]:
    """What lies beside the user's own settings."""
    return sorted(path.name for path in tmp_path.iterdir() if path.name != "user.toml")


def end_of(client: httpx.Client, name: str) -> None:
    """Wait until a crawl has ended."""
    with client.stream("GET", "/api/events", params={"c": name}) as stream:
        for line in stream.iter_lines():
            if '"state": "failed"' in line or '"state": "stored"' in line:
                return


# -- the contact


def test_a_public_site_without_a_contact_is_not_started_and_nothing_is_left(
    new: Served, tmp_path: Path
) -> None:
    browser = Browser(new)
    csrf = browser.log_in()

    answer = browser.post(
        "/crawls", csrf=csrf, seeds="https://a.example/x", max_pages="77", exclude="*/old/*"
    )

    assert answer.status_code == 400
    text = html.unescape(answer.text)
    assert "a.example is a public site: its owner must be able to contact you" in text
    assert ">https://a.example/x</textarea>" in answer.text
    assert ">*/old/*</textarea>" in answer.text
    assert 'value="77"' in answer.text
    assert 'autofocus aria-invalid="true"' in answer.text
    assert new.started == []
    assert left(tmp_path) == []
    assert Browser(new).get("/api/crawls").json()["crawls"] == []


def test_the_contact_is_asked_for_in_the_form_and_remembered(new: Served, tmp_path: Path) -> None:
    browser = Browser(new)
    csrf = browser.log_in()
    form = browser.get("/crawls").text.partition("<details")[0]
    assert 'name="user_agent_contact"' in form  # visible, not behind "more"

    answer = browser.post(
        "/crawls", csrf=csrf, seeds="https://a.example/", user_agent_contact="me@home.example"
    )

    assert answer.status_code == 303
    assert "--user-agent-contact=me@home.example" in new.started[0].words
    assert 'contact = "me@home.example"' in (tmp_path / "user.toml").read_text()
    assert 'value="me@home.example"' in browser.get("/crawls").text
    assert start(new, seeds=["https://b.example/"])[0] == 202


def test_a_contact_that_reaches_nobody_is_told(new: Served) -> None:
    status, said = start(new, seeds=["https://a.example/"], user_agent_contact="me")

    assert (status, said) == (
        400, "Your contact is 'me', but it must contain a mail address or an http(s) URL",
    )  # fmt: skip


# -- where it may go


@pytest.mark.parametrize(
    ("host", "named", "hint"),
    [
        ("intranet.example", "10.1.2.3 is not public: private", "--allow-private 10.1.2.3/32"),
        ("here.example", "127.0.0.1 is not public: loopback", "--allow-private 127.0.0.1/32"),
        ("cloud.example", "169.254.169.254 is not public: cloud metadata", ""),
    ],
)
def test_a_private_network_is_refused_in_one_clear_sentence(
    new: Served, tmp_path: Path, host: str, named: str, hint: str
) -> None:
    status, said = start(new, seeds=[f"http://{host}/"], user_agent_contact="me@home.example")

    assert status == 400
    assert said.startswith(f"{host} cannot be crawled from here: {named}.")
    assert hint in said
    assert ("--allow-private" in said) == bool(hint)
    assert new.started == []
    assert left(tmp_path) == []


def test_a_proxy_in_a_private_network_is_refused_too(new: Served) -> None:
    status, said = start(
        new, seeds=["http://a.example/"], proxy="http://intranet.example:3128",
        user_agent_contact="me@home.example",
    )  # fmt: skip

    assert status == 400
    assert said.startswith("intranet.example cannot be crawled from here")


def test_what_the_server_allows_is_allowed_and_the_crawl_is_told_so(tmp_path: Path) -> None:
    server = served(
        tmp_path / "first", contact="", outside=FakeOutside(PRIVATE), allow_private=("10.0.0.0/8",)
    )

    allowed = start(server, seeds=["http://intranet.example/"])  # needs no contact
    other = start(server, seeds=["http://here.example/"])

    assert (allowed[0], other[0]) == (202, 400)
    words = server.started[0].words
    assert "--set=fetch.typed_private=false" in words
    assert "--set=fetch.allow_private=10.0.0.0/8" in words
    server.context.collections.close()


def test_a_host_with_a_public_address_is_left_to_the_crawl_to_judge(new: Served) -> None:
    status, _ = start(new, seeds=["http://both.example/"], user_agent_contact="me@home.example")

    assert status == 202
    assert "--set=fetch.allow_private=" in new.started[0].words


def test_a_host_that_is_not_known_is_told(new: Served, tmp_path: Path) -> None:
    status, said = start(new, seeds=["http://gone.example/"], user_agent_contact="me@home.example")

    assert status == 400
    assert said == (
        "the host gone.example cannot be resolved (no such name); check the name and the network"
    )
    assert left(tmp_path) == []


@pytest.mark.slow
def test_a_crawl_of_a_server_stays_in_the_networks_that_it_allows(collection: Path) -> None:
    """The server allows one address; a link and a redirect lead to another."""
    with site_in_thread({"*": page("<title>Secret</title>")}, host="127.0.0.9") as secret:
        pages = {
            "/": page(f"<a href={secret.url('/a')}>private</a> <a href=/b>b</a>"),
            "/b": redirect(secret.url("/b")),
        }
        with (
            site_in_thread(pages) as site,
            serving(collection, allows="127.0.0.1/32") as server,
        ):
            client = server.client
            typed = client.post("/api/crawls", json={"seeds": [secret.url()]})
            body = {"seeds": [site.url()], "scope": "any", "name": "here", "delay": 0}
            assert client.post("/api/crawls", json=body).status_code == 202
            end_of(client, "here")
            status = client.get("/api/status", params={"c": "here"}).json()

    assert typed.status_code == 400
    assert secret.connections == 0
    assert (status["fetched"], status["refused_by"]) == (1, {"private": 2})


# -- names, keys, places


def test_an_unknown_key_is_refused_and_the_nearest_is_named(new: Served) -> None:
    status, said = start(new, seeds=["https://a.example/"], max_page=5)

    assert (status, said) == (
        400, "'max_page' is an unknown parameter; did you mean max_pages?",
    )  # fmt: skip
    assert new.started == []


@pytest.mark.parametrize("key", ["allow_private", "typed_private", "header", "x"])
def test_no_other_key_passes(new: Served, key: str) -> None:
    status, said = start(new, seeds=["https://a.example/"], **{key: "1"})

    assert status == 400
    assert f"{key!r} is an unknown parameter" in said


def test_a_form_with_a_value_that_cannot_be_read_comes_back_filled_in(new: Served) -> None:
    browser = Browser(new)
    csrf = browser.log_in()

    answer = browser.post("/crawls", csrf=csrf, seeds="https://a.example/", depth="deep", name="x")

    assert answer.status_code == 400
    assert "depth must be a whole number" in answer.text
    assert ">https://a.example/</textarea>" in answer.text
    assert 'value="deep"' in answer.text


def test_a_folder_that_holds_something_else_is_not_used(new: Served, tmp_path: Path) -> None:
    (tmp_path / "crawls/mine").mkdir(parents=True)
    (tmp_path / "crawls/mine/letter.txt").write_text("dear")

    status, said = start(
        new, seeds=["https://a.example/"], name="mine", user_agent_contact="me@home.example"
    )

    assert status == 400
    assert "exists and is not a collection; choose another name" in said


def test_a_folder_that_cannot_be_made_is_told(new: Served, tmp_path: Path) -> None:
    (tmp_path / "crawls").write_text("a file")

    status, said = start(new, seeds=["https://a.example/"], user_agent_contact="me@home.example")

    assert status == 400
    assert "--crawls DIR" in said


def test_a_disk_that_is_nearly_full_is_told(tmp_path: Path) -> None:
    server = served(tmp_path / "first")
    (tmp_path / "user.toml").write_text(
        f'[fetch]\ncontact = "me@home.example"\n[node]\nmin_free_bytes = {10**17}\n'
    )

    status, said = start(server, seeds=["https://a.example/"])

    assert status == 400
    assert "the disk is nearly full" in said
    assert server.started == []
    server.context.collections.close()


def test_settings_of_the_user_that_are_wrong_are_told_with_file_and_line(tmp_path: Path) -> None:
    server = served(tmp_path / "first")
    (tmp_path / "user.toml").write_text("[fetch]\nconnections = 0\n")

    status, said = start(server, seeds=["https://a.example/"])

    assert status == 400
    assert "user.toml, line 2" in said
    server.context.collections.close()


# -- the whole


@pytest.mark.slow
def test_a_bare_name_is_crawled_by_http_where_https_does_not_connect(collection: Path) -> None:
    with (
        site_in_thread({"/": page("<title>Bare</title>")}) as site,
        serving(collection) as server,
    ):
        body = {"seeds": [f"localhost:{site.port}"], "name": "bare"}
        answer = server.client.post("/api/crawls", json=body).json()
        shown = server.client.get("/crawls/bare").text

    (told,) = answer["told"]
    assert told.startswith(
        f"Using http://localhost:{site.port} for localhost:{site.port}: https does not connect "
    )
    assert f"Using http://localhost:{site.port}" in shown


@pytest.mark.slow
def test_a_seed_that_is_down_leaves_its_trace(collection: Path) -> None:
    url = f"http://127.0.0.1:{free_port()}/"
    with serving(collection) as server:
        client = server.client
        assert client.post("/api/crawls", json={"seeds": [url], "name": "down"}).status_code == 202
        end_of(client, "down")
        status = client.get("/api/status", params={"c": "down"}).json()
        listed = [one["crawl"] for one in client.get("/api/crawls").json()["crawls"]]
        shown = html.unescape(client.get("/crawls/down").text)
        story = client.get("/page", params={"url": url, "c": "down"}).text

    assert status["failed"] == 1
    assert listed == ["down"]
    assert url in shown
    assert "connect" in shown
    assert "connect" in story
