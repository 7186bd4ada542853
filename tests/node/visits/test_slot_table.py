"""Keys of pages and their slots."""

from __future__ import annotations

import random
import tracemalloc

import pytest

from gossamer.node.visits.slot_table import SlotTable


def keys(count: int, hosts: int = 10) -> list[bytes]:
    chance = random.Random(17)
    names = [chance.randbytes(8) for _ in range(hosts)]
    return [chance.choice(names) + chance.randbytes(8) for _ in range(count)]


def test_each_key_keeps_its_slot_however_many_are_added() -> None:
    table, all_keys = SlotTable(), keys(20_000)

    slots = [table.add(key) for key in all_keys]

    assert slots == list(range(20_000))
    assert [table.find(key) for key in all_keys] == slots
    assert [table.key_of(slot) for slot in slots] == all_keys
    assert [table.add(key) for key in all_keys[::97]] == slots[::97]
    assert table.find(b"\0" * 16) is None
    assert table.find(all_keys[0][:8] + b"\xff" * 8) is None


def test_a_key_may_begin_or_end_with_zeros() -> None:
    table, odd = SlotTable(), [b"\0" * 16, b"\0" * 15 + b"\1", b"\1" + b"\0" * 15, b"\xff" * 16]

    slots = [table.add(key) for key in [*odd, *keys(5_000)]][:4]

    assert [table.find(key) for key in odd] == slots
    assert [table.key_of(slot) for slot in slots] == odd


def test_the_pages_of_a_host_are_found() -> None:
    table, all_keys = SlotTable(), keys(5_000, hosts=7)
    for key in all_keys:
        table.add(key)
    host = all_keys[0][:8]
    expected = [slot for slot, key in enumerate(all_keys) if key.startswith(host)]

    assert sorted(table.slots_of_host(host).tolist()) == expected
    assert table.hosts()[host] == len(expected)
    assert sum(table.hosts().values()) == 5_000


@pytest.mark.slow
def test_a_page_costs_less_than_30_bytes() -> None:
    all_keys = keys(300_000)
    tracemalloc.start()
    table = SlotTable()
    for key in all_keys:
        table.add(key)
    table._sort()
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()

    assert used / len(all_keys) < 30
