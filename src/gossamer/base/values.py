"""Dataclasses that are ready at once, and whose values are made quickly.

`dataclasses` writes the source of six methods for every class and compiles it: half a millisecond a
class, and a crawl starts with 140 of them, whose methods mostly nobody calls. The `dataclass` here
leaves to it what a class is made of (fields, defaults, slots), and makes the methods otherwise:
those that only show or forbid are the same few functions for all classes, and those that must be
quick are compiled when they are called, an `__init__` for the ninth time, or by `ready`. What they
do is what those of `dataclasses` do.

A frozen class forbids what its own `__init__` has to do, so that of `dataclasses` goes round the
ban with a call for each field: a value of 14 fields takes 1.2 microseconds, and every page has half
a dozen of such values. Here, while `__init__` runs, the value belongs to a twin of the class with
the same slots and no ban, where setting a field costs next to nothing. It takes a third of the
time. Nobody sees the twin: the value is handed out frozen.

Left out: what no class of ours asks for (`order`, `unsafe_hash`, `InitVar`), and classes that are
made of a frozen one with slots.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, FrozenInstanceError, field, fields
from reprlib import recursive_repr
from typing import Any, Final, TypeVar, dataclass_transform

T = TypeVar("T")

# Without the lock of the interpreter a change of class stops all threads.
_IS_LOCKED: Final = "free-threading" not in sys.version
# So many values of a class are made without compiling: 5 microseconds each, where to compile takes
# 300; of half the classes of a crawl there is one value in each process.
_FIRST_VALUES: Final = 8
_COMPILED: Final = "compiled"  # what does it, with an `__init__` that has not been
_WORTH_A_TWIN: Final = 3  # fields: for fewer, to go round the ban is as quick


@dataclass_transform(field_specifiers=(field, Field))
def dataclass(
    *, frozen: bool = False, slots: bool = False, kw_only: bool = False, eq: bool = True
) -> Callable[[type[T]], type[T]]:
    """`dataclasses.dataclass`, and quicker: see above."""

    def made(plain: type[T]) -> type[T]:
        # Else it writes one that shows the arguments, and they are read from a text for 30 ms.
        plain.__doc__ = plain.__doc__ or plain.__name__
        cls = dataclasses.dataclass(
            init=False, repr=False, eq=False, slots=slots, kw_only=kw_only
        )(plain)  # fmt: skip
        own = cls.__dict__
        methods: dict[str, Any] = {"__repr__": _shown}
        if eq:
            methods |= _compared_later(cls, is_hashed=frozen)
        if frozen:
            methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
        if frozen and slots:
            methods |= {"__getstate__": _values_of, "__setstate__": _take_values}
        methods["__init__"] = _made_later(cls, is_frozen=frozen, has_slots=slots)
        for name, method in methods.items():
            # Who writes `__eq__` and no `__hash__` is given None for it by Python itself.
            if name not in own or (name == "__hash__" and own[name] is None):
                setattr(cls, name, method)
        return cls

    return made


# -- one for all classes


@recursive_repr()
def _shown(self: Any) -> str:
    shown = (f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_to_set(_self: Any, name: str, _value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _values_of(self: Any) -> list[Any]:
    """For `copy` and `pickle`, which would set a copy's fields one by one."""
    return [getattr(self, f.name) for f in fields(self)]


def _take_values(self: Any, values: Iterable[Any]) -> None:
    for f, value in zip(fields(self), values, strict=True):
        object.__setattr__(self, f.name, value)


# -- one for each class


def _compared_later(cls: Any, *, is_hashed: bool) -> dict[str, Any]:
    def __eq__(self: Any, other: object) -> Any:  # noqa: N807
        cls.__eq__ = _compiled(cls, _EQ.format(**_compared(cls)), {})
        return cls.__eq__(self, other)

    def __hash__(self: Any) -> Any:  # noqa: N807
        cls.__hash__ = _compiled(cls, _HASH.format(**_compared(cls)), {})
        return cls.__hash__(self)

    return {"__eq__": __eq__, "__hash__": __hash__ if is_hashed else None}


_EQ: Final = """def __eq__(self, other):
    if other.__class__ is self.__class__:
        return ({ours}) == ({theirs})
    return NotImplemented
"""
_HASH: Final = "def __hash__(self): return hash(({ours}))"


