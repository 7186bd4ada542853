"""A value that is made quickly is the value that `dataclasses` makes."""

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace

import pytest

from gossamer.base.frozen import made_quickly
from gossamer.records import Lease, Report, Stored


@made_quickly
@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 2
    name: str = ""

    def moved(self) -> "Point":
        return replace(self, x=self.x + 1)


def test_fields_and_defaults_are_those_of_the_class() -> None:
    assert Point(1) == Point(1, 2, "") == Point(x=1, y=2, name="")
    assert repr(Point(1, name="a")) == "Point(x=1, y=2, name='a')"
    assert hash(Point(1)) == hash(Point(1))
    assert [f.name for f in fields(Point)] == ["x", "y", "name"]


def test_it_is_frozen_and_of_its_class() -> None:
    point = Point(1)

    assert type(point) is Point
    with pytest.raises(FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del point.x
    with pytest.raises((AttributeError, TypeError)):
        point.z = 2  # type: ignore[attr-defined]


def test_copies_are_equal() -> None:
    point = Point(1, 5, "a")

    assert point.moved() == Point(2, 5, "a")
    assert copy.deepcopy(point) == pickle.loads(pickle.dumps(point)) == point


def test_a_wrong_call_is_told_by_the_name_of_the_class() -> None:
    with pytest.raises(TypeError, match=r"Point\.__init__\(\) missing 1 required"):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        Point(1, z=2)  # type: ignore[call-arg]


def test_fields_that_are_not_plain_are_refused() -> None:
    @dataclass(frozen=True, slots=True)
    class Odd:
        names: list[str] = field(default_factory=list)

    with pytest.raises(TypeError, match=r"Odd\.names is not a plain field"):
        made_quickly(Odd)


def test_the_values_of_a_page_are_made_quickly() -> None:
    for cls in (Lease, Report, Stored):
        assert "_twin" in cls.__init__.__code__.co_names
