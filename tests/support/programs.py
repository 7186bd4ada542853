"""Servers and proxies of other authors, run for one test: nginx, tinyproxy, microsocks."""

from __future__ import annotations

import itertools
import os
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from support.killing import until
from support.need import need_program

# Below the ephemeral ports of the kernel (from 32768), which another process may get before our
# program takes its own. 70 for each test process, in turn.
_FIRST: Final = 20_000 + os.getpid() % 170 * 70
_PORTS: Final = itertools.cycle(range(_FIRST, _FIRST + 70))


def free_port(address: str = "127.0.0.1") -> int:
    """A free port for a program that cannot choose one itself. No other process gets it."""
    for port in itertools.islice(_PORTS, 70):
        with socket.socket() as tried, suppress(OSError):
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind((address, port))
            return port
    raise AssertionError("all ports of this process are taken")


@contextmanager
def running(command: Sequence[str], address: str, port: int) -> Iterator[None]:
    """Run a program; enters the block once it listens."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
        try:
            until(lambda: _listens(address, port) or program.poll() is not None)
            assert program.poll() is None, f"{command[0]} did not start"
            yield
        finally:
            program.terminate()
            program.wait()


def _listens(address: str, port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex((address, port)) == 0


@contextmanager
def nginx(folder: Path, servers: str, address: str, port: int) -> Iterator[Path]:
    """nginx with some `server` blocks; yields its log, a line of `address|user|cookie|path`."""
    user = "user root;" if os.geteuid() == 0 else ""
    log = folder / "access.log"
    shape = '"$server_addr|$http_authorization|$http_cookie|$ssl_client_verify|$request_uri"'
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"{user} daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{ default_type text/html; {temporary}\n"
        f"log_format seen {shape}; access_log {log} seen;\n{servers}\n}}\n"
    )
    command = [str(need_program("nginx")), "-c", str(folder / "nginx.conf"), "-p", str(folder)]
    with running([*command, "-e", str(folder / "error.log")], address, port):
        yield log


@contextmanager
def tinyproxy(folder: Path, *, comes_from: str, login: str = "") -> Iterator[str]:
    """A real HTTP proxy; yields its URL. Its requests come from another loopback address."""
    port = free_port()
    lines = [
        f"Port {port}", "Listen 127.0.0.1", f"Bind {comes_from}", "Timeout 10", "Allow 127.0.0.1",
        f'LogFile "{folder}/proxy.log"', f'PidFile "{folder}/proxy.pid"',
        *([f"BasicAuth {login}"] if login else []),
    ]  # fmt: skip
    (folder / "proxy.conf").write_text("\n".join(lines) + "\n")
    program = need_program("tinyproxy", "tinyproxy-bin")
    with running([str(program), "-d", "-c", f"{folder}/proxy.conf"], "127.0.0.1", port):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def microsocks(*, comes_from: str, login: tuple[str, str] | None = None) -> Iterator[str]:
    """A real SOCKS5 proxy; yields its URL."""
    port = free_port()
    program = str(need_program("microsocks"))
    who = ["-u", login[0], "-P", login[1]] if login else []
    command = [program, "-i", "127.0.0.1", "-p", str(port), "-b", comes_from, *who]
    with running(command, "127.0.0.1", port):
        yield f"socks5://127.0.0.1:{port}"
