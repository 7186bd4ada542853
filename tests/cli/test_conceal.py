"""Secrets that were typed are not to be read off the list of processes."""

from __future__ import annotations

from pathlib import Path

from support.a_site import hang, page, site_in_thread
from support.killing import started, typed, until
from support.need import need_linux


def command_lines(pid: int) -> list[bytes]:
    """Of a process and those that it started."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [Path(f"/proc/{each}/cmdline").read_bytes() for each in [str(pid), *children]]


def test_neither_node_nor_workers_show_what_was_typed(collection: Path) -> None:
    need_linux("/proc")
    with site_in_thread({"/robots.txt": page("", "404 No"), "/": hang()}) as site:
        seed = site.url().replace("//", "//me:geheim@")
        header = ("--header", "Authorization: Bearer geheim", "--header", "X-Study: open")
        with started("crawl", "-c", collection, seed, "--workers", "2", *header) as running:
            until(lambda: "/" in site.asked, running)
            lines = command_lines(running.pid)

    assert len(lines) == 3
    for line in lines[:1]:
        assert b"X-Study: open" in line
    assert not any(b"geheim" in line for line in lines)
    assert site.log[-1].headers["authorization"] == "Bearer geheim"


def test_a_file_of_secrets_that_others_can_read_is_named(tmp_path: Path, collection: Path) -> None:
    file = tmp_path / "logins"
    file.write_text("machine a.example login me password geheim\n")
    args = ("crawl", "-c", collection, "http://127.0.0.1/", "--logins", file, "--dry-run")

    file.chmod(0o644)
    assert f"chmod 600 {file}" in typed(*args).err
    file.chmod(0o600)
    assert "chmod" not in typed(*args).err
