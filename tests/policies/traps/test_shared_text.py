"""Several workers fetch from one host: the node joins what they know."""

from __future__ import annotations

from gossamer.policies.traps.grades import News
from gossamer.policies.traps.news import Vocabulary
from gossamer.policies.traps.shared_text import SharedText, numbers_of

HOST = b"host-key"


def test_a_page_that_another_worker_has_seen_is_repeated() -> None:
    shared, text = SharedText(), numbers_of(b"the same text", [b"word"])

    assert shared.settle(HOST, News.NEW, text) is News.NEW
    assert shared.settle(HOST, News.NEW, text) is News.REPEATED


def test_words_that_another_worker_has_seen_are_known() -> None:
    shared = SharedText()
    shared.settle(HOST, News.NEW, numbers_of(b"one", [b"red", b"blue"]))

    assert shared.settle(HOST, News.NEW, numbers_of(b"two", [b"blue"])) is News.KNOWN
    assert shared.settle(HOST, News.NEW, numbers_of(b"three", [b"green"])) is News.NEW


def test_other_grades_and_other_hosts_stay() -> None:
    shared, text = SharedText(), numbers_of(b"text", [b"word"])
    shared.settle(HOST, News.NEW, text)

    assert shared.settle(HOST, News.ODD, text) is News.ODD
    assert shared.settle(b"other", News.NEW, text) is News.NEW
    assert shared.settle(HOST, News.NEW, b"") is News.NEW


def test_what_is_remembered_is_bounded() -> None:
    shared = SharedText(max_numbers=1_000)
    for number in range(2_000):
        shared.settle(
            b"%08d" % (number % 9), News.NEW, numbers_of(b"%d" % number, [b"w%d" % number])
        )

    held = [*shared._hosts.values(), *shared._before.values()]
    assert sum(map(len, held)) <= 2_100


def test_two_vocabularies_agree_on_the_numbers_of_a_text() -> None:
    one, other = Vocabulary(is_shared=True), Vocabulary(is_shared=True)
    one.judge("h", "http://h/1", "A lamp for the hall, 17 of them")
    other.judge("h", "http://h/2", "A lamp for the hall, 99 of them")

    assert one.numbers[:4] == other.numbers[:4]
