"""What is called new was never noted."""

import os

from gossamer.index.seen_keys import SeenKeys


def test_a_key_that_was_noted_is_never_called_new() -> None:
    seen, keys = SeenKeys(), [os.urandom(16) for _ in range(20_000)]
    for key in keys:
        seen.note(key)

    assert all(seen.note(bytes(bytearray(key))) for key in keys)


def test_few_new_keys_are_taken_for_old_ones() -> None:
    seen = SeenKeys()

    mistakes = sum(seen.note(os.urandom(16)) for _ in range(20_000))

    assert mistakes < 20  # one is expected
