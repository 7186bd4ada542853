"""A judgement of an origin is kept only as long as the rules hold."""

from gossamer.records import NAMED, Found, Reason
from gossamer.schedule.admission import Admission
from gossamer.settings import Settings, with_values
from gossamer.urls.bans import BanList

HOME = "http://a.example/"
OTHER = "http://b.example/x"


def admission(**values: object) -> Admission:
    settings = with_values(Settings(), {"scope.kind": "host"} | values)
    return Admission(settings, [HOME], BanList())


def reason(judge: Admission, url: str, via: bytes = b"via") -> Reason | None:
    verdict = judge(Found(url, b"key", 1, via))
    return verdict and verdict[0]


def test_an_origin_is_judged_again_when_a_seed_has_moved_there() -> None:
    judge = admission()
    assert reason(judge, OTHER) is Reason.SCOPE

    assert judge.adopt("http://b.example/")

    assert reason(judge, OTHER) is None


def test_a_ban_that_comes_later_holds_for_an_origin_that_was_open() -> None:
    judge = admission()
    assert reason(judge, HOME) is None

    judge.ban(BanList(["a.example/private/"]))
    assert reason(judge, "http://a.example/private/x") is Reason.BANNED
    assert reason(judge, HOME) is None

    judge.ban(BanList())
    assert reason(judge, "http://a.example/private/x") is None


def test_what_the_operator_named_is_in_scope_though_its_origin_is_not() -> None:
    judge = admission()

    assert reason(judge, OTHER) is Reason.SCOPE
    assert reason(judge, OTHER, via=NAMED) is None
    assert reason(judge, OTHER) is Reason.SCOPE


def test_ports_and_paths_of_a_host_are_told_apart() -> None:
    judge = admission(**{"scope.kind": "any"})

    assert reason(judge, "http://a.example:22/") is Reason.PORT
    assert reason(judge, HOME) is None
    assert reason(judge, "http://a.example/logout") is Reason.UNSAFE


def test_a_pattern_is_applied_to_every_url() -> None:
    judge = admission(**{"scope.exclude": ("/old/",)})

    assert reason(judge, HOME) is None
    assert reason(judge, "http://a.example/old/x") is Reason.SCOPE


def test_a_prefix_is_applied_to_every_url() -> None:
    judge = Admission(
        with_values(Settings(), {"scope.kind": "prefix"}), ["http://a.example/in/"], BanList()
    )

    assert reason(judge, "http://a.example/in/x") is None
    assert reason(judge, HOME) is Reason.SCOPE
