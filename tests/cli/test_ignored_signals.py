"""A program that ignores the end of its children starts ours, which inherits that."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.a_site import page, site_in_thread

IGNORING = """
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.executable, [sys.executable, "-m", "gossamer", *sys.argv[1:]])
"""


@pytest.mark.slow
def test_a_crawl_with_workers_ends_well_under_a_parent_that_ignores_sigchld(
    collection: Path,
) -> None:
    with site_in_thread({"/": page("<a href=/b>b</a>"), "/b": page("")}) as site:
        ended = subprocess.run(
            [
                sys.executable, "-c", IGNORING, "crawl", "-c", str(collection), "--delay", "0",
                "--workers", "1", site.url(),
            ],
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    assert ended.returncode == 0, ended.stderr
    assert "2 pages fetched" in ended.stderr
