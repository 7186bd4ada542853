"""Changes reach a target in order, at least once, and the crawl never waits for it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from gossamer.base.clock import ManualClock
from gossamer.frontier.meta_keys import CHANGES_KEY
from gossamer.frontier.rows import Standing, UrlRow
from gossamer.frontier.store import MemoryStore, StateTable
from gossamer.frontier.visits.change_rows import (
    ChangeRow,
    ChangesBegun,
    change_key,
    numbered_key,
)
from gossamer.node.notify.batch import Batch
from gossamer.node.notify.notifier import Notifier, Sender
from gossamer.node.notify.positions import Positions, positions_in
from gossamer.records import ChangeKind
from gossamer.settings import Watch


@dataclass
class Receiver:
    """A target that accepts or refuses as it is told."""

    name: str = "webhook"
    faults: list[str] = field(default_factory=list)
    got: list[dict[str, Any]] = field(default_factory=list)

    def end(self) -> None:
        """Nothing takes long here."""

    def send(self, batch: Batch) -> str:
        self.got.append(json.loads(batch.body))
        return self.faults.pop(0) if self.faults else ""

    @property
    def numbers(self) -> list[list[int]]:
        return [[one["status"] for one in batch["changes"]] for batch in self.got]


FORGOTTEN, NOISE = 700, 701  # what became of a change, in place of its status


class Crawl:
    """A store with changes, and a notifier for them."""

    def __init__(self, *targets: Receiver, store: MemoryStore | None = None, **watch: Any) -> None:
        self.clock = ManualClock()
        self.store = store or MemoryStore()
        self.positions = Positions(self.store, [target.name for target in targets])
        self.faults: list[BaseException] = []
        self.notifier = Notifier(
            self.positions, targets, Sender("feed", "news"), self.clock, Watch(**watch)
        )

    def commit(self, *statuses: int) -> None:
        """Write changes; the later ones have earlier times, as those of slow pages do."""
        number = self.positions.last
        changes: dict[bytes, bytes | None] = {}
        meta: dict[bytes, bytes | None] = {}
        urls: dict[bytes, bytes | None] = {}
        for status in statuses:
            number += 1
            key = number.to_bytes(16, "big")
            at = change_key(1_000_000 - number, key)
            row = ChangeRow(ChangeKind.CHANGED, status=status, is_noise=status == NOISE)
            changes[at], meta[numbered_key(number)] = row.encode(), at
            if status != FORGOTTEN:
                urls[key] = UrlRow(Standing.FETCHED, 0, f"http://a.test/{number}").encode()
        meta[CHANGES_KEY] = ChangesBegun(1, number).encode()
        table = StateTable
        self.store.write({table.CHANGE: changes, table.META: meta, table.URL: urls})

    async def pass_s(self, seconds: float) -> None:
        """Let so much time pass, a second at a time, with all threads done in between."""
        for _ in range(round(seconds)):
            await settle()
            await self.clock.advance(1.0)
        await settle()


async def settle() -> None:
    for _ in range(50):
        await asyncio.sleep(0)
        await asyncio.to_thread(bool)


def test_changes_arrive_in_order_in_batches() -> None:
    async def main() -> None:
        receiver = Receiver()
        crawl = Crawl(receiver, batch=3)
        crawl.notifier.start(crawl.faults.append)
        crawl.commit(5, 1, 2)
        crawl.commit(3, 4)
        await crawl.pass_s(2)
        await crawl.notifier.finish()

        assert receiver.numbers == [[5, 1, 2], [3, 4]]
        assert [batch["id"] for batch in receiver.got] == ["feed-1-3", "feed-4-5"]
        assert receiver.got[0]["collection"] == "news"
        assert positions_in(crawl.store)["webhook"].delivered == 5
        assert crawl.faults == []

    asyncio.run(main())


def test_a_failed_batch_is_sent_again_with_a_growing_delay_and_others_wait() -> None:
    async def main() -> None:
        receiver = Receiver(faults=["it answered 500", "it answered 500"])
        crawl = Crawl(receiver, batch=2)
        crawl.notifier.start(crawl.faults.append)
        crawl.commit(1, 2)
        await crawl.pass_s(0)
        crawl.commit(3)
        assert receiver.numbers == [[1, 2]]
        said = positions_in(crawl.store)["webhook"]
        assert (said.failures, said.fault) == (1, "it answered 500")

        await crawl.pass_s(1)
        assert receiver.numbers == [[1, 2], [1, 2]]
        await crawl.pass_s(1)
        assert len(receiver.got) == 2
        await crawl.pass_s(1)
        await crawl.notifier.finish()

        assert receiver.numbers == [[1, 2], [1, 2], [1, 2], [3]]
        said = positions_in(crawl.store)["webhook"]
        assert (said.failures, said.fault, said.delivered) == (0, "", 3)

    asyncio.run(main())


def test_the_delay_grows_to_its_limit() -> None:
    async def main() -> None:
        receiver = Receiver(faults=["no"] * 100)
        crawl = Crawl(receiver, max_delay_s=4.0)
        crawl.notifier.start(crawl.faults.append)
        crawl.commit(1)
        await crawl.pass_s(0)
        await crawl.pass_s(1 + 2 + 4 + 4 + 4)
        assert len(receiver.got) == 6
        await crawl.notifier.finish()

    asyncio.run(main())


def test_a_kill_repeats_the_same_batch_with_the_same_id() -> None:
    async def main() -> None:
        receiver = Receiver(faults=["no"])
        crawl = Crawl(receiver)
        crawl.notifier.start(crawl.faults.append)
        crawl.commit(1, 2)
        await crawl.pass_s(0)
        crawl.commit(3)  # and now it is killed: nothing more is written

        again = Crawl(receiver, store=crawl.store)
        await again.notifier.finish()

        assert [batch["id"] for batch in receiver.got] == ["feed-1-2", "feed-1-2", "feed-3-3"]
        assert receiver.numbers == [[1, 2], [1, 2], [3]]

    asyncio.run(main())


def test_one_target_that_fails_does_not_hold_up_another() -> None:
    async def main() -> None:
        broken, good = Receiver("command", faults=["no"] * 9), Receiver("webhook")
        crawl = Crawl(broken, good)
        crawl.notifier.start(crawl.faults.append)
        for number in (1, 2, 3):
            crawl.commit(number)
            await crawl.pass_s(1)
        await crawl.notifier.finish()

        assert good.numbers == [[1], [2], [3]]
        assert {tuple(one) for one in broken.numbers} == {(1,)}
        assert crawl.positions.waiting("command") == 3

    asyncio.run(main())


def test_forgotten_changes_and_noise_are_not_sent() -> None:
    async def main() -> None:
        receiver = Receiver()
        crawl = Crawl(receiver, batch=2)
        crawl.commit(FORGOTTEN, NOISE, 6, FORGOTTEN)
        await crawl.notifier.finish()

        assert receiver.numbers == [[6]]
        assert crawl.positions.waiting("webhook") == 0

    asyncio.run(main())


def test_the_oldest_changes_are_skipped_when_too_many_wait_and_the_next_batch_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        receiver = Receiver()
        crawl = Crawl(receiver, max_waiting=2)
        crawl.commit(1, 2, 3, 4, 5)
        await crawl.notifier.finish()

        assert receiver.numbers == [[4, 5]]
        assert receiver.got[0]["skipped"] == 3
        crawl.commit(6)
        await crawl.notifier.finish()
        assert receiver.got[1]["skipped"] == 0
        assert positions_in(crawl.store)["webhook"].skipped == 3

    asyncio.run(main())
    assert "max_waiting" in caplog.text


def test_the_end_of_a_crawl_tries_each_batch_once() -> None:
    async def main() -> None:
        receiver = Receiver(faults=["no"] * 9)
        crawl = Crawl(receiver)
        crawl.commit(1)
        await crawl.notifier.finish()

        assert len(receiver.got) == 1
        assert crawl.positions.waiting("webhook") == 1

    asyncio.run(main())


def test_a_new_target_hears_of_changes_from_now_on_and_a_kill_before_the_first_loses_none() -> None:
    async def main() -> None:
        before = Crawl()
        before.commit(1)
        receiver = Receiver()
        crawl = Crawl(receiver, store=before.store)
        crawl.commit(2)  # and now it is killed

        again = Crawl(receiver, store=crawl.store)
        await again.notifier.finish()

        assert receiver.numbers == [[2]]

    asyncio.run(main())


def test_a_state_with_fewer_changes_than_before_is_told_from_its_end() -> None:
    async def main() -> None:
        receiver = Receiver()
        crawl = Crawl(receiver)
        crawl.commit(1, 2, 3)
        await crawl.notifier.finish()
        crawl.store.write({StateTable.META: {CHANGES_KEY: ChangesBegun(1, 1).encode()}})

        again = Crawl(receiver, store=crawl.store)
        again.commit(9)
        await again.notifier.finish()

        assert receiver.numbers == [[1, 2, 3], [9]]

    asyncio.run(main())