def _compared(cls: type) -> dict[str, str]:
    names = [f.name for f in fields(cls) if f.compare]
    return {
        "ours": "".join(f"self.{name}, " for name in names),
        "theirs": "".join(f"other.{name}, " for name in names),
    }


def _made_later(cls: Any, *, is_frozen: bool, has_slots: bool) -> Callable[..., None]:
    left = _FIRST_VALUES

    def __init__(self: Any, *args: Any, **named: Any) -> None:  # noqa: N807
        nonlocal left
        left -= 1
        if left < 0 or (values := _values_for(cls, args, named)) is None:
            ready(cls)
            cls.__init__(self, *args, **named)
            return
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if hasattr(cls, "__post_init__"):
            self.__post_init__()

    def compiled() -> None:
        cls.__init__ = _init_of(cls, is_frozen=is_frozen, has_slots=has_slots)

    vars(__init__)[_COMPILED] = compiled
    return __init__


def ready(*classes: type) -> None:
    """Compile what makes their values now: for processes that are about to fork."""
    for cls in classes:
        if compiled := vars(vars(cls)["__init__"]).get(_COMPILED):
            compiled()


def _values_for(cls: type, args: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any] | None:
    """The values of all fields; None where the call is wrong, or it is not the call that says."""
    all_fields = fields(cls)
    names = [f.name for f in all_fields if not f.kw_only]
    values = {**dict(zip(names, args, strict=False)), **named}
    if len(values) != len(args) + len(named):  # too many, or one of them twice
        return None
    for f in all_fields:
        if not f.init:
            return None
        if f.name in values:
            continue
        if f.default is f.default_factory is MISSING:
            return None
        values[f.name] = f.default_factory() if callable(f.default_factory) else f.default
    return values if len(values) == len(all_fields) else None


def _init_of(cls: type, *, is_frozen: bool, has_slots: bool) -> Any:
    given = [f for f in fields(cls) if f.init]
    for f in fields(cls):
        if not f.init and not f.default is f.default_factory is MISSING:
            raise TypeError(f"{cls.__name__}.{f.name} has a default that nobody sets")
    scope: dict[str, Any] = {"__cls": cls, "__set": object.__setattr__, "__none": MISSING}
    for f in given:
        scope[f"__default_{f.name}"] = f.default
        scope[f"__make_{f.name}"] = f.default_factory
    sets = [f"self.{f.name} = {_value(f)}" for f in given]
    if is_frozen and has_slots and _may_have_twin(cls, len(sets)):
        scope["__twin"] = type(cls.__name__, (), {"__slots__": [f.name for f in fields(cls)]})
        sets = ["__set(self, '__class__', __twin)", *sets, "self.__class__ = __cls"]
    elif is_frozen:
        sets = [f"__set(self, '{f.name}', {_value(f)})" for f in given]
    if hasattr(cls, "__post_init__"):
        sets.append("self.__post_init__()")
    lines = "".join(f"    {line}\n" for line in sets or ["pass"])
    return _compiled(cls, f"def __init__({_arguments(given)}):\n{lines}", scope)


def _compiled(cls: type, source: str, scope: dict[str, Any]) -> Any:
    """The function that the source defines, as a method of the class.

    Compiled first: when Ctrl-C falls into `exec` of a text, Python ends the process with the signal
    later on, whatever exit code the program chose.
    """
    made: dict[str, Any] = {}
    exec(compile(source, "<values>", "exec"), scope, made)  # noqa: S102 - as dataclasses does
    (method,) = made.values()
    method.__qualname__ = f"{cls.__qualname__}.{method.__name__}"
    return method


def _may_have_twin(cls: type, count: int) -> bool:
    return _IS_LOCKED and count >= _WORTH_A_TWIN and cls.__bases__ == (object,)


def _arguments(given: list[Field[Any]]) -> str:
    named = [_argument(f) for f in given if f.kw_only]
    star = ["*"] if named else []
    return ", ".join(["self", *(_argument(f) for f in given if not f.kw_only), *star, *named])


def _argument(f: Field[Any]) -> str:
    if f.default is not MISSING:
        return f"{f.name}=__default_{f.name}"
    return f.name if f.default_factory is MISSING else f"{f.name}=__none"


def _value(f: Field[Any]) -> str:
    if f.default_factory is MISSING:
        return f.name
    return f"__make_{f.name}() if {f.name} is __none else {f.name}"
