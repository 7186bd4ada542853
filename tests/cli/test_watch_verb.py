"""`gossamer watch` as it is typed."""

from __future__ import annotations

from pathlib import Path

from support.a_site import page, site_in_thread
from support.killing import typed


def test_the_command_visits_a_site_until_its_time_is_over(tmp_path: Path) -> None:
    with site_in_thread({"/": page("<title>x</title>words")}) as site:
        ended = typed(
            "watch", site.url(), "-c", tmp_path / "c", "--every", "1s", "--delay", "0",
            "--max-time", "1",
        )  # fmt: skip

    assert ended.code == 0, ended.err
    assert "/" in site.asked
