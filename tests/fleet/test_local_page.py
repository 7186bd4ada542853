"""The page of a unit on its own machine."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from gossamer.fleet.unit.local_page import LocalPage
from gossamer.fleet.unit.orders import LocalCommand
from gossamer.fleet.unit.status import JobStatus, UnitStatus

STATUS = UnitStatus(
    hub="https://hub.example", unit="u1", name="<b>desk</b>", version="1", state="working",
    jobs=(JobStatus(job="j", name="a.example", fetched=7, recent=("http://a.example/?<x>",)),),
)  # fmt: skip


class Visit:
    """One page, and what was ordered."""

    def __init__(self) -> None:
        self.ordered: list[LocalCommand] = []
        self.page = LocalPage(0, lambda: STATUS, self.ordered.append)
        self.port = int(self.page.url.split(":")[2].partition("/")[0])

    def send(self, method: str, path: str, body: str = "", **headers: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body or None, given)
        answer = connection.getresponse()
        found = answer.status, answer.read().decode()
        connection.close()
        return found

    def order(self, command: str, **headers: str) -> int:
        fields = {"command": command, "token": self.page.token}
        return self.send("POST", "/", urlencode(fields), **headers)[0]


@pytest.fixture
def visit() -> Iterator[Visit]:
    visit = Visit()
    yield visit
    visit.page.close()


def test_the_page_shows_what_the_unit_does_as_text(visit: Visit) -> None:
    status, text = visit.send("GET", f"/?token={visit.page.token}")

    assert status == 200
    assert "7 pages fetched" in text
    assert "&lt;b&gt;desk" in text
    assert "<x>" not in text


@pytest.mark.parametrize("path", ["/", "/?token=x", "/other"])
def test_without_the_token_the_page_shows_nothing(visit: Visit, path: str) -> None:
    status, text = visit.send("GET", path)

    assert status == 403
    assert "hub.example" not in text


def test_the_buttons_give_orders(visit: Visit) -> None:
    assert [visit.order("stop"), visit.order("stop-after")] == [200, 200]
    assert visit.ordered == ["stop", "stop-after"]


def test_all_is_deleted_only_with_the_box_ticked(visit: Visit) -> None:
    assert visit.order("delete") == 400
    fields = {"command": "delete", "token": visit.page.token, "sure": "yes"}

    assert visit.send("POST", "/", urlencode(fields))[0] == 200
    assert visit.ordered == ["delete"]


def test_another_site_cannot_give_orders(visit: Visit) -> None:
    assert visit.order("stop", Host="evil.example") == 403
    assert visit.order("stop", Origin="https://evil.example") == 403
    assert visit.send("POST", "/", "command=stop&token=x")[0] == 403
    assert (
        visit.send("GET", f"/?token={visit.page.token}", Host=f"evil.example:{visit.port}")[0]
        == 403
    )
    assert visit.ordered == []


def test_a_long_order_is_refused(visit: Visit) -> None:
    assert visit.send("POST", "/", "x" * 10_000)[0] == 413
