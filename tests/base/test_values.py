"""A class of ours is the class that `dataclasses` makes, and its values are made quickly."""

import copy
import dataclasses
import inspect
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, fields, replace
from pathlib import Path
from typing import Any

import pytest

from gossamer.base import values
from gossamer.base.values import dataclass, ready
from gossamer.records import Lease, Report, Stored


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 2
    name: str = ""

    def moved(self) -> "Point":
        return replace(self, x=self.x + 1)


@dataclass(slots=True)
class Box:
    things: list[str] = field(default_factory=list)
    is_open: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    least: int = 0
    most: int
    seen: list[str] = field(default_factory=list, compare=False, repr=False)
    span: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "span", self.most - self.least)


@dataclass(frozen=True)
class Loose:
    only: object


@dataclass(frozen=True, slots=True)
class Empty:
    """Nothing is in it."""


@dataclass(slots=True, eq=False)
class Itself:
    x: int


@dataclass(frozen=True, slots=True)
class Own:
    x: int

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 7

    def __repr__(self) -> str:
        return "own"


def test_fields_and_defaults_are_those_of_the_class() -> None:
    assert Point(1) == Point(1, 2, "") == Point(x=1, y=2, name="")
    assert Point(1) != Point(2)
    assert Point(1) != object()
    assert repr(Point(1, name="a")) == "Point(x=1, y=2, name='a')"
    assert hash(Point(1)) == hash(Point(1)) != hash(Point(2))
    assert [f.name for f in fields(Point)] == ["x", "y", "name"]
    assert Point.__match_args__ == ("x", "y", "name")


