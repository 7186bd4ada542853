"""Both forms of the memory of anchors tell the same."""

import random
from collections.abc import Callable

import pytest

from gossamer.base import native
from gossamer.index.anchor_lines import Lines, LinesInPython
from gossamer.index.anchor_pack import pack_anchors, unpack_anchors

_c = native.load("gossamer.index._lines")
needs_c = pytest.mark.skipif(
    _c is None, reason="gossamer.index._lines is not built (`make native`)"
)
FORMS = ["LinesInPython", pytest.param("Lines", marks=needs_c)]

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


def form_of(name: str) -> Callable[[], Lines]:
    return LinesInPython if _c is None or name == "LinesInPython" else _c.Lines


def key_of(number: int) -> bytes:
    return number.to_bytes(16, "little")


@pytest.mark.parametrize("form", FORMS)
def test_a_line_is_new_once_and_not_where_it_came_before(form: str) -> None:
    before, after = form_of(form)(), form_of(form)()
    links = [(key_of(1), "one"), (key_of(2), "two"), (key_of(1), "one"), (key_of(9), "itself")]
    links += [(key_of(3), ""), (b"", "no URL"), (b"short", "no key")]

    told, targets = before.note(pack_anchors(links), key_of(9), None)

    assert targets == [key_of(1), key_of(2)]
    assert told == b"".join(before.find(key_of(1)) + before.find(key_of(2))) == before.take()
    more = pack_anchors([*links, (key_of(1), "three")])
    assert after.note(more, key_of(9), before)[1] == [key_of(1)]
    assert (len(before), len(after), before.take()) == (2, 1, b"")


@pytest.mark.parametrize("form", FORMS)
def test_hosts_that_link_under_the_same_words_are_counted(form: str) -> None:
    lines = form_of(form)()
    for host in (b"aaaabbbb", b"ccccdddd", b"bbbbcccc", b"ccccdddd"):
        links = [(key_of(1), "words"), (key_of(1), "of " + host.decode())]
        lines.note(pack_anchors(links), host * 2, None)

    counts = {"words": 1}
    lines.count(key_of(1), counts)

    assert counts == {"words": 4, "of aaaabbbb": 1, "of ccccdddd": 1, "of bbbbcccc": 1}


@needs_c
def test_both_forms_tell_the_same_of_many_links() -> None:
    assert _c is not None
    chance = random.Random(7)
    ours: list[Lines] = [_c.Lines(), _c.Lines()]
    theirs: list[Lines] = [LinesInPython(), LinesInPython()]
    for turn in range(3_000):
        source = key_of(chance.randrange(50) << 64 | chance.randrange(500))
        links = pack_anchors(
            (key_of(chance.randrange(300)), chance.choice(WORDS) + str(chance.randrange(30)))
            for _ in range(chance.randrange(6))
        )
        at = turn // 1_500
        before = (ours[0], theirs[0]) if at else (None, None)
        assert ours[at].note(links, source, before[0]) == theirs[at].note(links, source, before[1])
    for one, other in zip(ours, theirs, strict=True):
        assert (len(one), one.size_bytes) == (len(other), other.size_bytes)
        for number in range(301):
            assert sorted(one.find(key_of(number))) == sorted(other.find(key_of(number)))
            counts: dict[str, int] = {}
            counted: dict[str, int] = {}
            one.count(key_of(number), counts)
            other.count(key_of(number), counted)
            assert counts == counted
        assert one.take() == other.take() != b""
    assert len(ours[0]) > 2_000


@needs_c
@pytest.mark.parametrize(
    ("links", "source"),
    [
        ([(bytes(16), "words")], bytes(16)),
        (b"", b"short"),
    ],
)
def test_what_are_no_links_is_refused(links: object, source: bytes) -> None:
    assert _c is not None
    with pytest.raises(TypeError):
        _c.Lines().note(links, source, None)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kept", [1, 17, 18, 20])
def test_half_a_link_is_refused(form: str, kept: int) -> None:
    packed = pack_anchors([(key_of(1), "one"), (key_of(2), "two")])

    with pytest.raises(ValueError, match="half a link"):
        form_of(form)().note(packed[: len(packed) // 2 + kept], key_of(9), None)


def test_links_are_packed_without_those_that_say_nothing() -> None:
    links = [(key_of(1), "one"), (key_of(2), ""), (b"", "no URL"), (b"short", "no key")]
    odd = [(key_of(3), "half \ud800 a pair"), (key_of(4), "\u6771" * 501)]

    assert list(unpack_anchors(pack_anchors(links + odd))) == [
        (key_of(1), b"one"),
        (key_of(3), b"half ? a pair"),
        (key_of(4), ("\u6771" * 500).encode()),
    ]
    assert pack_anchors([]) == b""
