"""A file that may not be read is named in one sentence."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.killing import typed

NOBODY = 65534


@contextmanager
def as_nobody() -> Iterator[None]:
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root can try it")
def test_a_collection_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    words = ("crawl", "-c", tmp_path / "study", "--json", "--dry-run", "http://127.0.0.1:8081/")
    assert typed(*words).code == 0  # all is loaded that it needs

    with as_nobody():
        ended = typed(*words)

    assert ended.code == 1
    assert ended.err.count("\n") == 1
    assert ended.err.startswith("gossamer: cannot access ")
    assert ended.err.endswith(": permission denied\n")
    assert ended.summary["exit_code"] == 1
