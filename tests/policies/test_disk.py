"""A crawl stops before the disk is full, also on a small one."""

import pytest

from gossamer.policies.disk import least_free_bytes
from gossamer.settings import Node

MIB = 2**20


@pytest.mark.parametrize(
    ("total", "least"),
    [(32 * MIB, 32 * MIB // 10), (640 * MIB, 64 * MIB), (2**40, 64 * MIB)],
)
def test_a_small_disk_keeps_a_tenth_free_and_a_large_one_64_mib(total: int, least: int) -> None:
    assert least_free_bytes(Node(), total) == least


def test_what_the_operator_has_set_counts_on_every_disk() -> None:
    assert least_free_bytes(Node(min_free_bytes=100 * MIB), 50 * MIB) == 100 * MIB
    assert least_free_bytes(Node(min_free_bytes=0), 50 * MIB) == 0