def test_it_is_frozen_and_of_its_class() -> None:
    point = Point(1)

    assert type(point) is Point
    with pytest.raises(FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del point.x
    with pytest.raises((AttributeError, TypeError)):
        point.z = 2  # type: ignore[attr-defined]


def test_one_that_is_not_frozen_changes_and_is_in_no_set() -> None:
    box = Box()
    box.things.append("hat")
    box.is_open = False

    assert box == Box(["hat"], is_open=False)
    assert Box().things == []
    with pytest.raises(TypeError, match="unhashable"):
        hash(box)


def test_a_value_may_complete_itself() -> None:
    checked = Checked(most=5, seen=["a"])

    assert checked.span == 5
    assert checked == Checked(most=5)
    assert repr(checked) == "Checked(least=0, most=5, span=5)"
    with pytest.raises(TypeError, match="positional argument"):
        Checked(1, 2)  # type: ignore[call-arg]


def test_small_and_empty_values_compare_and_hash() -> None:
    nan = float("nan")

    assert Loose(nan) == Loose(nan)  # as tuples do: the very same thing is equal
    assert hash(Loose("a")) == hash(Loose("a"))
    assert Empty() == Empty()
    assert len({Empty(), Empty()}) == 1
    assert Itself(1) != Itself(1)
    assert len({Itself(1), Itself(1)}) == 2


def test_what_a_class_says_of_itself_stands() -> None:
    assert Own(1) == Own(2)
    assert hash(Own(1)) == 7
    assert repr(Own(1)) == "own"


def test_a_value_in_itself_is_shown_once() -> None:
    box = Box()
    box.things.append(box)  # type: ignore[arg-type]

    assert repr(box) == "Box(things=[...], is_open=True)"


def test_copies_are_equal() -> None:
    point = Point(1, 5, "a")

    assert point.moved() == Point(2, 5, "a")
    assert copy.deepcopy(point) == pickle.loads(pickle.dumps(point)) == point


def test_a_wrong_call_is_told_by_the_name_of_the_class() -> None:
    with pytest.raises(TypeError, match=r"Point\.__init__\(\) missing 1 required"):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        Point(1, z=2)  # type: ignore[call-arg]


@pytest.mark.parametrize("values", [(1,), (1, 3), (1, 3, "b")])
def test_it_does_what_the_library_does(values: tuple[Any, ...]) -> None:
    def body(decorate: Callable[[type], Any]) -> Any:
        class Same:
            """Twice."""

            a: int
            b: int = 2
            c: str = field(default="c", repr=False)

        return decorate(Same)

    ours = body(dataclass(frozen=True, slots=True))
    theirs = body(dataclasses.dataclass(frozen=True, slots=True))

    assert repr(ours(*values)) == repr(theirs(*values))
    assert hash(ours(*values)) == hash(theirs(*values))
    assert dataclasses.asdict(ours(*values)) == dataclasses.asdict(theirs(*values))
    assert ours(*values) != theirs(*values)
    ready(ours)
    assert repr(ours(*values)) == repr(theirs(*values))
    assert list(inspect.signature(ours).parameters) == list(inspect.signature(theirs).parameters)


def test_a_default_of_what_is_no_argument_is_refused() -> None:
    @dataclass(slots=True)
    class Odd:
        names: list[str] = field(init=False, default_factory=list)

    with pytest.raises(TypeError, match=r"Odd\.names has a default that nobody sets"):
        Odd()


def test_no_class_of_ours_is_made_by_the_library() -> None:
    ours = Path(values.__file__)
    theirs = re.compile(r"^from dataclasses import .*\bdataclass\b|@dataclasses\.", re.MULTILINE)
    files = [one for one in ours.parents[1].rglob("*.py") if one != ours]

    assert [one for one in files if theirs.search(one.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("is_ready", [False, True])
def test_the_first_values_are_as_the_later_ones(is_ready: bool) -> None:
    @dataclass(frozen=True, slots=True)
    class Some:
        a: int
        b: list[int] = field(default_factory=list)
        c: int = field(default=3, kw_only=True)

        def __post_init__(self) -> None:
            self.b.append(self.a)

    if is_ready:
        ready(Some)
        ready(Some)
    before = Some.__init__

    made = [Some(1), Some(1, [0], c=4), Some(b=[2], a=5), *(Some(n) for n in range(9))]

    assert [(one.a, one.b, one.c) for one in made[:3]] == [
        (1, [1], 3),
        (1, [0, 1], 4),
        (5, [2, 5], 3),
    ]
    assert [one.b for one in made[3:]] == [[n] for n in range(9)]
    assert (Some.__init__ is before) == is_ready, "with many values it is worth compiling"


@pytest.mark.parametrize("named", [{}, {"x": 1, "z": 2}, {"y": 1}])
@pytest.mark.parametrize("args", [(), (1, 2, "", 4), (1, 2)])
def test_the_first_value_may_be_called_wrongly(
    args: tuple[Any, ...], named: dict[str, Any]
) -> None:
    @dataclass(frozen=True, slots=True)
    class Some:
        x: int
        y: int = 2
        name: str = ""

    @dataclasses.dataclass(frozen=True, slots=True)
    class Same:
        x: int
        y: int = 2
        name: str = ""

    def told(cls: Any) -> str:
        try:
            return str(cls(*args, **named)).partition("(")[2]
        except TypeError as fault:
            return str(fault).rpartition(".")[2]

    assert told(Some) == told(Same)


def test_the_values_of_a_page_are_made_quickly() -> None:
    for cls in (Lease, Report, Stored):
        with pytest.raises(TypeError, match="missing"):
            cls()  # type: ignore[call-arg]
        assert "__twin" in cls.__init__.__code__.co_names


_INTERRUPTED = """
import sys
from gossamer.base.values import dataclass

@dataclass(frozen=True)
class One:
    name: str

def interrupt(frame, event, arg):
    if frame.f_code.co_filename == "<values>":
        raise KeyboardInterrupt

sys.settrace(interrupt)
try:
    for _ in range(9):
        One("a")
except KeyboardInterrupt:
    sys.exit(11)
"""


def test_an_interrupt_while_a_class_is_made_leaves_the_exit_code_to_the_program(
    tmp_path: Path,
) -> None:
    (tmp_path / "interrupted.py").write_text(_INTERRUPTED, encoding="utf-8")

    asked = [sys.executable, "-m", "interrupted"]  # only so Python looks for it, not with -c
    end = subprocess.run(asked, cwd=tmp_path, check=False, timeout=60)

    assert end.returncode == 11
