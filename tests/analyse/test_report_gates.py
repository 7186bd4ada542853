"""The conditions of `--fail-on`."""

import pytest

from gossamer.analyse.report_gates import read_gates
from gossamer.errors import UsageError
from support.rows import each_row

NAMES = ("dead", "pages", "no_title")


@each_row(
    ("text", "holds"),
    [
        ("dead>0", True),
        ("dead > 3", False),
        (" dead>=3 ", True),
        ("dead=3", True),
        ("dead==3", True),
        ("dead!=3", False),
        ("pages<10", False),
        ("pages<=10.5", True),
    ],
)
def test_a_gate_compares_a_figure_with_a_number(text: str, holds: bool) -> None:
    (gate,) = read_gates([text], NAMES)

    assert gate.holds({"dead": 3, "pages": 10, "no_title": 0}) is holds


@each_row("text", ["", "dead", "dead>", ">0", "dead>x", "dead>-1", "dead>0;dead>1"])
def test_what_is_no_gate_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match=r"e\.g\. 'dead>0'"):
        read_gates([text], NAMES)


def test_a_name_that_is_not_counted_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean dead"):
        read_gates(["ded>0"], NAMES)
    with pytest.raises(UsageError, match="the names are dead, no_title, pages"):
        read_gates(["zzz>0"], NAMES)
