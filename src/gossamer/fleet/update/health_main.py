"""A process of a new version that polls the hub once, beside the old version that works on.

Exit code 0 if the hub has answered. It reads a `HubConnection` from stdin.
"""

from __future__ import annotations

import sys

import msgspec

from gossamer.base.processes import die_with_parent
from gossamer.errors import GossamerError
from gossamer.fleet.protocol import Poll
from gossamer.fleet.update.connection import HubConnection
from gossamer.fleet.update.running import running_version


def main() -> None:
    """Raises SystemExit with one sentence if the hub does not answer."""
    connection = msgspec.json.decode(sys.stdin.buffer.read(), type=HubConnection)
    client = connection.client()
    try:
        client.poll(Poll(state="waiting", version=running_version(), why="trying an update"))
    except GossamerError as fault:
        sys.exit(str(fault))
    finally:
        client.close()


if __name__ == "__main__":
    die_with_parent()
    main()
