"""What the owner installs so that a unit starts with the machine. It is printed, never installed
from here: the owner sees every line, and what was installed can be removed."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Final

from gossamer.base.processes import own_command

_NAME: Final = "gossamer-unit"
_AGENTS: Final = "~/Library/LaunchAgents"


def service_text(folder: Path, platform: str = sys.platform) -> str:
    """The lines for this platform, with those that remove it again."""
    command = [*own_command("gossamer"), "unit", "run", "--quiet", "-d", str(folder)]
    if platform == "win32":
        return _windows(command)
    return _mac(command) if platform == "darwin" else _systemd(command)


def _systemd(command: list[str]) -> str:
    line = " ".join(_quoted(word) for word in command)
    return f"""\
# Save as ~/.config/systemd/user/{_NAME}.service, then:
#   systemctl --user daemon-reload && systemctl --user enable --now {_NAME}
#   loginctl enable-linger        (to run also while you are not logged in)
# To remove it:
#   systemctl --user disable --now {_NAME} && rm ~/.config/systemd/user/{_NAME}.service
[Unit]
Description=Gossamer crawler unit
After=network-online.target

[Service]
ExecStart={line}
Restart=on-failure
RestartSec=30
Nice=10
CPUWeight=20
IOSchedulingClass=idle
TimeoutStopSec=120

[Install]
WantedBy=default.target"""


def _quoted(word: str) -> str:
    """A word of a command line, as systemd reads it."""
    plain = word.replace("%", "%%").replace("$", "$$")
    if shlex.quote(word) == word:
        return plain
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _windows(command: list[str]) -> str:
    inner = " ".join(f'\\"{word}\\"' if " " in word else word for word in command)
    return f"""\
rem Run in a command prompt; the unit starts at every logon. Not tested.
schtasks /Create /TN {_NAME} /SC ONLOGON /RL LIMITED /TR "{inner}"
schtasks /Run /TN {_NAME}
rem To remove it:
schtasks /End /TN {_NAME}
schtasks /Delete /TN {_NAME} /F"""


def _mac(command: list[str]) -> str:
    words = "".join(f"<string>{word}</string>" for word in command)
    return f"""\
<!-- Save as {_AGENTS}/{_NAME}.plist, then:
     launchctl load {_AGENTS}/{_NAME}.plist
     To remove it: launchctl unload {_AGENTS}/{_NAME}.plist, and delete the file. Not tested. -->
<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict>
<key>Label</key><string>{_NAME}</string>
<key>ProgramArguments</key><array>{words}</array>
<key>RunAtLoad</key><true/><key>Nice</key><integer>10</integer>
</dict></plist>"""
