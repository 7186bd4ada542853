"""The memory of anchors tells each line once."""

import random

import pytest

from gossamer.index.anchor_lines import AnchorLines
from gossamer.index.anchor_pack import pack_anchors, unpack_anchors
from support.rows import each_row

WORDS = [
    "a",
    "home",
    "the manual",
    "über uns",
    "東京",
    "half \ud800 a pair",
    "x" * 700,
    "é" * 501,
    "",
]


def key_of(number: int) -> bytes:
    return number.to_bytes(16, "little")


def test_a_line_is_new_once_and_not_where_it_came_before() -> None:
    before, after = AnchorLines(), AnchorLines()
    links = [(key_of(1), "one"), (key_of(2), "two"), (key_of(1), "one"), (key_of(9), "itself")]
    links += [(key_of(3), ""), (b"", "no URL"), (b"short", "no key")]

    told, targets = before.note(pack_anchors(links), key_of(9), None)

    assert targets == [key_of(1), key_of(2)]
    assert told == b"".join(before.find(key_of(1)) + before.find(key_of(2))) == before.take()
    more = pack_anchors([*links, (key_of(1), "three")])
    assert after.note(more, key_of(9), before)[1] == [key_of(1)]
    assert (len(before), len(after), before.take()) == (2, 1, b"")


def test_hosts_that_link_under_the_same_words_are_counted() -> None:
    lines = AnchorLines()
    for host in (b"aaaabbbb", b"ccccdddd", b"bbbbcccc", b"ccccdddd"):
        links = [(key_of(1), "words"), (key_of(1), "of " + host.decode())]
        lines.note(pack_anchors(links), host * 2, None)

    counts = {"words": 1}
    lines.count(key_of(1), counts)

    assert counts == {"words": 4, "of aaaabbbb": 1, "of ccccdddd": 1, "of bbbbcccc": 1}


def test_every_line_of_many_links_is_told_once() -> None:
    chance, lines, model = random.Random(7), AnchorLines(), dict[bytes, set[bytes]]()
    for _ in range(3_000):
        source = key_of(chance.randrange(50) << 64 | chance.randrange(500))
        anchors = pack_anchors(
            [(key_of(chance.randrange(300)), chance.choice(WORDS)) for _ in range(9)]
        )
        expected = []
        for target, text in unpack_anchors(anchors):
            line = target + source[:8] + len(text).to_bytes(2, "big") + text
            if target != source and line not in model.setdefault(target, set()):
                model[target].add(line)
                expected.append(line)

        told, targets = lines.note(anchors, source, None)

        assert (told, targets) == (b"".join(expected), [line[:16] for line in expected])
    assert len(lines) == sum(map(len, model.values())) > 2_000
    assert lines.size_bytes == len(lines.take()) > 0
    for number in range(301):
        found = lines.find(key_of(number))
        assert (len(found), set(found)) == (len(set(found)), model.get(key_of(number), set()))


@each_row("kept", [1, 17, 18, 20])
def test_half_a_link_is_refused(kept: int) -> None:
    packed = pack_anchors([(key_of(1), "one"), (key_of(2), "two")])

    with pytest.raises(ValueError, match="half a link"):
        AnchorLines().note(packed[: len(packed) // 2 + kept], key_of(9), None)


def test_links_are_packed_without_those_that_say_nothing() -> None:
    links = [(key_of(1), "one"), (key_of(2), ""), (b"", "no URL"), (b"short", "no key")]
    odd = [(key_of(3), "half \ud800 a pair"), (key_of(4), "\u6771" * 501)]

    assert list(unpack_anchors(pack_anchors(links + odd))) == [
        (key_of(1), b"one"),
        (key_of(3), b"half ? a pair"),
        (key_of(4), ("\u6771" * 500).encode()),
    ]
    assert pack_anchors([]) == b""
