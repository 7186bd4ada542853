"""What a terminal shows of a running crawl: whole, at any width from 40 columns on."""

from __future__ import annotations

from rich.cells import cell_len

from gossamer.cli.run.live_view import ScreenLine, shortened, span_text, view, wrapped
from gossamer.cli.run.progress_lines import plain_line
from gossamer.node.figures.moment import CrawlMoment, Recent
from gossamer.node.figures.progress import Progress
from gossamer.schedule.holdups import Holdup
from gossamer.settings import Limits
from support.rows import each_row

LONG = "https://example.org/" + "a-very-long-name/" * 20 + "end.html"
WIDE = "https://example.org/" + "百科全書" * 30


def progress(state: str = "running", **figures: object) -> Progress:
    by_class = {"2xx": 60, "3xx": 4, "4xx": 12, "5xx": 0, "failed": 1, "refused": 13}
    values: dict[str, object] = {
        "state": state, "fetched": 76, "redirects": 4, "failed": 1, "refused": 13, "queued": 1200,
        "known": 1294, "bytes": 3_400_000, "links": 9000, "unchanged": 0, "duplicates": 0,
        "indexed": 60, "under_way": 3, "hosts_waiting": 2, "pages_per_s": 12.3,
        "bytes_per_s": 340_200.0, "wall_s": 12.0, "by_class": by_class,
        "refused_by": {"robots": 10, "scope": 3, "timeout": 1}, **figures,
    }  # fmt: skip
    return Progress(**values)  # type: ignore[arg-type]


def moment(state: str = "running", limits: Limits | None = None, **figures: object) -> CrawlMoment:
    return CrawlMoment(
        progress(state, **figures),
        limits or Limits(max_pages=150),
        holdups=(
            Holdup("slow.example", 900, "Crawl-delay 30 s", 12.0),
            Holdup("down.example", 200, "it answered 429 or 503", 95.0),
            Holdup("百科全書.example", 100, "waiting for its robots.txt"),
        ),
        recent=(
            Recent("https://example.org/", "fetched", 200, ""),
            Recent(LONG, "fetched", 404, ""),
            Recent(WIDE, "failed", 0, "timeout"),
        ),
    )


def texts(lines: list[ScreenLine]) -> list[str]:
    return ["".join(text for text, _ in line) for line in lines]


@each_row("width", [*range(40, 60), 79, 80, 100, 120, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    for state in ("running", "paused", "stopping"):
        for line in texts(view(moment(state), width, 40)):
            assert cell_len(line) <= width, line


@each_row("width", [40, 50, 80, 120])
def test_nothing_is_cut_off(width: int) -> None:
    shown = " ".join(" ".join(texts(view(moment(), width, 40))).split())

    for words in (
        "Running for 0:12", "76 of 150 pages", "12.3 pages/s", "340.2 kB/s", "about 6.0 s left",
        "2xx 60", "3xx 4", "4xx 12", "5xx 0", "failed 1", "refused 13",
        "reasons: robots 10, scope 3, timeout 1", "1,200 URLs queued", "3 requests in flight",
        "2 hosts waiting", "slow.example: 900 queued, next request in 12 s (Crawl-delay 30 s)",
        "down.example: 200 queued, next request in 95 s (it answered 429 or 503)",
        "百科全書.example: 100 queued, waiting for its robots.txt",
        "200 https://example.org/", "404 https://", "end.html", "failed (timeout) https://",
    ):  # fmt: skip
        assert words in shown, words


def test_a_low_terminal_shows_the_figures_first() -> None:
    lines = texts(view(moment(), 100, 4))

    assert len(lines) == 4
    assert lines[0].startswith("Running for")
    assert "queued" in lines[2]


def test_a_paused_crawl_says_so_and_blames_no_host() -> None:
    lines = texts(view(moment("paused"), 80, 24))

    assert lines[0].startswith("PAUSED")
    assert "left" not in lines[0]
    assert not [line for line in lines if "slow.example" in line]


def test_an_ending_crawl_says_what_it_does() -> None:
    assert texts(view(moment("stopping"), 80, 24))[0].startswith("Stopping")
    assert texts(view(moment("stopping", under_way=0), 80, 24))[0].startswith("Finishing")


def test_retries_that_are_left_are_told() -> None:
    shown = texts(view(moment(retrying=1, retry_in_s=20.0), 80, 24))

    assert [line for line in shown if "retrying 1 URL in 20 s" in line]
    assert "retrying 1 URL in 20 s" in plain_line(moment(retrying=1, retry_in_s=20.0))


@each_row(
    ("limits", "left"),
    [
        (Limits(max_pages=150), "about 6.0 s left"),
        (Limits(max_time_s=60.0), "about 48 s left"),
        (Limits(max_bytes=6_802_000), "about 10 s left"),
        (Limits(max_pages=150, max_time_s=15.0), "about 3.0 s left"),
        (Limits(), "at least 98 s left"),
    ],
)
def test_the_time_left_follows_from_limits_or_the_queue(limits: Limits, left: str) -> None:
    assert left in " ".join(texts(view(moment(limits=limits), 200, 24)))


def test_a_crawl_that_does_not_move_promises_no_time() -> None:
    assert "left" not in " ".join(texts(view(moment(limits=Limits(), pages_per_s=0.0), 200, 24)))


def test_outcomes_have_the_colour_of_their_class() -> None:
    styles = {text: style for line in view(moment(), 120, 40) for text, style in line}

    assert (styles["200"], styles["404"], styles["failed (timeout)"]) == ("green", "yellow", "red")
    assert styles["4xx 12"] == "yellow"


def test_a_url_is_shortened_in_its_middle() -> None:
    assert shortened(LONG, 30).startswith("https://exampl")
    assert shortened(LONG, 30).endswith("end.html")
    assert cell_len(shortened(WIDE, 31)) <= 31
    assert shortened("short", 5) == "short"


def test_long_words_are_broken_and_others_kept() -> None:
    assert wrapped("one two three", 7) == ["one two", "three"]
    assert wrapped("abcdefgh", 3) == ["abc", "def", "gh"]
    assert wrapped("a abcdefgh", 3) == ["a", "abc", "def", "gh"]


def test_names_of_strangers_move_no_cursor() -> None:
    hostile = CrawlMoment(
        progress(), Limits(), holdups=(Holdup("x", 1, "\x1b[2J"),),
        recent=(Recent("http://x/\x1b[2J", "fetched", 200, ""),),
    )  # fmt: skip

    assert "\x1b" not in "".join(texts(view(hostile, 80, 24)))


def test_a_log_gets_one_line_without_colours() -> None:
    line = plain_line(moment())

    assert "\n" not in line
    assert "\x1b" not in line
    assert line.startswith("Running for 0:12 · 76 of 150 pages · 12.3 pages/s")
    assert "slow.example: 900 queued" in plain_line(moment(pages_per_s=0.0))


def test_spans_have_a_unit_that_fits() -> None:
    spans = [span_text(s) for s in (0.6, 45, 600, 9000, 400_000)]

    assert spans == ["0.6 s", "45 s", "10 min", "2.5 h", "4.6 days"]
