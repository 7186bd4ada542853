"""Where nodes stand, which lines differ, and what is kept for a while: the pure parts."""

from __future__ import annotations

import asyncio
import itertools
import re

import pytest

from gossamer.base.clock import ManualClock
from gossamer.compare.lines import changes
from gossamer.graph.ego import Ego, Neighbour, around_name
from gossamer.web.slow_answers import SlowAnswers, TooBusy
from gossamer.web.views.graph_picture import draw, shortened
from gossamer.web.views.narrow_graph_picture import draw_narrow
from support.rows import each_row


def _ego(count: int, centre: str = "http://a.example/") -> Ego:
    around = (Neighbour(f"http://a.example/{n}", n % 3, (n + 1) % 2) for n in range(count))
    return Ego(centre, "page", tuple(around), count, ())


@each_row("count", [0, 1, 2, 7, 60])
def test_no_two_names_lie_on_each_other(count: int) -> None:
    picture = draw(_ego(count))

    for side in ("left", "right"):
        heights = sorted(node.y for node in picture.nodes if node.side == side)
        assert all(after - before >= 20 for before, after in itertools.pairwise(heights))
    assert all(0 < node.y < picture.height for node in picture.nodes)
    assert len(picture.nodes) == count + 1


def test_who_links_here_stands_left_and_where_it_leads_right() -> None:
    around = (Neighbour("in", 1, 0), Neighbour("out", 0, 1))

    sides = {node.name: node.side for node in draw(Ego("x", "host", around, 2, ())).nodes}

    assert sides == {"in": "left", "out": "right", "x": "middle"}


def test_a_neighbour_of_the_same_origin_is_called_by_its_path() -> None:
    assert shortened("http://a.example/b/c", home="http://a.example") == "/b/c"
    assert shortened("http://a.example.org/b", home="http://a.example") == "a.example.org/b"
    assert len(shortened("http://" + "x" * 500)) == 29


def test_a_host_is_shown_with_its_strongest_neighbours_and_links_between_them() -> None:
    edges = [("a", "b", 5), ("c", "a", 9), ("b", "c", 2), ("d", "a", 1), ("d", "e", 7)]

    ego = around_name(edges, "a", "host", 2)

    assert [one.name for one in ego.neighbours] == ["c", "b"]
    assert (ego.total, ego.between) == (3, (("b", "c", 2),))


def test_lines_that_stayed_are_left_out_but_for_those_beside_a_change() -> None:
    old = "\n".join(f"line {n}" for n in range(40))
    new = old.replace("line 20", "another line")

    parts = changes(old, new).parts

    assert [(part.kind, len(part.lines), part.left_out) for part in parts] == [
        ("same", 3, 17),
        ("removed", 1, 0),
        ("added", 1, 0),
        ("same", 3, 0),
        ("same", 0, 16),
    ]


def test_the_same_text_has_no_changes() -> None:
    assert changes("a\n\nb", "a\nb  ").parts == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [("same\n" * 5_000, "other\n" * 5_000), ("a\nb\n" * 3_000, "b\na\n" * 3_001)],
)
def test_texts_made_to_be_slow_are_compared_in_part(old: str, new: str) -> None:
    assert changes(old, new).is_cut


def test_an_answer_is_made_once_until_what_it_is_made_of_changes() -> None:
    slowly, made = SlowAnswers(ManualClock()), []

    for stamp in (1, 1, 2):
        slowly.get("key", stamp, lambda: made.append(stamp))  # noqa: B023  # called at once

    assert made == [1, 2]


def test_an_answer_that_took_long_is_shown_for_ten_times_as_long() -> None:
    clock = ManualClock()
    slowly, made = SlowAnswers(clock), []

    def make() -> None:
        made.append(clock.now_s())
        asyncio.run(clock.advance(5.0))

    slowly.get("key", 1, make)
    slowly.get("key", 2, make)
    asyncio.run(clock.advance(51.0))
    slowly.get("key", 3, make)

    assert made == [0.0, 56.0]


def test_few_may_wait_for_what_takes_long() -> None:
    slowly = SlowAnswers(ManualClock(), most_waiting=1)

    with pytest.raises(TooBusy):
        slowly.get("one", 1, lambda: slowly.get("other", 1, lambda: None))


@each_row("count", [0, 1, 24, 60])
def test_on_a_phone_all_names_stand_below_each_other_inside_the_picture(count: int) -> None:
    around = tuple(Neighbour(f"host{n}.example", n % 3, (n + 1) % 2) for n in range(count))
    between = tuple((f"host{n}.example", f"host{n + 1}.example", 1) for n in range(count - 1))

    picture = draw_narrow(Ego("x.example", "host", around, count, between))

    heights = [node.y for node in picture.nodes]
    assert len(heights) == count + 1
    assert all(after - before >= 30 for before, after in itertools.pairwise(heights))
    assert all(0 < y < picture.height for y in heights)
    assert all(len(node.label) <= 29 for node in picture.nodes)
    for line in picture.lines:
        first, bend = map(float, re.findall(r"[MC](-?[\d.]+)", line.path))
        assert first / 4 + bend * 3 / 4 >= 0  # where the curve is furthest out
