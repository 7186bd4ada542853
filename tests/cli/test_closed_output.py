"""Nobody reads the output any more: `gossamer crawl ... 2>&1 | head`."""

from __future__ import annotations

import signal
from pathlib import Path

from support.a_site import Answer, page, site_in_thread
from support.killing import WAIT_S, started, until

QUICK = ("--delay", "0", "--workers", "0")


def test_a_signal_stops_a_crawl_whose_messages_nobody_reads(tmp_path: Path) -> None:
    with (
        site_in_thread({"/": page("words")}) as site,
        started("crawl", site.url(), "-c", tmp_path / "c", *QUICK, "--forever") as running,
    ):
        until(lambda: "/" in site.asked, running)
        assert running.stderr is not None
        running.stderr.close()
        running.send_signal(signal.SIGTERM)
        code = running.wait(WAIT_S)
        running.stderr = None

    assert code == 11


def test_a_watch_whose_changes_nobody_reads_ends_by_itself(tmp_path: Path) -> None:
    versions = [page(f"<title>x</title>version {word} of it") for word in ("old", "new", "third")]
    pages: dict[str, Answer] = {"/": page("<a href=/a>a</a>"), "/a": versions}
    with (
        site_in_thread(pages) as site,
        started("watch", site.url(), "-c", tmp_path / "c", *QUICK[:2], "--every", "1s") as running,
    ):
        assert running.stdout is not None
        running.stdout.close()
        code = running.wait(WAIT_S)
        running.stdout = None
        said = running.stderr.read() if running.stderr is not None else ""

    assert code in (0, 11), said
