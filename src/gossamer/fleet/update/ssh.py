"""Run commands on another machine with the system's `ssh`.

It never asks: keys of the operator (agent, files or configuration) must be enough. The key of the
machine must be known; an unknown or changed one ends the connection.
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gossamer.base.processes import Ended, StillRunning, run_program
from gossamer.errors import StoreError, UsageError

_CONNECT_S: Final = 20
_FAILED: Final = 255  # exit code of ssh itself
_HOST: Final = re.compile(r"[A-Za-z0-9_][\w.:%-]{0,252}")  # a name, an address, an alias
_USER: Final = re.compile(r"[A-Za-z_][\w.-]{0,63}\$?")


@dataclass(frozen=True, slots=True)
class SshHost:
    """A machine that the operator can reach. Raises UsageError for words that are not names."""

    host: str
    user: str = ""
    port: int = 0
    identity: Path | None = None
    known_hosts: Path | None = None
    program: str = "ssh"

    def __post_init__(self) -> None:
        if not _HOST.fullmatch(self.host):
            raise UsageError(f"{self.host!r} is not the name of a machine")
        if self.user and not _USER.fullmatch(self.user):
            raise UsageError(f"{self.user!r} is not the name of a user")

    def command(self, remote: str) -> list[str]:
        """The words that run `remote`, a line for the shell of that machine."""
        options = ["BatchMode=yes", "StrictHostKeyChecking=yes", f"ConnectTimeout={_CONNECT_S}"]
        options += ["ServerAliveInterval=15", "ForwardAgent=no", "ForwardX11=no", "RequestTTY=no"]
        if self.known_hosts is not None:
            options.append(f"UserKnownHostsFile={self.known_hosts}")
        words = [self.program]
        for option in options:
            words += ["-o", option]
        if self.port:
            words += ["-p", str(self.port)]
        if self.user:
            words += ["-l", self.user]
        if self.identity is not None:
            words += ["-i", str(self.identity), "-o", "IdentitiesOnly=yes"]
        return [*words, "--", self.host, remote]

    def run(self, script: str, *words: str, within_s: float) -> Ended:
        """Run a script with arguments in the machine's POSIX shell. Raises StoreError if the
        machine cannot be reached."""
        remote = " ".join(["sh", "-s", "--", *map(shlex.quote, words)])
        return self._run(remote, script.encode(), within_s)

    def send(self, content: bytes, script: str, *words: str, within_s: float) -> Ended:
        """Run a script that reads `content` from its input. Raises StoreError."""
        remote = " ".join(["sh", "-c", shlex.quote(script), "sh", *map(shlex.quote, words)])
        return self._run(remote, content, within_s)

    def _run(self, remote: str, stdin: bytes, within_s: float) -> Ended:
        try:
            ended = run_program(
                self.command(remote), stdin, os.environ, within_s, keeps_output=True
            )
        except FileNotFoundError:
            raise StoreError(f"there is no program {self.program!r}; install OpenSSH") from None
        except StillRunning:
            raise StoreError(f"{self.host} does not answer within {within_s:g} s") from None
        except OSError as fault:
            raise StoreError(f"ssh cannot be started ({fault.strerror})") from fault
        if ended.code == _FAILED:
            raise StoreError(f"{self.host} cannot be reached by ssh: {self._meaning(ended.error)}")
        return ended

    def _meaning(self, error: str) -> str:
        if "Host key verification failed" in error:
            return (
                "its key is unknown or has changed; compare it and connect once by hand with `ssh`"
            )
        if "Permission denied" in error:
            return "it accepts no key of yours; put your public key there, or name one (--identity)"
        return error or "no reason was given"
