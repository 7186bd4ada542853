"""A webhook gets a signed POST request; a command gets the same bytes on its stdin."""

from __future__ import annotations

import hashlib
import hmac
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gossamer.collection.stored_settings import without_secrets
from gossamer.errors import SettingsError
from gossamer.node.notify.batch import batch_of
from gossamer.node.notify.targets import Command, Webhook, shown_url, targets_of
from gossamer.settings import Settings, Watch
from support.a_webhook import Webhook as Receiver
from support.a_webhook import a_webhook
from support.killing import until

BATCH = batch_of("feed", "news", (1, 2), [{"url": "http://a.test/é"}, {"url": "http://a.test/2"}])


@pytest.fixture
def server() -> Iterator[Receiver]:
    with a_webhook() as one:
        yield one


def test_a_webhook_gets_the_batch_with_a_signature(server: Receiver) -> None:
    assert Webhook(server.url, b"secret", 10.0).send(BATCH) == ""

    path, headers, body = server.requests[0]
    assert path == "/hook?key=1"
    assert headers["Content-Type"] == "application/json"
    assert headers["Gossamer-Batch"] == json.loads(body)["id"] == "feed-1-2"
    assert headers["User-Agent"].startswith("gossamer/")
    expected = hmac.new(b"secret", body, hashlib.sha256).hexdigest()
    assert headers["Gossamer-Signature"] == f"sha256={expected}"
    assert json.loads(body)["changes"][0] == {"url": "http://a.test/é"}


def test_a_webhook_without_a_secret_has_no_signature(server: Receiver) -> None:
    Webhook(server.url, b"", 10.0).send(BATCH)

    assert "Gossamer-Signature" not in server.requests[0][1]


@pytest.mark.parametrize(("status", "said"), [(500, "500"), (404, "404"), (301, "redirect")])
def test_any_other_status_than_2xx_is_a_failure(server: Receiver, status: int, said: str) -> None:
    server.status = status

    assert said in Webhook(server.url, b"", 10.0).send(BATCH)
    assert len(server.requests) == 1


def test_a_webhook_that_cannot_be_reached_says_why() -> None:
    with a_webhook() as server:
        url = server.url

    assert "connect" in Webhook(url, b"", 10.0).send(BATCH).lower()


def test_a_command_gets_the_batch_on_stdin_and_its_facts_in_variables(tmp_path: Path) -> None:
    written = tmp_path / "got"
    script = (
        "import os, sys; from pathlib import Path; "
        f"Path({str(written)!r}).write_bytes(sys.stdin.buffer.read() + "
        "'|'.join(os.environ[n] for n in ('GOSSAMER_BATCH', 'GOSSAMER_CHANGES',"
        " 'GOSSAMER_COLLECTION')).encode())"
    )

    assert Command((sys.executable, "-c", script), "/c", 60.0).send(BATCH) == ""
    assert written.read_bytes() == BATCH.body + b"feed-1-2|2|/c"


def test_a_command_that_fails_is_told_with_its_last_words() -> None:
    script = "import sys; sys.stdin.read(); sys.exit('no room on the board')"

    said = Command((sys.executable, "-c", script), "/c", 60.0).send(BATCH)

    assert "exit code 1: no room on the board" in said


def test_a_command_that_takes_too_long_is_ended_with_what_it_started() -> None:
    script = (
        "import subprocess, sys; "
        "subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
    )

    said = Command((sys.executable, "-c", script), "/c", 0.5).send(BATCH)

    assert "was ended after 0.5 seconds" in said


def test_a_command_that_reads_nothing_is_no_failure() -> None:
    big = batch_of("feed", "news", (1, 1), [{"text": "x" * 1_000_000}])

    assert Command((sys.executable, "-c", "pass"), "/c", 60.0).send(big) == ""


def test_no_shell_reads_a_command(tmp_path: Path) -> None:
    targets = targets_of(Watch(command=f"'{sys.executable}' -c pass '; touch x' $HOME"), tmp_path)

    assert isinstance(targets[0], Command)
    assert targets[0].words == (sys.executable, "-c", "pass", "; touch x", "$HOME")


@pytest.mark.parametrize(
    ("watch", "said"),
    [
        (Watch(webhook="example.org/x"), "is not a URL"),
        (Watch(webhook="ftp://example.org/x"), "is not a URL"),
        (Watch(webhook="http://[bad/"), "is not a URL"),
        (Watch(command="'open"), "quotation mark"),
        (Watch(command="no-such-program-here x"), "is not a program"),
        (Watch(webhook="http://a.test/", webhook_secret_file="/nonexistent"), "cannot be read"),
        (Watch(webhook_secret_file="/nonexistent"), r"watch\.webhook is not"),
    ],
)
def test_what_cannot_work_is_refused_at_the_start(watch: Watch, said: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=said):
        targets_of(watch, tmp_path)


def test_the_path_of_a_webhook_is_not_shown() -> None:
    assert shown_url("https://me:word@hooks.test/services/T0/B0/secret") == "https://hooks.test"


def test_webhook_and_command_are_not_stored_with_the_collection() -> None:
    watch = Watch(webhook="https://hooks.test/secret", command="true", batch=7)

    stored = without_secrets(Settings(watch=watch)).watch

    assert (stored.webhook, stored.command, stored.batch) == ("", "", 7)


def test_a_wrong_webhook_is_not_shown_in_a_message() -> None:
    with pytest.raises(SettingsError) as fault:
        targets_of(Watch(webhook="hooks.test/secret"), Path())

    assert "secret" not in str(fault.value)


def test_a_command_that_runs_when_the_crawl_ends_is_killed(tmp_path: Path) -> None:
    mark = tmp_path / "started"
    program = f"import pathlib, time; pathlib.Path({str(mark)!r}).touch(); time.sleep(600)"
    command = Command((sys.executable, "-c", program), "c", 600.0)
    with ThreadPoolExecutor() as pool:
        sent = pool.submit(command.send, BATCH)
        until(mark.exists)
        command.end()

        assert "was ended with the crawl" in sent.result(60)
