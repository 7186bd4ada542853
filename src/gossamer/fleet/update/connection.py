"""What a process that fetches or tries an update needs to reach the hub, passed on its stdin."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gossamer.fleet.client import HubClient


class HubConnection(msgspec.Struct, frozen=True, kw_only=True):
    """Of a unit that has joined."""

    url: str
    token: str
    directory: str  # `update` of the unit
    root: str  # that was pinned on joining
    ca_file: str = ""
    proxy: str = ""
    certificate: str = ""
    health_s: float = 120.0  # within which a new version must have polled the hub

    def client(self) -> HubClient:
        return HubClient(
            self.url,
            self.token,
            Path(self.ca_file) if self.ca_file else None,
            self.proxy,
            certificate=Path(self.certificate) if self.certificate else None,
        )


class UpdateResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of an attempt: one of these is set, or none if there is nothing newer."""

    staged: str = ""  # the version that is ready
    refused: str = ""  # one sentence
    later: str = ""  # one sentence
