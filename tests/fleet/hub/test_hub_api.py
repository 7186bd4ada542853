"""The JSON API of a hub and its command line, through the whole server over TLS."""

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import msgspec
import pytest
import uvicorn

from gossamer.cli.run.hub_access import ask
from gossamer.errors import GossamerError, NotKnown, UsageError
from gossamer.fleet.hub.folder import HubFolder
from gossamer.fleet.join_code import read_code
from gossamer.fleet.protocol import PREFIX, Join, Joined, Poll
from gossamer.fleet.settings import HubSettings
from gossamer.web.hub.start import HubServing, StartedHub, started
from support.a_hub import machine

pytestmark = pytest.mark.slow  # a whole server with its merging process


@contextmanager
def whole_hub(folder: HubFolder, **settings: object) -> Iterator[tuple[StartedHub, httpx.Client]]:
    """`gossamer hub serve`, in a thread."""
    chosen = HubSettings(port=0, **settings)  # type: ignore[arg-type]
    with started(HubServing(folder=folder, settings=chosen)) as hub:
        running = uvicorn.Server(hub.server.config())
        thread = threading.Thread(target=running.run, kwargs={"sockets": hub.server.listeners})
        thread.start()
        trust = ssl.create_default_context(cafile=str(hub.server.files.authority))
        try:
            origin = f"https://127.0.0.1:{hub.port}"
            with httpx.Client(base_url=origin, verify=trust, trust_env=False, timeout=60) as client:
                yield hub, client
        finally:
            running.should_exit = True
            thread.join()


def test_people_order_and_see_everything_by_the_api_and_the_command_line(tmp_path: Path) -> None:
    folder = HubFolder(tmp_path / "hub")
    assert ask(folder, "add", text="early.example")["added"] == 1  # no hub runs
    with whole_hub(folder) as (hub, client):
        owner = {"authorization": f"Bearer {hub.context.credentials.token}"}
        check_rights(hub, client, owner, folder)
        check_commands(client, folder)
    assert ask(folder, "jobs")["total"] == 3
    assert not folder.access.exists()


def check_rights(
    hub: StartedHub, client: httpx.Client, owner: dict[str, str], folder: HubFolder
) -> None:
    """Reading is open on loopback; changes need a token that may make them."""
    assert client.get("/api/fleet/jobs").json()["counts"]["unallocated"] == 1
    assert client.post("/api/fleet/bans", json={"add": ["x.example"]}).status_code == 401
    reader = ask(folder, "token", name="watcher", scope="read")["token"]
    may_read = {"authorization": f"Bearer {reader}"}
    assert client.get("/api/fleet/machines", headers=may_read).status_code == 200
    refused = client.post("/api/fleet/bans", json={"add": ["x.example"]}, headers=may_read)
    assert (refused.status_code, hub.hub.bans.version) == (403, 0)
    changed = client.post("/api/fleet/bans", json={"add": ["x.example"]}, headers=owner)
    assert changed.json() == {"schema": 1, "version": 1, "bans": ["x.example"]}
    assert ask(folder, "revoke", name="watcher")["kind"] == "token"
    assert client.get("/api/fleet/machines", headers=may_read).status_code == 401
    wrong = client.post("/api/fleet/bans", json={"add": ["re:("]}, headers=owner)
    assert (wrong.status_code, "error" in wrong.json()) == (400, True)


def check_commands(client: httpx.Client, folder: HubFolder) -> None:
    """The commands use the same operations in the running hub."""
    added = ask(folder, "add", text="a.example\nb.example", fields={"max_pages": 5}, priority=-1)
    assert [job["task"] for job in added["jobs"]] == ["j2", "j3"]
    code = ask(folder, "invite", note="room 3")
    wanted = Join(code=code["code"], machine=machine("pc1"))
    sent = client.post(f"{PREFIX}/join", content=msgspec.json.encode(wanted))
    token = msgspec.json.decode(sent.content, type=Joined).token
    assert read_code(code["code"]).pin
    assert code["line"].startswith(f"gossamer unit join {code['url']} ")
    poll = msgspec.json.encode(Poll(state="idle", wants_job=True))
    bearer = {"authorization": f"Bearer {token}"}
    job = client.post(f"{PREFIX}/poll", content=poll, headers=bearer).json()["job"]
    assert (job["job"], job["spec"]["max_pages"]) == ("j2", 5)
    [seen] = ask(folder, "machines")["machines"]
    assert (seen["machine"], seen["task"]) == ("pc1", "j2")
    assert ask(folder, "job", job="j2")["job"]["spec"]["seeds"] == ["https://a.example/"]
    assert ask(folder, "order", unit="pc1", kind="drain")["orders"][0]["unit"] == seen["unit"]
    assert [row["act"] for row in ask(folder, "audit", limit=2)["acts"]] == ["order", "join"]
    with pytest.raises(NotKnown):
        ask(folder, "job", job="j99")
    with pytest.raises(UsageError, match="is not a URL"):
        ask(folder, "add", text="mailto:x")
    assert client.post(f"{PREFIX}/poll", content=poll, headers={}).status_code == 401
    assert client.get("/api/fleet/status", headers=bearer).status_code == 401  # a unit is no person


def test_an_open_hub_without_a_secret_does_not_start(tmp_path: Path) -> None:
    serving = HubServing(
        folder=HubFolder(tmp_path / "hub"), settings=HubSettings(host="0.0.0.0", port=0)
    )

    with pytest.raises(UsageError, match="can be reached from outside"), started(serving):
        pass
    assert not (tmp_path / "hub" / "run" / "access.json").exists()


def test_one_process_at_a_time_opens_a_hub(tmp_path: Path) -> None:
    folder = HubFolder(tmp_path / "hub")
    folder.make()
    with folder.locked(), pytest.raises(GossamerError, match="starting or stopping"):
        ask(folder, "add", text="a.example")
    with pytest.raises(UsageError, match="there is no hub"):
        ask(HubFolder(tmp_path / "none"), "jobs")
    folder.access.write_text(json.dumps({"host": "127.0.0.1", "port": 1, "token": "x"}))
    assert ask(folder, "add", text="a.example")["added"] == 1  # left by a killed hub
