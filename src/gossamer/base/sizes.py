"""Sizes as people read them."""

from __future__ import annotations


def size_text(size_bytes: float) -> str:
    """`3.4 MB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(size_bytes) < 1000:
            return f"{size_bytes:.0f} {unit}" if unit == "B" else f"{size_bytes:.1f} {unit}"
        size_bytes /= 1000
    return f"{size_bytes:.1f} TB"
