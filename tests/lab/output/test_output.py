"""Results as files."""

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from gossamer.errors import UsageError
from gossamer.lab.experiment import Experiment, LabPlot, LabTable
from gossamer.lab.output.axes import axis_of, mark_text
from gossamer.lab.output.files import csv_text, json_text, write_experiment
from gossamer.lab.output.html import html_page
from gossamer.lab.output.svg import svg_file
from support.rows import each_row

EVIL = "</script><script>alert(1)</script>"


def an_experiment(name: str = "best") -> Experiment:
    curves = {name: [(0.0, 0.0), (0.5, 0.8), (1.0, 1.0)], "random": [(0.0, 0.0), (1.0, 1.0)]}
    return Experiment(
        "order",
        f"Orders on {name}",
        {"seeds": 10, "orders": ["best", "random"]},
        "sha256:ab",
        {name: {"area": 0.8}},
        [
            LabTable(
                "Areas", ("order", "area", "pages"), [[name, 0.81234, 1200], ["random", None, 3]]
            )
        ],
        [
            LabPlot("Mass", "pages", "rank", curves),
            LabPlot("Time", "n", "s", curves, x_scale="log"),
        ],
    )


def test_csv_has_a_line_for_each_cell_and_each_point() -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(an_experiment()))))

    assert rows[0] == {
        "kind": "table",
        "title": "Areas",
        "name": "best",
        "x": "area",
        "value": "0.81234",
    }
    assert [row["value"] for row in rows if row["name"] == "random"][:2] == ["", "3"]
    assert sum(row["kind"] == "plot" for row in rows) == 10


def test_csv_holds_no_formula() -> None:
    text = csv_text(an_experiment("=cmd|' /C calc'!A0"))

    assert ",'=cmd" in text
    assert ",=cmd" not in text


def test_json_has_what_a_program_needs() -> None:
    whole = json.loads(json_text(an_experiment()))

    assert whole["schema"] == 1
    assert whole["data_digest"] == "sha256:ab"
    assert whole["settings"]["seeds"] == 10
    assert whole["plots"][0]["curves"]["best"][1] == [0.5, 0.8]


def test_svg_is_well_formed_and_has_every_curve_of_every_plot() -> None:
    root = ET.fromstring(svg_file(an_experiment(EVIL).plots))
    space = "{http://www.w3.org/2000/svg}"

    assert len(root.findall(f".//{space}polyline")) == 4
    assert root.find(f".//{space}script") is None


def test_the_page_runs_nothing_that_the_data_says() -> None:
    page = html_page(an_experiment(EVIL))

    assert "<script>alert" not in page
    assert page.count("<script") == 2
    assert "default-src 'none'" in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page


def test_the_page_names_settings_version_and_digest() -> None:
    page = html_page(an_experiment())

    assert "sha256:ab" in page
    assert "best, random" in page
    assert "0.812" in page


@pytest.mark.parametrize("name", ["x.html", "x.svg", "x.csv", "x.json"])
def test_the_extension_says_what_is_written(tmp_path: Path, name: str) -> None:
    write_experiment(an_experiment(), tmp_path / name)

    assert (tmp_path / name).stat().st_size > 100


def test_a_picture_is_written_where_matplotlib_is_installed(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    write_experiment(an_experiment(), tmp_path / "x.png")

    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_a_picture_is_refused_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)

    with pytest.raises(UsageError, match=r"pip install 'gossamer\[lab\]'"):
        write_experiment(an_experiment(), tmp_path / "x.png")


def test_other_extensions_and_missing_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.html, \.svg"):
        write_experiment(an_experiment(), tmp_path / "x.doc")
    with pytest.raises(UsageError, match="does not exist"):
        write_experiment(an_experiment(), tmp_path / "none" / "x.csv")


@each_row(
    "values", [[0.0, 1.0], [0.0], [5.0, 5.0], [], [-3.0, 7.0], [1e-9, 2e-9], [1e6, 3e9], [95, 99]]
)
def test_an_axis_holds_all_values_and_has_few_marks(values: list[float]) -> None:
    axis = axis_of(values, "linear")

    assert all(axis.low <= value <= axis.high for value in values)
    assert 2 <= len(axis.marks) <= 12
    assert all(0.0 <= axis.place(mark) <= 1.0 for mark in axis.marks)


@each_row("values", [[1.0, 64.0], [7.0, 365.0], [3.0], [0.0, 10.0], [1e-3, 1e11]])
def test_a_logarithmic_axis_holds_all_positive_values(values: list[float]) -> None:
    axis = axis_of(values, "log")

    assert all(axis.low <= value <= axis.high for value in values if value > 0)
    assert 2 <= len(axis.marks) <= 16


def test_marks_are_short() -> None:
    assert [mark_text(n) for n in (0.25, 1000, 2e7, 3e9, 0)] == [
        "0.25",
        "1,000",
        "20 M",
        "3 G",
        "0",
    ]
