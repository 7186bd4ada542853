"""What a read sees before, while and after its row is written."""

from gossamer.frontier import pending as module
from gossamer.frontier.pending import Pending
from gossamer.frontier.store import MemoryStore, StateTable


def commit(pending: Pending, store: MemoryStore) -> None:
    store.write(pending.begin())
    pending.end()


def test_the_newest_change_is_seen_at_every_moment() -> None:
    store = MemoryStore()
    pending = Pending(store)
    pending.put(StateTable.URL, b"key", b"1")
    changes = pending.begin()
    pending.put(StateTable.URL, b"key", b"2")
    assert pending.find(StateTable.URL, b"key") == b"2"

    store.write(changes)
    pending.end()
    assert pending.find(StateTable.URL, b"key") == b"2"

    commit(pending, store)
    assert pending.find(StateTable.URL, b"key") == b"2"
    pending.delete(StateTable.URL, b"key")
    commit(pending, store)
    assert pending.find(StateTable.URL, b"key") is None


def test_rows_that_were_written_lately_are_few_and_none_is_out_of_date() -> None:
    store = MemoryStore()
    pending = Pending(store)
    some = module._KEPT // 4
    for turn in range(12):
        for number in range(some * turn, some * (turn + 2)):  # half of them once more
            pending.put(StateTable.URL, number.to_bytes(4, "big"), turn.to_bytes(1, "big"))
        commit(pending, store)

        assert len(pending._written) <= module._KEPT + 2 * some
        assert len(pending._written_before) <= module._KEPT + 2 * some
        for number in range(0, some * (turn + 2), 97):
            key = number.to_bytes(4, "big")
            assert pending.find(StateTable.URL, key) == store.find(StateTable.URL, key)


def test_of_a_commit_of_very_many_nothing_is_kept() -> None:
    store = MemoryStore()
    pending = Pending(store)
    pending.put(StateTable.URL, b"key", b"1")
    commit(pending, store)
    for number in range(module._KEPT + 1):
        pending.put(StateTable.URL, number.to_bytes(4, "big"), b"row")
    pending.put(StateTable.URL, b"key", b"2")
    commit(pending, store)

    assert not pending._written
    assert not pending._written_before
    assert pending.find(StateTable.URL, b"key") == b"2"


def test_many_rows_are_seen_as_each_would_be_wherever_they_are() -> None:
    store = MemoryStore()
    store.write({StateTable.URL: {b"stored": b"1", b"deleted": b"2"}})
    pending = Pending(store)
    pending.put(StateTable.URL, b"written", b"3")
    commit(pending, store)
    pending.put(StateTable.URL, b"writing", b"4")
    pending.begin()
    pending.put(StateTable.URL, b"new", b"5")
    pending.delete(StateTable.URL, b"deleted")
    keys = [b"new", b"stored", b"deleted", b"written", b"nowhere", b"writing", b"new"]

    assert pending.find_many(StateTable.URL, keys) == {
        key: pending.find(StateTable.URL, key) for key in keys
    }
