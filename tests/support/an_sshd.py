"""An SSH server of OpenSSH for tests: its own process, keys and port on loopback, for this user."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.killing import until

PROGRAM = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/usr/bin") or ""


@dataclass(frozen=True)
class ServedMachine:
    """A "machine": this one, with another home."""

    port: int
    user: str
    home: Path
    identity: Path
    known_hosts: Path


def _key(path: Path) -> str:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
    return path.with_suffix(".pub").read_text()


def _log(folder: Path) -> bytes:
    return (folder / "log").read_bytes()


@contextmanager
def an_sshd(folder: Path) -> Iterator[ServedMachine]:
    """Serve while the block runs. Every command runs in `folder/home` with little environment."""
    home = folder / "home"
    home.mkdir(parents=True)
    if os.getuid() == 0:  # the server insists on this empty folder, which a boot would make
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    host_key = _key(folder / "host")
    (folder / "authorized").write_text(_key(folder / "identity"))
    (folder / "known").write_text(f"[127.0.0.1]:{port} {host_key}")
    shell = folder / "run"
    shell.write_text(
        f"#!/bin/sh\nexport HOME={home}\nunset XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS\n"
        f'cd\nexec sh -c "$SSH_ORIGINAL_COMMAND"\n'
    )
    shell.chmod(0o700)
    (folder / "config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile none\n"
        f"AuthorizedKeysFile {folder}/authorized\nPasswordAuthentication no\nUsePAM no\n"
        f"StrictModes no\nForceCommand {shell}\n"
    )
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([PROGRAM, "-D", "-e", "-f", folder / "config"], stderr=log)
    try:
        until(lambda: b"listening" in _log(folder) or process.poll() is not None)
        assert process.poll() is None, _log(folder)
        yield ServedMachine(port, getpass.getuser(), home, folder / "identity", folder / "known")
    finally:
        process.terminate()
        process.wait()
