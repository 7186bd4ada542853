"""Curves are drawn with their spread, and whatever is in them."""

from xml.etree import ElementTree as ET

from bench.plots import HEIGHT, WIDTH, Axes, Curve, Point, drawn

AXES = Axes("What <x> changes", "x & more", "pages")
SVG = "{http://www.w3.org/2000/svg}"


def of_kind(plot: str, kind: str) -> list[ET.Element]:
    return ET.fromstring(plot).findall(SVG + kind)


def test_a_plot_is_whole_xml_whatever_its_words() -> None:
    plot = drawn(AXES, [Curve("a & b", (Point(1, (2.0,)), Point(2, (3.0,))))])

    words = [text.text for text in of_kind(plot, "text")]
    assert {"What <x> changes", "x & more", "a & b"} <= set(words)


def test_several_runs_make_a_band_around_their_median() -> None:
    plot = drawn(AXES, [Curve("a", (Point(1, (2.0, 4.0, 9.0)), Point(2, (3.0, 5.0, 6.0))))])

    assert len(of_kind(plot, "polygon")) == 1
    assert len(of_kind(plot, "circle")) == 2


def test_all_points_lie_on_the_paper() -> None:
    points = tuple(Point(float(x), (x * 1.7, x * 2.0)) for x in range(50))
    plot = drawn(AXES, [Curve("a", points), Curve("b", points[::-1])])

    for line in of_kind(plot, "polyline"):
        for place in line.attrib["points"].split():
            x, y = map(float, place.split(","))
            assert 0 <= x <= WIDTH
            assert 0 <= y <= HEIGHT


def test_points_may_stand_at_even_distances() -> None:
    curve = Curve("a", tuple(Point(float(x), (1.0,)) for x in (1, 4, 16, 64)))
    plot = drawn(Axes("t", "x", "y", is_even=True), [curve])

    places = of_kind(plot, "polyline")[0].attrib["points"].split()
    xs = [float(place.split(",")[0]) for place in places]
    assert xs[1] - xs[0] == xs[2] - xs[1] == xs[3] - xs[2]


def test_a_plot_of_nothing_is_a_plot() -> None:
    assert drawn(AXES, [Curve("a", ())]).startswith("<svg")
