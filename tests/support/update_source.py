"""The files of an update repository, read from its folder. Needs nothing that a unit lacks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from gossamer.errors import HubRefusal

PIECE_BYTES = 1000


@dataclass
class FolderSource:
    """The files of a repository. `changed` replaces what is sent for a path."""

    folder: Path
    changed: dict[str, bytes] = field(default_factory=dict)
    cut_after: int | None = None  # bytes of a file, then the connection ends
    sent: list[tuple[str, int, int]] = field(default_factory=list)  # path, offset, bytes
    on_piece: Callable[[], None] = lambda: None

    def fetch_update(self, path: str, most: int) -> bytes:
        content = self._content(path)
        assert len(content) <= most
        return content

    def download_update(self, path: str, start: int, take: Callable[[bytes], None]) -> None:
        content = self._content(path)[start:]
        whole = len(content) if self.cut_after is None else min(self.cut_after, len(content))
        for begin in range(0, whole, PIECE_BYTES):
            take(content[begin : min(begin + PIECE_BYTES, whole)])
            self.on_piece()
        self.sent.append((path, start, whole))
        if whole < len(content):
            raise HubRefusal("the connection was cut", status=0)

    def _content(self, path: str) -> bytes:
        if path in self.changed:
            return self.changed[path]
        file = self.folder / "repository" / path
        if not file.is_file():
            raise HubRefusal(f"there is no {path}", status=404)
        return file.read_bytes()
