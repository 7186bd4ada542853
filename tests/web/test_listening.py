"""Where the server listens."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer.errors import UsageError
from gossamer.web.server import listening
from support.killing import typed


def test_port_0_is_one_that_is_free() -> None:
    with listening("127.0.0.1", 0) as one, listening("127.0.0.1", 0) as two:
        assert one.getsockname()[1] != two.getsockname()[1]


def test_a_port_that_is_taken_is_told_in_one_sentence(tmp_path: Path) -> None:
    with listening("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        ended = typed("serve", "-c", str(tmp_path), "--port", str(port))

    assert ended.code == 2
    assert f"cannot listen on port {port} of 127.0.0.1 (another program uses it)" in ended.err
    assert "ticket" not in ended.err, "nobody is sent to the other program"


def test_an_address_of_another_machine_is_told() -> None:
    with pytest.raises(UsageError, match=r"cannot listen on port 80 of 192\.0\.2\.7"):
        listening("192.0.2.7", 80)
