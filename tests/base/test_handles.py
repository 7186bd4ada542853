"""The limit of open files is raised where it may be, and else fewer connections are used."""

import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys
soft, hard = int(sys.argv[1]), int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
from gossamer.base.handles import room_for_connections
print(room_for_connections(64), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


def room(soft: int, hard: int) -> tuple[int, int]:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(soft), str(hard)],
        capture_output=True,
        text=True,
        check=True,
        timeout=90,
    )
    connections, limit = run.stdout.split()
    return int(connections), int(limit)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
class TestRoom:
    def test_a_low_limit_is_raised(self) -> None:
        assert room(100, 2000) == (64, 528)

    def test_where_it_cannot_be_raised_fewer_connections_fit(self) -> None:
        assert room(420, 420) == (10, 420)

    def test_a_high_one_is_left_alone(self) -> None:
        assert room(1500, 2000) == (64, 1500)
