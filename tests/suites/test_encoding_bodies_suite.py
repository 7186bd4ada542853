"""Bodies with content codings that others made: whole, cut off, and bombs."""

import gzip
import hashlib
import json
import subprocess
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import brotli

from gossamer.fetch.decode import Decoded, decode
from gossamer.settings import Parse
from support.shared import suite

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdCompressor as Zstd
else:
    from backports.zstd import ZstdCompressor as Zstd

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
        assert "is truncated" in result.fault, path.name
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

    assert len(bombs) >= 4
    assert extra_bytes(bombs) < 64 * 2**20


def test_bombs_of_256_mb_take_less_than_64_mb_too(tmp_path: Path) -> None:
    """The default limit is 64 MiB: larger than what they may take."""
    piece = bytes(2**20)
    gzip_, brotli_, zstd_ = zlib.compressobj(1, wbits=31), brotli.Compressor(quality=5), Zstd()
    once = b"".join([gzip_.compress(piece) for _ in range(256)]) + gzip_.flush()
    made = {
        "gzip": once,
        "gzip, gzip": gzip.compress(once),
        "br": b"".join([brotli_.process(piece) for _ in range(256)]) + brotli_.finish(),
        "zstd": b"".join([zstd_.compress(piece) for _ in range(256)]) + zstd_.flush(),
    }
    bombs = []
    for number, (coding, body) in enumerate(made.items()):
        (tmp_path / str(number)).write_bytes(body)
        bombs.append((str(tmp_path / str(number)), coding))
        result = decode(body, coding, Parse().max_decoded_bytes)
        assert (result.body, result.is_cut) == (b"", True)
        assert "is a decompression bomb" in result.fault

    assert extra_bytes(bombs) < 64 * 2**20


def extra_bytes(bodies: Sequence[tuple[str, str]]) -> int:
    """By how much a process grows that decodes the bodies with the default limit."""
    program = (
        "import json, resource, sys\n"
        "from gossamer.fetch.decode import decode\n"
        "from gossamer.settings import Parse\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before, limit = peak(), Parse().max_decoded_bytes\n"
        "for path, coding in json.loads(sys.argv[1]):\n"
        "    decode(open(path, 'rb').read(), coding, limit)\n"
        "print((peak() - before) * 256)\n"
    )
    made = subprocess.run(
        [sys.executable, "-c", program, json.dumps(bodies)], capture_output=True, check=True
    )
    return int(made.stdout)
