"""Bodies with content codings that others made: whole, cut off, and bombs."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from gossamer.fetch.decode import Decoded, decode
from support.shared import suite

BOMB_LIMIT = 1_000_000


def rows() -> list[tuple[Path, dict[str, Any]]]:
    home = suite("http-content-encoding")
    return [(home / row["file"], row) for row in json.loads((home / "expected.json").read_text())]


def decoded(path: Path, row: dict[str, Any], limit: int = 64 * 2**20) -> Decoded:
    return decode(path.read_bytes(), row["content_encoding"], limit)


def test_whole_bodies_are_decoded_exactly() -> None:
    for path, row in rows():
        if row["expect"] != "decode exactly":
            continue
        result = decoded(path, row)
        assert (result.is_cut, result.fault) == (False, ""), path.name
        assert hashlib.sha256(result.body).hexdigest() == row["decoded_sha256"], path.name


def test_of_cut_off_bodies_comes_what_decodes_and_a_fault() -> None:
    for path, row in rows():
        if "mark truncated" not in row["expect"]:
            continue
        result = decoded(path, row)
        assert "ends too early" in result.fault, path.name
        assert hashlib.sha256(result.body).hexdigest() == row["decoded_sha256"], path.name


def test_a_bomb_stops_at_the_limit() -> None:
    for path, row in rows():
        if "size limit" not in row["expect"]:
            continue
        result = decoded(path, row, BOMB_LIMIT)
        assert (len(result.body), result.is_cut) == (BOMB_LIMIT, True), path.name


def test_a_window_that_browsers_refuse_is_refused() -> None:
    for path, row in rows():
        if "browsers refuse" not in row["expect"]:
            continue
        result = decoded(path, row)
        assert result.body == b""
        assert "memory" in result.fault


def test_all_bombs_together_take_less_than_64_mb() -> None:
    bombs = [(str(path), row["content_encoding"]) for path, row in rows() if row["ratio"] > 100]
    program = (
        "import json, resource, sys\n"
        "from gossamer.fetch.decode import decode\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak()\n"
        "for path, coding in json.loads(sys.argv[1]):\n"
        "    decode(open(path, 'rb').read(), coding, 1_000_000)\n"
        "print((peak() - before) * 1024)\n"
    )

    made = subprocess.run(
        [sys.executable, "-c", program, json.dumps(bombs)], capture_output=True, check=True
    )

    assert len(bombs) >= 4
    assert int(made.stdout) < 64 * 2**20
