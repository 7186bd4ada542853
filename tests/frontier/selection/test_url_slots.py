"""Slots of URLs, compared with a dictionary."""

from __future__ import annotations

import hashlib
import random

import numpy as np

from gossamer.frontier.selection.url_slots import NONE, SlotByKey


def key(number: int) -> bytes:
    return hashlib.blake2b(str(number).encode(), digest_size=16).digest()


def test_keys_get_the_slots_that_a_dictionary_would_give_them() -> None:
    draw = random.Random(1)
    table, known = SlotByKey(100_000), dict[bytes, int]()
    for _ in range(60):
        some = [key(draw.randrange(20_000)) for _ in range(draw.randrange(400))]
        new = [one for one in dict.fromkeys(some) if one not in known]
        slots = table.add(b"".join(new))
        known.update(zip(new, slots.tolist(), strict=True))

        assert table.find(b"".join(some)).tolist() == [known[one] for one in some]

    assert sorted(known.values()) == list(range(table.count))
    assert all(table.key_of(slot) == one for one, slot in known.items())


def test_a_key_that_was_not_added_has_no_slot() -> None:
    table = SlotByKey(1_000)
    table.add(b"".join(map(key, range(900))))

    assert (table.find(b"".join(map(key, range(900, 2_000)))) == NONE).all()
    assert table.find_one(key(901)) == NONE
    assert [table.find_one(key(n)) for n in range(900)] == list(range(900))


def test_keys_that_fall_on_the_same_place_are_kept_apart() -> None:
    # The place in the table is made of the lower bits of both halves.
    same = [n.to_bytes(8, "big") + bytes(8) for n in range(1, 200)]
    table = SlotByKey(1_000)

    table.add(b"".join(same))

    assert table.find(b"".join(same)).tolist() == list(range(199))


def test_a_full_table_gives_no_more_slots() -> None:
    table = SlotByKey(1_000)

    first = table.add(b"".join(map(key, range(800))))
    more = table.add(b"".join(map(key, range(800, 1_600))))

    assert (len(first), len(more), table.is_full) == (800, 200, True)
    assert table.find_one(key(999)) == 999
    assert table.find_one(key(1_000)) == NONE
    assert not len(table.add(key(5_000)))


def test_the_table_takes_less_than_70_bytes_a_url() -> None:
    table = SlotByKey(100_000)
    many = np.random.default_rng(1).bytes(16 * 100_000)

    table.add(many)

    arrays = (table._marks, table._slots, table._halves)
    assert sum(array.nbytes for array in arrays) < 70 * table.count
