from gossamer.frontier.traps import trap_in
from gossamer.records import Reason
from gossamer.settings import Frontier
from support.rows import each_row

RULES = Frontier()


@each_row(
    "path",
    [
        "/",
        "/a/b/c/d?x=1&y=2",
        "/how-to-logout.html",
        "/blog/sign-out-of-love",
        "/a/a/a",
        "/catalogue?page=3",
        "/login",
        "/2026/11/15/",
    ],
)
def test_ordinary_urls_are_no_traps(path: str) -> None:
    assert trap_in(f"http://a.example{path}", RULES) is None


@each_row(
    ("path", "word"),
    [
        ("/" + "x" * 2000, "characters"),
        ("/" + "/".join("abcdefghijklmnopqrstu"), "segments"),
        ("/a/b/a/b/a/b/a", "4 times"),
        ("/?" + "&".join(f"p{n}={n}" for n in range(21)), "parameters"),
    ],
)
def test_a_trap_is_named_with_the_rule_it_breaks(path: str, word: str) -> None:
    verdict = trap_in(f"http://a.example{path}", RULES)

    assert verdict is not None
    assert verdict[0] is Reason.TRAP
    assert word in verdict[1]


@each_row(
    "path",
    [
        "/logout",
        "/log-out.php",
        "/user/signoff",
        "/?action=logout",
        "/x?a=1&do=delete",
        "/SignOut/",
    ],
)
def test_links_that_may_change_something_are_left_alone(path: str) -> None:
    verdict = trap_in(f"http://a.example{path}", RULES)

    assert verdict is not None
    assert verdict[0] is Reason.UNSAFE
    assert trap_in(f"http://a.example{path}", Frontier(avoid_unsafe=False)) is None


def test_limits_are_those_of_the_settings() -> None:
    assert trap_in("http://a.example/a/a/b", Frontier(max_repeats=1)) is not None
    assert trap_in("http://a.example/a/b", Frontier(max_path_depth=2)) is None
    assert trap_in("http://a.example/a/b/c", Frontier(max_path_depth=2)) is not None
